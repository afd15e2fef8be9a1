"""The days of a world, played again from its contracts: by hand, and bit by bit as they were."""

import pytest

from tests.games.scml.chains import chain, demand, supply
from understudy.games.scml.engine.config import draw
from understudy.games.scml.engine.contracts import Contract
from understudy.games.scml.engine.world import World
from understudy.games.scml.players import catalogue
from understudy.games.scml.recording.days import FactoryDay, day_ledger
from understudy.games.scml.recording.tables import DAY_LEDGER, DECISIONS, RECORDINGS

SELLER, BUYER = 0, 1
COSTS = {"storage": 0.1, "shortfall": 0.5}


def sale(quantity, day, concluded=0, unit_price=20):
    return Contract(SELLER, BUYER, 1, quantity, day, unit_price, concluded)


# --- by hand -------------------------------------------------------------------------------------


def test_a_day_by_hand():
    config = chain(outside=[supply(6, 9), demand(5, 31)], **COSTS)
    found = day_ledger(config, [sale(4, 0)], False).of(0, SELLER)
    assert found == FactoryDay(
        day=0, factory=SELLER, bankrupt=False, supply_quantity=6, supply_price=54,
        sale_quantity=0, sale_price=0, stock=0, balance=1000.0, price_in=10.0, price_out=20.0,
        lowest_in=9, highest_in=11, lowest_out=18, highest_out=22,
        storage_cost=0.1, disposal_cost=0.0, shortfall_penalty=0.5,
        supplies=[0] * 11, supplies_money=[0] * 11, sales=[0] * 11, sales_money=[0] * 11,
        bought=0, bought_money=0, sold=4, sold_money=80, produced=4, shortfall=0, stored=2,
        profit=80 - 54 - 8 - 2,
    )  # fmt: skip


def test_a_day_start_knows_what_was_agreed_before_it():
    config = chain(steps=8)
    days = day_ledger(config, [sale(4, 3), sale(2, 3, concluded=1), sale(1, 7, concluded=1)], False)
    assert days.of(0, SELLER).sales == [0] * 11
    assert days.of(1, SELLER).sales == [0, 0, 4, *[0] * 8]
    assert days.of(2, BUYER).supplies == [0, 6, 0, 0, 0, 1, *[0] * 5]
    assert days.of(2, BUYER).supplies_money == [0, 120, 0, 0, 0, 20, *[0] * 5]
    assert days.of(4, SELLER).sales == [0, 0, 0, 1, *[0] * 7]
    assert days.of(4, SELLER).supplies == days.of(4, BUYER).sales == [0] * 11


def test_with_the_bankrupt_commitments_are_shown_but_not_kept():
    config = chain(outside=[supply(9, 12)], balance=100)
    days = day_ledger(config, [sale(3, 2)], False)
    assert [days.of(day, SELLER).bankrupt for day in range(3)] == [False, True, True]
    assert days.of(1, BUYER).supplies[:2] == [0, 3]
    assert (days.of(2, BUYER).bought, days.of(2, BUYER).bought_money) == (0, 0)


def test_in_oneshot_only_today_can_be_promised():
    days = day_ledger(chain(track="oneshot", outside=[supply(3)]), [sale(3, 1, concluded=1)], False)
    assert days.of(1, BUYER).supplies == [0]
    assert (days.of(1, BUYER).bought, days.of(1, SELLER).stock) == (3, 0)
    assert [ranges[1][1] for ranges in days.ranges] == [(day, day) for day in (0, 1, 2, 3, 4, 5, 5)]


def test_what_can_be_offered_is_known_also_for_the_day_after_the_last():
    config = chain(outside=[supply(9, 20, day=day) for day in range(6)])
    days = day_ledger(config, [], False)
    assert len(days.ranges) == config.steps + 1
    assert {ranges[0] for ranges in days.ranges} == {((1, 30), (0, 5), (9, 11))}  # never renewed
    assert days.economy.prices.now[0] > 12
    assert len(days.days) == 2 * config.steps


def test_a_world_that_ended_early_has_fewer_days():
    days = day_ledger(chain(), [sale(2, 4)], False, steps=3)
    assert [(row.day, row.factory) for row in days.days] == [
        (day, factory) for day in range(3) for factory in range(2)
    ]
    assert days.economy.day == 3 and not days.economy.ledger.contracts[0].executed


def test_the_contracts_it_is_given_stay_as_they_are():
    contract = sale(2, 0)
    contract.nullified = True  # as it was when that world was over
    days = day_ledger(chain(outside=[supply(2)]), [contract], False)
    assert days.of(0, BUYER).bought == 2
    assert (contract.executed, contract.nullified) == (False, True)


# --- as they were --------------------------------------------------------------------------------


@pytest.mark.parametrize(("track", "sizes"), [("std", (2, 2, 2)), ("oneshot", (2, 2))])
@pytest.mark.parametrize("conserve", [False, True])
def test_profits_and_prices_follow_from_the_contracts_to_the_last_bit(track, sizes, conserve):
    config = draw(sizes, 15, 7, track)
    kinds = catalogue.load_for_world(["Random", "Greedy"] * (sum(sizes) // 2), track)
    world = World(config, [(kind, {}) for kind in kinds], conserve_stock=conserve).run()
    days = day_ledger(config, world.ledger.contracts, conserve)
    assert len(world.ledger.contracts) > 10
    assert [f.profits for f in days.economy.factories] == [f.profits for f in world.factories]
    assert days.economy.prices.now == world.prices.now
    assert days.economy.ledger.contracts == world.ledger.contracts
    for day in days.days:
        evening = days.of(day.day + 1, day.factory) if day.day + 1 < config.steps else None
        assert evening is None or evening.balance == pytest.approx(day.balance + day.profit)


# --- tables --------------------------------------------------------------------------------------


def test_the_table_of_days_has_a_column_for_each_number_of_a_day():
    assert [column.name for column in DAY_LEDGER.columns] == ["match", *FactoryDay._fields]


def test_every_column_says_what_it_means_and_only_offers_and_answers_may_be_missing():
    for table in RECORDINGS:
        names = [column.name for column in table.columns]
        assert len(names) == len(set(names)) and names[0] == "match"
        assert all(column.meaning for column in table.columns)
    missing = {column.name for column in DECISIONS.columns if column.optional}
    offers = {f"{who}_{what}" for who in ("heard", "offered") for what in ("quantity", "day")}
    assert missing == offers | {"heard_price", "offered_price", "answer"}
