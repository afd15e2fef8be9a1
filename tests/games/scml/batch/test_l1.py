"""L1 inside the compiled world plays as the hosted agent, contract by contract."""

import pytest

from tests.games.scml.batch import live
from understudy.games.scml.batch.worlds import Log, Worlds
from understudy.games.scml.engine.config import draw

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
