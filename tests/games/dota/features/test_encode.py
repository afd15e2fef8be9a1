"""No row sees its future: whatever happens after t, the features at t stay as they were."""

import numpy as np
import pytest

from tests.games.dota.small_matches import (
    DATA,
    known_of,
    needs_data,
    put,
    small_match,
    small_tables,
    swap_sides,
)
from understudy import games
from understudy.games.dota.features import features, team_rating
from understudy.games.dota.features.encode import GROUPS, VALUE, encode, names_of
from understudy.games.dota.features.timeline import build_timeline
from understudy.games.dota.sources.synthetic import World, generate
from understudy.games.dota.sources.table_import import read_tables

GAME = games.load("dota")


@pytest.fixture(scope="module")
def tables():
    (batch,) = generate(World(seed=3), 8)
    return batch.tables


def later_changed(tables, t, rng):
    """The same matches with everything after t shifted, or made up anew."""
    changed = dict(tables)
    for name in ("state_team_minute", "state_player_minute"):
        rows = tables[name]
        after = rows["t"].to_numpy() > t
        for column in rows.column_names[2 if name == "state_team_minute" else 3 :]:
            values = rows[column].to_numpy().copy()
            values[after] = rng.integers(0, 30_000, after.sum())
            rows = put(rows, **{column: values})
        changed[name] = rows
    for name, when in (("events", "t"), ("teamfights", "end")):
        times = tables[name][when].to_numpy().copy()
        after = times > t
        times[after] = t + 1 + rng.integers(0, 900, after.sum())
        changed[name] = put(tables[name], **{when: times})
    late = changed["teamfights"]["end"].to_numpy() > t
    shares = changed["teamfight_players"]
    gold = shares["gold_delta"].to_numpy().copy()
    gold[late.repeat(10)] = 12_345
    changed["teamfight_players"] = put(shares, gold_delta=gold)
    won = tables["matches"]["radiant_win"].to_numpy(zero_copy_only=False)
    changed["matches"] = put(tables["matches"], radiant_win=~won)
    return changed


