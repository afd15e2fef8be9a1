"""HRL-XF as the learners of many worlds: all that wait decide together, `agent/hrl.py` in rows."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from understudy.data.arrays import Array, Float32s, Ints
from understudy.games.scml.agent.l4_priorities import Priorities, priorities, teacher_scores
from understudy.games.scml.agent.policy import HRLPolicy
from understudy.games.scml.batch.learnt import choices as c
from understudy.games.scml.batch.learnt.networks import ManyOffers, ManyScores
from understudy.games.scml.batch.learnt.room import Room
from understudy.games.scml.batch.observe import Questions, questions_of, without_negotiations
from understudy.games.scml.batch.state import MOST_DAYS
from understudy.games.scml.batch.worlds import Log, Worlds
from understudy.games.scml.domain import SafetySettings
from understudy.games.scml.view import features as f
from understudy.games.scml.view.observe import Observed, observed
from understudy.games.scml.view.turns import no_turns


class ManyDecisions:
    """Weights that play any number of factories in any number of worlds."""

    def __init__(self, policy: HRLPolicy, settings: SafetySettings | None = None) -> None:
        self.policy, self.settings = policy, settings or SafetySettings()
        self._offers = ManyOffers(policy.l3)
        self._scores = None if policy.l4 is None else ManyScores(policy.l4)
        self._room, about = Room(), policy.about
        self._drawing = c.Drawing(
            about.response_temperature,
            about.offer_temperature,
            policy.l3.scheme == "direct",
            self._offers.on_day,
            self._offers.on_day_bias,
            self._offers.turn_mean,
            self._offers.turn_inverse,
            np.zeros(64),
        )

    def answer(self, fixed: Array, state: Array, waiting: Ints) -> None:
        """Decide in all worlds that wait; the answers are in their records."""
        asked = questions_of(fixed, state, waiting)
        columns = asked.columns
        state_of = columns.state_of
        seen = observed(columns, self.settings)
        goals = self._goals(state, asked)
        ranked = self._rank(asked, seen, goals, state_of)
        known = self._offers.before_turns(seen, goals, state_of, self._room)
        self._take_turns(state, asked, ranked, known)
        c.hand_in(state, waiting)

    def _goals(self, state: Array, asked: Questions) -> Float32s:
        """L2's goals of the day as the layers above read them; set at a factory's first decision,
        before which nothing of it can have been signed."""
        at = asked.world, asked.factory
        fresh = np.flatnonzero(state["has_goals"][at] == 0)
        if len(fresh):
            columns = without_negotiations(asked.columns, fresh)
            goals = self.policy.goals(columns, observed(columns, self.settings))
            here = asked.world[fresh], asked.factory[fresh]
            state["goals"][here] = self.policy.goal_input(columns, goals)
            state["has_goals"][here] = 1
        return np.asarray(state["goals"][at])

    def _rank(
        self, asked: Questions, seen: Observed, goals: Float32s, state_of: Ints
    ) -> Priorities:
        first = asked.columns.first
        if self._scores is None:
            return priorities(teacher_scores(seen.thread), first)
        return priorities(self._scores(seen, goals, state_of, first, self._room), first)

    def _take_turns(
        self, state: Array, asked: Questions, ranked: Priorities, known: Float32s
    ) -> None:
        """One after the other: what one negotiation promises is gone for those after it."""
        columns, offers, how, room = asked.columns, self._offers, self._drawing, self._room
        decisions, where = len(asked.world), (state, asked.world)
        books, turn = c.new_books(decisions), c.new_turn(decisions)
        settings = self.settings.reserve, self.settings.conserves
        c.open_books(state, asked.world, columns, *settings, books)
        seen = columns, asked.place, no_turns(len(columns.negotiations))
        x = room("turn", decisions, len(f.TURN))
        on_day = room("on_day", decisions, len(how.on_day_bias))
        for number in range(int(np.diff(columns.first).max())):
            count = c.come(*where, number, ranked, books, how, seen, turn, x)
            if count:
                heads = offers.heads(known, turn.negotiation[:count], x[:count], room)
                chosen = c.choose_days(*where, seen, how, turn, heads, on_day)
                scores = offers.offer_heads(on_day[:chosen], room)
                c.conclude(*where, seen, books, how, turn, count, scores)


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
        for index, learner in enumerate(learners):
            rows = waiting[chosen == index]
            if len(rows):
                learner.answer(worlds.fixed, worlds.state, rows)
    return decisions
