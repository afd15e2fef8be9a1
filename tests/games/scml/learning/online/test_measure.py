"""Play in numbers: what candidates did in their seats."""

import numpy as np

from understudy.games.scml.learning.online.fields import Company, block_of
from understudy.games.scml.learning.online.measure import (
    BUYER,
    HABITS,
    SELLER,
    Candidate,
    Seats,
    _deals,
    take,
)


def test_deals_are_counted_by_hand() -> None:
    # Seller, buyer, product, units, day, price, signed on.
    signed = np.array([[1, 5, 1, 4, 9, 10, 8], [1, 6, 1, 2, 9, 16, 6], [1, 5, 1, 6, 7, 10, 7]])
    assert _deals(signed, BUYER, 6, 20.0) == (0.5, 4.0, 4 / 3, 132 / 12 / 20, 2)
    assert _deals(signed, SELLER, 6, 20.0)[-1] == 1
    assert _deals(signed[:0], BUYER, 6, 20.0) == (0, 0, 0, 0, 0)


def test_only_who_has_buyers_sells_and_only_who_has_suppliers_buys() -> None:
    seats = Seats(Company(official=1.0, most_days=20), block_of("train", 0), 0, 6)
    found = take(Candidate("Steward"), seats)
    habit = dict(zip(HABITS, found.habits.T, strict=True))
    assert found.levels.tolist() == [0, 1, 2, 0, 1, 2]
    for name, nobody in (("deals", 2), ("partners", 2), ("bought", 0), ("suppliers", 0)):
        assert (habit[name][found.levels == nobody] == 0).all()
        assert (habit[name][found.levels == 1] > 0).all()
    assert (habit["bought_price"][found.levels == 2] > 0.3).all()
