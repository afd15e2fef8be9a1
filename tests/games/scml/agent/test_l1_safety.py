"""L1 lets nothing unsafe through, whoever decides, and says plainly what is safe."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.games.scml.chains import chain, demand, supply
from tests.games.scml.states import PROFILE, by_day, state
from understudy.data.players import PlayerRef
from understudy.games.scml.agent.hrl import Decision, L1Agent
from understudy.games.scml.agent.l1_safety import RemainingCapacity, Safety
from understudy.games.scml.agent.l4_priorities import priorities, teacher_scores
from understudy.games.scml.domain import SafetySettings
from understudy.games.scml.engine.responses import ACCEPT_OFFER, END_NEGOTIATION, REJECT_OFFER
from understudy.games.scml.engine.world import World
from understudy.games.scml.players import catalogue
from understudy.games.scml.tournament.design import WorldPlan
from understudy.games.scml.tournament.play import play
from understudy.games.scml.view.columns import packed
from understudy.games.scml.view.commitments import NO_DAY, shortfall
from understudy.games.scml.view.observe import observed
from understudy.games.scml.view.state import OpenNegotiation, PastOffer, commitments_of

# --- how much may be sold ------------------------------------------------------------------------


def test_what_is_in_stock_can_be_sold_every_day_because_stock_is_never_used_up():
    remaining = RemainingCapacity(state(stock=7))
    assert [remaining.to_sell(ahead) for ahead in range(11)] == [7] * 11


def test_no_more_than_the_lines():
    assert RemainingCapacity(state(stock=25)).to_sell(0) == 10


def test_what_is_sold_already_is_gone():
    remaining = RemainingCapacity(state(stock=7, sold=(5, 0, 7)))
    assert [remaining.to_sell(ahead) for ahead in range(3)] == [2, 7, 0]


def test_what_was_bought_can_be_sold_from_its_day_on():
    remaining = RemainingCapacity(state(bought=(0, 4)))
    assert [remaining.to_sell(ahead) for ahead in range(4)] == [0, 4, 4, 4]


def test_a_sale_today_takes_from_tomorrow_what_would_have_become_stock():
    """Four units arrive today and are sold tomorrow: they cannot be made today as well."""
    remaining = RemainingCapacity(state(bought=(4,), sold=(0, 4)))
    assert remaining.to_sell(0) == 0
    assert RemainingCapacity(state(bought=(4,), sold=(0, 3))).to_sell(0) == 1


def test_exogenous_contracts_count_today():
    assert RemainingCapacity(state(stock=3, supply_quantity=4)).to_sell(0) == 7
    assert RemainingCapacity(state(stock=9, sale_quantity=4)).to_sell(0) == 5


def test_what_lies_on_the_table_is_not_promised_twice():
    safety = Safety.of(state(stock=8))
    safety.remaining.take(False, (5, 5, 20))
    assert safety.remaining.to_sell(0) == 3
    assert safety.clip(False, (9, 5, 20)) == (3, 5, 20)
    assert safety.remaining.to_sell(1) == 8


def test_where_stock_is_used_up_a_sale_takes_it_from_every_later_day():
    careful = SafetySettings(conserves=True)
    remaining = RemainingCapacity(state(stock=8, sold=(5,)), careful)
    assert [remaining.to_sell(ahead) for ahead in range(3)] == [3, 3, 3]
    assert RemainingCapacity(state(stock=8, sold=(0, 0, 8)), careful).to_sell(0) == 0


def test_perishable_goods_are_for_today():
    oneshot = replace(PROFILE, perishable=True, horizon=0)
    remaining = RemainingCapacity(state(bought=(6,), profile=oneshot))
    assert (remaining.days, remaining.to_sell(0), remaining.to_sell(1)) == (1, 6, 0)


def test_nothing_is_promised_for_after_the_last_day():
    remaining = RemainingCapacity(state(stock=9, day=47))
    assert remaining.days == 3
    assert remaining.to_sell(2) == 9 and remaining.to_sell(3) == 0


# --- how much may be bought ----------------------------------------------------------------------


def test_input_is_bought_up_to_the_lines():
    assert RemainingCapacity(state(stock=4)).to_buy(0) == 6
    assert RemainingCapacity(state(stock=4, bought=(0, 0, 5))).to_buy(0) == 1
    assert RemainingCapacity(state(stock=12)).to_buy(0) == 0


def test_todays_orders_take_what_arrives_before_stock_does():
    # 4 in stock, 5 ordered: of 11 bought 5 are worked on today and 6 fill the stock
    assert RemainingCapacity(state(stock=4, sold=(5,))).to_buy(0) == 11
    assert RemainingCapacity(state(stock=4, sold=(5,), bought=(3,))).to_buy(0) == 8
    assert RemainingCapacity(state(stock=4, sold=(0, 5))).to_buy(0) == 6
    assert RemainingCapacity(state(stock=10, sold=(5,))).to_buy(0) == 0
    assert (
        RemainingCapacity(state(stock=4, sold=(5,)), SafetySettings(conserves=True)).to_buy(0) == 6
    )


def test_what_would_be_thrown_away_is_safe_but_of_no_use():
    last = replace(PROFILE, perishable=True, horizon=0, level=PROFILE.levels - 1)
    safety = Safety.of(state(bought=(2,), sale_quantity=7, profile=last))
    assert (safety.remaining.to_buy(0), safety.of_use(True)) == (8, 5)
    safety.remaining.take(True, (4, 5, 10))
    assert (safety.remaining.to_buy(0), safety.of_use(True)) == (4, 1)
    for other in (replace(last, perishable=False), replace(last, level=0)):
        safety = Safety.of(state(bought=(2,), sale_quantity=7, profile=other))
        assert safety.of_use(True) == safety.most_quantity


def test_in_oneshot_l1_never_buys_more_than_it_has_to_deliver():
    outside = [supply(9, day=day) for day in range(6)] + [demand(4, day=day) for day in range(6)]
    config = chain((0, 1), outside, track="oneshot", disposal=0.1, shortfall=0.5)
    world = World(config, [(L1Agent, {})] * 2, strict=True).run()
    assert len(world.ledger.contracts) == 6
    assert all(0 < contract.quantity <= 4 for contract in world.ledger.contracts)


def test_money_that_is_owed_or_held_back_is_not_spent():
    remaining = RemainingCapacity(
        state(balance=500.0, bought=(10,), sold=(10,)), SafetySettings(reserve=0.1)
    )
    assert remaining.money == 500 - 100 - 100 - 20
    assert remaining.affordable(11) == 25
    assert Safety.of(state(balance=160.0)).most(True, 0, 11) == 5


def test_purchases_on_the_table_share_the_money_and_the_need():
    safety = Safety.of(state())
    safety.remaining.take(True, (7, 5, 10))
    assert safety.remaining.to_buy(0) == 3
    assert safety.remaining.money == 900 - 70


# --- baseline and clip ---------------------------------------------------------------------------


def baseline(here, buys):
    """Units, days ahead and unit price of what L1 offers by itself."""
    found = observed(packed([replace(here, negotiations=(OpenNegotiation("a", buys, 0, ()),))]))
    return tuple(found.baseline[0].tolist())


def test_the_baseline_is_half_of_what_is_safe_a_little_better_than_the_market():
    assert baseline(state(stock=7), buys=False) == (4, 0, 21)
    assert baseline(state(stock=7), buys=True) == (2, 0, 10)
    assert baseline(state(bought=(0, 0, 6)), buys=False) == (3, 2, 21)
    assert baseline(state(stock=10), buys=True) == (0, 0, 10)  # it has none
    # 60 are free, so that of 5 units for 10 each all can be paid, and of those for 15 but 4
    assert baseline(state(balance=160.0), buys=True) == (5, 0, 10)
    dear = state(balance=160.0, price_in=15.0, prices_in=(14, 16))
    assert baseline(dear, buys=True) == (4, 0, 14)


def test_prices_stay_on_the_agenda():
    safety = Safety.of(state(stock=7))
    assert safety.clip(False, (2, 6, 90)) == (2, 6, 22)
    assert safety.clip(True, (2, 6, 1)) == (2, 6, 9)


def test_only_what_is_safe_as_it_is_can_be_accepted():
    safety = Safety.of(state(stock=7))
    assert safety.allows(False, (7, 5, 20))
    assert not safety.allows(False, (8, 5, 20))
    assert not safety.allows(False, (1, 16, 20))
    assert not safety.allows(False, (0, 5, 20))


def short(remaining):
    """Units that could not be made, over all days."""
    return shortfall(remaining.book, NO_DAY, 0)


days = st.lists(st.integers(0, 14), min_size=11, max_size=11)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    stock=st.integers(0, 20),
    bought=days,
    sold=days,
    conserves=st.booleans(),
    rng=st.randoms(use_true_random=False),
)
def test_whatever_is_clipped_makes_no_day_worse(stock, bought, sold, conserves, rng):
    safety = Safety.of(state(bought, sold, stock=stock), SafetySettings(conserves=conserves))
    remaining = safety.remaining
    before = short(remaining)
    for _ in range(6):
        offer = safety.clip(False, (rng.randint(1, 30), rng.randint(4, 17), rng.randint(1, 40)))
        if offer is not None:
            remaining.take(False, offer)
        assert short(remaining) == before


# --- priorities ----------------------------------------------------------------------------------


def negotiation(partner, quantity=3, day=5, price=20, buys=False, round_=1):
    return OpenNegotiation(partner, buys, round_, (PastOffer(False, quantity, day, price),))


def ranked(*decisions):
    columns = packed([state(stock=9, negotiations=negotiations) for negotiations in decisions])
    return priorities(teacher_scores(observed(columns).thread), columns.first)


def test_weights_are_shares_and_the_better_offer_comes_first():
    found = ranked(
        [negotiation("a", price=18), negotiation("b", price=22), negotiation("c", day=12)]
    )
    assert found.weight.sum() == pytest.approx(1)
    assert found.order.tolist()[0] == 1
    assert (np.diff(found.weight[found.order]) <= 0).all()


def test_the_order_of_asking_does_not_matter():
    negotiations = [
        negotiation("a"),
        negotiation("b"),
        negotiation("c", price=22),
        negotiation("d", quantity=30),
    ]
    served = set()
    for seed in range(6):
        random.Random(seed).shuffle(negotiations)
        by_name = sorted(
            negotiations, key=lambda one: one.partner
        )  # as the agent and the recordings do
        served.add(tuple(by_name[index].partner for index in ranked(by_name).order))
    assert served == {("c", "a", "b", "d")}


def test_each_decision_is_ranked_alone():
    one, other = (
        [negotiation("a", price=18), negotiation("b", price=22)],
        [negotiation("c", day=12)],
    )
    found = ranked(one, [], other)
    assert found.order.tolist() == [1, 0, 2]
    assert found.weight[2] == 1 and found.weight[:2].sum() == pytest.approx(1)
    assert found.weight[:2].tolist() == ranked(one).weight.tolist()


def test_extreme_scores_are_weighed_too():
    found = priorities(np.array([1e9, 0.0, -1e9], np.float32), np.array([0, 3]))
    assert found.weight.tolist() == [1.0, 0.0, 0.0] and found.order.tolist() == [0, 1, 2]


# --- in play -------------------------------------------------------------------------------------


class Wild(L1Agent):
    """Decides at random: L1 alone stands between it and disaster."""

    def decide(self, now, index):
        if now.state.negotiations[index].heard is not None and random.random() < 0.5:
            return Decision(ACCEPT_OFFER)
        day = now.state.day_start.day + random.randint(0, 12)
        wild = Decision(REJECT_OFFER, (random.randint(1, 30), day, random.randint(1, 60)))
        return wild if random.random() < 0.9 else Decision(END_NEGOTIATION)


def world(players, sizes, steps=25, seed=3, **options):
    refs = tuple(PlayerRef(players[k % len(players)]) for k in range(sum(sizes)))
    return WorldPlan(
        "m", "test", options.pop("track", "std"), sizes, steps, seed, 0, refs, (0,), **options
    )


@pytest.mark.parametrize("conserve_stock", [False, True])
def test_no_promise_is_unsafe_whoever_decides(monkeypatch, conserve_stock):
    monkeypatch.setitem(catalogue.STD, "Wild", f"{__name__}.Wild")
    players = ["Wild", "Greedy", "L1", "Random", "SafePenguin", "SyncRandom"]
    plans = [world(players, sizes, seed=seed) for seed, sizes in enumerate([(3, 3, 3), (4, 4)])]
    plans = [replace(plan, conserve_stock=conserve_stock) for plan in plans]
    sold = 0
    for row in play(plans).results.to_pylist():
        if row["player"] in ("Wild", "L1", "SafePenguin"):
            sold += row["sales"]
            assert row["faults"] == 0
            assert row["over_lines"] == 0
            if not conserve_stock:  # which an agent learns only when stock first falls
                assert row["unsafe"] == 0
    assert sold > 50


def test_it_plays_oneshot_too(monkeypatch):
    monkeypatch.setitem(catalogue.ONESHOT, "L1", catalogue.STD["L1"])
    results = play([world(["L1", "Greedy"], (3, 3), track="oneshot")]).results.to_pylist()
    ours = [row for row in results if row["player"] == "L1"]
    assert all(row["faults"] == 0 and row["unsafe"] == 0 for row in ours)
    assert sum(row["agreements"] for row in ours) > 10


def test_both_simulators_see_the_same_agent():
    plan = world(["L1", "Penguin", "SafePenguin"], (2, 2, 2), steps=8)
    ours, theirs = (play([replace(plan, simulator=one)]).results for one in ("engine", "scml"))
    assert ours.equals(theirs)


class Window:
    """As much of a simulator's interface as promises are read from."""

    current_step, horizon = 5, 10
    _future_supplies = {5: {"a": 3, "broke": 4}, 7: {"a": 1}, 16: {"a": 9}}  # noqa: RUF012
    _future_supplies_cost = {5: {"a": 30, "broke": 40}, 7: {"a": 11}}  # noqa: RUF012
    _future_sales = {4: {"b": 2}, 15: {"b": 6}}  # noqa: RUF012
    _future_sales_cost = {15: {"b": 120}}  # noqa: RUF012

    def is_bankrupt(self, name):
        return name == "broke"


def test_commitments_are_by_days_from_now_and_without_the_bankrupt():
    commitments = commitments_of(Window())
    assert commitments.bought == by_day(3, 0, 1)
    assert commitments.bought_money == by_day(30, 0, 11)
    assert commitments.sold == by_day(*[0] * 10, 6)
    assert commitments.sold_money == by_day(*[0] * 10, 120)
