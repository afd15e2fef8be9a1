"""Turn numbers into charts: strings of HTML and SVG, coloured by `page.css`, nothing loaded.

Lines lie in an SVG that stretches with the window; every letter is HTML beside it, so that text
keeps its size on a phone. Each function answers for every input: what cannot be drawn (None, NaN,
infinity) is left out, and a chart with nothing to draw says so. Each string is well-formed XML.
"""

from understudy.report.charts.axis import finite, written
from understudy.report.charts.bars import bar_chart
from understudy.report.charts.frame import NOTHING
from understudy.report.charts.heat import heat_map
from understudy.report.charts.intervals import Interval, box_chart, interval_chart
from understudy.report.charts.lines import Mark, line_chart
from understudy.report.charts.tables import Cell, Link, table, tiles

__all__ = [
    "NOTHING",
    "Cell",
    "Interval",
    "Link",
    "Mark",
    "bar_chart",
    "box_chart",
    "finite",
    "heat_map",
    "interval_chart",
    "line_chart",
    "table",
    "tiles",
    "written",
]
