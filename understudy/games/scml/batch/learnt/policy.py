"""HRL-XF as the learners of many worlds: all that wait decide together, `agent/hrl.py` in rows."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from understudy.data.arrays import Array, Bools, Float32s, Ints
from understudy.games.scml.agent.by_field import are_thrifty
from understudy.games.scml.agent.l4_priorities import Priorities, priorities, teacher_scores
from understudy.games.scml.agent.policy import HRLPolicy
from understudy.games.scml.batch.learnt import choices as c
from understudy.games.scml.batch.learnt.networks import ManyOffers, ManyScores
from understudy.games.scml.batch.learnt.room import Room
from understudy.games.scml.batch.observe import Questions, questions_of, without_negotiations
from understudy.games.scml.batch.players.learner import BY_THRIFTY
from understudy.games.scml.batch.state import CROWD, MOST_DAYS
from understudy.games.scml.batch.worlds import Log, Worlds
from understudy.games.scml.domain import SafetySettings
from understudy.games.scml.view import features as f
from understudy.games.scml.view.columns import HEARD_MOST, Packed
from understudy.games.scml.view.observe import Observed, observed
from understudy.games.scml.view.turns import Turns, no_turns


class OfferNetwork(Protocol):
    """L3, wherever it is computed: see `ManyOffers`."""

    def before_turns(self, seen: Observed, goals: Float32s, state_of: Ints) -> Any:
        """All that is known before the first turn, as `heads` wants it."""

    def heads(self, known: Any, rows: Ints, turn: Float32s) -> Float32s:
        """Scores of responses and days, and what an offer is made of."""

    def offer_heads(self, on_day: Float32s) -> Float32s:
        """Scores of units and prices."""


class Explorer(Protocol):
    """Somebody who lets a policy try other things, and writes down what it did."""

    def perturb(self, state: Array, asked: Questions, scores: Float32s) -> Float32s:
        """L4's scores as the order of turns is drawn from them."""

    def goals(self, state: Array, asked: Questions, fresh: Ints, start: "DayStarts") -> Float32s:
        """Raw goals of those whose day begins, [fresh, NUM_GOALS]."""

    def note(self, fixed: Array, state: Array, decided: "Decided") -> None:
        """Decisions that were just made."""


class DayStarts(NamedTuple):
    """What L2 reads."""

    columns: Packed
    seen: Observed


class Decided(NamedTuple):
    """Joint decisions with all that they rest on."""

    asked: Questions
    seen: Observed
    goals: Float32s
    order: Ints
    turns: Turns
    drawn: Ints
    """[negotiations, NUM_DRAWN]: see `choices.py`."""
    was_asked: Bools
    """[negotiations]: L3 had something to choose."""
    views: tuple[Float32s, Ints]
    """L3's of histories, and which negotiations have any."""


def _on_device(offers: ManyOffers, device: str) -> OfferNetwork:
    from understudy.games.scml.batch.learnt.torch_networks import TorchOffers  # takes a second

    return TorchOffers(offers, device)


