"""What the critic sees beside the one who decides: all other factories, and what is to come.

A policy never sees any of it. Training may look everywhere (MAPPO, Yu et al. 2022): the better a
situation is valued, the less chance there is in the advantage of a decision.
"""

from typing import Final

from understudy.games.scml.batch.state import LEVELS
from understudy.games.scml.domain import DAYS
from understudy.games.scml.learning.online.kernels import kernel

KINDS: Final = 16
"""Players are told apart by their numbers up to here."""
_OF_ONE: Final = 6 + KINDS
GROUPS: Final = 4
"""Suppliers, rivals of the own level, consumers, all others: a mean of each."""
(
    DAYS_LEFT,
    SHARE_LEFT,
    MEAN_TRADES,
    _,
    NEXT_TRADES,
    _,
    FIRST_CROWD,
    NUM_LEVELS,
    OWN_LEVEL,
    CONSERVES,
    _OWN,
) = range(11)
"""What is to come; of trades with the outside world first the supplies, then the sales."""
WIDTH: Final = GROUPS * (1 + _OF_ONE) + LEVELS + 1 + _OWN
MOST: Final = 5.0


@kernel
def look_around(fixed, world, me, out):  # type: ignore[no-untyped-def]
    """Fill in what the critic sees, [WIDTH]."""
    for k in range(len(out)):
        out[k] = 0.0
    for other in range(fixed.factories):
        if other != me:
            _add(fixed, world, other, _group(fixed, me, other) * (1 + _OF_ONE), out)
    for group in range(GROUPS):
        first = group * (1 + _OF_ONE)
        count = out[first]
        for k in range(first + 1, first + 1 + _OF_ONE):
            out[k] /= max(count, 1.0)
        out[first] = count / 6.0
    at = GROUPS * (1 + _OF_ONE)
    for product in range(fixed.levels + 1):
        out[at + product] = world.price[product] / fixed.catalog[product]
    _look_ahead(fixed, world, me, out[at + LEVELS + 1 :])


@kernel
def _group(fixed, me, other):  # type: ignore[no-untyped-def]
    """0 suppliers, 1 rivals, 2 consumers, 3 others."""
    between = fixed.level[other] - fixed.level[me]
    return between + 1 if -1 <= between <= 1 else 3


@kernel
def _add(fixed, world, other, first, out):  # type: ignore[no-untyped-def]
    lines = fixed.lines[other]
    out[first] += 1.0
    out[first + 1] += world.bankrupt[other]
    out[first + 2] += min(world.stock[other] / lines, MOST)
    out[first + 3] += min(max(world.balance[other] / fixed.initial[other], -MOST), MOST)
    bought, sold = 0, 0
    for due in range(DAYS):
        bought += world.sure[other, 0, due]
        sold += world.sure[other, 2, due]
    out[first + 4] += min(bought / lines, MOST)
    out[first + 5] += min(sold / lines, MOST)
    out[first + 6] += min(world.sale_units[other] / lines, MOST)
    out[first + 7 + min(fixed.player[other], KINDS - 1)] += 1.0


@kernel
def _look_ahead(fixed, world, me, out):  # type: ignore[no-untyped-def]
    """Where the world stands, and what the outside world will bring and want, tomorrow and on."""
    lines, left = fixed.lines[me], fixed.days - world.day
    out[DAYS_LEFT], out[SHARE_LEFT] = left / 200.0, left / fixed.days
    tomorrow = min(world.day + 1, fixed.days)
    for trade in range(fixed.trades_until[tomorrow], fixed.trades_until[fixed.days]):
        if fixed.trade_factory[trade] == me:
            sells = 0 if fixed.trade_product[trade] == 0 else 1
            share = fixed.trade_units[trade] / lines
            out[MEAN_TRADES + sells] += share / max(left - 1, 1)
            if trade < fixed.trades_until[min(tomorrow + 1, fixed.days)]:
                out[NEXT_TRADES + sells] += share
    out[FIRST_CROWD] = fixed.first_of[1] / 6.0
    out[NUM_LEVELS] = fixed.levels / 4.0
    out[OWN_LEVEL] = fixed.level[me] / max(fixed.levels - 1, 1)
    out[CONSERVES] = fixed.conserves
