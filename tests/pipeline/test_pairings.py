"""Who meets whom in games of two: each seed twice with sides swapped, and never doubled."""

from collections import Counter

import pyarrow.parquet as pq
import pytest

from understudy import games
from understudy.data.players import PlayerRef
from understudy.data.runs import COMPETE as COMPETE_PURPOSE
from understudy.data.runs import RECORD as RECORD_PURPOSE
from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.pipeline import compete as compete_stage
from understudy.pipeline import pairings

ARENA = games.load("arena")


def test_every_seed_is_met_twice_with_sides_swapped_and_no_match_is_doubled():
    me, you = PlayerRef("me"), PlayerRef("you")
    plan = pairings.fixtures([(me, me), (me, you)], 251, 3, RECORD_PURPOSE)
    played = [(f.players, seed) for f in plan.values() for seed in f.seeds]
    assert len(set(played)) == len(played) == 251
    assert Counter(players for players, _ in played) == {
        (me, me): 126,
        (me, you): 63,
        (you, me): 62,
    }
    seeds = {pair: {s for p, s in played if p == pair} for pair in [(me, you), (you, me)]}
    assert seeds[you, me] < seeds[me, you]
    assert max(len(f.seeds) for f in plan.values()) == pairings.MATCHES_PER_TASK


def test_no_two_purposes_or_seeds_share_a_match():
    me, you = PlayerRef("me"), PlayerRef("you")
    seen = [
        {
            seed
            for f in pairings.fixtures([(me, you)] * 3, 99, seed, purpose).values()
            for seed in f.seeds
        }
        for seed in (0, 1, 2)
        for purpose in (RECORD_PURPOSE, COMPETE_PURPOSE)
    ]
    assert sum(map(len, seen)) == len(set.union(*seen))


def test_seeds_never_run_into_those_of_another_purpose():
    me, you = PlayerRef("me"), PlayerRef("you")
    with pytest.raises(InputError, match="too many matches"):
        pairings.fixtures([(me, you)] * 10**5, 1001, 0, RECORD_PURPOSE)


def test_some_matches_of_each_pair_and_side_are_kept_for_replays(tmp_path):
    refs = [PlayerRef("expert"), PlayerRef("rusher")]
    schedule = pairings.to_compete(ARENA, refs, matches=120, keep=2)
    competition = compete_stage.compete(ARENA, Run(tmp_path), schedule, worker=0, quiet=True)
    assert len(competition.results) == 2 * 120
    paths = (tmp_path / "results").rglob("steps-*.parquet")
    filmed = {match for path in paths for match in pq.read_table(path)["match"].to_pylist()}
    assert Counter(name.rsplit("-", 1)[0] for name in filmed) == {
        "expert-rusher": 2,
        "rusher-expert": 2,
    }
