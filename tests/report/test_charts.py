"""Charts are well-formed, escaped, and drawn for every input they can meet."""

import json
import math
import re
from html import unescape
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.report import charts
from understudy.report.charts import Interval, Mark

NASTY = '<b onclick="x">\'&</b>'
NAN, INF = math.nan, math.inf
anything = st.one_of(st.none(), st.floats(), st.integers())
texts = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn", "Co"]), max_size=40
)


def parsed(html):
    return ElementTree.fromstring(f"<div>{html}</div>")


def found(html, kind, tag="*"):
    return [e for e in parsed(html).iter() if kind in e.get("class", "").split()]


def percent(element, side):
    return float(re.search(rf"{side}:(-?[\d.]+)%", element.get("style"))[1]) / 100


# Numbers and axes


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.123456, "0.1235"),
        (1234, "1234"),
        (12_345, "12.35k"),
        (3e6, "3M"),
        (-2.5e9, "-2.5G"),
        (4e13, "4e13"),
        (2.5e-4, "2.5e-4"),
        (None, "-"),
        (NAN, "-"),
        (-INF, "-"),
        (10**400, "-"),
    ],
)
def test_numbers_are_short_to_read(value, text):
    assert charts.written(value) == text


def test_shares_are_written_in_percent():
    assert charts.written(0.5, "percent") == "50.0\u00a0%"


@given(st.lists(anything), st.booleans(), st.booleans())
def test_an_axis_spans_its_values(values, log, snug):
    axis = charts.axis(values, log=log, snug=snug)
    kept = [number for number in map(charts.finite, values) if number is not None]
    assert axis.low < axis.high
    assert len(axis.ticks) <= 20
    assert len(axis.texts("number")) == len(axis.ticks)
    for value in kept:
        if value > 0 or not log:
            assert -1e-6 <= axis.share(value) <= 1 + 1e-6


@pytest.mark.parametrize("value", [5e-324, -1e-300, 0, 1e301, -INF, NAN, 10**400, "1", None])
def test_what_floats_cannot_measure_apart_is_zero_or_nothing(value):
    assert charts.finite(value) in (0.0, None)


def test_an_axis_has_round_ticks():
    assert charts.axis([0.13, 4.7]).ticks == (0, 1, 2, 3, 4, 5)
    assert charts.axis([0, 20_000], snug=True).texts("number") == ["0", "5000", "10k", "15k", "20k"]
    assert charts.axis([3, 2000], log=True).ticks == (10, 100, 1000)


def test_close_values_keep_distinct_ticks():
    for values in ([100_000, 100_001], [1, 1.000001], [0, 3e-4], [0, 2.5]):
        texts = charts.axis(values).texts("number")
        assert len(set(texts)) == len(texts) > 2


# Line chart


def test_a_line_runs_from_corner_to_corner():
    html = charts.line_chart({"loss": [(0, 0.0), (10, 5.0)]}, title="t")
    assert [e.get("d") for e in parsed(html).iter("path")][1] == "M0.0,1000.0 L1000.0,0.0"


def test_a_gap_in_the_values_is_a_gap_in_the_line():
    points = [(0, 1.0), (1, 2.0), (2, NAN), (3, None), (4, 1.0), (5, 2.0)]
    (line,) = found(charts.line_chart({"a": points}, title="t"), "line")
    assert line.find("path").get("d").count("M") == 2
    assert len(json.loads(line.get("data-points"))) == 4


def test_one_point_is_a_dot():
    assert found(charts.line_chart({"a": [(3, 4)]}, title="t"), "lone")


def test_a_long_line_is_thinned_but_keeps_its_spikes():
    points = [(x, 0.0) for x in range(50_000)]
    points[12_345], points[34_567] = (12_345, 9.0), (34_567, -1.0)
    (line,) = found(charts.line_chart({"a": points}, title="t"), "line")
    kept = json.loads(line.get("data-points"))
    assert len(kept) < 2 * charts.NUM_POINTS
    assert {text for _, _, _, text in kept} == {"0", "9", "-1"}
    assert kept[0][0] == 0
    assert kept[-1][0] == 1


def test_smoothing_keeps_the_mean_and_lowers_the_swing():
    points = [(x, float(x % 2)) for x in range(600)]
    (line,) = found(charts.line_chart({"a": points}, title="t", smooth={"a"}), "line")
    heights = [y for _, y, _, _ in json.loads(line.get("data-points"))]
    assert sum(heights) / len(heights) == pytest.approx(0.5, abs=0.01)
    assert max(heights) - min(heights) < 0.1


def test_a_log_axis_leaves_out_what_it_cannot_show():
    points = [(1, -1.0), (2, 0.0), (3, 10.0), (4, 1e9)]
    (line,) = found(charts.line_chart({"a": points}, title="t", log_y=True), "line")
    assert [y for _, y, _, _ in json.loads(line.get("data-points"))] == [0, 1]


def test_a_mark_stands_on_its_point():
    html = charts.line_chart({"a": [(0, 0.0), (10, 4.0)]}, title="t", marks=[Mark(5, 2, "best")])
    (mark,) = found(html, "mark")
    assert (percent(mark, "left"), percent(mark, "bottom")) == (0.5, 0.5)


