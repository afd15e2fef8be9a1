"""Bars are as long as their values."""

import pytest

from tests.report.charts.drawn import found, percent
from understudy.report.charts import bar_chart


def test_bars_and_their_baselines_are_as_long_as_their_values():
    html = bar_chart(
        ["fire", "move"],
        {"accuracy": [0.8, 0.3]},
        title="t",
        baseline={"accuracy": [0.6, None]},
        limits=(0, 1),
    )
    assert [percent(bar, "width") for bar in found(html, "bar")] == [0.8, 0.3]
    assert [percent(mark, "left") for mark in found(html, "baseline")] == [0.6]


def test_negative_bars_run_left_of_zero():
    first, second = found(bar_chart(["a", "b"], {"s": [-1, 3]}, title="t"), "bar")
    assert percent(first, "left") + percent(first, "width") == pytest.approx(
        percent(second, "left")
    )
