"""Leagues of rock, paper, scissors, and what its players do."""

import numpy as np
import pyarrow as pa

from tests.league import rps
from understudy.data.players import PlayerRef
from understudy.league.recipe import three_roles, with_baselines
from understudy.league.season import Season
from understudy.pipeline.pairings import Fixture

NAME = "understudy.games.rps"
"""What `games.load` imports it as, once a test has put it there."""


def play(pairings):
    """Pairings as fixtures of the toy."""
    rows = []
    for pairing in pairings:
        for players in (pairing.players, pairing.players[::-1]):
            rows.append(rps.play(Fixture(players, pairing.seeds)).results)
    return pa.concat_tables(rows) if rows else rps.RESULTS.arrow().empty_table()


def recipe(name="quick", **changes):
    """A recipe of the game's, or a like one with other numbers."""
    if not changes:
        return rps.league().recipes[name]
    numbers = {"description": "a toy", "rounds": 12, "agent_steps": 240, "matches": 100}
    return with_baselines("quick", three_roles(**numbers | changes))[name]


def season(folder, name="quick", *, seed=0, improve=None, play=play, many=None, **changes):
    more = {} if many is None else {"many": many}
    return Season(
        folder=folder,
        game="rps",
        recipe=recipe(name, **changes),
        start=PlayerRef("rock"),
        scripted=(),
        results=rps.RESULTS,
        play=play,
        improve=improve or rps.improve,
        seed=seed,
        **more,
    )


def strategies(season, state):
    """What each player of a league does, by name."""
    return {name: rps.strategy(season.player_ref(name)) for name in state.roster.members()}


def average(strategy, mixture):
    """What a mixture of players does."""
    return sum(share * strategy[name] for name, share in mixture.items()) / sum(mixture.values())


def distance(strategy):
    """From playing evenly."""
    return float(np.abs(strategy - 1 / 3).sum() / 2)
