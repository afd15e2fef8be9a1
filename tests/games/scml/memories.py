"""Worlds whose agents keep what they saw, to be held against their recordings."""

import random
from contextlib import contextmanager
from dataclasses import replace

import pytest

from understudy.data.players import PlayerRef
from understudy.games.scml.agent.hrl import Decision, L1Agent
from understudy.games.scml.engine.responses import ACCEPT_OFFER, END_NEGOTIATION, REJECT_OFFER
from understudy.games.scml.players import catalogue
from understudy.games.scml.tournament import play
from understudy.games.scml.tournament.design import WorldPlan
from understudy.games.scml.view.state import State, commitments_of

MIXED = ("Live", "Greedy", "Live", "SyncRandom", "Live", "Penguin", "Live", "Random", "Live")
ONESHOT = ("Live", "SyncRandom", "Greedy", "Live", "Live", "Random")
PLAN = WorldPlan(
    match="mixed",
    field="test",
    track="std",
    factories_per_level=(3, 3, 3),
    steps=16,
    seed=15,
    run=0,
    players=tuple(map(PlayerRef, MIXED)),
    slots=(0,),
)
SHORT = replace(PLAN, match="oneshot", track="oneshot", factories_per_level=(3, 3), steps=12)
SHORT = replace(SHORT, players=tuple(map(PlayerRef, ONESHOT)))


class Live(L1Agent):
    """Does all sorts of things, and keeps the state before each of them."""

    decided: dict = {}  # noqa: RUF012
    day_starts: dict = {}  # noqa: RUF012
    """States by factory, in order."""
    turns: dict = {}  # noqa: RUF012
    """What was left when the turn of each negotiation came, likewise."""

    def before_step(self):
        super().before_step()
        state = State(self._profile, self._day_start, commitments_of(self.awi), ())
        self.day_starts.setdefault(self.id, []).append(state)

    def _deliberate(self, state):
        now = super()._deliberate(state)
        self.decided.setdefault(self.id, []).append(state)
        self.turns.setdefault(self.id, []).append(now.turns.values)
        return now

    def guard(self, now, index, wish):
        return wish

    def decide(self, now, index):
        state, negotiation = now.state, now.state.negotiations[index]
        chance = random.random()
        if negotiation.heard is not None and chance < 0.1:
            return Decision(ACCEPT_OFFER)  # safe or not
        if chance < 0.15:
            return Decision(END_NEGOTIATION)
        low, high = state.day_start.prices_in if negotiation.buys else state.day_start.prices_out
        ahead = random.randint(0, state.days_ahead)
        most = 30 if state.profile.horizon else 10
        quantity = random.randint(1, random.choice((4, most)))
        return Decision(
            REJECT_OFFER, (quantity, state.day_start.day + ahead, random.randint(low, high))
        )


@contextmanager
def live_agents():
    """While this lasts, `Live` can be played, and what it saw is kept."""
    with pytest.MonkeyPatch.context() as patch:
        load = catalogue.load
        for track in catalogue.CATALOGUE.values():
            patch.setitem(track, "Live", "of.this.test")
        patch.setattr(
            catalogue,
            "load_for_world",
            lambda names, track, own: [Live if n == "Live" else load(n, track) for n in names],
        )
        yield


def played(plan, risk=0.0):
    """Recordings of a world, and the states its live agents saw: decisions, day starts, turns."""
    Live.decided, Live.day_starts, Live.turns, Live.risk = {}, {}, {}, risk
    with live_agents():
        recordings = play.play([plan]).recordings
    return recordings, Live.decided, Live.day_starts, Live.turns
