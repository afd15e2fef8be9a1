"""Joint decisions written down as they are made, with what they rest on and what was drawn.

All chance is the factory's own dice, so a world's course depends on nothing but its seed and the
weights, however many worlds are played beside it.
"""

import math
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np

from understudy.data.arrays import Array, Bools, Float32s, Floats, Int32s, Ints
from understudy.errors import InputError
from understudy.games.scml.agent.numpy_networks import raw_goals
from understudy.games.scml.agent.policy import HRLPolicy, scales_of
from understudy.games.scml.batch.dice import number_of, uniform
from understudy.games.scml.batch.learnt.networks import ManyOffers
from understudy.games.scml.batch.learnt.policy import DayStarts, Decided
from understudy.games.scml.batch.observe import Questions
from understudy.games.scml.batch.state import FACTORIES
from understudy.games.scml.domain import NUM_GOALS
from understudy.games.scml.learning.online.booked import booked
from understudy.games.scml.learning.online.central import WIDTH, look_around
from understudy.games.scml.learning.online.kernels import kernel
from understudy.games.scml.view import inputs

PLACES: Final = 3
"""In the chain: the first level, a middle one, the last."""
_KEPT: Final = 0x5EED
"""Which decisions are learnt from is drawn beside the dice of play, and changes nothing of it."""


@dataclass(frozen=True)
class Played:
    """Decisions of learners in the order they were made, and negotiations of those learnt from."""

    world: Ints
    """[decisions]: by index among the worlds of the rollout."""
    factory: Ints
    day: Ints
    level: Ints
    """0 the first, 1 a middle, 2 the last."""
    group: Ints
    """The level, and PLACES more where there are champions alone: luck is alike in a group."""
    booked: Floats
    """The score that all contracts so far would lead to."""
    money: Floats
    """The balance over the initial one."""
    state: Float32s
    """[decisions, ...]: L3's input that all negotiations of a decision share."""
    central: Float32s
    """[decisions, WIDTH]: see `central.py`."""
    kept: Bools
    """Whether the policy learns from it; the critic does from all."""
    # --- negotiations of kept decisions, in the order of their turns
    decision: Ints
    """[negotiations]: whose."""
    thread: Float32s
    turn: Float32s
    view: Float32s
    """[negotiations, ...]: features, and L3's view of the history."""
    left: Int32s
    """[negotiations, DAYS]: what L1 allows."""
    legal: Bools
    """[negotiations, 3]: responses."""
    drawn: Ints
    """[negotiations, NUM_DRAWN]: see `choices.py`."""
    was_asked: Bools
    """L3 had something to choose."""
    # --- starts of days
    day_decision: Ints
    """[days]: the first decision of each."""
    day_start: Float32s
    """[days, ...]: what L2 reads."""
    goals: Float32s
    """[days, NUM_GOALS]: what it drew, as the network says it."""


class RolloutBuffer:
    """An explorer that writes down decisions."""

    def __init__(
        self, policy: HRLPolicy, *, keep: float, samples_order: bool, goal_noise: float = 0.0
    ) -> None:
        self._policy, self._keep, self._samples_order, self._noise = (
            policy,
            keep,
            samples_order,
            goal_noise,
        )
        self._pages: list[dict[str, Array]] = []
        self._starts: list[tuple[Ints, Float32s, Float32s]] = []
        self._fresh: tuple[Ints, Float32s, Float32s] | None = None
        self._decisions = 0

    def perturb(self, state: Array, asked: Questions, scores: Float32s) -> Float32s:
        """With Gumbel noise, so that orders are drawn as Plackett and Luce have it."""
        if not self._samples_order:
            return scores
        perturbed = scores.astype(np.float64)
        add_gumbel(state, asked.world, asked.columns.first, perturbed)
        return perturbed  # type: ignore[return-value]

    def goals(self, state: Array, asked: Questions, fresh: Ints, start: DayStarts) -> Float32s:
        """L2's, drawn around what it says."""
        columns, seen = start
        l2 = self._policy.l2
        if l2 is None:
            return self._policy.goals(columns, seen)
        x = inputs.day_start_input(seen.static, seen.temporal, seen.can)
        said = l2.linear("goals", l2.mlp("torso", l2.standard(x)))
        if self._noise > 0:
            add_normal(state, asked.world[fresh], self._noise, said)
            self._fresh = fresh, x, said
        return raw_goals(said, scales_of(columns))

    def note(self, fixed: Array, state: Array, decided: Decided) -> None:
        """One page."""
        asked, seen = decided.asked, decided.seen
        count = len(asked.world)
        worth, central = np.empty(count), np.empty((count, WIDTH), np.float32)
        kept, level = np.empty(count, np.bool_), np.empty(count, np.int64)
        look(fixed, state, asked.world, self._keep, worth, central, kept, level)
        page = {
            "world": asked.world,
            "factory": asked.factory,
            "day": state["day"][asked.world].copy(),
            "level": level,
            "group": level,
            "booked": worth,
            "money": state["balance"][asked.world, asked.factory]
            / fixed["initial"][asked.world, asked.factory],
            "state": inputs.state_input(seen.static, seen.temporal, seen.situation, decided.goals),
            "central": central,
            "kept": kept,
        }
        self._pages.append(page | self._negotiations(decided, kept))
        if self._fresh is not None:
            fresh, x, said = self._fresh
            self._starts.append((self._decisions + fresh, x, said))
            self._fresh = None
        self._decisions += count

    def _negotiations(self, decided: Decided, kept: Bools) -> dict[str, Array]:
        state_of, turns = decided.asked.columns.state_of, decided.turns
        order = decided.order[kept[state_of]]
        view = np.zeros((len(state_of), decided.views[0].shape[1]), np.float32)
        view[decided.views[1]] = decided.views[0]
        return {
            "decision": self._decisions + state_of[order],
            "thread": decided.seen.thread[order],
            "turn": turns.features[order],
            "view": view[order],
            "left": turns.left[order],
            "legal": np.stack(
                [turns.safe[order], turns.baseline[order, 0] > 0, np.ones(len(order), np.bool_)], 1
            ),
            "drawn": decided.drawn[order],
            "was_asked": decided.was_asked[order],
        }

    def played(self) -> Played:
        """All pages in one."""
        if not self._pages:
            raise InputError(
                "in none of these worlds did the weights that learn decide anything: play more at "
                "once, or leave out those for thrifty buyers (--set online.thrifty=false)"
            )
        names = [one.name for one in fields(Played)][:-3]
        found = {name: np.concatenate([page[name] for page in self._pages]) for name in names}
        starts = self._starts or [
            (
                np.empty(0, np.int64),
                np.empty((0, inputs.DAY_START_INPUTS), np.float32),
                np.empty((0, NUM_GOALS), np.float32),
            )
        ]
        rest = [np.concatenate(parts) for parts in zip(*starts, strict=True)]
        return Played(**found, day_decision=rest[0], day_start=rest[1], goals=rest[2])


