"""Play many matches side by side and keep what the learner did: the acting half of learning.

`collect` is a pure function of its job: whoever runs it, wherever, finds the same. The matches'
state travels with the job, so an actor remembers nothing between two rollouts and may die.

A place for a match is either the learner's in every slot (self-play) or in one; which one depends
on the place. So each of the B trajectories belongs to one slot of one place, and matches follow
each other in it. In the other places the opponent is drawn anew for each match.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from understudy.learn.rl.env import SELF, Array, MakeEnv, Observation, StepResult
from understudy.learn.rl.opponents import Opponent, Weights, act_for, unpacked
from understudy.learn.rl.trajectories import Trajectories


@dataclass(frozen=True)
class Job:
    """One rollout to be played."""

    make: MakeEnv
    player: Weights
    opponents: tuple[Opponent, ...]
    matches: int
    steps: int
    discount: float
    pseudo_reward: float
    seed: tuple[int, ...]
    draw: float = 0.0
    version: int = 0
    """How many updates the player has seen."""
    sees_others: bool = False
    """Whether to keep what the other players saw."""
    state: Mapping[str, Any] = field(default_factory=dict)
    """Where the rollout before it ended; empty: all matches begin."""


class Rollout(NamedTuple):
    """What came of a job."""

    play: dict[str, Array]
    """The fields of `Trajectories`."""
    state: dict[str, Any]
    tally: dict[str, list[int]]
    """Matches won, drawn and lost by the learner, by opponent; against itself all are told once."""

    def sequences(self) -> Trajectories:
        """The play as tensors."""
        return Trajectories(**{name: torch.from_numpy(x) for name, x in self.play.items()})


def collect(job: Job) -> Rollout:
    """Play one rollout."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the sums come out the same wherever it runs
    try:
        with torch.inference_mode():
            return _Actor(job).play()
    finally:
        torch.set_num_threads(threads)


class Seating(NamedTuple):
    """Who learns where. Rows count the slots of all places: row = place * S + slot."""

    mirrored: int
    """The first so many places are self-play."""
    row: Array
    """Of each sequence, [B]."""
    place: Array
    """Of each sequence, [B]."""
    others: Array
    """The rows of the other slots at the same place, [B, S - 1]."""


def seating(matches: int, num_players: int, opponents: Sequence[Opponent]) -> Seating:
    """Share out the places: self-play by its probability, rounded; then slots in turn."""
    total = sum(opponent.probability for opponent in opponents)
    if total <= 0:
        raise ValueError("nobody to meet: the probabilities of all opponents are 0")
    alone = sum(opponent.probability for opponent in opponents if opponent.name == SELF)
    mirrored = round(matches * alone / total)
    if alone < total and mirrored == matches > 1:
        mirrored -= 1  # everybody is met
    both = np.arange(mirrored * num_players)
    place = np.arange(mirrored, matches)
    row = np.concatenate([both, place * num_players + place % num_players])
    at, slot = np.divmod(row, num_players)
    turn = np.arange(1, num_players)
    others = at[:, None] * num_players + (slot[:, None] + turn) % num_players
    return Seating(mirrored, row, at, others)


