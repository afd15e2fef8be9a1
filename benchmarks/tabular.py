"""Players that are tables, for leagues of games that are written out: a million decisions a second.

A player is a row of logits for each information state, and a learner's guess of what it will win
there. It learns by policy gradient with that guess as its baseline (Williams 1992), with an entropy
bonus and, where asked for, a pull towards an earlier self. What a league asks of a game
(`league.interface`) is `Tabular.improve` and `Tabular.play`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numba
import numpy as np
import pyarrow as pa

from understudy.data.arrays import Array
from understudy.data.files import writing
from understudy.data.players import PlayerRef
from understudy.data.results import both_sides, pair_results
from understudy.games.two_player.hosted import uniform
from understudy.league.analysis.game_tree import CHANCE, GameTree
from understudy.league.interface import LearnerJob, Pairing, TrainingResult

RESULTS = pair_results("tabular")
WEIGHTS = "weights.npy"
SURE = 5.0
"""Logits stay within this: nothing legal is ever given up for good."""
_CHANCE = 2  # what chance is for, beside the slots


@dataclass(frozen=True)
class Learning:
    """How tables learn: as networks do (batches, advantages of spread 1, Adam), or plainly."""

    rate: float = 0.05
    value_rate: float = 0.02
    entropy: float = 0.0
    batch: int = 256
    """Decisions an update is made from."""
    adam: bool = True


@dataclass(frozen=True, eq=False)
class Tabular:
    """A game whose players are tables."""

    tree: GameTree
    rows: Array
    """The row of each information state: states of one row look alike to the players."""
    learning: Learning = Learning()

    @cached_property
    def legal(self) -> Array:
        """Bool [rows, options]."""
        found = np.zeros((1 + int(self.rows.max()), self.tree.legal.shape[1]), bool)
        found[self.rows] = self.tree.legal
        return found

    @cached_property
    def walk(self) -> tuple[Array, ...]:
        """How one goes through the tree: children, who moves, states, chances summed up, scores."""
        tree = self.tree
        width = 1 + int(tree.choice.max())
        child = np.full((len(tree.parent), width), -1, np.int64)
        child[tree.parent[1:], tree.choice[1:]] = np.arange(1, len(tree.parent))
        chances = np.where(child >= 0, tree.chance[child], 0.0)
        chances[tree.player != CHANCE] = 0.0
        row = np.where(tree.state >= 0, self.rows[np.maximum(tree.state, 0)], -1)
        return child, tree.player, row, np.cumsum(chances, 1), tree.score

    def table(self, player: PlayerRef) -> Array:
        """How it plays, by information state."""
        return self._by_row(player)[self.rows]

    def _by_row(self, player: PlayerRef) -> Array:
        weight = np.where(self.legal, np.exp(self.read(player)[:, :-1]), 0.0)
        found: Array = weight / weight.sum(1, keepdims=True)
        return found

    def read(self, player: PlayerRef) -> Array:
        """Logits, and in the last column what it expects to win."""
        assert player.weights is not None
        found: Array = np.load(player.weights / WEIGHTS)
        return found

    def write(self, folder: Path, table: Array) -> PlayerRef:
        """A player that plays by a table."""
        logits = np.zeros(self.legal.shape)
        logits[self.rows] = np.log(np.maximum(table, np.exp(-2 * SURE)))
        _centre(logits, self.legal)
        self._save(folder, logits, np.zeros(len(logits)))
        return PlayerRef(folder.name, folder)

    def _save(self, folder: Path, logits: Array, value: Array) -> None:
        with writing(folder / WEIGHTS) as aside, aside.open("wb") as file:
            np.save(file, np.c_[logits, value])

    def improve(self, job: LearnerJob) -> TrainingResult:
        """One training job."""
        known, learning = self.read(job.start), self.learning
        logits, value = known[:, :-1].copy(), known[:, -1].copy()
        others = [None if o.player is None else self._by_row(o.player) for o in job.opponents]
        tables = np.stack([np.zeros_like(logits) if o is None else o for o in others])
        shares = np.cumsum([one.probability for one in job.opponents])
        rates = learning.rate * np.array([job.overrides.rate, job.overrides.rate_end])
        magnet = self._by_row(job.magnet or job.start)
        settings = (
            *(learning.value_rate, learning.entropy, job.overrides.magnet),
            *(learning.batch, learning.adam),
        )
        steps, matches = _learn(
            *self.walk,
            self.legal,
            logits,
            value,
            np.array([one is None for one in others]),
            tables,
            shares / shares[-1],
            rates,
            np.array(settings, float),
            np.log(np.maximum(magnet, 1e-12)),
            job.agent_steps,
            job.seed % 2**32,
        )
        self._save(job.out, logits, value)
        return TrainingResult(steps, {"matches": float(matches)}, matches)

    def play(self, pairings: Sequence[Pairing]) -> pa.Table:
        """All pairings side by side, each seed from both sides."""
        seats = [
            (*pair, seed)
            for pairing in pairings
            for pair in (pairing.players, pairing.players[::-1])
            for seed in pairing.seeds
        ]
        if not seats:
            return RESULTS.arrow().empty_table()
        everybody = list(dict.fromkeys(one for *both, _ in seats for one in both))
        number = {one: place for place, one in enumerate(everybody)}
        summed = np.stack([np.cumsum(self._by_row(one), 1) for one in everybody])
        who = np.array([[number[one], number[other]] for one, other, _ in seats])
        seeds = np.array([seed for *_, seed in seats], np.int64)
        score, steps = self._played(summed, who, seeds)
        outline = pa.table(
            {
                "match": [f"{one.name}-{other.name}-{seed}" for one, other, seed in seats],
                "seed": seeds,
                "player_0": [one.name for one, *_ in seats],
                "player_1": [other.name for _, other, _ in seats],
                "score": score.astype(np.float32),
                "steps": steps.astype(np.int32),
                "ending": ["by the rules"] * len(seats),
            }
        )
        return both_sides(RESULTS, outline)

    def _played(self, summed: Array, who: Array, seeds: Array) -> tuple[Array, Array]:
        """Scores and steps; sides swapped, chance deals the same."""
        child, player, state, chances, score = self.walk
        node, steps = np.zeros(len(seeds), np.int64), np.zeros(len(seeds), np.int64)
        running = np.arange(len(seeds))
        while len(running):
            at = node[running]
            moves = player[at]
            purpose = np.where(moves == CHANCE, _CHANCE, moves)
            lot = np.zeros(len(running))
            for one in (0, 1, _CHANCE):
                here = purpose == one
                lot[here] = uniform(seeds[running[here]], steps[running[here]], one)
            bounds = chances[at]
            chosen = moves >= 0
            mover = who[running[chosen], moves[chosen]]
            options = summed.shape[2]
            bounds[chosen, :options] = summed[mover, state[at[chosen]]]
            bounds[chosen, options:] = np.inf
            passed = (bounds <= lot[:, None] * (1 - 1e-12)).sum(1)
            node[running], steps[running] = child[at, passed], steps[running] + 1
            running = running[player[node[running]] >= CHANCE]
        return score[node], steps


@numba.njit(cache=True)
def _drawn(weights, lot):
    """The place that a lot of [0, 1) falls on, weights summed to 1."""
    total = 0.0
    last = 0
    for place in range(len(weights)):
        if weights[place] > 0.0:
            total += weights[place]
            last = place
            if lot < total:
                return place
    return last


@numba.njit(cache=True)
def _into(logits, legal, policy):
    total = 0.0
    for o in range(len(logits)):
        policy[o] = np.exp(logits[o]) if legal[o] else 0.0
        total += policy[o]
    for o in range(len(logits)):
        policy[o] /= total


@numba.njit(cache=True)
def _learn(  # noqa: PLR0915 - one loop, compiled
    child, player, state, chances, score, legal, logits, value, itself, tables, shares, rates,
    settings, magnet, agent_steps, seed,
):  # fmt: skip
    """Matches until so many decisions are learnt from; how many of both."""
    np.random.seed(seed)
    value_rate, entropy, pull, batch, adam = settings
    room = int(batch) + 64
    states, taken, wins = np.zeros(room), np.zeros(room), np.zeros(room)
    sides, policy = np.zeros(64, np.int64), np.zeros(logits.shape[1])
    slope, first, second = np.zeros_like(logits), np.zeros_like(logits), np.zeros_like(logits)
    steps, matches, count, updates = 0, 0, 0, 0
    while steps < agent_steps:
        met, seat = np.searchsorted(shares, np.random.random(), side="right"), matches % 2
        met = min(met, len(shares) - 1)
        node, begun = 0, count
        while player[node] >= -1:
            mover = player[node]
            if mover == -1:
                option = np.searchsorted(chances[node], np.random.random(), side="right")
            elif itself[met] or mover == seat:
                row = state[node]
                _into(logits[row], legal[row], policy)
                option = _drawn(policy, np.random.random())
                states[count], taken[count], sides[count - begun] = row, option, mover
                count += 1
            else:
                option = _drawn(tables[met, state[node]], np.random.random())
            node = child[node, option]
        for k in range(begun, count):
            wins[k] = score[node] if sides[k - begun] == 0 else -score[node]
        matches += 1
        if count < batch:
            continue
        left = 1.0 - steps / agent_steps
        rate = rates[0] * left + rates[1] * (1.0 - left)
        slope[:] = 0.0
        _slopes(
            states[:count], taken[:count], wins[:count], legal, logits, value, magnet, slope,
            value_rate, entropy, pull, adam > 0,
        )  # fmt: skip
        updates += 1
        if adam > 0:
            first[:] = 0.9 * first + 0.1 * slope
            second[:] = 0.99 * second + 0.01 * slope * slope
            size = np.sqrt(second / (1 - 0.99**updates)) + 1e-5
            logits += rate * first / (1 - 0.9**updates) / size
        else:
            logits += rate * slope
        _centre(logits, legal)
        steps += count
        count = 0
    return steps, matches


@numba.njit(cache=True)
def _slopes(
    states, taken, wins, legal, logits, value, magnet, slope, value_rate, entropy, pull, normalised
):  # fmt: skip
    """Add up what a batch of decisions says of the logits, and let the value follow."""
    count = len(states)
    gains, policy = np.zeros(count), np.zeros(logits.shape[1])
    for k in range(count):
        row = int(states[k])
        gains[k] = wins[k] - value[row]
        value[row] += value_rate * gains[k]
    if normalised:
        gains = (gains - gains.mean()) / (gains.std() + 1e-8) / count
        entropy, pull = entropy / count, pull / count
    for k in range(count):
        row = int(states[k])
        _into(logits[row], legal[row], policy)
        spread, apart = 0.0, 0.0
        for o in range(len(policy)):
            if legal[row, o]:
                spread -= policy[o] * np.log(policy[o])
                apart += policy[o] * (np.log(policy[o]) - magnet[row, o])
        for o in range(len(policy)):
            if legal[row, o]:
                away = np.log(policy[o])
                slope[row, o] += gains[k] * ((1.0 if o == int(taken[k]) else 0.0) - policy[o])
                slope[row, o] -= entropy * policy[o] * (away + spread)
                slope[row, o] -= pull * policy[o] * (away - magnet[row, o] - apart)


@numba.njit(cache=True)
def _centre(logits, legal):
    """Logits around 0, and none beyond SURE."""
    for row in range(len(logits)):
        middle, options = 0.0, 0
        for o in range(logits.shape[1]):
            if legal[row, o]:
                middle += logits[row, o]
                options += 1
        for o in range(logits.shape[1]):
            if legal[row, o]:
                logits[row, o] = min(max(logits[row, o] - middle / options, -SURE), SURE)