def test_series_beyond_the_colours_are_dashed():
    series = {f"s{n}": [(0, n), (1, n)] for n in range(charts.NUM_COLORS + 2)}
    assert len(found(charts.line_chart(series, title="t"), "dashed")) == 2


# Bars, intervals, heat


def test_bars_and_their_baselines_are_as_long_as_their_values():
    html = charts.bar_chart(
        ["fire", "move"],
        {"accuracy": [0.8, 0.3]},
        title="t",
        baseline={"accuracy": [0.6, None]},
        limits=(0, 1),
    )
    assert [percent(bar, "width") for bar in found(html, "bar")] == [0.8, 0.3]
    assert [percent(mark, "left") for mark in found(html, "baseline")] == [0.6]


def test_negative_bars_run_left_of_zero():
    first, second = found(charts.bar_chart(["a", "b"], {"s": [-1, 3]}, title="t"), "bar")
    assert percent(first, "left") + percent(first, "width") == pytest.approx(
        percent(second, "left")
    )


@pytest.mark.parametrize(
    ("low", "high", "kind"),
    [(0.6, 0.8, "better"), (0.2, 0.4, "worse"), (0.4, 0.6, "unsure"), (None, 0.6, "plain")],
)
def test_an_interval_is_judged_by_where_its_whisker_lies(low, high, kind):
    html = charts.interval_chart([Interval("a", 0.5, low, high)], title="t", reference=0.5)
    assert found(html, kind)


def test_dot_and_whisker_lie_where_the_values_are():
    html = charts.interval_chart(
        [Interval("a", 0.5, 0.25, 0.75)], title="t", reference=0.4, limits=(0, 1)
    )
    assert percent(found(html, "dot")[0], "left") == 0.5
    assert percent(found(html, "whisker")[0], "left") == 0.25
    assert percent(found(html, "whisker")[0], "width") == 0.5
    assert percent(found(html, "reference")[0], "left") == 0.4


def test_heat_grows_away_from_a_half():
    html = charts.heat_map(["a", "b"], [[0.5, 1.0], [0.25, None]], [[4, 8], [16, None]], title="t")
    heats = [
        re.search(r"--heat:(\d+)%", td.get("style"))[1]
        for td in parsed(html).iter("td")
        if td.get("style")
    ]
    assert heats == ["0", "100", "50"]
    assert len(found(html, "none")) == 1
    assert "".join(found(html, "high")[0].itertext()) == "100\u00a0%8"


# Tables and tiles


def test_columns_of_numbers_stand_right():
    html = charts.table(["name", "won", "mixed"], [["a", 1, "x"], ["b", None, 2]])
    heads = [e.get("class") for e in parsed(html).iter("th")]
    assert heads == [None, "number", None]
    assert [e.get("data-value") for e in found(html, "number")[1:]] == ["1.0", None]


def test_rows_of_any_length_fit():
    html = charts.table(["a"], [[1, 2, 3], []], highlight={1})
    assert [len(list(row)) for row in parsed(html).iter("tr")] == [3, 3, 3]
    assert len(found(html, "stress")) == 1


# Every chart


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


# Boxes


def test_a_box_holds_the_middle_half_of_the_values():
    html = charts.box_chart(["a"], {"x": [[0, 1, 2, 3, 4]]}, title="t", reference=1.0)
    (box,), (mark,), (line,) = found(html, "bar"), found(html, "baseline"), found(html, "whisker")
    (even,) = found(html, "reference")
    # the axis spans 0.2 ... 3.8, the ends of the line, widened to the ticks 0 and 4
    assert percent(box, "left") == pytest.approx(0.25, abs=1e-3)
    assert percent(box, "width") == pytest.approx(0.5, abs=1e-3)
    assert percent(mark, "left") == pytest.approx(0.5, abs=1e-3)
    assert percent(line, "left") == pytest.approx(0.05, abs=1e-3)
    assert percent(line, "width") == pytest.approx(0.9, abs=1e-3)
    assert percent(even, "left") == pytest.approx(0.25, abs=1e-3)
    assert found(html, "value")[0].text == "2 "


def test_boxes_are_drawn_where_there_are_values():
    series = {"x": [[1, 2], []], "y": [[None, NAN], [3]]}
    html = charts.box_chart(["a", "b", "c"], series, title=NASTY)
    assert len(found(html, "bar")) == 2
    assert [e.text for e in found(html, "row-label")][:3] == ["a", "b", "c"]
    assert [e.text for e in found(html, "key")] == ["x", "y"]


def test_one_far_value_does_not_squeeze_a_box():
    html = charts.box_chart(["a"], {"x": [[*range(100), 1e6]]}, title="t")
    assert percent(found(html, "bar")[0], "width") > 0.4


@pytest.mark.parametrize("series", [{}, {"x": []}, {"x": [[]]}, {"x": [[NAN, None]]}])
def test_no_values_no_boxes(series):
    assert "Nothing to show yet" in charts.box_chart(["a"], series, title="t")


@settings(max_examples=50)
@given(
    st.lists(texts, max_size=3),
    st.dictionaries(texts, st.lists(st.lists(anything, max_size=6), max_size=4), max_size=3),
    anything,
)
def test_boxes_of_anything_are_well_formed(labels, series, reference):
    html = charts.box_chart(labels, series, title="t", reference=reference)
    for box in found(html, "bar"):
        assert 0 <= percent(box, "left") <= 1
        assert percent(box, "width") >= 0
