"""Environments of others, one match each, as N matches side by side.

A host says how one match is played (`HostedMatch`); all else is the same for every host. Such an
environment can neither tell its state nor take one back, so a state is the seed of each match and
what was chosen in it, and going on from there is playing it again. Within a process that is spared:
whoever goes on from a state takes over the very matches that were left in it. Where a match is not
played again as it was, because the environment draws from something else than its seed, it begins
anew. Axes: N matches, 2 slots, H heads, F features, O options of all heads side by side.
"""

import hashlib
import zlib
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from understudy.data.arrays import Array
from understudy.learn.rl.env import BatchedEnv, Observation, StepResult

RANDOM = "random"
"""The scripted player that every hosted game has."""
MOST_STEPS = 2_000
"""A match that goes on for longer is cut short."""
_PARKED_MAX = 8
_PARKED: "OrderedDict[tuple[Any, ...], HostedEnv]" = OrderedDict()
"""Matches that were left in some state, so that it need not be played again."""


class HostedMatch(Protocol):
    """One match of two at a time, again and again."""

    def reset(self, seed: int) -> None:
        """Begin a match of this seed."""
        ...

    def turn(self) -> Sequence[int]:
        """The slots that choose now; none once the match is over."""
        ...

    def see(self, slot: int, features: Array, legal: Array | None) -> None:
        """Write down what a slot sees, and in `legal` which options it has; None: it waits."""
        ...

    def step(self, options: Array) -> tuple[float, float]:
        """Do what was chosen [2 H], and what each slot gained by it, in the host's own coin."""
        ...

    def score(self) -> float:
        """How it ended for slot 0, +1 to -1; for slot 1 it is the negative."""
        ...


class Picture(NamedTuple):
    """What a slot knows of a match, for a person's eyes, and what its options are called."""

    text: str = ""
    board: Sequence[Sequence[int]] = ()
    """Rows of cells: 0 is free, n what the n-th plane of the observation marks."""
    options: Sequence[str] = ()


@runtime_checkable
class Pictured(Protocol):
    """A match that can be shown."""

    def picture(self, slot: int) -> Picture:
        """What a slot knows now."""
        ...


class HostedMatches(BatchedEnv, Protocol):
    """Many of them, side by side."""

    chosen: Array
    """Int64 [N 2 H]: the options for the next step, or of the last one."""

    @property
    def turn(self) -> Array:
        """Bool [N 2]: who chooses now."""
        ...

    @property
    def seen(self) -> Array:
        """Float32 [N 2 F]: what every player sees."""
        ...

    @property
    def legal(self) -> Array:
        """Bool [N 2 O]: what every player may do."""
        ...


class Host(Protocol):
    """An environment by name; a value that other processes can be sent."""

    def __hash__(self) -> int:
        """It is a value."""
        ...

    @property
    def name(self) -> str:
        """As it is typed."""
        ...

    @property
    def features(self) -> int:
        """How many numbers a slot sees."""
        ...

    @property
    def heads(self) -> tuple[int, ...]:
        """The number of options of each head."""
        ...

    def match(self) -> HostedMatch:
        """Room for a match."""
        ...

    def __call__(self, num_matches: int, pseudo_reward: float) -> HostedMatches:
        """Room for many, as `HostedEnv(self, num_matches, pseudo_reward)`."""
        ...


