"""Matcher's arithmetic beside the engine's, its choices in hand-made situations, whole worlds."""

import random
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from tests.games.scml.chains import chain, demand, factory_config, supply
from understudy.games.scml.domain import ROUNDS
from understudy.games.scml.engine.config import draw
from understudy.games.scml.engine.factory import Factory, Today
from understudy.games.scml.engine.world import World
from understudy.games.scml.players import catalogue
from understudy.games.scml.players.matcher import (
    MOST_UNITS,
    TAKES_LATER,
    Matcher,
    Side,
    best_answer,
    best_asks,
    chance_unmet,
    chances_taken,
    even_shares,
    with_another,
    worth_of_units,
)

PRICES = (10.0, 20.0, 30.0)


def factory_sees(sells, exogenous):
    """What a factory of the first or last level sees; its costs are those of `by_the_engine`."""
    return SimpleNamespace(
        is_first_level=sells,
        is_last_level=not sells,
        n_lines=10,
        current_exogenous_input_quantity=exogenous if sells else 0,
        current_exogenous_output_quantity=0 if sells else exogenous,
        current_exogenous_output_price=0 if sells else exogenous * 31,
        current_disposal_cost=0.15,
        current_shortfall_penalty=0.6,
        trading_prices=PRICES,
        my_input_product=0 if sells else 1,
        my_output_product=1 if sells else 2,
        profile=SimpleNamespace(cost=3),
    )


def by_the_engine(sells, exogenous, units, price):
    """A day's profit, with nothing paid for exogenous supplies."""
    level = 0 if sells else 1
    config = factory_config(level, cost=3, disposal=0.15, shortfall=0.6, balance=10**6)
    factory = Factory(config, conserve_stock=False, perishable=True)
    deals = [(units, price)] if units else []
    if sells:
        factory.exogenous = Today(supply_quantity=exogenous)
        factory.close_day(0, [], deals, *PRICES[:2])
    else:
        factory.exogenous = Today(sale_quantity=exogenous, sale_price=exogenous * 31)
        factory.close_day(0, deals, [], *PRICES[1:])
    return factory.profits[0]


@pytest.mark.parametrize(("sells", "exogenous"), [*product((True, False), (0, 1, 7, 10))])
def test_a_total_is_worth_what_the_engine_pays(sells, exogenous):
    found = worth_of_units(factory_sees(sells, exogenous), sells, 20)
    assert found.shape == (MOST_UNITS,)
    for units in range(25):
        assert found[units] == pytest.approx(by_the_engine(sells, exogenous, units, 20))
    assert found.argmax() == exogenous


def side(need=7, short=15.0, over=10.0, sells=True, crowding=1.0):
    """A unit too few costs `short`, one too many `over`."""
    units = np.arange(MOST_UNITS)
    worth = -short * np.maximum(need - units, 0) - over * np.maximum(units - need, 0)
    return Side(sells, worth, 0, 20 if sells else 19, 10, crowding)


def offers(*units, price=20):
    return {chr(ord("a") + index): (q, 0, price) for index, q in enumerate(units)}


# --- chances -------------------------------------------------------------------------------------


def test_chances_of_totals_by_enumeration():
    takers = [(3, 0.2), (2, 0.7), (3, 0.5)]
    likely = np.eye(1, 12)[0]
    for units, chance in takers:
        likely = with_another(likely, units, chance)
    expected = np.zeros(12)
    for taken in product((0, 1), repeat=3):
        weight = np.prod([c if yes else 1 - c for yes, (_, c) in zip(taken, takers, strict=True)])
        expected[sum(q for yes, (q, _) in zip(taken, takers, strict=True) if yes)] += weight
    assert likely == pytest.approx(expected)
    assert likely.sum() == pytest.approx(1)


def test_what_is_missing_in_the_last_round_is_never_found():
    for sells in (True, False):
        chances = [chance_unmet(sells, turn, 1.0) for turn in range(2, ROUNDS)]
        assert chances == sorted(chances) and chances[-1] == 1.0
        assert chance_unmet(sells, 0, 2.0) == pytest.approx(2 * chance_unmet(sells, 0, 1.0))
        assert chance_unmet(sells, ROUNDS - 1, 2.0) == 1.0


def test_a_partner_sooner_takes_what_it_offered_than_less():
    first = chances_taken(True, 0, 3, 10)
    assert first[1] < first[2] < first[3] == first[10]
    assert (chances_taken(True, 1, 3, 10) == TAKES_LATER).all()
    assert (chances_taken(False, 1, 3, 10) != TAKES_LATER).all()


