"""Steward's rules in hand-made situations, and its conduct in whole worlds."""

from dataclasses import replace

import pytest

from understudy.data.players import PlayerRef
from understudy.games.scml.players.steward import (
    FreeCapacity,
    ask,
    bid,
    is_large_enough,
    units_to_buy,
    unsold_input,
)
from understudy.games.scml.players.steward_numbers import Numbers
from understudy.games.scml.tournament.design import WorldPlan
from understudy.games.scml.tournament.play import play

LINES = 10
NUMBERS = Numbers()
COMPANY = ("Greedy", "Random", "SyncRandom", "Steward")


def plan(sizes=(4, 4, 4), steps=30, players=COMPANY, seed=3, **options):
    """Every level has one of each, in another order."""
    turns = [
        PlayerRef(players[(index + level) % len(players)])
        for level, size in enumerate(sizes)
        for index in range(size)
    ]
    return WorldPlan(
        match="m",
        field="test",
        track="std",
        factories_per_level=sizes,
        steps=steps,
        seed=seed,
        run=0,
        players=tuple(turns),
        slots=tuple(index for index, ref in enumerate(turns) if ref.name == "Steward"),
        watched=frozenset({"Steward"}),
        **options,
    )


@pytest.fixture(scope="module")
def world():
    return play([plan()])


def days_of(world, level):
    """Steward's days at a level; the world fixture has one Steward at each."""
    (slot,) = [
        row["slot"]
        for row in world.results.to_pylist()
        if row["player"] == "Steward" and row["level"] == level
    ]
    return [day for day in world.recordings["days"].to_pylist() if day["factory"] == slot]


# --- rules ---------------------------------------------------------------------------------------


def test_stock_that_lasts_serves_every_day_again():
    assert unsold_input(5, [2, 0, 3], [1, 4, 0], lasts=True) == [6, 1, 8]


def test_stock_that_is_used_up_serves_once():
    # 5 + 2 - 1 = 6 after today, 2 after tomorrow, 5 in the end: tomorrow's 2 bind today, too
    assert unsold_input(5, [2, 0, 3], [1, 4, 0], lasts=False) == [2, 2, 5]


@pytest.mark.parametrize(
    ("stock", "orders", "gap", "worth", "bought"),
    [
        (0, 0, 10, 50.0, 10),  # the first day: fill the stock
        (0, 4, 10, 50.0, 14),  # today's orders take the first 4 that arrive
        (7, 7, 3, 50.0, 10),  # so they do when stock would have served them
        (10, 8, 0, 50.0, 0),  # full: never again
        (6, 8, 4, 1.0, 2),  # the days left do not repay it: what today lacks, no more
        (9, 9, 1, 5.0, 0),  # nor do they repay ten units for one
    ],
)
def test_it_buys_for_stock_as_long_as_that_pays(stock, orders, gap, worth, bought):
    assert units_to_buy(stock, orders, gap, worth) == bought


def test_today_gets_cheap_only_late_and_days_ahead_only_by_the_discount():
    rounds = range(20)
    today = [ask(80, 100, turn, ahead=False, numbers=NUMBERS) for turn in rounds]
    ahead = [ask(80, 100, turn, ahead=True, numbers=NUMBERS) for turn in rounds]
    assert today[: NUMBERS.choosy + 1] == [100] * (NUMBERS.choosy + 1)
    assert today[NUMBERS.last_round :] == [80] * (20 - NUMBERS.last_round)
    assert today == sorted(today, reverse=True)
    assert ahead == [100] * NUMBERS.firm + [90] * (20 - NUMBERS.firm)


def test_bids_rise_to_the_highest_price_and_stay():
    bids = [bid(80, 100, turn, NUMBERS) for turn in range(20)]
    assert bids == sorted(bids)
    assert (bids[0], bids[-1]) == (80, 100)


def test_an_order_must_take_its_share_or_all_that_is_left():
    capacity = FreeCapacity({0: 2, 1: 10}, need=0, pooled=False)
    assert is_large_enough(2, 0, capacity, buyers=2, largest=7)  # all of today
    assert not is_large_enough(5, 1, capacity, buyers=2, largest=7)  # 12 units for two: 6 each
    assert is_large_enough(6, 1, capacity, buyers=2, largest=7)
    assert is_large_enough(7, 1, capacity, buyers=1, largest=7)  # nobody need take more than seven


