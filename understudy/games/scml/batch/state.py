"""The memory of a compiled world: two records, one fixed, one changing.

A record is what C calls a struct: compiled functions get a pointer to it, a world is saved and
restored by copying its record, and worlds side by side are an array of them. Partners of a factory
lie in places of their own that never change: its suppliers in the first CROWD, its consumers in
those after, each by their index in their level; so places are in order of names. A talk is a
negotiation; its two sides are 0, who opens, and 1.
"""

from typing import Final

import numpy as np

from understudy.games.scml.domain import DAYS, NUM_GOALS, ROUNDS
from understudy.games.scml.view.columns import NUM_FACTS, NUM_SUMS
from understudy.games.scml.view.commitments import NUM_LIMITS

LEVELS: Final = 4
CROWD: Final = 8
"""The most factories of a level."""
FACTORIES: Final = LEVELS * CROWD
PARTNERS: Final = 2 * CROWD
TALKS: Final = (LEVELS - 1) * CROWD * CROWD
MOST_DAYS: Final = 200
TRADES: Final = 2 * CROWD * MOST_DAYS
"""With the outside world."""
OPEN: Final = TALKS * DAYS
"""Contracts that are still to be delivered."""
DEALS: Final = CROWD * DAYS + 1
"""Of one factory and side for one day, with the outside world's."""
OFFERS: Final = 2 * ROUNDS
"""Of one talk."""
NUMBERS: Final = 48
"""That a player can be told before a world, and that it can keep for itself."""
NOTES: Final = NUM_SUMS + 1
"""That it can keep of each partner."""

UNITS, DAY, PRICE = range(3)
"""Of an offer. 0 units: there is none."""
NOBODY: Final = -1

WAIT, ACCEPT, REJECT, END, OMITTED = range(5)
"""What can be answered to an offer; WAIT also stands for no answer, and what is omitted in a joint
one ends."""

FIXED: Final = np.dtype(
    [
        ("seed", "i8"),
        ("days", "i8"),
        ("levels", "i8"),
        ("factories", "i8"),
        ("horizon", "i8"),
        ("most_units", "i8"),
        ("price_share", "f8"),  # negative: one of the two whole numbers around the price
        ("perishable", "i8"),
        ("conserves", "i8"),
        ("catalog", "f8", LEVELS + 1),
        ("first_of", "i8", LEVELS + 1),  # by level, and after the last
        ("player", "i8", FACTORIES),
        ("policy", "i8", FACTORIES),  # of a learner
        ("numbers", "f8", (FACTORIES, NUMBERS)),
        ("level", "i8", FACTORIES),
        ("lines", "i8", FACTORIES),
        ("cost", "i8", FACTORIES),
        ("initial", "f8", FACTORIES),
        ("storage", "f8", (FACTORIES, MOST_DAYS)),
        ("disposal", "f8", (FACTORIES, MOST_DAYS)),
        ("penalty", "f8", (FACTORIES, MOST_DAYS)),
        ("trades_until", "i8", MOST_DAYS + 1),
        ("trade_factory", "i2", TRADES),
        ("trade_product", "i2", TRADES),
        ("trade_units", "i4", TRADES),
        ("trade_price", "i4", TRADES),
    ],
    align=True,
)
"""A world without its course."""