class HostedEnv:
    """A host's matches, as `learn.rl.env.BatchedEnv` asks for them.

    Every slot sees whether it is its turn and which slot it is, then what the host shows it.
    Whoever waits has the first option of every head, and nothing to choose.
    """

    num_players = 2

    def __init__(self, host: Host, num_matches: int, pseudo_reward: float = 0.0) -> None:
        self.host, self.pseudo_reward = host, pseudo_reward
        self.matches: list[HostedMatch] = []  # made when they are needed: they may be taken over
        heads = host.heads
        self.first = np.cumsum([0, *heads[:-1]])
        """Where each head's options begin."""
        self.seeds, self.steps = (np.zeros(num_matches, np.int64) for _ in range(2))
        self.turn = np.zeros((num_matches, 2), bool)
        self.chosen = np.zeros((num_matches, 2, len(heads)), np.int64)
        self.history = np.zeros((num_matches, 32, 2, len(heads)), np.int16)
        self.seen = np.zeros((num_matches, 2, 2 + host.features), np.float32)
        self.seen[:, 1, 1] = 1.0
        self.legal = np.zeros((num_matches, 2, sum(heads)), bool)
        self._parked: tuple[Any, ...] | None = None
        self._taken = False

    def reset(self, which: Array, seeds: Array) -> None:
        """Begin matches of these seeds."""
        self._take_back()
        self._make()
        for place, seed in zip(which.tolist(), seeds.tolist(), strict=True):
            self.seeds[place], self.steps[place] = seed, 0
            self.matches[place].reset(seed)
            self._look(place)

    def _make(self) -> None:
        while len(self.matches) < len(self.seeds):
            self.matches.append(self.host.match())

    def _look(self, place: int) -> None:
        """What both slots of a match see and may do now."""
        match, seen, legal = self.matches[place], self.seen[place], self.legal[place]
        turn = match.turn()
        for slot in (0, 1):
            mine = slot in turn
            self.turn[place, slot] = seen[slot, 0] = mine
            legal[slot] = False
            match.see(slot, seen[slot, 2:], legal[slot] if mine else None)
            if not mine:
                legal[slot, self.first] = True

    def observe(self) -> Observation:
        """What every player sees and may do now."""
        return Observation(self.seen.copy(), self.legal.copy())

    def set_actions(self, which: Array, slot: Array, options: Array) -> None:
        """Note what some will do."""
        self.chosen[which, slot] = options

    def script(self, player: str, which: Array, slot: int) -> None:
        """Let who guesses choose any legal option; chance is of seed, step, slot and head alone."""
        assert player == RANDOM, player
        ends = [*self.first[1:], self.legal.shape[2]]
        for head, (first, end) in enumerate(zip(self.first, ends, strict=True)):
            legal = self.legal[which, slot, first:end]
            lot = uniform(self.seeds[which], self.steps[which], 2 * head + slot)
            rank = (lot * legal.sum(1)).astype(np.int64)
            self.chosen[which, slot, head] = (legal.cumsum(1) > rank[:, None]).argmax(1)

    def step(self) -> StepResult:
        """Do what was chosen."""
        self._take_back()
        places = np.flatnonzero(self.turn.any(1))
        self._note(places)
        gains, score = (np.zeros((len(self.seeds), 2), np.float32) for _ in range(2))
        for place in places.tolist():
            gains[place] = self.matches[place].step(self.chosen[place])
            self._look(place)
        self.steps[places] += 1
        ran = np.zeros(len(self.seeds), bool)
        ran[places] = True
        terminated = ran & ~self.turn.any(1)
        truncated = ran & ~terminated & (self.steps >= MOST_STEPS)
        for place in np.flatnonzero(terminated).tolist():
            value = self.matches[place].score()
            score[place] = value, -value
        self._stop(np.flatnonzero(truncated))
        reward = score + self.pseudo_reward * gains if self.pseudo_reward else score
        return StepResult(
            reward=reward.astype(np.float32),
            score=score,
            terminated=terminated,
            truncated=truncated,
        )

    def _note(self, places: Array) -> None:
        """Keep what was chosen."""
        if self.steps.max(initial=0) >= self.history.shape[1]:
            self.history = np.concatenate([self.history, np.zeros_like(self.history)], axis=1)
        waits = ~self.turn[places, :, None]  # whatever was noted for those is not done
        self.history[places, self.steps[places]] = np.where(waits, 0, self.chosen[places])

    def _stop(self, places: Array) -> None:
        """Nobody chooses there any more."""
        self.turn[places], self.seen[places, :, 0] = False, 0.0
        self.legal[places] = False
        self.legal[places[:, None, None], [[0], [1]], self.first] = True

    # --- going on from a state ---------------------------------------------------------------

    def state(self) -> dict[str, Array]:
        """The seed of each match, what was done in it, and marks of what was seen in the end."""
        longest = int(self.steps.max(initial=0))
        marks = [zlib.crc32(seen.tobytes()) for seen in self.seen]
        state: dict[str, Array] = {
            "seeds": self.seeds.copy(),
            "steps": self.steps.copy(),
            "history": self.history[:, :longest].copy(),
            "marks": np.array(marks, np.int64),
        }
        if not self._taken:
            self._park(state)
        return state

    def _park(self, state: dict[str, Array]) -> None:
        """Be found by whoever goes on from here."""
        self._parked = _key(self.host, state)
        _PARKED[self._parked] = self
        while len(_PARKED) > _PARKED_MAX:
            _PARKED.popitem(last=False)

    def restore(self, state: dict[str, Array]) -> None:
        """Go on from there: with the matches left in that state, or by playing them again."""
        self._take_back()
        left = _PARKED.pop(_key(self.host, state), None)
        if left is not None and left is not self:
            self.matches, left.matches, left._taken = left.matches, self.matches, True
            for name in ("seeds", "steps", "turn", "history", "seen", "legal"):
                setattr(self, name, getattr(left, name).copy())
            return
        self.seeds, self.steps = state["seeds"].copy(), state["steps"].copy()
        self.history = np.concatenate([state["history"], np.zeros_like(self.history)], axis=1)
        for place, mark in enumerate(state["marks"].tolist()):
            self._play_again(place, mark)

    def _play_again(self, place: int, mark: int | None) -> None:
        """From the seed to the last step; `mark` is that of what must then be seen."""
        self._make()
        match, history = self.matches[place], self.history[place, : self.steps[place]]
        match.reset(int(self.seeds[place]))
        try:
            for options in history.astype(np.int64):
                match.step(options)
        except Exception:  # what was legal then is not now; theirs may raise anything
            mark = -1
        self._look(place)
        if self.steps[place] >= MOST_STEPS:
            self._stop(np.array([place]))
        if mark is not None and zlib.crc32(self.seen[place].tobytes()) != mark:
            self.steps[place] = 0  # not what it was: the environment is not deterministic
            match.reset(int(self.seeds[place]))
            self._look(place)

    def _take_back(self) -> None:
        """Before anything changes: nobody else goes on from here with these matches."""
        if self._parked is not None:
            _PARKED.pop(self._parked, None)
            self._parked = None
        if self._taken:
            self._taken = False
            for place in range(len(self.seeds)):
                self._play_again(place, None)


