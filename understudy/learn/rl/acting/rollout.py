"""Play many matches side by side and keep what the learner did: the acting half of learning.

`collect` is a pure function of its job: whoever runs it, wherever, finds the same. The matches'
state travels with the job, so an actor remembers nothing between two rollouts and may die.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from understudy.learn.cuda_graphs import own_stream
from understudy.learn.policy import Acted
from understudy.learn.rl.acting.job import Job, Rollout
from understudy.learn.rl.acting.opponents import Opponent, PolicyPlayer, Weights, unpacked
from understudy.learn.rl.acting.own_policy import OwnPolicy
from understudy.learn.rl.acting.recorded import recorded_player
from understudy.learn.rl.acting.rollout_buffer import RolloutBuffer
from understudy.learn.rl.acting.seating import seating
from understudy.learn.rl.env import SELF, Array, Observation, StepResult

_TEACHER = "\nteacher"  # no player has such a name


def collect(job: Job) -> Rollout:
    """Play one rollout."""
    if job.device != "cpu":
        with torch.inference_mode(), own_stream(job.device):
            return _Actor(job).play()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the sums come out the same wherever it runs
    try:
        with torch.inference_mode():
            return _Actor(job).play()
    finally:
        torch.set_num_threads(threads)


class _Actor:
    def __init__(self, job: Job) -> None:
        self.job = job
        self.rng = np.random.default_rng(job.seed)
        self.game = job.make(job.matches, job.pseudo_reward)
        self.num_players = self.game.num_players
        self.seating = seating(job.matches, self.num_players, job.opponents)
        others = [one for one in job.opponents if one.name != SELF]
        self.met = [one for one in others if one.probability > 0]
        self.generator = None
        if job.device != "cpu":
            drawn = int(self.rng.integers(2**62))
            self.generator = torch.Generator(job.device).manual_seed(drawn)
        self.learner = self._player(job.player, "")
        self.teacher = None if job.teacher is None else self._player(job.teacher, _TEACHER)
        self.frozen = [self._opponent(one) for one in self.met]
        self.tally = np.zeros((len(self.met) + 1, 3), np.int64)  # the last is SELF
        self.opponent = np.full(job.matches, len(self.met))
        self.idle = np.zeros(job.matches, bool)
        self.first = np.ones(job.matches, bool)
        self.match_steps = 0
        if job.state:
            self._restore(job.state)
        else:
            self._reset(np.arange(job.matches))

    def _player(self, weights: Weights, name: str) -> PolicyPlayer:
        matches, num_players = self.job.matches, self.num_players
        if self.job.device == "cpu":
            return PolicyPlayer(unpacked(weights), matches, num_players)
        policy, choose = recorded_player(name, weights, self.job.device)
        return PolicyPlayer(policy, matches, num_players, choose)

    def _opponent(self, one: Opponent) -> PolicyPlayer | OwnPolicy | None:
        """Who plays for an opponent; None: the game's own script."""
        if one.code is not None:
            return OwnPolicy(one.code, self.job.player.shape.heads)
        return None if one.weights is None else self._player(one.weights, one.name)

    def play(self) -> Rollout:
        job, where = self.job, self.seating
        buffer = RolloutBuffer(job, self.game.observe(), where)
        buffer.begin(self.learner, self.teacher)
        for t in range(job.steps):
            seen = self.game.observe()
            buffer.see(t, seen, self.first, self.learner.plan)
            self.first[:] = False
            self._act(t, buffer)
            self._opponents_act(seen)
            result = self.game.step()
            buffer.record_step(t, result, job, self.idle)
            self.match_steps += int((~self.idle).sum())
            self._renew(result)
        buffer.see(job.steps, self.game.observe(), self.first, self.learner.plan)
        return Rollout(buffer.finish(), self._state(), self._told(), self.match_steps)

    def _act(self, t: int, buffer: RolloutBuffer) -> None:
        """The learner chooses wherever it sits; its teacher looks on."""
        chance = self._uniform(len(buffer.rows))
        acted = _looking(self.learner, buffer, t, chance)
        if self.teacher is not None:
            _looking(self.teacher, buffer, t, chance)
        buffer.act(t, acted, self.idle)
        self.game.set_actions(
            *np.divmod(self.seating.row, self.num_players), acted.action.cpu().numpy()
        )

    def _uniform(self, rows: int) -> Tensor:
        """A number of [0, 1) for every head of so many decisions."""
        shape = (rows, len(self.job.player.shape.heads))
        if self.generator is not None:
            return torch.rand(shape, generator=self.generator, device=self.generator.device)
        return torch.from_numpy(self.rng.random(shape, np.float32))

    def _opponents_act(self, seen: Observation) -> None:
        """Each opponent, in all its matches at once."""
        learner = np.arange(self.job.matches) % self.num_players
        for number, (who, player) in enumerate(zip(self.met, self.frozen, strict=True)):
            place = np.flatnonzero(self.opponent == number)
            for turn in range(1, self.num_players) if len(place) else ():
                slot = (learner[place] + turn) % self.num_players
                if player is not None:
                    shown = (part[place, slot] for part in seen)
                    done = player.act(shown, self._uniform(len(place)), place, slot)
                    self.game.set_actions(place, slot, done)
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
        self.first[which] = True
        if remembering := self._remembering().values():
            for slot in range(self.num_players):
                lot = self.rng.random(len(which))
                for one in remembering:
                    one.begin(which, slot, lot)
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
            "remembered": {name: one.state() for name, one in self._remembering().items()},
        }

    def _remembering(self) -> dict[str, PolicyPlayer]:
        """Everybody who remembers something, by name; the learner and its teacher by no name."""
        players: dict[str, PolicyPlayer | OwnPolicy | None]
        players = {"": self.learner, _TEACHER: self.teacher}
        players |= {one.name: player for one, player in zip(self.met, self.frozen, strict=True)}
        return {
            name: one
            for name, one in players.items()
            if isinstance(one, PolicyPlayer) and one.remembers
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
        self.first[:] = False
        for name, one in self._remembering().items():
            if name in state["remembered"]:
                one.restore(state["remembered"][name])
        self.opponent = np.where(place < self.seating.mirrored, numbers[SELF], found)
        anew = np.flatnonzero(misplaced | (found < 0))
        self.idle[anew] = False
        self._reset(anew)


def _looking(player: PolicyPlayer, buffer: RolloutBuffer, t: int, chance: Tensor) -> Acted:
    """What somebody makes of step t wherever the learner sits; what it remembers moves on."""
    inputs = player.policy.with_plan(buffer.play["observation"][t], buffer.play["plan"][t])
    legal = buffer.play["legal"][t]
    if not player.policy.shape.memory:
        return player.choose(inputs, legal, chance, player.memory.new_zeros(len(inputs), 0))
    memory = player.memory.flatten(0, 1)
    acted = player.choose(inputs, legal, chance, memory[buffer.rows])
    memory[buffer.rows] = acted.memory
    return acted
