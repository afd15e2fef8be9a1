"""The learnt layers at work: L2's goals for the day, L4's order of negotiations, L3's choices."""

import functools
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from understudy.data.arrays import Array
from understudy.errors import InputError
from understudy.games.scml.agent.checkpoint import read_checkpoint, weights_file
from understudy.games.scml.agent.l3_offers import OfferLimits, price_of, units_mask, units_of
from understudy.games.scml.agent.l4_priorities import Priorities, priorities, teacher_scores
from understudy.games.scml.agent.layers import Checkpoint
from understudy.games.scml.agent.numpy_networks import Goals, Offers, Scores
from understudy.games.scml.domain import END, NUM_GOALS, REJECT, RULES
from understudy.games.scml.view import columns as p
from understudy.games.scml.view import inputs
from understudy.games.scml.view.columns import Packed, most_units
from understudy.games.scml.view.observe import Observed
from understudy.games.scml.view.turns import Turns

_WEIGHTS: Final = Path(__file__).parent / "weights"
SHIPPED: Final = _WEIGHTS / "hrl-xf.safetensors"
SHIPPED_ONESHOT: Final = _WEIGHTS / "hrl-xf-oneshot.safetensors"
"""Come with the package, for Standard and OneShot worlds. The first has weights of its own for a
first level with thrifty buyers (`by_field.py`): they imitate HorizonAware's clone there."""
CLONE: Final = _WEIGHTS / "hrl-xf-clone.safetensors"
"""The clone of Steward that SHIPPED has learnt on from by play."""
CLONE_ONESHOT: Final = _WEIGHTS / "hrl-xf-oneshot-clone.safetensors"
"""The clone of Matcher that SHIPPED_ONESHOT has learnt on from by play."""
HRL: Final = "HRL"
"""Who plays with them, by name."""
CLONES: Final[Mapping[str, Path]] = {
    "HorizonAwareClone": _WEIGHTS / "horizon-aware-clone.safetensors",
}
"""Champions that the compiled world does not have, as networks that learnt from their recordings.

They play Standard worlds. L1's mask is on for them as for HRL: a clone never promises what L1
forbids, which its original does."""


@dataclass(frozen=True)
class Choice:
    """What L3 chose in one negotiation."""

    response: int
    offer: tuple[int, int, int] | None = None
    """Units, days ahead, unit price."""


@dataclass
class Thought:
    """What is the same for all negotiations of a decision."""

    state: Array
    """The part of L3's input, [1, ...]."""
    histories: Array
    """[negotiations, ...]: their offers so far."""


class HRLPolicy:
    """Weights that play. Nothing in it changes: one serves all factories of a process."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.about = checkpoint.needs("l3").about
        scheme = self.about.scheme
        if scheme not in ("residual", "direct"):
            raise InputError(f"the weights are of scheme '{scheme}', which is not known")
        if self.about.goals:
            checkpoint.needs("l2")
        self.l3 = Offers(checkpoint.layers["l3"], scheme)  # type: ignore[arg-type]
        self.l2 = Goals(checkpoint.layers["l2"]) if self.about.goals else None
        self.l4 = Scores(checkpoint.layers["l4"]) if "l4" in checkpoint.layers else None
        thrifty = checkpoint.thrifty
        self.thrifty = None if thrifty is None else HRLPolicy(thrifty)
        """Plays at the first level while buyers are thrifty (`by_field.py`)."""

    def require(self, horizon: int) -> None:
        """InputError unless it was trained for worlds with this horizon."""
        if horizon not in self.about.horizons:
            known = ", ".join(map(str, self.about.horizons))
            raise InputError(
                f"these weights were trained for worlds with a horizon of {known} days, not "
                f"{horizon}: record worlds of that track and train on them, or play L1 "
                "(checkpoint=None)"
            )

    def goals(self, columns: Packed, seen: Observed) -> Array:
        """L2: raw goals of a day from its start, [days, NUM_GOALS]; 0 where L3 knows none."""
        if self.l2 is None:
            return np.zeros((len(columns.facts), NUM_GOALS), np.float32)
        x = inputs.day_start_input(seen.static, seen.temporal, seen.can)
        return self.l2(x, scales_of(columns))

    def goal_input(self, columns: Packed, goals: Array) -> Array:
        """Raw goals as the layers above read them."""
        return inputs.goal_input(goals, scales_of(columns))

    def rank(self, columns: Packed, seen: Observed, goal_input: Array) -> Priorities:
        """L4: the network's order of negotiations, or its teacher's where there is none."""
        if self.l4 is None or len(seen.thread) < 2:
            return priorities(teacher_scores(seen.thread), columns.first)
        overall = inputs.overall_input(seen.static, seen.situation, goal_input)
        return priorities(self.l4(seen.thread, overall), columns.first)

    def think(self, seen: Observed, goal_input: Array) -> Thought:
        """What can be known before the first negotiation's turn."""
        state = inputs.state_input(seen.static, seen.temporal, seen.situation, goal_input)
        return Thought(state, self.l3.histories(seen.history, seen.length))

    def choose(
        self,
        thought: Thought,
        columns: Packed,
        seen: Observed,
        turns: Turns,
        index: int,
        rng: random.Random,
    ) -> Choice:
        """L3: what to do in one negotiation, whose turn has come."""
        of_negotiation = inputs.negotiation_input(
            seen.thread[index, None], turns.features[index, None]
        )
        x = np.concatenate([thought.state, of_negotiation], axis=1)
        hidden = self.l3.hidden(x, thought.histories[index, None])
        legal = np.array([turns.safe[index], turns.baseline[index, 0] > 0, True])
        scores = self.l3.linear("response", hidden)[0]
        # Masked by L1 before drawing: what is not safe has no probability, not a small one.
        response = draw(scores, legal, self.about.response_temperature, rng)
        if response != REJECT:
            return Choice(response)
        return self._offer(hidden, _offer_limits(columns, turns, index), rng)

    def _offer(self, hidden: Array, limits: OfferLimits, rng: random.Random) -> Choice:
        temperature, scheme = self.about.offer_temperature, self.l3.scheme
        day = draw(self.l3.linear("day", hidden)[0], limits.left[0] > 0, temperature, rng)
        left, base = limits.on(np.array([day]))
        # Factored: the day first, then units and price given the day and what is left on it.
        on_day = self.l3.on(hidden, day, int(left[0]))
        allowed = units_mask(scheme, left, base)[0]
        units = draw(self.l3.linear("units", on_day)[0], allowed, temperature, rng)
        price = draw(self.l3.linear("price", on_day)[0], None, temperature, rng)
        if base[0] <= 0:
            return Choice(END)
        return Choice(
            REJECT,
            (
                int(units_of(scheme, np.array([units]), left, base)[0]),
                day,
                int(price_of(scheme, np.array([price]), *limits[3:5], limits.base_price)[0]),
            ),
        )


