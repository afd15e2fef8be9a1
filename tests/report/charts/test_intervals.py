"""Whiskers and boxes lie where their values are, and say what is known."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.report.charts.drawn import NAN, NASTY, anything, found, percent, texts
from understudy.report.charts import Interval, box_chart, interval_chart


@pytest.mark.parametrize(
    ("low", "high", "kind"),
    [(0.6, 0.8, "better"), (0.2, 0.4, "worse"), (0.4, 0.6, "unsure"), (None, 0.6, "plain")],
)
def test_an_interval_is_judged_by_where_its_whisker_lies(low, high, kind):
    html = interval_chart([Interval("a", 0.5, low, high)], title="t", reference=0.5)
    assert found(html, kind)


def test_dot_and_whisker_lie_where_the_values_are():
    html = interval_chart([Interval("a", 0.5, 0.25, 0.75)], title="t", reference=0.4, limits=(0, 1))
    assert percent(found(html, "dot")[0], "left") == 0.5
    assert percent(found(html, "whisker")[0], "left") == 0.25
    assert percent(found(html, "whisker")[0], "width") == 0.5
    assert percent(found(html, "reference")[0], "left") == 0.4


def test_a_box_holds_the_middle_half_of_the_values():
    html = box_chart(["a"], {"x": [[0, 1, 2, 3, 4]]}, title="t", reference=1.0)
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
    html = box_chart(["a", "b", "c"], series, title=NASTY)
    assert len(found(html, "bar")) == 2
    assert [e.text for e in found(html, "row-label")][:3] == ["a", "b", "c"]
    assert [e.text for e in found(html, "key")] == ["x", "y"]


def test_one_far_value_does_not_squeeze_a_box():
    html = box_chart(["a"], {"x": [[*range(100), 1e6]]}, title="t")
    assert percent(found(html, "bar")[0], "width") > 0.4


@pytest.mark.parametrize("series", [{}, {"x": []}, {"x": [[]]}, {"x": [[NAN, None]]}])
def test_no_values_no_boxes(series):
    assert "Nothing to show yet" in box_chart(["a"], series, title="t")


@settings(max_examples=50)
@given(
    st.lists(texts, max_size=3),
    st.dictionaries(texts, st.lists(st.lists(anything, max_size=6), max_size=4), max_size=3),
    anything,
)
def test_boxes_of_anything_are_well_formed(labels, series, reference):
    html = box_chart(labels, series, title="t", reference=reference)
    for box in found(html, "bar"):
        assert 0 <= percent(box, "left") <= 1
        assert percent(box, "width") >= 0