class GuideBuffer(RolloutBuffer):
    """Writes down a guide's decisions as the one who learns would have seen them.

    With the learner's own goals and its own view of histories. So a policy can begin with what a
    champion knows of a place where it is ahead, and go on from there by its own rewards
    (kickstarting, Schmitt et al. 2018).
    """

    def __init__(self, guide: HRLPolicy, learner: HRLPolicy, worlds: int) -> None:
        super().__init__(guide, keep=1.0, samples_order=False)
        self._guide, self._learner, self._offers = guide, learner, ManyOffers(learner.l3)
        self._read = np.zeros((worlds, FACTORIES, NUM_GOALS), np.float32)
        """The learner's goals of the day as it reads them."""

    def goals(self, state: Array, asked: Questions, fresh: Ints, start: DayStarts) -> Float32s:
        """The guide's, by which it plays; the learner's are kept."""
        read = self._learner.goal_input(start.columns, self._learner.goals(*start))
        self._read[asked.world[fresh], asked.factory[fresh]] = read
        return np.asarray(self._guide.goals(*start))

    def note(self, fixed: Array, state: Array, decided: Decided) -> None:
        """One page."""
        asked = decided.asked
        goals = self._read[asked.world, asked.factory]
        self._offers.before_turns(decided.seen, goals, asked.columns.state_of)
        told: Any = {"goals": goals, "views": self._offers.views}
        super().note(fixed, state, decided._replace(**told))


# --- compiled ------------------------------------------------------------------------------------


@kernel
def look(fixed, state, asked, keep, worth, central, kept, level):  # type: ignore[no-untyped-def]
    """Of each decision what is booked, what the critic sees, whether it is learnt from."""
    for row in range(len(asked)):
        rules, world = fixed[asked[row]], state[asked[row]]
        me = world.asked
        worth[row] = booked(rules, world, me)
        look_around(rules, world, me, central[row])
        number = number_of(world.dice[me] ^ _KEPT, world.rolled[me])
        kept[row] = number < keep * 4294967296.0
        last = rules.level[me] == rules.levels - 1
        level[row] = 0 if rules.level[me] == 0 else (2 if last else 1)


@kernel
def add_gumbel(state, asked, first, scores):  # type: ignore[no-untyped-def]
    """Gumbel noise on the scores of each decision's negotiations."""
    for row in range(len(asked)):
        world = state[asked[row]]
        for k in range(first[row], first[row + 1]):
            luck = max(uniform(world, world.asked), 1e-12)
            scores[k] -= math.log(-math.log(luck))


@kernel
def add_normal(state, asked, spread, values):  # type: ignore[no-untyped-def]
    """Gaussian noise (Box and Muller's)."""
    for row in range(len(asked)):
        world = state[asked[row]]
        for k in range(values.shape[1]):
            far = math.sqrt(-2.0 * math.log(max(uniform(world, world.asked), 1e-12)))
            values[row, k] += spread * far * math.cos(2.0 * math.pi * uniform(world, world.asked))