class _Actor:
    def __init__(self, job: Job) -> None:
        self.job = job
        self.rng = np.random.default_rng(job.seed)
        self.game = job.make(job.matches, job.pseudo_reward)
        self.num_players = self.game.num_players
        self.seating = seating(job.matches, self.num_players, job.opponents)
        self.policy = unpacked(job.player)
        others = [one for one in job.opponents if one.name != SELF]
        self.met = [one for one in others if one.probability > 0]
        self.frozen = [None if one.weights is None else unpacked(one.weights) for one in self.met]
        self.tally = np.zeros((len(self.met) + 1, 3), np.int64)  # the last is SELF
        self.opponent = np.full(job.matches, len(self.met))
        self.idle = np.zeros(job.matches, bool)
        if job.state:
            self._restore(job.state)
        else:
            self._reset(np.arange(job.matches))

    def play(self) -> Rollout:
        job, where = self.job, self.seating
        buffer: RolloutBuffer | None = None
        for t in range(job.steps):
            seen = self.game.observe()
            buffer = buffer or RolloutBuffer(job, seen, where)
            buffer.see(t, seen)
            action, log_prob = self._act(seen)
            self._opponents_act(seen)
            buffer.act(t, action, log_prob, self.idle)
            result = self.game.step()
            buffer.record_step(t, result, job, self.idle)
            self._renew(result)
        assert buffer is not None
        buffer.see(job.steps, self.game.observe())
        return Rollout(buffer.play, self._state(), self._told())

    def _act(self, seen: Observation) -> tuple[Tensor, Tensor]:
        """The learner chooses wherever it sits: options, with their log-probabilities by head."""
        row = self.seating.row
        observation, legal = (torch.from_numpy(rows_of(x, row)) for x in seen)
        distribution = self.policy.distribution(observation, legal)
        action = distribution.sample(torch.from_numpy(self._uniform(len(row))))
        self.game.set_actions(*np.divmod(row, self.num_players), action.numpy())
        return action, distribution.log_prob_by_head(action)

    def _uniform(self, rows: int) -> Array:
        return self.rng.random((rows, len(self.job.player.shape.heads)), np.float32)

    def _opponents_act(self, seen: Observation) -> None:
        """Each opponent, in all its matches at once."""
        learner = np.arange(self.job.matches) % self.num_players
        for number, (who, policy) in enumerate(zip(self.met, self.frozen, strict=True)):
            place = np.flatnonzero(self.opponent == number)
            for turn in range(1, self.num_players) if len(place) else ():
                slot = (learner[place] + turn) % self.num_players
                if policy is not None:
                    act_for(policy, self.game, seen, place, slot, self._uniform(len(place)))
                    continue
                for one in range(self.num_players):
                    self.game.script(who.name, place[slot == one], one)

    def _renew(self, result: StepResult) -> None:
        """Tell what ended and begin new matches; one cut short is looked at once more first."""
        over = result.terminated | result.truncated
        for place in np.flatnonzero(over):
            slot = place % self.num_players if place >= self.seating.mirrored else 0
            self.tally[self.opponent[place], 1 - int(np.sign(result.score[place, slot]))] += 1
        reset = result.terminated | self.idle
        self.idle = result.truncated & ~result.terminated
        self._reset(np.flatnonzero(reset))

    def _reset(self, which: Array) -> None:
        if not len(which):
            return
        self.game.reset(which, self.rng.integers(2**62, size=len(which)))
        drawn = which[which >= self.seating.mirrored]
        if len(drawn):
            chance = np.array([one.probability for one in self.met])
            self.opponent[drawn] = self.rng.choice(
                len(chance), size=len(drawn), p=chance / chance.sum()
            )

    def _told(self) -> dict[str, list[int]]:
        names = [*(one.name for one in self.met), SELF]
        told = zip(names, self.tally.tolist(), strict=True)
        return {name: counts for name, counts in told if sum(counts)}

    def _state(self) -> dict[str, Any]:
        """Opponents by name: next time there may be others."""
        names = [*(one.name for one in self.met), SELF]
        return {
            "game": self.game.state(),
            "opponent": [names[number] for number in self.opponent],
            "idle": self.idle,
        }

    def _restore(self, state: Mapping[str, Any]) -> None:
        """Go on; a match against somebody who is no longer met begins anew."""
        numbers = {one.name: number for number, one in enumerate(self.met)}
        numbers[SELF] = len(self.met)
        found = np.array([numbers.get(name, -1) for name in state["opponent"]])
        place = np.arange(self.job.matches)
        misplaced = (found == numbers[SELF]) != (place < self.seating.mirrored)
        self.game.restore(state["game"])
        self.idle = np.array(state["idle"])
        self.opponent = np.where(place < self.seating.mirrored, numbers[SELF], found)
        anew = np.flatnonzero(misplaced | (found < 0))
        self.idle[anew] = False
        self._reset(anew)


class RolloutBuffer:
    """The sequences of a rollout while it is played, [T B ...]."""

    def __init__(self, job: Job, seen: Observation, where: Seating) -> None:
        self.where, steps, size = where, job.steps, len(where.row)
        features, options = seen.observation.shape[2], seen.legal.shape[2]
        heads = len(job.player.shape.heads)
        others = where.others.shape[1] * features if job.sees_others else 0
        self.play: dict[str, Array] = {
            "observation": np.empty((steps + 1, size, features), np.float32),
            "others": np.empty((steps + 1, size, others), np.float32),
            "legal": np.empty((steps, size, options), bool),
            "action": np.empty((steps, size, heads), np.int16),
            "log_prob": np.empty((steps, size, heads), np.float32),
            "reward": np.empty((steps, size), np.float32),
            "discount": np.empty((steps, size), np.float32),
            "truncated": np.empty((steps, size), bool),
            "counts": np.empty((steps, size), bool),
            "version": np.full(size, job.version),
        }

    def see(self, t: int, seen: Observation) -> None:
        """What was seen before step t, or after the last one."""
        self.play["observation"][t] = rows_of(seen.observation, self.where.row)
        if self.play["others"].shape[2]:
            flat = seen.observation.reshape(-1, seen.observation.shape[2])
            self.play["others"][t] = flat[self.where.others].reshape(len(self.where.row), -1)
        if t < len(self.play["legal"]):
            self.play["legal"][t] = rows_of(seen.legal, self.where.row)

    def act(self, t: int, action: Tensor, log_prob: Tensor, idle: Array) -> None:
        """What was done in step t; nothing where the match was idle."""
        self.play["action"][t] = action.numpy()
        self.play["log_prob"][t] = log_prob.numpy()
        self.play["counts"][t] = ~idle[self.where.place]

    def record_step(self, t: int, result: StepResult, job: Job, idle: Array) -> None:
        """What came of it."""
        place = self.where.place
        drawn = result.terminated[:, None] & (result.score == 0)
        reward = result.reward + job.draw * drawn if job.draw else result.reward
        self.play["reward"][t] = rows_of(reward, self.where.row)
        self.play["discount"][t] = np.where((result.terminated | idle)[place], 0.0, job.discount)
        self.play["truncated"][t] = (result.truncated & ~result.terminated)[place]


def rows_of(array: Array, row: Array) -> Array:
    """Rows of an array [N S ...], slots counted through; `row` must ascend."""
    flat = array.reshape(-1, *array.shape[2:])
    # In pure self-play the rows are all there are.
    return flat if len(row) == len(flat) else flat.take(row, 0)