def test_a_unit_that_may_be_used_up_is_not_offered_twice():
    lasting, pooled = (
        FreeCapacity({0: 5, 1: 5}, need=0, pooled=pooled) for pooled in (False, True)
    )
    for capacity in (lasting, pooled):
        capacity.sell(0, 5)
    assert (lasting.open_days(), lasting.total()) == ([1], 5)
    assert (pooled.open_days(), pooled.total()) == ([], 0)


# --- conduct -------------------------------------------------------------------------------------


@pytest.mark.parametrize("conserve_stock", [False, True])
@pytest.mark.parametrize("sizes", [(4, 4), (4, 4, 4)])
def test_it_promises_only_what_it_can_make(sizes, conserve_stock):
    planned = replace(plan(sizes), conserve_stock=conserve_stock, recorded=False)
    ours = [row for row in play([planned]).results.to_pylist() if row["player"] == "Steward"]
    assert len(ours) == len(sizes)
    assert sum(row["sales"] for row in ours) > 30
    for row in ours:
        assert (row["unsafe"], row["over_lines"], row["faults"]) == (0, 0, 0)
        assert not row["bankrupt"]


def test_in_the_middle_it_fills_its_stock_and_then_buys_no_more(world):
    days = days_of(world, level=1)
    full = next(day["day"] for day in days if day["stock"] >= LINES)
    assert full <= 8
    assert all(day["bought"] == 0 for day in days if day["day"] > full)
    assert sum(day["produced"] for day in days) > 2 * sum(day["bought"] for day in days)


def test_it_sells_its_lines_and_no_more(world):
    for level in (0, 1):
        days = days_of(world, level)
        assert all(day["sold"] <= LINES and day["shortfall"] == 0 for day in days)
        late = [day["sold"] for day in days if day["day"] >= 12]
        assert sum(late) > 0.6 * LINES * len(late)


def test_it_buys_what_it_sells_where_stock_is_used_up():
    world = play([plan(conserve_stock=True)])
    days = days_of(world, level=1)
    made, bought = (sum(day[name] for day in days) for name in ("produced", "bought"))
    assert made > 3 * LINES
    assert made <= bought <= made + 3 * LINES


def test_the_same_seed_gives_the_same_world(world):
    again = play([plan()])
    for name, table in world.recordings.items():
        assert table.equals(again.recordings[name]), name


def test_it_plays_the_same_in_both_simulators():
    planned = plan((2, 2), steps=8, players=("Steward", "Greedy"))
    ours, theirs = (play([replace(planned, simulator=name)]) for name in ("engine", "scml"))
    assert ours.results.to_pylist() == theirs.results.to_pylist()
    for name, table in ours.recordings.items():
        assert table.to_pylist() == theirs.recordings[name].to_pylist(), name


def test_agent_and_compiled_player_name_the_numbers_alike():
    from dataclasses import fields

    from understudy.games.scml.batch.players import steward_capacity as native
    from understudy.games.scml.players.steward_numbers import Plan, Telling

    flat = Plan().flat()
    names = [f"thrifty.{f.name}" for f in fields(Numbers)]
    for name in names:
        own = name.split(".")[1]
        for way, at in (("thrifty", 0), ("eager", native.WAYS)):
            told = Plan().told({f"{way}.{own}": 77}).flat()
            assert [i for i in range(len(flat)) if told[i] != flat[i]] == [
                at + getattr(native, own.upper())
            ]
    for field in fields(Telling):
        told = Plan().told({f"telling.{field.name}": 77}).flat()
        assert told[getattr(native, field.name.upper())] == 77


def test_what_is_told_of_one_way_comes_after_what_is_told_of_both():
    from understudy.games.scml.players.steward_numbers import Plan

    plan = Plan().told({"eager.firm": 3, "firm": 9})
    assert (plan.thrifty.firm, plan.eager.firm) == (9, 3)