class ManyDecisions:
    """Weights that play any number of factories in any number of worlds."""

    def __init__(
        self,
        policy: HRLPolicy,
        settings: SafetySettings | None = None,
        device: str | None = None,
        explorer: Explorer | None = None,
    ) -> None:
        """`settings`: as the weights were trained, unless given. `device`: where torch computes L3;
        None: in numpy. An `explorer` wants numpy."""
        self.settings = settings or SafetySettings(risk=policy.about.risk)
        self.policy, self._room = policy, Room()
        self._scores = None if policy.l4 is None else ManyScores(policy.l4)
        offers, about = ManyOffers(policy.l3), policy.about
        self._network: OfferNetwork = offers if device is None else _on_device(offers, device)
        self._explorer, self._offers = explorer, offers
        self._thrifty: ManyDecisions | None = None
        if policy.thrifty is not None:  # where they play, who explores neither notes nor learns
            self._thrifty = ManyDecisions(policy.thrifty, self.settings, device)
        self._drawing = c.Drawing(
            about.response_temperature,
            about.offer_temperature,
            policy.l3.scheme == "direct",
            offers.on_day,
            offers.on_day_bias,
            offers.turn_mean,
            offers.turn_inverse,
            np.zeros(64),
        )

    def answer(self, fixed: Array, state: Array, waiting: Ints) -> None:
        """Decide in all worlds that wait; the answers are in their records."""
        if self._thrifty is not None:
            thrifty = _by_thrifty(fixed, state, waiting)
            self._thrifty.answer(fixed, state, waiting[thrifty])
            waiting = waiting[~thrifty]
        if not len(waiting):
            return
        asked = questions_of(fixed, state, waiting)
        columns = asked.columns
        state_of = columns.state_of
        seen = observed(columns, self.settings)
        goals = self._goals(state, asked)
        ranked = self._rank(state, asked, seen, goals)
        known = self._network.before_turns(seen, goals, state_of)
        turns, drawn, was_asked = self._take_turns(state, asked, ranked, known)
        if self._explorer is not None:
            what = turns, drawn, was_asked, self._offers.views
            self._explorer.note(fixed, state, Decided(asked, seen, goals, ranked.order, *what))
        c.hand_in(state, waiting)

    def _goals(self, state: Array, asked: Questions) -> Float32s:
        """L2's goals of the day as the layers above read them; set at a factory's first decision,
        before which nothing of it can have been signed."""
        at = asked.world, asked.factory
        fresh = np.flatnonzero(state["has_goals"][at] == 0)
        if len(fresh):
            columns = without_negotiations(asked.columns, fresh)
            start = DayStarts(columns, observed(columns, self.settings))
            if self._explorer is None:
                goals = self.policy.goals(*start)
            else:
                goals = self._explorer.goals(state, asked, fresh, start)
            here = asked.world[fresh], asked.factory[fresh]
            state["goals"][here] = self.policy.goal_input(columns, goals)
            state["has_goals"][here] = 1
        return np.asarray(state["goals"][at])

    def _rank(self, state: Array, asked: Questions, seen: Observed, goals: Float32s) -> Priorities:
        first = asked.columns.first
        if self._scores is None:
            scores = teacher_scores(seen.thread)
        else:
            scores = self._scores(seen, goals, asked.columns.state_of, first)
        ranked = priorities(scores, first)
        if self._explorer is None:
            return ranked
        perturbed = self._explorer.perturb(state, asked, scores)
        return Priorities(ranked.weight, priorities(perturbed, first).order)

    def _take_turns(
        self, state: Array, asked: Questions, ranked: Priorities, known: Any
    ) -> tuple[Turns, Ints, Bools]:
        """One after the other: what one negotiation promises is gone for those after it.

        Returns what was left for each, what L3 drew, and where it was asked.
        """
        columns, network, how, room = asked.columns, self._network, self._drawing, self._room
        decisions, where = len(asked.world), (state, asked.world)
        books, turn = c.new_books(decisions), c.new_turn(decisions)
        c.open_books(state, asked.world, columns, self.settings.numbers, books)
        seen = columns, asked.place, no_turns(len(columns.negotiations))
        drawn = np.zeros((len(columns.negotiations), c.NUM_DRAWN), np.int64)
        was_asked = np.zeros(len(drawn), np.bool_)
        x = room("turn", decisions, len(f.TURN))
        on_day = room("on_day", decisions, len(how.on_day_bias))
        for number in range(int(np.diff(columns.first).max())):
            count = c.come(*where, number, ranked, books, how, seen, turn, x)
            if count:
                heads = network.heads(known, turn.negotiation[:count], x[:count])
                chosen = c.choose_days(*where, seen, how, turn, heads, on_day)
                scores = network.offer_heads(on_day[:chosen])
                c.conclude(*where, seen, books, how, turn, count, scores)
                drawn[turn.negotiation[:count]] = turn.drawn[:count]
                was_asked[turn.negotiation[:count]] = True
        return seen[2], drawn, was_asked


def _by_thrifty(fixed: Array, state: Array, waiting: Ints) -> Bools:
    """Who plays by the weights for thrifty buyers today: found out at a factory's first decision,
    before which no talk of the day can have ended."""
    me = state["asked"][waiting]
    fresh = np.flatnonzero(state["has_goals"][waiting, me] == 0)
    at, here = (waiting[fresh], me[fresh]), fixed[waiting[fresh]]
    buyers = here["first_of"][:, 2] - here["first_of"][:, 1]
    thrifty = are_thrifty(state["notes"][*at, CROWD:, HEARD_MOST], buyers)
    state["kept"][*at, BY_THRIFTY] = thrifty & (here["level"][np.arange(len(fresh)), at[1]] == 0)
    return np.asarray(state["kept"][waiting, me, BY_THRIFTY] > 0)


class Learner(Protocol):
    """Whoever can answer for the learners of worlds."""

    def answer(self, fixed: Array, state: Array, waiting: Ints) -> None:
        """Decide in all worlds that wait; the answers are in their records."""


def play(
    worlds: Worlds, learners: Sequence[Learner], log: Log | None = None, until: int = MOST_DAYS
) -> int:
    """Play on with learners, each by the policy of its seat; how many joint decisions they made."""
    decisions = 0
    while len(waiting := worlds.play(log, until)):
        decisions += len(waiting)
        factory = worlds.state["asked"][waiting]
        chosen = worlds.fixed["policy"][waiting, factory]
        if chosen.max() >= len(learners):  # it would be waited for without end
            raise ValueError(f"a seat is of policy {chosen.max()}, there are {len(learners)}")
        for index, learner in enumerate(learners):
            rows = waiting[chosen == index]
            if len(rows):
                learner.answer(worlds.fixed, worlds.state, rows)
    return decisions


def play_in_threads(worlds: Worlds, learners: Callable[[], Sequence[Learner]], threads: int) -> int:
    """The same with the worlds dealt out to threads, each with learners of its own.

    Compiled code and matrix products run side by side; only the little between them does not.
    """
    cuts = np.linspace(0, len(worlds.fixed), threads + 1).astype(int).tolist()
    parts = [worlds.part(slice(*cut)) for cut in pairwise(cuts)]
    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(lambda part: play(part, learners()), parts))
