"""Levels and the dead, against the rules applied one second at a time."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.games.dota.small_matches import small_match, small_tables, small_timeline, swap_sides
from understudy.games.dota import facts
from understudy.games.dota.features.deaths import LEVELS, RESPAWN, level_of, still_dead, victims
from understudy.games.dota.features.timeline import build_timeline

KEYS = {slot: facts.heroes()[slot + 1].key for slot in range(10)}  # hero_id is slot + 1


def test_a_level_is_reached_with_its_last_point_of_experience():
    assert len(LEVELS) == len(RESPAWN) == 30
    assert (np.diff(LEVELS) > 0).all() and (np.diff(RESPAWN) >= 0).all()
    assert level_of(LEVELS.astype(float)).tolist() == list(range(1, 31))
    assert level_of(LEVELS[1:] - 1.0).tolist() == list(range(1, 30))
    assert level_of(np.array([0.0, 10**6])).tolist() == [1, 30]


def fought(deaths, buybacks, minutes=8, pace=900):
    """A match in which slots die and buy back at these seconds; each gains `pace` a minute."""
    raw = small_match(minutes=minutes)
    for slot, player in enumerate(raw["players"]):
        player["xp_t"] = [pace * k for k in range(minutes + 1)]
        player["kills_log"] = []
        player["buyback_log"] = [{"time": t} for victim, t in buybacks if victim == slot]
    for victim, t in deaths:
        killer = raw["players"][(victim + 5) % 10]
        killer["kills_log"].append({"time": t, "key": KEYS[victim]})
    return raw


def dead_by_the_clock(match, deaths, buybacks):
    """[R, 2] twice, by asking at each row for each slot who was killed and is not back."""
    count, seconds = np.zeros((len(match.t), 2)), np.zeros((len(match.t), 2))
    for row, now in enumerate(match.t.tolist()):
        for slot in range(10):
            waits = [0.0]
            for victim, t in deaths:
                if victim != slot or t > now:
                    continue
                known = -(-max(t, 0) // 60)  # the row the death is known from
                xp = match.players["xp"][max(known - 1, 0), slot]
                back = t + RESPAWN[level_of(np.array([xp]))[0] - 1]
                bought = [s for buyer, s in buybacks if buyer == slot and s >= t]
                if back > now and min(bought, default=10**6) > now:
                    waits.append(back - now)
            count[row, slot // 5] += max(waits) > 0
            seconds[row, slot // 5] += max(waits)
    return count, seconds


MOMENTS = st.tuples(st.integers(0, 9), st.integers(0, 480))


@given(st.lists(MOMENTS, max_size=8), st.lists(MOMENTS, max_size=4))
@example([(3, 110), (3, 115), (3, 70)], [(3, 72)])  # killed three times within two minutes
@settings(max_examples=40, deadline=None)
def test_the_dead_are_those_whom_the_clock_has_not_brought_back(deaths, buybacks):
    match = small_timeline(fought(deaths, buybacks))
    for found, expected in zip(
        still_dead(match), dead_by_the_clock(match, deaths, buybacks), strict=True
    ):
        np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize(
    ("t", "dead", "seconds"), [(61, 1, 41), (80, 1, 60), (81, 2, 61 + 1), (120, 2, 100 + 40)]
)
def test_the_longest_death_reaches_two_rows_at_most(t, dead, seconds):
    """100 s at level 30, which everybody has from minute 1 on."""
    count, left = still_dead(small_timeline(fought([(0, t)], [], pace=70_000)))
    assert count[:, 0].tolist() == [0, 0] + [1] * dead + [0] * (7 - dead)
    assert left.sum() == seconds


def test_nobody_dies_where_nothing_is_known_of_the_victim():
    raw = fought([], [])
    raw["players"][0]["kills_log"] = [
        {"time": 100, "key": "npc_dota_hero_of_tomorrow"},
        {"time": 110, "key": facts.heroes()[120].key},  # not in this match
        {"time": 10_000, "key": KEYS[7]},  # after the last minute
    ]
    match = small_timeline(raw)
    assert victims(match).tolist() == [-1, -1, 7]
    assert not still_dead(match)[0].any() and not still_dead(match)[1].any()


def test_swapped_sides_swap_the_dead():
    tables = small_tables(fought([(0, 100), (6, 100), (7, 170)], [(6, 110)]))
    one, other = (still_dead(build_timeline(some)) for some in (tables, swap_sides(tables)))
    for mine, turned in zip(one, other, strict=True):
        assert mine.any() and mine[:, ::-1] == pytest.approx(turned)
