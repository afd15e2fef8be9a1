"""Samples in memory: rows chosen, changed, weighed, turned around, and read back from shards."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.games.dota.small_matches import (
    blank_samples,
    known_of,
    made_up,
    samples_from,
    small_match,
    small_tables,
    swap_sides,
)
from understudy.data import shards
from understudy.errors import InputError
from understudy.games.dota.features.encode import VALUE, encode
from understudy.games.dota.features.samples import (
    ALL_NAMES,
    Samples,
    read_samples,
    samples_of,
    swapped,
)


@pytest.fixture(scope="module")
def tables():
    return made_up(6)


def test_swapping_rows_is_swapping_the_tables_they_come_from(tables):
    here, turned = swapped(samples_from(tables)), samples_from(swap_sides(tables))
    np.testing.assert_allclose(here.features, turned.features, atol=0.02, rtol=1e-5)
    for name, values in here.labels.items():
        np.testing.assert_array_equal(values, turned.labels[name])


def test_samples_are_written_and_read_back_over_shards(tables, tmp_path):
    rows = encode(tables, known_of(tables))[VALUE.name]
    for key, part in (("00002", rows.slice(50)), ("00001", rows.slice(0, 50))):
        shards.write_shard(shards.shard_path(tmp_path, VALUE, key), part)
    read, whole = read_samples(tmp_path), samples_from(tables)
    np.testing.assert_array_equal(read.features, whole.features)
    np.testing.assert_array_equal(read.match_id, whole.match_id)
    np.testing.assert_array_equal(read.labels["y_dxp_adv"], whole.labels["y_dxp_adv"])
    with pytest.raises(InputError, match=r"holds no dota\.value\. Make some: understudy encode"):
        read_samples(tmp_path / "nothing")


def test_a_count_beyond_a_byte_is_held_at_its_end():
    match = small_match(minutes=6)
    match["players"][7]["purchase_log"] = [{"time": 1, "key": "blink"}] * 200
    tables = small_tables(match)
    rows = encode(tables, known_of(tables), horizon=60)[VALUE.name]
    assert rows["has_blink"].to_pylist() == [0] + [-127] * 5
    assert rows["spent"][1].as_py() == 90 - 200 * 2250  # a tango on the other side


@pytest.mark.parametrize(("horizon", "rows"), [(60, 12), (180, 10), (720, 1), (780, 0)])
def test_a_row_needs_a_state_at_its_horizon(horizon, rows):
    tables = small_tables(small_match(minutes=12))
    samples = samples_from(tables, horizon)
    assert len(samples) == rows
    assert samples.labels["y_dgold_adv"].tolist() == [50 * horizon / 60] * rows
    assert samples.labels["y_dxp_adv"].tolist() == [100 * horizon / 60] * rows


@given(st.lists(st.integers(1, 5), min_size=1, max_size=30))
@settings(max_examples=30)
def test_weights_are_one_over_the_rows_of_a_match(numbers):
    weight = blank_samples(numbers).weights()
    assert weight.tolist() == [1 / numbers.count(number) for number in numbers]


def test_matches_are_outlined_in_the_order_they_began():
    rows = blank_samples([3, 3, 1, 2, 2])
    start = np.array([50, 50, 90, 50, 50])
    patch = np.array([57, 57, 58, 56, 56])
    outline = Samples(rows.features, rows.match_id, patch, start, {}).outline()
    assert outline.match_id.tolist() == [2, 3, 1]  # both began at 50: by number then
    assert outline.patch.tolist() == [56, 57, 58] and outline.start_time.tolist() == [50, 50, 90]


def test_rows_of_matches_and_rows_after_the_horn():
    rows = blank_samples([1, 1, 2, 2], {"y_win": np.arange(4.0)}, t=[0, 60, 0, 60])
    assert rows.of(np.array([2, 9])).labels["y_win"].tolist() == [2, 3]
    assert rows.begun().labels["y_win"].tolist() == [1, 3]
    assert len(rows.of(np.array([9]))) == 0
    assert rows.columns(("t", "t_min")).tolist() == [[0, 0], [60, 0], [0, 0], [60, 0]]
    assert rows.column("t").dtype == np.float64


def test_a_row_is_altered_once_for_each_change_and_stays_itself():
    one = blank_samples([7], kills=[2])
    found = one.altered([{"kills": 1, "towers_1": -2}, {}, {"kills": -3}])
    assert found.column("kills").tolist() == [3, 2, -1]
    assert found.column("towers_1").tolist() == [-2, 0, 0]
    assert one.column("kills").tolist() == [2] and found.match_id.tolist() == [7, 7, 7]
    with pytest.raises(AssertionError, match="one row is altered at a time, not 2"):
        blank_samples([1, 2]).altered([{}])


def test_labels_may_be_missing_and_features_may_not():
    columns = dict.fromkeys(ALL_NAMES, np.zeros(2))
    columns |= dict.fromkeys(("match_id", "patch", "start_time"), np.array([1, 2]))
    assert samples_of(columns).labels == {}
    del columns["kills"]
    with pytest.raises(KeyError, match="kills"):
        samples_of(columns)
