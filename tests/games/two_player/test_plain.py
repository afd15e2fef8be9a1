"""Games that are nothing but their matches, beyond what the contract asks of every game."""

import numpy as np
import pytest

from tests import nim_package
from understudy.data.players import PlayerRef
from understudy.games.two_player.plain import plain_game
from understudy.pipeline.pairings import Fixture

Nim = nim_package.module().Nim
PAIR = (PlayerRef("expert"), PlayerRef("guesser"))


class CutShort(Nim):
    """Nobody wins: it is stopped after two steps."""

    def step(self):
        result = super().step()
        return result._replace(truncated=(self.steps == 2) & ~result.terminated)


class Greedy(Nim):
    """The guesser takes three, also when fewer are left."""

    def script(self, player, which, slot):
        super().script(player, which, slot)
        if player == "guesser":
            self.chosen[which, slot, 0] = 3 * self.turn()[which, slot]

    def step(self):
        self.chosen = np.minimum(self.chosen, self.left[:, None, None])
        return super().step()


def game(make):
    nim = nim_package.module()
    return plain_game(
        name="nim",
        about="a variant",
        players=nim.PLAYERS,
        decisions=nim.MOVES,
        make=make,
        recipes=lambda: nim.RECIPES,
    )


def test_a_match_that_is_cut_short_says_so_and_is_drawn():
    played = game(CutShort).play(Fixture(PAIR, (1, 2, 3)))
    outline = played.recordings["matches"].to_pylist()
    assert {(row["ending"], row["steps"], row["score"]) for row in outline} == {
        ("cut short", 2, 0.0)
    }
    assert len(played.recordings["steps"]) == 3 * 2 * 2
    whole = game(Nim).play(Fixture(PAIR, (1, 2, 3))).recordings["matches"].to_pylist()
    assert {(row["ending"], abs(row["score"])) for row in whole} == {("ended by the rules", 1.0)}


def test_what_the_rules_forbid_is_admitted_and_counted():
    found = game(Greedy)
    recordings = found.play(Fixture(PAIR, tuple(range(60)))).recordings
    samples = found.encode(recordings, frozenset({"guesser"}))
    rows = samples["moves"].to_pylist()
    too_many = [row for row in rows if row["left_2"]]  # who finds one has no choice
    assert too_many and all(row["forbidden"] == 1 for row in too_many)
    assert all(row["legal"][0] >> row["take"] & 1 for row in rows)
    assert found.summarise(recordings, samples)["violations"] == len(too_many)


@pytest.mark.parametrize(("players", "slots"), [(None, {0, 1}), (frozenset({"guesser"}), {1})])
def test_outcomes_are_those_of_whoever_decided(players, slots):
    found = game(Nim)
    recordings = found.play(Fixture(PAIR, tuple(range(20)))).recordings
    score = {row["match"]: row["score"] for row in recordings["matches"].to_pylist()}
    rows = found.encode(recordings, players)["moves"].to_pylist()
    assert {row["slot"] for row in rows} == slots
    for row in rows:
        assert row["outcome"] == (1 - 2 * row["slot"]) * score[row["match"]]
        assert row["player"] == PAIR[row["slot"]].name
