"""Trading prices: what products have been sold for, the recent past counting more.

Mirrors `start_contract_execution` and `simulation_step` of scml's SCMLBaseWorld operation by
operation: agents see these numbers, and a last bit can move the range of prices they may offer.
"""

import math
from collections.abc import Sequence

import numpy as np

DISCOUNT = 0.9
"""What a day takes from the weight of everything sold before."""
CATALOG_WEIGHT = 50.0
"""Units that are taken to have been sold at the catalog price before the first day."""


class TradingPrices:
    """The price of each product, and today's sales that will move it tonight."""

    def __init__(self, catalog: Sequence[int]) -> None:
        self.now = [float(price) for price in catalog]
        self.published = np.array(self.now)
        self._weights = [CATALOG_WEIGHT] * len(catalog)
        self._start_day()

    def _start_day(self) -> None:
        self._sold = [0] * len(self.now)
        self._average = [0.0] * len(self.now)

    def add_sale(self, product: int, quantity: int, unit_price: int) -> None:
        """Count a delivery of today."""
        sold = self._sold[product]
        before = self._average[product] * sold
        self._sold[product] = sold + quantity
        self._average[product] = (before + quantity * unit_price) / (sold + quantity)

    def close_day(self) -> None:
        """Move the prices of what was sold today; others stay."""
        prices = list(self.now)
        for product, sold in enumerate(self._sold):
            if sold:
                weight = self._weights[product]
                value = prices[product] * weight * DISCOUNT + self._average[product] * sold
                self._weights[product] = weight * DISCOUNT + sold
                prices[product] = value / self._weights[product]
        self.now = prices
        self.published = np.array(prices)  # a new one: agents may have kept yesterday's
        self._start_day()

    def range_of(self, product: int, share: float | None) -> tuple[int, int]:
        """The lowest and highest unit price that may be offered."""
        return price_range(self.now[product], share)


def price_range(price: float, share: float | None) -> tuple[int, int]:
    """The lowest and highest offer at a trading price (SCMLBaseWorld._make_issues)."""
    if share is None:
        return max(1, math.ceil(price) - 1), max(1, math.ceil(price))
    low, high = max(1, int(price * (1.0 - share))), int((1.0 + share) * price)
    return (high, low) if high < low else (low, high)
