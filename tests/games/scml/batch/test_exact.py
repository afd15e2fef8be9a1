"""The compiled world against the hosting engine, with the same dice: the same to the last bit."""

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.games.scml.batch.plain import digests
from understudy.errors import InputError
from understudy.games.scml.batch.players.ask import NATIVE
from understudy.games.scml.batch.setup import Seat, record_of
from understudy.games.scml.batch.worlds import Worlds
from understudy.games.scml.engine.config import draw
from understudy.games.scml.reference.verify import Case
from understudy.games.scml.reference.verify_batch import comparable, compare_batch

WORLDS = [
    ("std", (4, 3), 25, 11),
    ("std", (3, 4, 3), 20, 6),
    ("std", (2, 3, 3, 2), 20, 35),
    ("std", (5, 5, 5), 12, 28),  # its stock is conserved
    ("oneshot", (4, 5), 60, 1),
    ("std", (6, 6, 6), 20, 24),
    ("oneshot", (6, 3), 12, 2),
    ("oneshot", (3, 8), 40, 4),
]
"""Track, factories per level, days, seed."""
ALIKE = {"TunedSteward", "L1Risk"}
"""Others in the list but for their numbers."""


def case(track, sizes, days, seed):
    """Every native player at least once where there are enough factories, in any order."""
    names = [name for name in NATIVE[track] if name not in ALIKE]
    players = [names[(seed + index) % len(names)] for index in range(sum(sizes))]
    random.Random(seed).shuffle(players)
    return Case(track, "all", tuple(players), sizes, days, seed)


def record(track, sizes, days, seed, players):
    """A world and who plays in it."""
    return record_of(draw(sizes, days, seed, track), [Seat(player) for player in players], seed)


@pytest.mark.parametrize("setting", WORLDS, ids=str)
def test_every_contract_profit_price_and_score_is_that_of_the_hosting_engine(setting):
    comparison = compare_batch(case(*setting))
    assert comparison.differences == []
    assert comparison.contracts > 20


@pytest.mark.parametrize("track", ["std", "oneshot"])
def test_hrl_is_compared_too(track):
    """Asked by the compiled world, one decision after the other."""
    name = "Steward" if track == "std" else "EqualDist"
    players = ("HRL", "Greedy", "HRL", name)
    comparison = compare_batch(Case(track, "hrl", players, (2, 2), 20, 3))
    assert comparison.differences == []
    assert comparison.signed["HRL"] > 10
    assert comparable(["HRL", "HorizonAware", "Greedy"], track) == ["HRL", "Greedy"]
    with pytest.raises(InputError, match="HorizonAware: none of them is part"):
        comparable(["HorizonAware"], track)


def test_everybody_plays_and_some_go_bankrupt_in_these_worlds():
    num_bankrupt = 0
    for track in ("std", "oneshot"):
        cases = [case(*setting) for setting in WORLDS if setting[0] == track]
        played = {player for c in cases for player in c.players}
        assert played == set(NATIVE[track]) - ALIKE
        for c in cases:
            worlds = Worlds([record(track, c.factories_per_level, c.steps, c.seed, c.players)])
            worlds.play()
            num_bankrupt += worlds.bankrupt.sum()
    assert num_bankrupt > 5


def test_a_worlds_course_depends_neither_on_its_slot_nor_on_the_others():
    players = ("Greedy", "SyncRandom", "AS0", "Penguin", "Random", "Steward")
    records = [record("std", (3, 3), 15, seed, players) for seed in range(3)]
    together, alone = Worlds(records), Worlds(records[2:])
    together.play()
    alone.play(until=7)
    alone.play()
    assert np.array_equal(together.scores[2], alone.scores[0])
    assert together.state["signed"][2] == alone.state["signed"][0] > 0


def test_compiled_and_as_plain_python_worlds_are_the_same(tmp_path):
    players = {
        "std": ("Greedy", "SyncRandom", "AS0", "Penguin", "Steward", "Random", "L1"),
        "oneshot": ("Greedy", "RandDist", "EqualDist", "AlmostEqual", "Random", "DoNothing"),
    }
    settings = ("std", (2, 3, 2), 4, 5), ("std", (3, 4), 4, 6), ("oneshot", (3, 3), 4, 7)
    worlds = np.array([record(*setting, players[setting[0]]) for setting in settings])
    np.save(tmp_path / "worlds.npy", worlds)
    helper = str(Path(__file__).with_name("plain.py"))
    plain = subprocess.run(
        [sys.executable, "-W", "error", helper, str(tmp_path / "worlds.npy")],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert plain.returncode == 0, plain.stderr
    expected = digests(worlds)
    assert plain.stdout.split() == ["plain", *expected]
    assert len(set(expected)) == len(settings)