@pytest.mark.parametrize(("units", "shares"), [(7, [3, 2, 2]), (3, [1, 1, 1]), (1, [1, 1, 1])])
def test_shares_are_even_and_nobody_goes_without(units, shares):
    assert even_shares(units, 3) == shares


# --- choices -------------------------------------------------------------------------------------


def test_the_certain_are_asked_for_what_is_missing_and_no_more():
    worth = side(need=7).worth
    certain, never = np.ones(11), np.zeros(11)
    assert best_asks(worth, [certain], [], 10) == (0.0, [7])
    assert best_asks(worth, [certain], [(4, 1.0)], 10) == (0.0, [3])
    expected, (asked, nothing) = best_asks(worth, [certain, never], [], 10)
    assert (expected, asked, nothing) == (0.0, 7, 0)
    assert best_asks(worth, [], [], 10) == (worth[0], [])


def test_the_unsure_are_asked_for_more_the_cheaper_it_is_to_have_too_much():
    asked = []
    for over in (40.0, 10.0, 1.0):
        _, asks = best_asks(side(need=6, over=over).worth, [np.full(11, 0.5)] * 4, [], 10)
        asked.append(sum(asks))
    assert asked == sorted(asked) and asked[0] < asked[-1]


@pytest.mark.parametrize("turn", [0, 5, ROUNDS - 1])
def test_offers_that_fit_together_are_accepted_and_the_others_left(turn):
    accepted, asked = best_answer(side(need=7), offers(3, 5, 4), [], turn)
    assert set(accepted) == {"a", "c"} and asked == {}


def test_of_offers_alike_the_better_price_is_taken():
    heard = {**offers(7), "z": (7, 0, 19)}
    assert best_answer(side(need=7), heard, [], 5)[0] == ("a",)
    heard = {"a": (7, 0, 20), "z": (7, 0, 19)}
    assert best_answer(side(need=7, sells=False), heard, [], 5)[0] == ("z",)


@pytest.mark.parametrize(("short", "over", "taken"), [(15.0, 1.0, ("a",)), (1.0, 15.0, ())])
def test_in_the_last_round_the_lesser_evil_is_taken(short, over, taken):
    """9 units where 7 are wanted: two too many, or seven too few."""
    assert best_answer(side(7, short, over * 4), offers(9), [], ROUNDS - 1)[0] == taken


def test_what_is_missing_is_asked_of_the_others_and_counts_what_lies_on_the_table():
    accepted, asked = best_answer(side(need=7), offers(5, 8), [], 2)
    assert accepted == ("a",) and asked["b"] == (2, TAKES_LATER)
    accepted, asked = best_answer(side(need=7), offers(5, 8), [(2, 0.99)], 2)
    assert accepted == ("a",) and asked == {}


def test_a_talk_without_an_offer_is_asked_too():
    accepted, asked = best_answer(side(need=3), {"a": None}, [], 2)
    assert accepted == () and asked["a"][0] == 3


# --- whole worlds --------------------------------------------------------------------------------


def test_two_of_them_agree_on_just_what_the_day_needs():
    outside = [trade for day in range(6) for trade in (supply(6, day=day), demand(6, day=day))]
    config = chain((0, 1), outside, track="oneshot", disposal=0.1, shortfall=0.5)
    world = World(config, [(Matcher, {})] * 2, strict=True).run()
    assert [contract.quantity for contract in world.ledger.contracts] == [6] * 6
    assert all(result[2:] == (0, 0) for f in world.factories for result in f.results)


def test_the_same_world_is_played_alike_and_better_than_by_a_built_in():
    config = draw((4, 4), 25, 11, "oneshot")
    others = [catalogue.load(name, "oneshot") for name in ("RandDist", "EqualDist", "Greedy")]

    def scores(first, last):
        random.seed(1)
        np.random.seed(1)
        players = [first, *others, last, *others]
        world = World(config, [(kind, {}) for kind in players], strict=True).run()
        return world.factories[0].score, world.factories[4].score

    np.random.seed(0)
    mine = scores(Matcher, Matcher)
    for ours, theirs in zip(mine, scores(others[1], others[1]), strict=True):
        assert ours > theirs


def test_between_two_levels_it_trades_on_both_sides():
    outside = [supply(6, day=day) for day in range(6)]
    outside += [demand(6, 40, day=day, factory=2, product=3) for day in range(6)]
    config = chain((0, 1, 2), outside, track="oneshot", disposal=0.1, shortfall=0.5)
    world = World(config, [(Matcher, {})] * 3, strict=True).run()
    assert {contract.product for contract in world.ledger.contracts} == {1, 2}
