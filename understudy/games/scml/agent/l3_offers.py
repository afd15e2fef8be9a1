"""L3's choices: accept, reject or end; and if rejecting, the day, units and price of an offer.

In scheme E, the default, units and price are chosen as residuals: steps away from what L1 alone
would offer for that day. In scheme F, `direct`, they are chosen as they are. Either way L1 clips
what comes out. A choice is a number for each head, so that a policy can be unsure between two good
offers without making the bad one in between.
"""

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

import numpy as np

from understudy.data.arrays import Array
from understudy.games.scml.domain import DAYS, RESPONSES

Scheme = Literal["residual", "direct"]

UNITS: Final = 15
"""Residual: at most so many more or fewer than the baseline."""
TENTHS: Final = 10
"""Of the price range; residual: at most so many above or below the baseline's price."""
MOST_UNITS: Final = 30
"""Of a direct offer."""
LEFT_MOST: Final = 20
"""Units left on a day are told apart up to here."""
HEADS: Final[Mapping[Scheme, Mapping[str, int]]] = {
    "residual": {
        "response": len(RESPONSES),
        "day": DAYS,
        "units": 2 * UNITS + 1,
        "price": 2 * TENTHS + 1,
    },
    "direct": {
        "response": len(RESPONSES),
        "day": DAYS,
        "units": MOST_UNITS,
        "price": TENTHS + 1,
    },
}


class OfferLimits(NamedTuple):
    """What decides how choices and offers hang together, by row."""

    buys: Array
    left: Array
    """[rows, DAYS]: Q_safe."""
    money: Array
    """B_free."""
    low: Array
    high: Array
    """Unit prices that may be offered."""
    base_price: Array
    most: Array
    """Units that an offer may have."""

    def on(self, day: Array) -> tuple[Array, Array]:
        """Units that L1 allows on a day of each row, and how many its baseline has."""
        left = np.minimum(self.left[np.arange(len(self.left)), day], self.most)
        # L1's baseline offers half of what is safe: see `set_baseline`.
        base = (left + 1) // 2
        can_pay = np.maximum(self.money // np.maximum(self.base_price, 1), 0)
        return left, np.where(self.buys, np.minimum(base, can_pay), base).astype(np.int64)


def units_of(scheme: Scheme, option: Array, left: Array, base: Array) -> Array:
    """How many units an option means, never more than are left."""
    units = base + option - UNITS if scheme == "residual" else option + 1
    return np.minimum(np.maximum(units, 1), np.maximum(left, 1))


def price_of(scheme: Scheme, option: Array, low: Array, high: Array, base: Array) -> Array:
    """Which unit price an option means, within the range."""
    if scheme == "residual":
        wish = base + np.rint((option - TENTHS) * (high - low) / TENTHS)
    else:
        wish = low + np.rint(option * (high - low) / TENTHS)
    return np.minimum(np.maximum(wish, low), high).astype(np.int64)


def units_option(scheme: Scheme, units: Array, left: Array, base: Array) -> Array:
    """The option that comes nearest to so many units."""
    # An expert may have offered more than L1 allows: the label is the nearest allowed offer.
    within = np.minimum(np.maximum(units, 1), np.maximum(left, 1))
    if scheme == "residual":
        return np.clip(within - base, -UNITS, UNITS) + UNITS
    return np.clip(within, 1, MOST_UNITS) - 1


def price_option(scheme: Scheme, price: Array, low: Array, high: Array, base: Array) -> Array:
    """The option that comes nearest to a price; of equals the one nearest to the baseline."""
    options = HEADS[scheme]["price"]
    # Several options can mean the same whole price where the range is narrow.
    preferred = TENTHS if scheme == "residual" else 0
    order = np.array(sorted(range(options), key=lambda option: abs(option - preferred)))
    meant = price_of(scheme, order[None, :], low[:, None], high[:, None], base[:, None])
    return order[np.abs(meant - price[:, None]).argmin(axis=1)]


def units_mask(scheme: Scheme, left: Array, base: Array) -> Array:
    """[rows, options]: those that mean a number of units that L1 allows without a cut."""
    option = np.arange(HEADS[scheme]["units"])[None, :]
    units = base[:, None] + option - UNITS if scheme == "residual" else option + 1
    return np.asarray((units >= 1) & (units <= np.maximum(left, 1)[:, None]))
