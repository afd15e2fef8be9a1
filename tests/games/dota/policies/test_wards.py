"""Where wards go: cells, maps, mixtures, and which wards stand, by hand and by definition."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.games.dota.small_matches import (
    late_match,
    made_up,
    small_match,
    small_tables,
    swap_sides,
)
from understudy.errors import InputError
from understudy.games.dota.policies import own_wards, recipes, ward_counts, ward_fates, wards
from understudy.games.dota.policies.wards import GRID, HIGH, LOW, SIZE, WardSpots


@pytest.fixture(scope="module")
def rows():
    return wards.placements(made_up(30))


@pytest.fixture
def sharp(monkeypatch):
    """Maps as they are counted: to blur them takes a second."""
    monkeypatch.setattr(wards, "BLURS", (0.0,))


@given(st.floats(0, 256), st.floats(0, 256))
def test_a_place_is_within_its_cell_or_at_the_border(x, y):
    cell = int(wards.cell_of(np.array([x]), np.array([y]))[0])
    half = (HIGH - LOW) / GRID / 2
    for place, middle in zip((x, y), wards.centre_of(cell), strict=True):
        inside = min(max(place, LOW), HIGH)
        assert abs(inside - middle) <= half + 1e-9


def test_every_cell_is_that_of_its_own_middle():
    x, y = (np.array(part) for part in zip(*map(wards.centre_of, range(SIZE)), strict=True))
    np.testing.assert_array_equal(wards.cell_of(x, y), np.arange(SIZE))


def placed(slot, *wards_, match=None, left=()):
    raw = match or small_match(minutes=12)
    raw["players"][slot]["obs_log"] = [
        {"time": t, "x": x, "y": 100.0, "ehandle": handle} for t, x, handle in wards_
    ]
    raw["players"][slot]["obs_left_log"] = [
        {"time": t, "x": 1.0, "y": 1.0, "ehandle": handle} for t, handle in left
    ]
    return small_tables(raw)


@pytest.mark.parametrize(
    ("lead", "slot", "ahead"),
    [(2999, 0, 1), (3000, 0, 2), (-3000, 0, 0), (3000, 5, 0), (-3000, 5, 2), (-2999, 5, 1)],
)
def test_who_is_ahead_goes_by_the_side_that_places(lead, slot, ahead):
    match = small_match(minutes=12, radiant_gold_adv=[lead] * 13)
    assert wards.placements(placed(slot, (200, 90.0, 1), match=match)).ahead.tolist() == [ahead]


def test_towers_taken_count_for_the_side_and_up_to_three():
    fallen = [
        {"time": 60, "type": "building_kill", "key": f"npc_dota_badguys_tower{k}_{lane}"}
        for k in (1, 2)
        for lane in ("mid", "top", "bot")
    ]
    for slot, towers in ((0, 6), (5, 0)):
        raw = small_match(minutes=12, objectives=fallen)
        assert wards.placements(placed(slot, (300, 90.0, 1), match=raw)).towers.tolist() == [towers]
    raw = small_match(minutes=12, objectives=fallen[:1])
    early = wards.placements(placed(0, (59, 90.0, 1), (60, 90.0, 2), match=raw))
    assert early.towers.tolist() == [3, 4]


def test_a_ward_without_a_place_or_an_end():
    tables = placed(3, (100, None, 1), (150, 80.0, 2), (160, 81.0, 3), left=[(400, 3)])
    found = wards.placements(tables)
    assert found.t.tolist() == [150, 160]
    assert np.isnan(found.life[0]) and found.life[1] == 240
    assert len(wards.placements(small_tables())) == 0


def test_a_ward_before_the_first_minute_known_has_that_minutes_state():
    match = late_match(120, minutes=12, radiant_gold_adv=[5000, -5000, *[0] * 11])
    found = wards.placements(placed(0, (-20, 90.0, 1), (170, 90.0, 2), (185, 90.0, 3), match=match))
    assert found.ahead.tolist() == [2, 2, 0]


def test_swapped_sides_place_the_same_wards():
    tables = made_up(6)
    one, other = wards.placements(tables), wards.placements(swap_sides(tables))
    np.testing.assert_array_equal(one.team, 1 - other.team)
    for name in ("cell", "t", "ahead", "towers", "life"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize(
    ("now", "team", "places"),
    [
        (100, 0, [90.0]),
        (99, 0, []),
        (160, 0, [90.0, 95.0]),
        (200, 0, [95.0]),  # the first is gone at 200
        (510, 0, []),  # 360 s after 150 it has run out
        (509, 0, [95.0]),
        (160, 1, []),
    ],
)
def test_wards_that_stand_now(now, team, places):
    tables = placed(2, (100, 90.0, 1), (150, 95.0, 2), left=[(200, 1)])
    assert [x for x, _ in wards.standing(tables, team, now)] == places


# --- maps ----------------------------------------------------------------------------------------


def test_every_map_counts_every_ward_and_every_line_is_a_distribution(rows):
    counts = wards.counted(rows)
    assert all(table.sum() == len(rows) for table in counts.values())
    one = counts["side"][1]
    np.testing.assert_array_equal(one, np.bincount(rows.cell[rows.team == 1], minlength=SIZE))
    for table in wards.mixture(counts).values():
        np.testing.assert_allclose(table.sum(axis=1), 1)
    nothing = wards.mixture(wards.counted(rows.where(slice(0, 0))))
    assert all((table == 1 / SIZE).all() for table in nothing.values())


@given(st.integers(0, SIZE - 1), st.floats(0.3, 3.0))
@settings(max_examples=20, deadline=None)
def test_blurring_keeps_the_sum_and_spreads_evenly(cell, std):
    table = np.zeros((1, SIZE))
    table[0, cell] = 5.0
    soft = wards.blurred(table, std)
    assert soft.sum() == pytest.approx(5) and (soft >= 0).all()
    turned = wards.blurred(table.reshape(GRID, GRID).T.reshape(1, SIZE), std)
    np.testing.assert_allclose(turned.reshape(GRID, GRID).T.ravel(), soft[0])
    assert wards.blurred(table, 0.0) is table


def test_maps_by_themselves_lean_on_the_side_where_few_wards_were_placed(rows):
    counts = wards.counted(rows)
    maps = wards.leaning(counts)
    assert {name: len(table) for name, table in maps.items()} == wards.SIZES
    for name, table in maps.items():
        np.testing.assert_allclose(table.sum(axis=1), 1)
        empty = counts[name].sum(axis=1) == 0
        team = np.arange(len(table)) // (len(table) // 2)
        np.testing.assert_allclose(table[empty], maps["side"][team[empty]])
    soft = wards.blurred(counts["side"], wards.SOFT)
    number = soft.sum(axis=1, keepdims=True)
    even = wards.OF_ALL / SIZE
    np.testing.assert_allclose(maps["side"], (soft + even) / (number + wards.OF_ALL))


@pytest.mark.parametrize(("t", "stage"), [(-90, 0), (-30, 1), (0, 2), (59, 3), (60, 4), (9000, 17)])
def test_a_stage_begins_with_its_second(rows, t, stage):
    here = replace(rows.where(np.arange(2)), t=np.full(2, t), team=np.array([0, 1]))
    assert wards.conditions(here)["side, stage"].tolist() == [stage, 18 + stage]


def test_the_weights_cannot_be_bettered_by_moving_any(rows, sharp):
    train, val = rows.where(rows.match_id % 2 == 0), rows.where(rows.match_id % 2 == 1)
    spots = wards.fit(train, val, rounds=400)
    assert spots.weights.sum() == pytest.approx(1) and (spots.weights >= 0).all()
    maps = WardSpots(wards.counted(train), spots.weights, wards.PLAIN)
    given = maps.parts(val)[np.arange(len(val)), :, val.cell]
    best = np.log(given @ spots.weights).sum()
    for k in range(len(spots.weights)):
        moved = 0.98 * spots.weights + 0.02 * np.eye(len(spots.weights))[k]
        assert np.log(given @ moved).sum() < best + 0.05
    assert spots.counts["side"].sum() == len(rows)


def test_the_baseline_is_counts_with_some_of_an_even_map(rows, sharp):
    chance = ward_counts.baseline(rows, rows).chances(rows.where(slice(0, 30)))
    np.testing.assert_allclose(chance.sum(axis=1), 1)
    both = wards.mixture(wards.counted(rows))["side, time", 0.0]
    share = (chance.min(axis=1) * SIZE)[0]
    assert share == pytest.approx(
        min(ward_counts.EVEN_SHARES)
    )  # known wards: little of it is needed
    band = int(rows.team[0] * wards.BANDS + min(rows.t[0] // wards.BAND, wards.BANDS - 1))
    np.testing.assert_allclose(chance[0], (1 - share) * both[band] + share / SIZE)


def test_counts_go_on_a_block_late_and_never_with_the_match_itself(rows, monkeypatch):
    monkeypatch.setattr(ward_counts, "BLOCK", 3)
    order = np.random.default_rng(0).permutation(np.unique(rows.match_id))
    seen = []

    def chances(counts, some):
        seen.append((counts["side"].sum(), set(some.match_id.tolist())))
        return np.full((len(some), SIZE), len(seen))

    before = {name: 2 * table for name, table in wards.counted(rows).items()}
    found = ward_counts.counting_on(before, rows, order, chances)
    blocks = [set(order[k : k + 3].tolist()) for k in range(0, len(order), 3)]
    assert [numbers for _, numbers in seen] == blocks
    size = [np.isin(rows.match_id, list(block)).sum() for block in blocks]
    known = [2 * len(rows) + sum(size[: max(k - 1, 0)]) for k in range(len(blocks))]
    assert [count for count, _ in seen] == known
    for k, block in enumerate(blocks, start=1):
        assert (found[np.isin(rows.match_id, list(block)), 0] == k).all()


def test_models_are_read_back_with_how_wards_fared(rows, sharp, tmp_path):
    spots = wards.fit(rows, rows, rounds=3)
    asked = wards.PLAIN + 0.5
    model = ward_fates.WardModel(spots, asked, ward_fates.fates(rows))
    recipes.save_wards(tmp_path / "wards.npz", {"obs": model})
    (read,) = recipes.load_wards(tmp_path / "wards.npz").values()
    few = rows.where(slice(0, 20))
    for near in (None, asked):
        np.testing.assert_allclose(read.spots.chances(few, near), spots.chances(few, near))
    assert spots.chances(rows.where(slice(0, 0))).shape == (0, SIZE)
    np.testing.assert_array_equal(read.asked, asked)
    team, cell = 0, int(np.bincount(rows.cell[rows.team == 0]).argmax())
    seen = ~np.isnan(rows.life) & (rows.team == team)
    own, mean = rows.life[seen & (rows.cell == cell)], rows.life[seen].mean()
    expected = (own.sum() + 5 * mean) / (len(own) + 5)
    assert read.fates.stands[team, cell] == pytest.approx(expected)
    empty = np.setdiff1d(np.arange(SIZE), rows.cell)[0]
    assert read.fates.stands[team, empty] == pytest.approx(mean)
    early = (rows.life[seen] < 345).mean()
    assert read.fates.taken[team, empty] == pytest.approx(early, abs=1e-6)
    with pytest.raises(InputError, match=r"cannot be read .* understudy train dota wards"):
        recipes.load_wards(tmp_path / "nothing.npz")
    arrays = dict(np.load(tmp_path / "wards.npz"))
    for name in ("obs_stands", "obs_weights"):
        np.savez(tmp_path / "wrong.npz", **arrays | {name: arrays[name] * np.nan})
        with pytest.raises(InputError, match=f"'{name}' holds what is no number"):
            recipes.load_wards(tmp_path / "wrong.npz")


# --- the side's own wards ------------------------------------------------------------------------


def test_own_wards_are_known_in_strictly_earlier_seconds():
    tables = placed(2, (100, 90.0, 1), (150, 95.0, 2), (150, 99.0, 3), left=[(140, 1)])
    found = wards.placements(tables)
    ages = [[x for x in row if x == x] for row in found.own[:, :, 2].tolist()]
    assert ages == [[], [50.0], [50.0]]
    assert found.own[1, 0].tolist() == [90.0, 100.0, 50.0, 0.0]  # gone at 140
    asked = wards.placements(tables, whole_minutes=True)
    assert np.isnan(asked.own[0]).all() and asked.own[1, 0, 2] == 20.5  # asked at 120.5
    assert asked.own[1, 0, 3] == 1  # and it stood then


def test_what_is_near_is_counted_by_hand():
    """A ward stands 5 cells away for 100 s, one 2 away is gone; a sentry was placed just here."""
    own = [(0.0, 360.0, 105.0, 100.0), (10.0, 90.0, 102.0, 100.0)]
    other = [(95.0, 500.0, 100.0, 100.0), (1.0, 500.0, 100.0, 100.0)]
    mine, theirs = own_wards.known_at(own, other, 100.0)
    place = np.array([100.0])
    (row,) = own_wards.columns(mine[None], theirs[None], place, place)[0]
    told = dict(zip(own_wards.COLUMNS, row.tolist(), strict=True))
    assert [told[f"standing within {near}"] for near in (3, 6, 10, 16)] == [0, 1, 1, 1]
    assert told["stood here"] == told["stood here lately"] == 1
    assert told["placed within 4 in the last 15 s"] == 0
    assert told["placed within 4 in the last 90 s"] == 1
    assert told["of the other kind within 4 in the last 15 s"] == 1
    assert told["of the other kind within 4 in the last 90 s"] == 1
    nothing = own_wards.known_at([], [], 100.0)
    assert not own_wards.columns(nothing[0][None], nothing[1][None], place, place).any()


def test_wards_of_an_older_map_are_left_out(rows, monkeypatch):
    half = rows.match_id % 2 == 0
    mixed = replace(rows, patch=np.where(half, 56, 57))
    monkeypatch.setattr(wards, "FEWEST", 5)
    np.testing.assert_array_equal(wards.newest_map(mixed), ~half)
    assert wards.newest_map(replace(rows, patch=np.where(half, 55, 56))).all()  # one map
    monkeypatch.setattr(wards, "FEWEST", len(rows) + 1)
    assert wards.newest_map(mixed).all()  # too few of the new one
