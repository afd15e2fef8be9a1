"""Lines lie where their points are, with gaps, spikes and marks kept."""

import json

import pytest

from tests.report.charts.drawn import NAN, found, parsed, percent
from understudy.report.charts import Mark, line_chart
from understudy.report.charts.frame import NUM_COLORS
from understudy.report.charts.lines import NUM_POINTS


def test_a_line_runs_from_corner_to_corner():
    html = line_chart({"loss": [(0, 0.0), (10, 5.0)]}, title="t")
    assert [e.get("d") for e in parsed(html).iter("path")][1] == "M0.0,1000.0 L1000.0,0.0"


def test_a_gap_in_the_values_is_a_gap_in_the_line():
    points = [(0, 1.0), (1, 2.0), (2, NAN), (3, None), (4, 1.0), (5, 2.0)]
    (line,) = found(line_chart({"a": points}, title="t"), "line")
    assert line.find("path").get("d").count("M") == 2
    assert len(json.loads(line.get("data-points"))) == 4


def test_one_point_is_a_dot():
    assert found(line_chart({"a": [(3, 4)]}, title="t"), "lone")


def test_a_long_line_is_thinned_but_keeps_its_spikes():
    points = [(x, 0.0) for x in range(50_000)]
    points[12_345], points[34_567] = (12_345, 9.0), (34_567, -1.0)
    (line,) = found(line_chart({"a": points}, title="t"), "line")
    kept = json.loads(line.get("data-points"))
    assert len(kept) < 2 * NUM_POINTS
    assert {text for _, _, _, text in kept} == {"0", "9", "-1"}
    assert kept[0][0] == 0
    assert kept[-1][0] == 1


def test_smoothing_keeps_the_mean_and_lowers_the_swing():
    points = [(x, float(x % 2)) for x in range(600)]
    (line,) = found(line_chart({"a": points}, title="t", smooth={"a"}), "line")
    heights = [y for _, y, _, _ in json.loads(line.get("data-points"))]
    assert sum(heights) / len(heights) == pytest.approx(0.5, abs=0.01)
    assert max(heights) - min(heights) < 0.1


def test_a_log_axis_leaves_out_what_it_cannot_show():
    points = [(1, -1.0), (2, 0.0), (3, 10.0), (4, 1e9)]
    (line,) = found(line_chart({"a": points}, title="t", log_y=True), "line")
    assert [y for _, y, _, _ in json.loads(line.get("data-points"))] == [0, 1]


def test_a_mark_stands_on_its_point():
    html = line_chart({"a": [(0, 0.0), (10, 4.0)]}, title="t", marks=[Mark(5, 2, "best")])
    (mark,) = found(html, "mark")
    assert (percent(mark, "left"), percent(mark, "bottom")) == (0.5, 0.5)


def test_series_beyond_the_colours_are_dashed():
    series = {f"s{n}": [(0, n), (1, n)] for n in range(NUM_COLORS + 2)}
    assert len(found(line_chart(series, title="t"), "dashed")) == 2