def by_seeds_bucket(tables):
    """An event at τ on the row of τ // 60 * 60, a fight at its start: what the seed did."""
    times = tables["events"]["t"].to_numpy() // 60 * 60
    fights = tables["teamfights"]
    return {
        **tables,
        "events": put(tables["events"], t=times),
        "teamfights": put(fights, end=fights["start"].to_numpy() // 60 * 60),
    }


def group_of(group, tables):
    match = build_timeline(tables)
    if group == "strength":
        return match, team_rating.features(match, known_of(tables))
    return match, features.GROUPS[group](match)


def leaks(group, tables, t, rng, view=lambda tables: tables):
    """Features that differ at or before t when only later things do."""
    match, before = group_of(group, view(tables))
    _, after = group_of(group, view(later_changed(tables, t, rng)))
    rows = match.t <= t
    if group == "strength":  # the first match alone: nothing had ended before it
        rows &= match.which == 0
    return [name for name in before if not np.array_equal(before[name][rows], after[name][rows])]


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("t", [0, 60, 600, 1080])
def test_what_comes_after_t_changes_no_feature_at_t(group, t, tables):
    assert leaks(group, tables, t, np.random.default_rng(t)) == []


@pytest.mark.parametrize("group", ["objectives", "skirmish", "vision", "items"])
def test_the_seeds_bucketing_is_caught(group, tables):
    found = [leaks(group, tables, t, np.random.default_rng(t), by_seeds_bucket) for t in (600, 900)]
    assert all(found)


@needs_data
@pytest.mark.parametrize("group", GROUPS)
def test_real_matches_do_not_leak_either(group):
    tables = next(iter(read_tables(DATA))).tables
    assert leaks(group, tables, 900, np.random.default_rng(0)) == []


def test_strength_rests_on_matches_that_had_ended():
    results = [result for batch in generate(World(seed=1), 60) for result in rows(batch.tables)]
    known = team_rating.strengths(results)
    for place in (0, 20, 59):
        now = results[place].start
        changed = [r if r.end <= now else r._replace(won=not r.won) for r in results]
        assert team_rating.strengths(changed)[results[place].number] == known[results[place].number]
    flipped = [r._replace(won=not r.won) if r is results[0] else r for r in results]
    assert team_rating.strengths(flipped) != known
    # One still being played when the next begins says nothing about it.
    first, second = results[0], results[1]._replace(start=results[0].end - 1)
    both = {r.number: r._replace(teams=(1, 2)) for r in (first, second)}
    assert team_rating.strengths(both.values())[second.number].teams == 0


def rows(tables):
    return list(team_rating.results_of(tables["matches"]))


def test_strength_of_a_winner_grows_and_is_symmetric():
    def result(k, won, teams):
        return team_rating.Result(k, 10_000 * k, 10_000 * k + 2000, won, teams)

    results = [result(k, True, (1, 2)) for k in range(5)] + [result(9, True, (2, 1))]
    known = team_rating.strengths(results)
    seen = [known[k].teams for k in range(5)]
    assert seen[0] == 0 and seen == sorted(seen) and seen[-1] > 0.3
    assert known[9].teams == pytest.approx(
        -team_rating.strengths([*results[:5], result(9, True, (1, 2))])[9].teams
    )
    # First step by hand: gain 1 / (1 + 1 + 4) on either side.
    assert seen[1] == pytest.approx(2 / 6)
    assert known[4].games == 4 and known[4].unsure < known[0].unsure


def test_an_unknown_team_is_nobody_in_particular():
    tables = small_tables(small_match(1), small_match(2, radiant_team_id=None))
    known = known_of(tables)
    assert known[2].teams == 0 and known[2].games == 0


def test_features_of_a_small_match_by_hand():
    tables = small_tables(small_match(minutes=12))
    match = build_timeline(tables)
    found = {**features.features(match), **team_rating.features(match, known_of(tables))}
    assert found["radiant_gold_adv"].tolist() == [50.0 * k for k in range(13)]
    assert found["gold_adv_change_3"].tolist() == [0, 50, 100] + [150] * 10
    assert found["rad_gold_sum"][2] == 1000 and found["dire_gold_max"][2] == 180
    assert found["kills"].tolist() == [0, 0] + [-1] * 11  # at 61 s: known from 120 s on
    assert found["towers_1"].tolist() == [0] * 5 + [1] * 8  # at 300 s: known at 300 s
    # Slots 0-4 gained 100 in all, 5-9 gained 350; the fight ended at 150 s.
    assert found["fight_gold_delta"].tolist() == [0, 0, 0] + [-250] * 10
    assert found["fight_gold_delta_change_3"].tolist() == [0, 0, 0] + [-250] * 3 + [0] * 7
    assert found["spent"][0] == 90  # a tango
    assert found["level_max"][9] == 1 and found["level_max"][12] == 0  # level 5 needs 1760 xp


def test_samples_look_as_declared_and_know_what_came(tables):
    samples = encode(tables, known_of(tables), horizon=120)[VALUE.name]
    VALUE.check(samples.schema, "samples")
    state = tables["state_team_minute"].to_pandas().set_index(["match_id", "t"])
    for row in samples.slice(0, 400).to_pylist()[::37]:
        now = state.loc[row["match_id"], row["t"]]
        then = state.loc[row["match_id"], row["t"] + 120]
        assert row["radiant_gold_adv"] == now.radiant_gold_adv
        assert row["y_dgold_adv"] == then.radiant_gold_adv - now.radiant_gold_adv
        assert row["y_dxp_adv"] == then.radiant_xp_adv - now.radiant_xp_adv
    matches = tables["matches"].to_pandas()
    assert len(samples) == (matches.n_min - 2).sum()
    won = dict(zip(matches.match_id, matches.radiant_win, strict=True))
    assert all(won[r["match_id"]] == r["y_win"] for r in samples.slice(0, 90).to_pylist())


def test_patch_match_and_start_are_no_features():
    named = [name for group in GROUPS for name in names_of(group)]
    assert len(set(named)) == len(named) > 200
    assert not {"match_id", "patch", "start_time", "y_win", "y_dgold_adv", "y_dxp_adv"} & {*named}


def test_swapping_the_sides_swaps_every_feature(tables):
    """Names say what becomes of a feature; here the sides of the tables are swapped for real."""
    swapped = swap_sides(tables)
    one = {**features.features(build_timeline(tables))}
    other = {**features.features(build_timeline(swapped))}
    for name, values in one.items():
        if name.startswith("rad_"):
            expected = other["dire_" + name.removeprefix("rad_")]
        elif name.startswith("dire_"):
            expected = other["rad_" + name.removeprefix("dire_")]
        else:
            expected = other[name] if name in features.EVEN else -other[name]
        np.testing.assert_allclose(values, expected, atol=1e-9, err_msg=name)


def test_matches_without_minutes_have_no_samples_but_count():
    tables = small_tables(small_match(1), small_match(2, version=None))
    samples = encode(tables, known_of(tables))
    assert set(samples[VALUE.name]["match_id"].to_pylist()) == {1}
    counts = GAME.summarise(tables, samples)
    assert counts["matches"] == 2 and counts["matches without minutes"] == 1
    nothing = small_tables(small_match(2, version=None))
    assert len(encode(nothing, known_of(nothing))[VALUE.name]) == 0


def test_a_hero_or_item_of_a_later_patch_is_taken_as_nothing_special():
    match = small_match()
    match["players"][0]["hero_id"] = 9999
    match["players"][0]["purchase_log"] = [{"time": 100, "key": "item_of_the_future"}]
    found = features.features(build_timeline(small_tables(match)))
    assert all(np.isfinite(values).all() for values in found.values())
    assert not found["spent"].any()


def test_the_dead_are_counted_until_they_are_back():
    match = small_match(minutes=12)
    # Level 1 at 60 s, so 12 s; level 5 at 540 s, so 24 s. Axe is Radiant's slot 1.
    kills = [55, 118, 590]
    match["players"][5]["kills_log"] = [{"time": t, "key": "npc_dota_hero_axe"} for t in kills]
    found = features.features(build_timeline(small_tables(match)))
    assert found["dead"].tolist() == [0, -1, -1, 0, 0, 0, 0, 0, 0, 0, -1, 0, 0]
    assert found["dead_seconds"][[1, 2, 10]].tolist() == [-7, -10, -14]
    match["players"][1]["buyback_log"] = [{"time": 599}]
    found = features.features(build_timeline(small_tables(match)))
    assert found["dead"].tolist() == [0, -1, -1] + [0] * 10
    match["players"][1]["buyback_log"] = [{"time": 601}]  # not yet known at 600 s
    assert features.features(build_timeline(small_tables(match)))["dead"][10] == -1