def scales_of(columns: Packed) -> Array:
    """Lines, trading prices in and out, initial balance, [states, 4], as samples have them."""
    return columns.facts[:, [p.LINES, p.PRICE_IN, p.PRICE_OUT, p.INITIAL]].astype(np.float32)


def draw(scores: Array, legal: Array | None, temperature: float, rng: random.Random) -> int:
    """One of the legal options: the likeliest, or the warmer the more at random."""
    if legal is not None:
        scores = np.where(legal, scores, -np.inf)
    if temperature <= 0:
        return int(scores.argmax())
    # By the inverse of the cumulated distribution, so that one random number is used per draw.
    scaled = scores.astype(np.float64) / temperature
    chance = np.exp(scaled - scaled.max())  # scipy's softmax costs a tenth of a joint decision
    reached = (chance / chance.sum()).cumsum()
    found = int(np.searchsorted(reached, rng.random() * reached[-1], side="right"))
    return min(found, len(scores) - 1)


def _offer_limits(columns: Packed, turns: Turns, index: int) -> OfferLimits:
    facts = columns.facts[0]
    buys = bool(columns.negotiations[index, p.BUYS])
    low, high = (p.LOW_IN, p.HIGH_IN) if buys else (p.LOW_OUT, p.HIGH_OUT)
    return OfferLimits(
        np.array([buys]),
        turns.left[index, None].astype(np.int64),
        turns.money[index, None],
        np.array([int(facts[low])]),
        np.array([int(facts[high])]),
        turns.baseline[index, None, 2].astype(np.int64),
        np.array([most_units(facts)]),
    )


def shipped_for(horizon: int) -> Path:
    """The weights of the package that were trained for worlds with such a horizon."""
    return SHIPPED_ONESHOT if horizon == RULES["oneshot"].horizon else SHIPPED


def learnt_players(horizon: int) -> tuple[str, ...]:
    """Who plays with weights of the package in worlds with such a horizon, by name."""
    return (HRL,) if horizon == RULES["oneshot"].horizon else (HRL, *CLONES)


def packaged(name: str, horizon: int) -> Path | None:
    """The weights of the package that a player decides by; None: by none."""
    if name not in learnt_players(horizon):
        return None
    return shipped_for(horizon) if name == HRL else CLONES[name]


def policy_of(path: Path) -> HRLPolicy:
    """From a file or a model's folder, read once per process as long as it does not change."""
    path = weights_file(path)
    changed = path.stat().st_mtime_ns if path.is_file() else 0
    return _policy_of(path, changed)


@functools.lru_cache(maxsize=8)
def _policy_of(path: Path, changed: int) -> HRLPolicy:
    return HRLPolicy(read_checkpoint(path))
