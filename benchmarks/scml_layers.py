"""What the layers of HRL-XF are worth: one of them changed, everything else as shipped.

    python benchmarks/scml_layers.py [--worlds 1000] [--block 15000001] [--seconds 900]

Statistic, fixed before the run: the mean over worlds of the score of HRL-XF with one change less
that of HRL-XF as shipped, in the same factory of the same compiled world with the same dice, with
Student's 95 % interval over worlds; of all places in the chain, and of each. A world is an official
draw whose competitors are Penguin, AS0, Steward and TunedSteward; one of them gives its factory
away. The block of worlds has chosen nothing: weights, temperatures and Steward's numbers come from
others. HRL's weights for thrifty buyers stay out. L1 and both Stewards play in the same factory
beside.

Changes: goals zero; another day's goals of the same place in the chain. L4's scores: its teacher's;
dealt out anew at random; dealt out by price; equals in random order instead of by name. L3: the
likeliest offer instead of a drawn one; no history; L1's baseline where the response is less sure
than so much.
"""

import argparse
import copy
import time
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from understudy.data.arrays import Array, Float32s, Floats, Ints
from understudy.games.scml.agent.checkpoint import read_checkpoint
from understudy.games.scml.agent.l3_offers import TENTHS, UNITS
from understudy.games.scml.agent.l4_priorities import (
    CLOSE,
    Priorities,
    priorities,
    teacher_scores,
)
from understudy.games.scml.agent.policy import SHIPPED, HRLPolicy
from understudy.games.scml.batch.learnt.policy import ManyDecisions, OfferNetwork
from understudy.games.scml.batch.observe import Questions
from understudy.games.scml.batch.setup import Seat
from understudy.games.scml.domain import DAYS, NUM_GOALS, RESPONSES
from understudy.games.scml.tuning.report import comparison_lines
from understudy.games.scml.tuning.trials import RIVALS, layout, scores_in_hands
from understudy.games.scml.view import features as f
from understudy.games.scml.view.observe import Observed
from understudy.games.scml.view.scales import AHEAD

AT_ONCE = 64
SHIPPED_NAME = "HRL as shipped"
NATIVE = ("L1", "Steward", "TunedSteward")
FOR_SURE = 1e9
"""A score beside which all others have no chance."""
POOL = 256
"""Goals that are remembered of a place in the chain."""


class GoalsZero(ManyDecisions):
    """L2 is after nothing."""

    def _goals(self, state: Array, asked: Questions) -> Float32s:
        super()._goals(state, asked)
        raw = np.zeros((len(asked.world), NUM_GOALS), np.float32)
        return np.asarray(self.policy.goal_input(asked.columns, raw))


class GoalsShuffled(ManyDecisions):
    """Another factory's goals of the day, of the same place in the chain, from a world beside."""

    def __init__(self, policy: HRLPolicy) -> None:
        super().__init__(policy)
        self._rng, self._pools = np.random.default_rng(0), dict[int, list[Float32s]]()

    def answer(self, fixed: Array, state: Array, waiting: Ints) -> None:
        """Decide in all worlds that wait."""
        level = fixed["level"][waiting, state["asked"][waiting]]
        last = fixed["levels"][waiting] - 1
        self._place = np.where(level == 0, 0, np.where(level == last, 2, 1))
        super().answer(fixed, state, waiting)

    def _goals(self, state: Array, asked: Questions) -> Float32s:
        at = asked.world, asked.factory
        fresh = np.flatnonzero(state["has_goals"][at] == 0)
        found = super()._goals(state, asked)
        for row in fresh.tolist():
            pool = self._pools.setdefault(int(self._place[row]), [])
            pool.append(found[row].copy())
        for row in fresh.tolist():
            pool = self._pools[int(self._place[row])]
            del pool[:-POOL]
            found[row] = pool[self._rng.integers(len(pool))]
        state["goals"][at] = found
        return found


class Ordered(ManyDecisions):
    """Negotiations in another order, but for the teacher with the weights that L4 gave."""

    def __init__(self, policy: HRLPolicy, way: str) -> None:
        super().__init__(policy)
        self._way, self._rng = way, np.random.default_rng(0)

    def _rank(self, state: Array, asked: Questions, seen: Observed, goals: Float32s) -> Priorities:
        assert self._scores is not None
        first = asked.columns.first
        if self._way == "teacher":
            return priorities(teacher_scores(seen.thread), first)
        given = self._scores(seen, goals, asked.columns.state_of, first).astype(np.float64)
        luck = self._rng.random(len(given))
        if self._way == "ties":
            return priorities(given + 100 * CLOSE * luck, first)
        liked = luck
        if self._way == "price":  # what nobody has offered for comes last
            liked = seen.thread[:, f.THREAD_AT.is_heard] * (1 + seen.thread[:, f.THREAD_AT.gain])
        return priorities(_dealt_out(given, liked, first), first)


def _dealt_out(given: Floats, liked: Array, first: Ints) -> Floats:
    """The scores of each decision, the highest to what is liked most."""
    found = np.empty_like(given)
    for start, stop in pairwise(first.tolist()):
        found[start + np.argsort(liked[start:stop], kind="stable")] = np.sort(given[start:stop])
    return found