WORLD: Final = np.dtype(
    [
        # where it stands
        ("day", "i8"),
        ("phase", "i8"),
        ("asked", "i8"),  # the learner whose answer it waits for; NOBODY
        ("call", "i8"),
        ("answered", "i8"),
        ("faults", "i8"),
        # the market
        ("price", "f8", LEVELS + 1),
        ("weight", "f8", LEVELS + 1),
        ("traded", "i8", LEVELS + 1),
        ("average", "f8", LEVELS + 1),
        ("low", "i8", LEVELS + 1),
        ("high", "i8", LEVELS + 1),
        ("last_day", "i8"),  # for which a delivery can be agreed today
        # factories
        ("stock", "i8", FACTORIES),
        ("balance", "f8", FACTORIES),
        ("earned", "f8", FACTORIES),
        ("profit", "f8", FACTORIES),
        ("produced", "i8", FACTORIES),
        ("short", "i8", FACTORIES),
        ("delivered", "i8", FACTORIES),  # to other factories
        ("bankrupt", "i8", FACTORIES),
        ("stock_falls", "i8", FACTORIES),
        ("supply_units", "i8", FACTORIES),
        ("supply_money", "i8", FACTORIES),
        ("sale_units", "i8", FACTORIES),
        ("sale_money", "i8", FACTORIES),
        # by factory and day modulo DAYS: what was agreed, and of that with solvent partners
        ("bought", "i8", (FACTORIES, DAYS)),
        ("sold", "i8", (FACTORIES, DAYS)),
        ("sure", "i8", (FACTORIES, 4, DAYS)),
        # contracts to be delivered, in lists by day modulo DAYS, in the order of signing
        ("due_first", "i2", DAYS),
        ("due_last", "i2", DAYS),
        ("spare", "i2"),
        ("next", "i2", OPEN),
        ("seller", "i1", OPEN),
        ("buyer", "i1", OPEN),
        ("void", "i1", OPEN),
        ("units", "i4", OPEN),
        ("unit_price", "i4", OPEN),
        ("number", "i4", OPEN),
        ("signed", "i8"),
        # today's talks
        ("talks", "i8"),
        ("running", "i8", TALKS),
        ("num_running", "i8"),
        ("num_kept", "i8"),
        ("cursor", "i8"),
        ("side", "i8", (TALKS, 2)),
        ("product", "i8", TALKS),
        ("round", "i8", TALKS),
        ("acted_last", "i8", TALKS),
        ("order", "i8", TALKS),
        ("waited", "i8", TALKS),
        ("offers", "i8", TALKS),
        ("round_start", "i8", TALKS),
        ("table", "i8", (TALKS, 3)),
        ("said", "i4", (TALKS, OFFERS, 3)),
        ("said_by", "i1", (TALKS, OFFERS)),
        # by factory and partner: who is spoken to, and the bookkeeping of joint decisions
        ("talk", "i8", (FACTORIES, PARTNERS)),  # NOBODY: none today
        ("open", "i8", (FACTORIES, PARTNERS)),
        ("met", "i8", (FACTORIES, PARTNERS)),  # places in the order their talks were called for
        ("num_met", "i8", FACTORIES),
        ("num_open", "i8", FACTORIES),
        ("has_opened", "i8", FACTORIES),
        ("heard", "i8", (FACTORIES, PARTNERS)),  # places in the order they were heard
        ("num_heard", "i8", FACTORIES),
        ("answer", "i8", (FACTORIES, PARTNERS)),
        ("has_proposal", "i8", (FACTORIES, PARTNERS)),
        ("num_proposals", "i8", FACTORIES),
        ("proposal", "i8", (FACTORIES, PARTNERS, 3)),
        ("waits", "i8", (FACTORIES, PARTNERS)),
        # a learner's answer, once it is there
        ("reply", "i8", PARTNERS),
        ("reply_offer", "i8", (PARTNERS, 3)),
        # what a learner's (or L1's) partners may still turn into a contract unasked: its offer to
        # each, or theirs that it has accepted; and L2's goals of the day
        ("bound", "i8", (FACTORIES, PARTNERS, 3)),
        ("has_goals", "i8", FACTORIES),
        ("goals", "f4", (FACTORIES, NUM_GOALS)),
        # what players keep
        ("dice", "i8", FACTORIES),
        ("rolled", "i8", FACTORIES),
        ("kept", "f8", (FACTORIES, NUMBERS)),
        ("notes", "f8", (FACTORIES, PARTNERS, NOTES)),
        # space to work in
        ("deal_units", "i8", DEALS),
        ("deal_price", "f8", DEALS),
        ("list_a", "i8", 64),
        ("list_b", "i8", 64),
        ("list_c", "i8", 64),
        ("list_d", "i8", 64),
        ("list_e", "i8", 64),
        ("list_f", "i8", 64),
        ("lived", "i8", (OFFERS, 4)),  # a talk as one side lived it
        # the same for L1: a state, and its book as training sees it and with all that binds
        ("facts", "f8", NUM_FACTS),
        ("promised", "i8", (4, DAYS)),
        ("left", "i8", (2, DAYS)),
        ("book_days", "i8", (2, 3, DAYS)),
        ("book_limits", "i8", (2, NUM_LIMITS)),
        ("book_committed", "i8", (2, 2)),
        ("book_money", "f8", (2, 2)),
        ("scores", "f8", PARTNERS),
    ],
    align=True,
)
"""All that changes. What players look at has 64 bits: for another size, each function that is given
such a number would be compiled once more."""
