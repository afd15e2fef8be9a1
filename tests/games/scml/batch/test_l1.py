"""L1 inside the compiled world plays as the hosted agent, contract by contract."""

import pytest

from tests.games.scml.batch import live
from understudy.games.scml.batch.worlds import Log, Worlds
from understudy.games.scml.engine.config import draw
from understudy.games.scml.reference.verify import Case
from understudy.games.scml.reference.verify_batch import compare_batch

PLAYERS = ["L1", "L1Risk", "Greedy", "Random", "Steward"]


@pytest.mark.parametrize("seed", range(3))
def test_contracts_and_scores_are_those_of_the_hosted_agent(seed):
    config, players = live.mixed(seed, PLAYERS)
    played = config, players, seed, seed % 2 == 1
    host, worlds, log = live.hosted(*played), Worlds([live.compiled(*played)]), Log.of(1, 15)
    assert not len(worlds.play(log))
    assert len(host.contracts) > 10
    assert live.results(worlds, log, 0, len(players)) == (host.contracts, host.scores)


def test_in_oneshot_worlds_too():
    players = ["L1", "L1", "DoNothing", "L1", "L1"]
    played = draw([2, 3], 15, 3, "oneshot"), players, 3
    host, worlds, log = live.hosted(*played), Worlds([live.compiled(*played)]), Log.of(1, 15)
    worlds.play(log)
    assert len(host.contracts) > 10
    assert live.results(worlds, log, 0, len(players)) == (host.contracts, host.scores)


def test_negotiations_that_are_nearly_equal_are_served_by_name_as_live():
    """In this world two scores of L4's teacher differ in their last bits alone."""
    players = ("Random", "AS0", "Steward", "L1", "SyncRandom", "Greedy")
    case = Case("std", "mixed", players, (2, 2, 2), 23, 958_095)
    assert compare_batch(case).differences == []
