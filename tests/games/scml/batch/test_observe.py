"""What a learner of the compiled world knows is what the same agent knows live, bit for bit."""

import pytest

from tests.games.scml.batch import live
from understudy.games.scml.batch.observe import questions_of
from understudy.games.scml.batch.worlds import Log, Worlds
from understudy.games.scml.domain import SafetySettings
from understudy.games.scml.engine.config import draw
from understudy.games.scml.view.observe import observed

PLAYERS = ["HRL", "HRL", "Watched L1", "Watched L1", "Greedy", "Random", "Steward"]


def compare(config, players, seed, conserve, risk=0.0):
    """Play both, the compiled world with the hosted agents' answers; how many were compared."""
    host = live.hosted(config, players, seed, conserve, risk)
    worlds = Worlds([live.compiled(config, players, seed, conserve)])
    log, turn = Log.of(1, config.steps), dict.fromkeys(host.kept, 0)
    while len(waiting := worlds.play(log)):
        asked = questions_of(worlds.fixed, worlds.state, waiting)
        me = int(asked.factory[0])
        kept = host.kept[me][turn[me]]
        turn[me] += 1
        assert live.equal(asked.columns, kept.columns)
        assert live.equal(observed(asked.columns, SafetySettings(risk=risk)), kept.seen)
        live.answer(worlds, 0, host.names, kept)
    assert live.results(worlds, log, 0, len(players)) == (host.contracts, host.scores)
    assert turn == {me: len(kept) for me, kept in host.kept.items()}
    return sum(turn.values())


@pytest.mark.parametrize("seed, risk", [(0, 0.0), (1, 0.0), (2, 0.0), (0, 0.5), (1, 0.3)])
def test_columns_and_features_are_those_of_live_play(seed, risk):
    config, players = live.mixed(seed, PLAYERS)
    assert compare(config, players, seed, seed % 2 == 1, risk) > 20


def test_an_offer_that_came_too_late_to_be_answered_is_not_remembered():
    """Random talks to the last round, in which nobody asks what we say to it."""
    config, players = live.mixed(0, ["HRL", "Watched L1", "Random"])
    assert compare(config, players, 0, conserve=False) > 20


def test_oneshot_worlds_are_remembered_alike():
    config = draw([3, 2], 12, 5, "oneshot")
    players = ["HRL", "Watched L1", "HRL", "Watched L1", "HRL"]
    assert compare(config, players, 5, conserve=False, risk=0.5) > 100
