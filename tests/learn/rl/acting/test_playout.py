"""Matches played to their end: who chooses where, how they end, and what is kept of them."""

import subprocess
import sys

import numpy as np
import pytest

from tests.learn.rl.toy_matches import ROUNDS, ToyMatches
from understudy.learn.rl.acting.playout import Recorder, playout

SEEDS = np.array([5, 7_000, 123, 6_000, 31])
BOTH = np.tile([0, 1], (len(SEEDS), 1))


class Uneven(ToyMatches):
    """Matches in odd places are cut short after two steps; scores mean nothing but at an end."""

    def step(self):
        result = super().step()
        truncated = (self.step_of == 2) & (np.arange(len(self.over)) % 2 == 1) & ~self.over
        self.over |= truncated
        score = np.where((result.terminated | truncated)[:, None], result.score, np.float32(9))
        return result._replace(truncated=truncated, score=score)


def scripted(game, *names):
    return [lambda seen, which, slot, name=name: game.script(name, which, slot) for name in names]


def played(make, who=BOTH, names=("right", "zero"), **settings):
    game = make(len(who))
    return playout(game, SEEDS, who, scripted(game, *names), see=game.observe, **settings)


def expected_score(seed):
    """Seat 0 names all its numbers, seat 1 says 0 each time."""
    digits = [seed // 3**k % 3 for k in range(2 * ROUNDS)]
    return np.sign(ROUNDS - digits[ROUNDS:].count(0))


def test_matches_end_by_the_rules():
    outcome = played(ToyMatches)
    assert outcome.score[:, 0].tolist() == [expected_score(seed) for seed in SEEDS.tolist()]
    assert outcome.score[:, 1].tolist() == (-outcome.score[:, 0]).tolist()
    assert outcome.steps.tolist() == [ROUNDS] * 5
    assert not outcome.truncated.any()


def test_some_end_before_others_and_stay_as_they_ended():
    outcome = played(Uneven)
    assert outcome.steps.tolist() == [4, 2, 4, 2, 4]
    assert outcome.truncated.tolist() == [False, True, False, True, False]
    assert (abs(outcome.score) <= 1).all()
    whole = played(ToyMatches)
    assert outcome.score[::2].tolist() == whole.score[::2].tolist()


def test_each_player_is_asked_once_a_step_and_seat_for_all_its_running_matches():
    who = np.array([[0, 1], [1, 0], [0, 2], [2, 1], [0, 1]])
    asked = []

    def asking(number):
        return lambda seen, which, slot: asked.append((number, slot, which.tolist()))

    game = Uneven(len(who))
    playout(game, SEEDS, who, [asking(number) for number in range(3)], see=game.observe)
    first = [(0, 0, [0, 2, 4]), (1, 0, [1]), (2, 0, [3]), (0, 1, [1]), (1, 1, [0, 3, 4])]
    first += [(2, 1, [2])]
    later = [(0, 0, [0, 2, 4]), (1, 1, [0, 4]), (2, 1, [2])]
    assert asked == [*first, *first, *later, *later]


def test_everybody_is_shown_what_is_seen_before_the_step():
    game, shown = ToyMatches(len(SEEDS)), []
    looking = [lambda seen, which, slot: shown.append((seen, slot))] * 2
    playout(game, SEEDS, BOTH, looking, see=lambda: int(game.step_of[0]))
    assert shown == [(step, slot) for step in range(ROUNDS) for slot in (0, 1)]


@pytest.mark.parametrize("keep", [0, 2, 5])
def test_the_first_matches_are_kept_in_order_step_by_step(keep):
    game = Uneven(len(SEEDS))
    recorder = Recorder(
        keep,
        lambda seen, which: (seen.observation[which], game.chosen[which]),
        lambda result, which: (result.reward[which], game.step_of[which]),
    )
    choosers = scripted(game, "right", "zero")
    playout(game, SEEDS, BOTH, choosers, see=game.observe, recorder=recorder)
    which, step, observation, chosen, reward, after = recorder.columns()
    lengths = [4, 2, 4, 2, 4][:keep]
    assert which.tolist() == [k for k, length in enumerate(lengths) for _ in range(length)]
    assert step.tolist() == [t for length in lengths for t in range(length)]
    assert after.tolist() == (step + 1).tolist()  # kept after the step, the others before it
    assert observation.shape == (sum(lengths), 2, 3)
    assert chosen[:, 0, 0].tolist() == observation[:, 0].argmax(1).tolist()
    assert reward.shape == (sum(lengths), 2)


def test_a_recorder_changes_nothing():
    nothing = Recorder(3, lambda seen, which: (), lambda result, which: ())
    for one, other in zip(played(Uneven), played(Uneven, recorder=nothing), strict=True):
        assert one.tolist() == other.tolist()


def test_scripted_players_need_no_torch():
    code = "import sys, understudy.games.arena.play.play; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
