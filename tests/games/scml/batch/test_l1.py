"""L1 inside the compiled world plays as the hosted agent, contract by contract."""

import pytest

from tests.games.scml.batch import live
from understudy.games.scml.batch.players import ask
from understudy.games.scml.batch.worlds import Log, Worlds
from understudy.games.scml.engine.config import draw

PLAYERS = ["L1", "L1", "Greedy", "Random", "Steward"]


@pytest.mark.parametrize("seed", range(3))
def test_contracts_and_scores_are_those_of_the_hosted_agent(seed):
    config, players = live.mixed(seed, PLAYERS)
    played = config, players, seed, seed % 2 == 1
    host, worlds, log = live.hosted(*played), Worlds([live.compiled(*played)]), Log.of(1, 15)
    assert not len(worlds.play(log))
    assert len(host.contracts) > 10
    assert live.results(worlds, log, 0, len(players)) == (host.contracts, host.scores)


def test_in_oneshot_worlds_too():
    players, config = ["L1", "L1", "DoNothing", "L1", "L1"], draw([2, 3], 15, 3, "oneshot")
    host, log = live.hosted(config, players, 3), Log.of(1, 15)
    record = live.compiled(config, ["DoNothing"] * 5, 3)
    record["player"][[0, 1, 3, 4]] = ask.L1  # which this track's catalogue does not name
    worlds = Worlds([record])
    worlds.play(log)
    assert len(host.contracts) > 10
    assert live.results(worlds, log, 0, len(players)) == (host.contracts, host.scores)
