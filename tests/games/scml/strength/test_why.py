"""Why a player lost: parts that add up, beside the best rival in the same slot."""

import random

import pytest

from tests.games.scml.results import table
from understudy.games.scml.strength.why import REASONS, added_up, day_gaps, losses, worst_days

COST, LINES = 3, 10
BLANK = {
    "day": 0, "profit": 0.0, "produced": 0, "bought": 0, "bought_money": 0, "supply_quantity": 0,
    "supply_price": 0, "shortfall": 0, "stored": 0, "price_in": 10.0, "price_out": 20.0,
    "storage_cost": 0.1, "disposal_cost": 0.0, "shortfall_penalty": 0.5,
}  # fmt: skip


def day(revenue=0.0, **changes):
    """A row of `days` that earned so much by what was made."""
    row = BLANK | changes
    row["profit"] = (
        revenue
        - row["bought_money"]
        - row["supply_price"]
        - COST * row["produced"]
        - row["price_in"] * row["storage_cost"] * row["stored"]
        - row["price_out"] * row["shortfall_penalty"] * row["shortfall"]
    )
    return row


def gap(mine, theirs):
    [found] = day_gaps([mine], [theirs], cost=COST, lines=LINES)
    return found


def test_the_parts_add_up_to_the_difference_of_profits():
    rng = random.Random(0)

    def drawn():
        made = rng.choice([0, rng.randint(1, 10)])
        bought, supply = (rng.choice([0, rng.randint(1, 10)]) for _ in range(2))
        return day(
            made * rng.uniform(5, 30),
            produced=made,
            bought=bought,
            bought_money=bought * rng.randint(5, 15),
            supply_quantity=supply,
            supply_price=supply * rng.randint(5, 15),
            shortfall=rng.randint(0, 3),
            stored=rng.randint(0, 8),
        )

    for _ in range(200):
        mine, theirs = drawn(), drawn()
        found = gap(mine, theirs)
        assert found.gap == mine["profit"] - theirs["profit"]
        assert sum(found.parts.values()) == pytest.approx(found.gap)
        assert tuple(found.parts) == REASONS


def test_a_worked_example():
    # Theirs: 8 made at 20, bought 8 at 10. Mine: 5 made at 18, bought 9 at 11, 2 short, 4 stored.
    theirs = day(160, produced=8, bought=8, bought_money=80)
    mine = day(90, produced=5, bought=9, bought_money=99, shortfall=2, stored=4)
    found = gap(mine, theirs)
    assert found.parts == {
        "sales": -3 * (20 - COST),
        "price got": -2 * 5,
        "purchases": -1 * 10,
        "price paid": -1 * 9,
        "storage": -10 * 0.1 * 4,
        "shortfall": -20 * 0.5 * 2,
    }
    assert found.reason == "sales"
    assert found.units == {"made": (5, 8), "bought": (9, 8), "short": (2, 0), "stored": (4, 0),
                           "idle": (5, 2)}  # fmt: skip


@pytest.mark.parametrize("mine_idle", [True, False])
def test_who_traded_nothing_differs_in_units_not_in_price(mine_idle):
    busy, idle = day(100, produced=5, bought=5, bought_money=50), day()
    found = gap(idle, busy) if mine_idle else gap(busy, idle)
    assert found.parts["price got"] == found.parts["price paid"] == 0
    assert abs(found.parts["sales"]) == 5 * (20 - COST)
    assert gap(idle, idle).gap == 0


def test_days_that_one_of_them_did_not_play_are_left_out():
    assert len(day_gaps([day()] * 3, [day()] * 2, cost=COST, lines=LINES)) == 2


def row(seed, slot, player, score, **more):
    match = f"{seed}-{player}-{slot}"
    return {"match": match, "seed": seed, "slot": slot, "player": player, "score": score, **more}


def test_a_loss_is_beside_the_best_in_the_same_slot():
    results = table(
        [
            row(1, 0, "me", 1.0), row(1, 0, "ace", 1.2), row(1, 0, "bee", 1.5),
            row(1, 1, "me", 0.2), row(1, 1, "ace", 0.9), row(1, 2, "bee", 9.0),
            row(2, 0, "me", 2.0), row(2, 0, "ace", 1.0),
            row(3, 0, "me", 0.1), row(3, 0, "ace", 9.0, run=1),
            row(4, 0, "me", 0.1), row(4, 0, "ace", 9.0, competes=False),
        ]
    )  # fmt: skip
    found = losses(results, "me", 9)
    assert [(one.match, one.rival, one.slot) for one in found] == [
        ("1-me-1", "ace", 1),
        ("1-me-0", "bee", 0),
    ]
    assert found[0].behind == pytest.approx(0.7) and found[0].rival_match == "1-ace-1"
    assert losses(results, "me", 1) == found[:1]
    assert losses(results, "nobody", 9) == []


def test_the_worst_days_of_all_worlds_come_first():
    a, b = losses(table([row(1, 0, "me", 1), row(1, 0, "x", 2), row(2, 0, "me", 1),
                         row(2, 0, "x", 3)]), "me", 2)  # fmt: skip
    theirs = [day(10, produced=1, day=k) for k in range(3)]
    gaps = {
        a: day_gaps([day(9, produced=1, day=k) for k in range(3)], theirs, cost=COST, lines=LINES),
        b: day_gaps([day(20 - 9 * k, produced=1, day=k) for k in range(3)], theirs, cost=COST,
                    lines=LINES),
    }  # fmt: skip
    found = worst_days(gaps, 3)
    assert [(one, gap.day, gap.gap) for one, gap in found] == [(b, 2, -8), (a, 0, -1), (a, 1, -1)]
    assert added_up(gaps[a])["price got"] == pytest.approx(-3)
