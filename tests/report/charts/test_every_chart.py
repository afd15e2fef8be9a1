"""Every chart is well-formed, escaped, and drawn for every input it can meet."""

import re
from html import unescape

from hypothesis import given, settings

from tests.report.charts.drawn import NAN, NASTY, anything, parsed, texts
from understudy.report import charts
from understudy.report.charts import Interval, Mark


def every_chart(label, value, other):
    return [
        charts.line_chart(
            {label: [(value, other), (other, value)], "b": [(1, other)]},
            title=label,
            x_label=label,
            y_label=label,
            marks=[Mark(value, other, label)],
            smooth={label},
        ),
        charts.line_chart({label: [(value, other)]}, title=label, log_x=True, log_y=True),
        charts.bar_chart(
            [label], {label: [value], "b": []}, title=label, baseline={label: [other]}
        ),
        charts.interval_chart([Interval(label, value, other, value)], title=label, reference=other),
        charts.heat_map([label], [[value]], [[other]], title=label),
        charts.table([label], [[value], [label], [other]]),
        charts.table([label], [[value], [other]], percent={label}),
        charts.tiles([(label, value), (label, label)]),
    ]


@settings(max_examples=50, deadline=None)
@given(texts, anything, anything)
def test_every_chart_is_well_formed_whatever_it_is_given(label, value, other):
    for html in every_chart(label, value, other):
        parsed(html)
        assert "nan" not in re.sub(r'data-name="[^"]*"|>[^<]*<|title="[^"]*"', "", html)


def test_every_chart_escapes_names():
    for html in every_chart(NASTY, 1.0, 2.0):
        assert "<b onclick" not in html
        assert NASTY in "".join(parsed(html).itertext()) or NASTY in unescape(html)


def test_nothing_to_draw_is_said():
    empty = [
        charts.line_chart({}, title="t"),
        charts.line_chart({"a": [], "b": [(1, NAN)]}, title="t"),
        charts.bar_chart([], {}, title="t"),
        charts.bar_chart(["a"], {"s": [None]}, title="t"),
        charts.interval_chart([], title="t"),
        charts.heat_map([], [], title="t"),
        charts.table([], []),
    ]
    assert all(charts.NOTHING in html for html in empty)
