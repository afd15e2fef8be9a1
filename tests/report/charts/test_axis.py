"""Numbers are written short, and an axis spans what it is given."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.report.charts.drawn import INF, NAN, anything
from understudy.report.charts.axis import axis, finite, ticks_across, written


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
    assert written(value) == text


def test_what_is_nothing_has_no_sign():
    assert written(-1e-17, "percent") == written(0.0, "percent") == "0.0\u00a0%"
    ticks = axis([-0.5, 0.5]).texts("percent")
    assert not any(tick.startswith("-0\u00a0") for tick in ticks)


def test_shares_are_written_in_percent():
    assert written(0.5, "percent") == "50.0\u00a0%"


@given(st.lists(anything), st.booleans(), st.booleans())
def test_an_axis_spans_its_values(values, log, snug):
    found = axis(values, log=log, snug=snug)
    kept = [number for number in map(finite, values) if number is not None]
    assert found.low < found.high
    assert len(found.ticks) <= 20
    assert len(found.texts("number")) == len(found.ticks)
    for value in kept:
        if value > 0 or not log:
            assert -1e-6 <= found.share(value) <= 1 + 1e-6


@pytest.mark.parametrize("value", [5e-324, -1e-300, 0, 1e301, -INF, NAN, 10**400, "1", None])
def test_what_floats_cannot_measure_apart_is_zero_or_nothing(value):
    assert finite(value) in (0.0, None)


def test_an_axis_has_round_ticks():
    assert axis([0.13, 4.7]).ticks == (0, 1, 2, 3, 4, 5)
    assert axis([1, 2, 4], snug=True, whole=True).ticks == (1, 2, 3, 4)  # rounds
    assert 1.5 in axis([1, 2, 4], snug=True).ticks
    assert axis([0, 20_000], snug=True).texts("number") == ["0", "5000", "10k", "15k", "20k"]
    assert axis([3, 2000], log=True).ticks == (10, 100, 1000)


def test_close_values_keep_distinct_ticks():
    for values in ([100_000, 100_001], [1, 1.000001], [0, 3e-4], [0, 2.5]):
        texts = axis(values).texts("number")
        assert len(set(texts)) == len(texts) > 2


def test_names_at_the_ends_of_an_axis_do_not_stand_out_of_the_page():
    found = ticks_across(axis([0, 1], snug=True), "percent")
    assert found.count('class="first"') == found.count('class="last"') == 1
    assert found.index('class="first"') < found.index(">20\u00a0%<") < found.index('class="last"')