def _key(host: Host, state: dict[str, Array]) -> tuple[Any, ...]:
    """Stands for a state."""
    digest = hashlib.blake2b(digest_size=16)
    for array in state.values():
        digest.update(array.tobytes())
    return (host, digest.digest())


def uniform(seed: Array, step: Array, purpose: int) -> Array:
    """Numbers of [0, 1) that depend on these alone (splitmix64, Steele et al. 2014)."""
    mixed = np.zeros(len(seed), np.uint64)
    for part in (seed.astype(np.uint64), step.astype(np.uint64), np.uint64(purpose)):
        mixed = mixed + part + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed = mixed ^ (mixed >> np.uint64(31))
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53


def replays_exactly(host: Host, seed: int = 1) -> bool:
    """Whether a match played twice, with the same choices, shows the same: one is tried."""
    one, other = host(1, 0.0), host(1, 0.0)
    place = np.array([0])
    for env in (one, other):
        env.reset(place, np.array([seed]))
    while one.turn.any():
        for env in (one, other):
            for slot in (0, 1):
                env.script(RANDOM, place, slot)
        if not np.array_equal(one.seen, other.seen) or not np.array_equal(one.legal, other.legal):
            return False
        one.step(), other.step()
    return bool(np.array_equal(one.seen, other.seen))
