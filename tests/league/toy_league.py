"""The toy game of `docs/adding.md`, and leagues of it."""

import functools
import re
import sys
import types
from pathlib import Path

import numpy as np
import pyarrow as pa

from understudy.games import PlayerRef
from understudy.games.pairs import Fixture
from understudy.league.hooks import Contestant
from understudy.league.recipe import three_roles, with_baselines
from understudy.league.season import Season

PAGE = Path(__file__).parents[2] / "docs" / "adding.md"
NAME = "understudy.games.rps"


@functools.cache
def toy():
    """The module that the page shows."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (code,) = [block for block in blocks if "GAME = Game(" in block]
    assert code.count("\n") < 150
    module = types.ModuleType(NAME)
    exec(compile(code, str(PAGE), "exec"), module.__dict__)
    sys.modules[NAME] = module
    return module


def play(pairings):
    """Pairings as fixtures of the toy."""
    rows = []
    for pairing in pairings:
        for players in (pairing.players, pairing.players[::-1]):
            refs = tuple(PlayerRef(one.name, one.weights) for one in players)
            rows.append(toy().play(Fixture(refs, pairing.seeds)).results)
    return pa.concat_tables(rows) if rows else toy().RESULTS.arrow().empty_table()


def recipe(name="quick", **changes):
    """A recipe of the page, or a like one with other numbers."""
    if not changes:
        return toy().league().recipes[name]
    numbers = {"description": "a toy", "rounds": 12, "agent_steps": 240, "matches": 100}
    return with_baselines("quick", three_roles(**numbers | changes))[name]


def season(folder, name="quick", *, seed=0, improve=None, play=play, many=None, **changes):
    more = {} if many is None else {"many": many}
    return Season(
        folder=folder,
        game="rps",
        recipe=recipe(name, **changes),
        start=Contestant("rock"),
        scripted=(),
        results=toy().RESULTS,
        play=play,
        improve=improve or toy().improve,
        seed=seed,
        **more,
    )


def strategies(season, state):
    """What each player of a league does, by name."""
    return {name: toy().strategy(season.contestant(name)) for name in state.roster.members()}


def average(strategy, mixture):
    """What a mixture of players does."""
    return sum(share * strategy[name] for name, share in mixture.items()) / sum(mixture.values())


def distance(strategy):
    """From playing evenly."""
    return float(np.abs(strategy - 1 / 3).sum() / 2)