class Changed(ManyDecisions):
    """L3's network is a changed one."""

    def __init__(self, policy: HRLPolicy, network: "type[Network]", *how: float) -> None:
        super().__init__(policy)
        self._network = network(self._network, self._drawing, *how)


class Network:
    """L3's network as it is; for others to change."""

    def __init__(self, network: OfferNetwork, drawing: Any, sure: float = 0.0) -> None:
        self._of, self._how, self._sure = network, drawing, sure

    def before_turns(self, seen: Observed, goals: Float32s, state_of: Ints) -> Any:
        """All that is known before the first turn."""
        return self._of.before_turns(seen, goals, state_of)

    def heads(self, known: Any, rows: Ints, turn: Float32s) -> Float32s:
        """Scores of responses and days, and what an offer is made of."""
        return self._of.heads(known, rows, turn)

    def offer_heads(self, on_day: Float32s) -> Float32s:
        """Scores of units and prices."""
        return self._of.offer_heads(on_day)


class NoHistory(Network):
    """What was offered before is not known; the features of a negotiation are."""

    def before_turns(self, seen: Observed, goals: Float32s, state_of: Ints) -> Any:
        """All that is known before the first turn."""
        blank = seen._replace(length=np.zeros_like(seen.length))
        return self._of.before_turns(blank, goals, state_of)


class Guarded(Network):
    """L1's baseline where the likeliest response is less likely than `sure`."""

    def heads(self, known: Any, rows: Ints, turn: Float32s) -> Float32s:
        """Where it is unsure: accept what is safe, else offer L1's day."""
        found, answers, at = self._of.heads(known, rows, turn), len(RESPONSES), f.TURN_AT
        raw = turn / self._how.turn_inverse + self._how.turn_mean
        legal = np.stack([raw[:, at.still_safe] > 0.5, raw[:, at.has_base] > 0.5], axis=1)
        legal = np.concatenate([legal, np.ones((len(raw), 1), bool)], axis=1)
        scores = np.where(legal, found[:, :answers].astype(np.float64), -np.inf)
        chance = np.exp(scores - scores.max(axis=1, keepdims=True))
        unsure = np.flatnonzero(1 / chance.sum(axis=1) < self._sure)
        # What is not legal is masked after this: so the first of these that is.
        found[unsure, :answers] = FOR_SURE, FOR_SURE / 10, 0
        day = np.rint(raw[unsure, at.base_ahead] * AHEAD).astype(int)
        found[unsure, answers : answers + DAYS] = 0
        found[unsure, answers + day] = FOR_SURE
        found[unsure, answers + DAYS :] = -FOR_SURE  # nothing comes through: see `offer_heads`
        return found

    def offer_heads(self, on_day: Float32s) -> Float32s:
        """No step away from L1's units and price."""
        found = self._of.offer_heads(on_day)
        unsure = ~on_day.any(axis=1)
        found[unsure, UNITS] = FOR_SURE
        found[unsure, 2 * UNITS + 1 + TENTHS] = FOR_SURE
        return found


def variants() -> dict[str, ManyDecisions]:
    """HRL-XF by what is changed of it."""
    policy = HRLPolicy(read_checkpoint(SHIPPED).with_thrifty(None))
    likeliest = copy.copy(policy)
    likeliest.about = replace(policy.about, offer_temperature=0.0)
    return {
        SHIPPED_NAME: ManyDecisions(policy),
        "L2: goals zero": GoalsZero(policy),
        "L2: goals shuffled": GoalsShuffled(policy),
        "L4: its teacher": Ordered(policy, "teacher"),
        "L4: at random": Ordered(policy, "random"),
        "L4: by price": Ordered(policy, "price"),
        "L4: equals at random": Ordered(policy, "ties"),
        "L3: likeliest offer": ManyDecisions(likeliest),
        "L3: no history": Changed(policy, NoHistory),
        "L3: guard .6": Changed(policy, Guarded, 0.6),
        "L3: guard .9": Changed(policy, Guarded, 0.9),
    }


def main() -> None:
    """Print a row for each change."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", type=int, default=1000)
    parser.add_argument("--block", type=int, default=15_000_001)
    parser.add_argument("--seconds", type=float, default=900.0)
    wanted = parser.parse_args()
    learnt = variants()
    hands = [Seat(None, policy=index) for index in range(len(learnt))] + [Seat(n) for n in NATIVE]
    drawn = [
        layout("official", None, wanted.block, number, (*RIVALS, "TunedSteward"))
        for number in range(wanted.worlds)
    ]
    parts, begun = list[Floats](), time.process_time()
    for start in range(0, len(drawn), AT_ONCE):
        parts.append(scores_in_hands(drawn[start : start + AT_ONCE], hands, list(learnt.values())))
        if time.process_time() - begun > wanted.seconds:
            break
    found = np.concatenate(parts, axis=1)
    named = dict(zip((*learnt, *NATIVE), found, strict=True))
    for line in comparison_lines(
        named, SHIPPED_NAME, [one.place for one in drawn[: found.shape[1]]]
    ):
        print(line)
    print(f"{found.shape[1]:,} worlds, {time.process_time() - begun:,.0f} CPU s")


if __name__ == "__main__":
    main()
