"""Features are finite, named, within bounds, and the same live, recalled, alone and together."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.games.scml.memories import PLAN, SHORT, played
from tests.games.scml.states import DAY_START, PROFILE, state
from understudy.games.scml.agent.l1_safety import Safety
from understudy.games.scml.domain import BUY_SHARE, DAYS, SELL_SHARE, SafetySettings
from understudy.games.scml.view import features as f
from understudy.games.scml.view import observe as o
from understudy.games.scml.view.columns import packed
from understudy.games.scml.view.from_recording import Recording
from understudy.games.scml.view.state import OpenNegotiation, PastOffer

PLANS = {"std": PLAN, "oneshot": SHORT, "conserved": replace(PLAN, conserve_stock=True, seed=12)}
ROW = {name: k for k, name in enumerate(f.THREAD)}
STATIC = {name: k for k, name in enumerate(f.STATIC)}
TEMPORAL = {name: k for k, name in enumerate(f.TEMPORAL)}
SITUATION = {name: k for k, name in enumerate(f.SITUATION)}


@pytest.fixture(scope="module", params=PLANS)
def world(request):
    """Recordings, and the states that live agents saw, factory by factory."""
    recordings, decided, *_ = played(PLANS[request.param])
    return recordings, [state for name in sorted(decided) for state in decided[name]]


def assert_same(one, other):
    for name, a, b in zip(one._fields, one, other, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        assert a.tobytes() == b.tobytes(), name


def test_recalled_features_are_bit_for_bit_those_of_live_states(world):
    recordings, states = world
    calls = Recording(recordings, frozenset({"Live"})).calls()
    together = o.observed(calls.states)
    assert_same(o.observed(packed(states)), together)
    for number in range(0, len(states), 7):
        alone = o.observe(states[number])
        negotiations = slice(*calls.states.first[number : number + 2])
        own = {name for name in alone._fields if name in OF_NEGOTIATIONS}
        picked = [
            getattr(together, name)[negotiations if name in own else slice(number, number + 1)]
            for name in alone._fields
        ]
        assert_same(alone, o.Observed(*picked))


OF_NEGOTIATIONS = ("thread", "history", "length", "role", "baseline", "safe")


def test_features_are_finite_and_within_bounds(world):
    recordings, _ = world
    for columns in (
        Recording(recordings).calls().states,
        Recording(recordings).day_starts().states,
    ):
        found = o.observed(columns)
        for values in (found.static, found.temporal, found.situation, found.thread, found.history):
            assert np.isfinite(values).all() and np.abs(values).max(initial=0) <= f.MOST
        for name in ("days_left", "level", "opens", "perishable", "horizon"):
            column = found.static[:, STATIC[name]]
            assert column.min() >= 0 and column.max() <= 1
        for name in ("price", "gain", "own_price", "baseline_price", "safe_share", "round"):
            column = found.thread[:, ROW[name]]
            assert column.min(initial=0) >= 0 and column.max(initial=0) <= 1


def test_every_feature_says_something(world):
    """None is the same in every state, but those of the other track."""
    recordings, _ = world
    columns = Recording(recordings).calls().states
    found = o.observed(columns)
    fixed = {"length", "lines", "levels", "horizon", "perishable", "stock_falls", "opens"}
    fixed |= {"disposal_cost", "storage_cost", "suppliers", "consumers", "stock", "days_ahead"}
    fixed |= {"stock_log"}
    for name, k in STATIC.items():
        assert name in fixed or np.ptp(found.static[:, k]) > 0, name
    if columns.facts[0, 5] == 0:  # OneShot
        return
    for name, k in ROW.items():
        assert np.ptp(found.thread[:, k]) > 0, name
    for name, k in TEMPORAL.items():
        assert np.ptp(found.temporal[:, :, k]) > 0, name
    for name, k in SITUATION.items():
        assert np.ptp(found.situation[:, k]) > 0, name


def test_l1_says_the_same_of_columns_as_of_a_state(world):
    _, states = world
    for state_ in states[::3]:
        for chosen in (SafetySettings(), SafetySettings(reserve=0.4, conserves=True)):
            assert_as_safety(state_, chosen)


def baseline(safety, buys):
    """By its definition: half of what is safe on the first possible day, rounded up."""
    day_start, remaining = safety.state.day_start, safety.remaining
    wish = day_start.price_in * BUY_SHARE if buys else day_start.price_out * SELL_SHARE
    price = safety.clip_price(buys, round(wish))
    for ahead in np.flatnonzero(safety.days(buys)).tolist():
        half = ((remaining.to_buy if buys else remaining.to_sell)(ahead) + 1) // 2
        offer = safety.clip(buys, (half, remaining.today + ahead, price))
        return [0, 0, price] if offer is None else [offer[0], ahead, price]
    return [0, 0, price]


def assert_as_safety(state_, chosen):
    found, safety = o.observe(state_, chosen), Safety.of(state_, chosen)
    remaining = safety.remaining
    for ahead in range(DAYS):
        assert found.bounds[0, :, ahead].tolist() == [
            remaining.to_buy(ahead),
            remaining.to_sell(ahead),
        ]
        assert found.days[0, ahead] == (ahead <= state_.days_ahead)
    assert found.money[0] == remaining.money
    for k, negotiation in enumerate(state_.negotiations):
        assert found.baseline[k].tolist() == baseline(safety, negotiation.buys)
        heard = negotiation.heard
        assert found.safe[k] == (heard is not None and safety.allows(negotiation.buys, heard[1:]))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    stock=st.integers(0, 14),
    bought=st.lists(st.integers(0, 12), max_size=11),
    sold=st.lists(st.integers(0, 12), max_size=11),
    day=st.integers(0, 49),
    balance=st.floats(-500, 3000),
    price=st.integers(7, 12),
    ahead=st.integers(0, 12),
    falls=st.booleans(),
)
def test_l1_says_the_same_of_any_state(stock, bought, sold, day, balance, price, ahead, falls):
    offers = (PastOffer(False, 3, day + ahead, price), PastOffer(False, 3, day + ahead, 2 * price))
    negotiations = [
        OpenNegotiation("a", True, 1, offers[:1]),
        OpenNegotiation("b", False, 1, offers[1:]),
    ]
    any_state = state(
        bought, sold, negotiations, stock=stock, day=day, balance=balance, stock_falls=falls
    )
    assert_as_safety(any_state, SafetySettings())


# --- worked examples -----------------------------------------------------------------------------


def test_numbers_of_the_day():
    found = o.static(state(stock=15, balance=500.0, supply_quantity=4, supply_price=44, day=45))
    expected = {
        "balance": 0.5,
        "free_money": (500 - 100 - 44) / 1000,
        "stock": 1.5,
        "days_left": 0.1,
        "length": 0.25,
        "days_ahead": 0.4,
        "margin": 8 / 20,
        "range_in": 0.2,
        "supply": 0.4,
        "supply_price": 1.1,
        "sale_price": 0.0,
        "level": 0.5,
        "opens": 0.0,
        "wealth": 1.0,
    }
    for name, value in expected.items():
        assert found[STATIC[name]] == np.float32(value), name


def test_numbers_of_the_days_ahead():
    heard = (PastOffer(True, 9, 6, 10), PastOffer(False, 5, 6, 11))
    negotiations = [
        OpenNegotiation("a", True, 3, heard),
        OpenNegotiation("b", False, 4, (PastOffer(False, 8, 7, 18),)),
    ]
    here = state(
        bought=(0, 5),
        sold=(2, 0, 4),
        negotiations=negotiations,
        stock=3,
        sale_quantity=1,
        sale_price=25,
    )
    found = o.temporal(here)
    columns = {name: found[:4, k].tolist() for name, k in TEMPORAL.items()}
    assert columns["inbound"] == pytest.approx([0, 0.5, 0, 0])
    assert columns["outbound"] == pytest.approx([0.3, 0, 0.4, 0])
    assert columns["made"] == pytest.approx([0.3, 0, 0.4, 0])
    assert columns["input"] == pytest.approx([0.3, 0.8, 0.8, 0.8])  # stock is never used up
    assert columns["free_lines"] == pytest.approx([0.7, 1, 0.6, 1])
    # 25 from outside and 40 for two units less 3 x 2; 50 for five; 80 for four less 4 x 2
    assert columns["balance"] == pytest.approx([1.059, 1.009, 1.081, 1.081])
    assert columns["premium_in"] == pytest.approx([0, 0.5, 0, 0])  # 5 at 10 and 5 at 11, over 10
    assert columns["premium_out"] == pytest.approx([0, 0, (4 * 20 + 8 * 18) / 12 / 2 - 10, 0])
    assert columns["buy_pressure"] == pytest.approx([0, 0.5, 0, 0])
    assert columns["sell_pressure"] == pytest.approx([0, 0, 0.8, 0])


def test_numbers_of_a_negotiation():
    offers = (
        PastOffer(True, 4, 5, 9),
        PastOffer(False, 2, 7, 11),
        PastOffer(True, 5, 6, 10),
        PastOffer(False, 6, 7, 10),
    )
    rival = OpenNegotiation("b", True, 3, (PastOffer(False, 7, 5, 9),))
    found = o.threads(
        state(negotiations=[OpenNegotiation("a", True, 6, offers), rival], sold=(0, 0, 3))
    )[0]
    expected = {
        "buys": 1.0,
        "round": 0.3,
        "said": 0.1,
        "quantity": 0.6,
        "ahead": 0.2,
        "price": 0.5,
        "gain": 0.5,
        "is_safe": 1.0,
        "own_quantity": 0.5,
        "own_ahead": 0.1,
        "own_price": 0.5,
        "their_way": 0.5,
        "their_growth": 0.4,
        "own_way": 0.5,
        "baseline_quantity": 0.5,
        "bound": 1.3,
        "rivals": 1 / 6,
        "rival_units": 0.7,
        "better_rivals": 1.0,
        "day_outbound": 0.3,
    }
    for name, value in expected.items():
        assert found[ROW[name]] == np.float32(value), name


# --- padding -------------------------------------------------------------------------------------


def test_of_days_that_cannot_be_agreed_on_nothing_is_told():
    sold = (1,) * 11
    for day, count in ((5, 11), (45, 5), (49, 1)):
        found = o.observe(state(sold=sold, stock=30, day=day))
        assert found.days[0].sum() == count
        assert found.temporal[0, :count].any(axis=1).all()
        assert not found.temporal[0, count:].any() and not found.bounds[0, :, count:].any()


def test_a_world_without_days_ahead_is_told_like_any_other():
    """OneShot is padded to the same shapes; its one day is as the last of a Standard world."""
    profile = replace(PROFILE, horizon=0)
    one = o.observe(state(bought=(4,), sold=(3,), profile=profile, day=20))
    other = o.observe(state(bought=(4,), sold=(3,), day=PROFILE.steps - 1))
    assert one.temporal.tobytes() == other.temporal.tobytes()
    assert one.bounds.tobytes() == other.bounds.tobytes()
    assert one.days.sum() == other.days.sum() == 1


def test_a_history_is_told_from_its_beginning_and_then_empty():
    offers = tuple(PastOffer(k % 2 == 1, 1 + k % 30, 5 + k % 11, 9 + k % 3) for k in range(45))
    for length in (0, 1, 7, 40, 45):
        negotiation = OpenNegotiation("a", True, 1, offers[:length])
        found = o.observe(state(negotiations=[negotiation]))
        shown = offers[:length][-f.HISTORY :]
        assert found.length[0] == len(shown)
        assert not found.history[0, len(shown) :].any()
        expected = [
            (
                offer.mine,
                offer.quantity / 10,
                (offer.day - DAY_START.day) / 10,
                (offer.price - 9) / 2,
            )
            for offer in shown
        ]
        assert np.array_equal(
            found.history[0, : len(shown)], np.array(expected, np.float32).reshape(-1, 4)
        )


def test_features_have_names():
    found = o.observe(state(negotiations=[OpenNegotiation("a", True, 0, ())]))
    assert found.static.shape == (1, len(f.STATIC)) and len(f.STATIC) >= 12
    assert found.temporal.shape == (1, 11, len(f.TEMPORAL)) and len(f.TEMPORAL) == 10
    assert found.thread.shape == (1, len(f.THREAD)) and len(f.THREAD) >= 24
    assert o.overall(state()).shape == (len(f.OVERALL),) and len(f.OVERALL) >= 30
    for names in (f.STATIC, f.TEMPORAL, f.SITUATION, f.THREAD, f.PAST_OFFER):
        assert all(meaning for meaning in names.values())
    assert not set(f.STATIC) & set(f.SITUATION)
    assert o.can(state()).tolist() == [1, 1]
    assert o.can(state(profile=replace(PROFILE, level=0))).tolist() == [0, 1]
    assert o.can(state(profile=replace(PROFILE, level=2))).tolist() == [1, 0]
