"""What is remembered of a partner: the definition, worked examples, and nothing of today."""

import math
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.games.scml.memories import PLAN, played
from tests.games.scml.states import DAY_START, state
from understudy.games.scml.domain import ROUNDS
from understudy.games.scml.view import columns as p
from understudy.games.scml.view import features as f
from understudy.games.scml.view import observe as o
from understudy.games.scml.view.from_recording import Recording
from understudy.games.scml.view.memory import Memory, Talks, fill_memory, memories_of, remember
from understudy.games.scml.view.state import OpenNegotiation

TALK = [(1, 4, 7, 18), (0, 6, 5, 12), (1, 5, 5, 16), (0, 2, 8, 15)]
"""Mine, units, delivery day, price; on day 5, with prices from 10 to 20."""


def sums_of(*talks, buys=False):
    sums = np.zeros(p.NUM_SUMS)
    for offers, agreed in talks:
        rows = np.array(offers, np.int64).reshape(-1, 4)
        remember(sums, rows, 0, len(rows), agreed, 5, buys, 10.0, 20.0)
    return sums


def features_of(sums, lines=10.0):
    out = np.zeros(len(f.THREAD), np.float32)
    fill_memory(sums, lines, out)
    assert not out[: -len(f.MEMORY)].any()
    return dict(zip(f.MEMORY, out[-len(f.MEMORY) :].tolist(), strict=True))


def test_a_talk_by_hand():
    """We sell; the partner's last offer is taken: 2 units in 3 days at the middle price."""
    found = features_of(sums_of((TALK, True)))
    expected = {
        "past_talks": math.log(2) / 4,
        "past_agreed": 1,
        "past_taken": 0,
        "past_heard": 2 / ROUNDS,
        "deal_units": 0.2,
        "deal_ahead": 0.3,
        "deal_today": 0,
        "deal_gain": 0.5,
        "heard_units": 0.4,
        "heard_ahead": 0.15,
        "heard_gain": 0.35,
        "heard_most": 0.6,
    }
    assert found == pytest.approx(expected)


def test_a_second_talk_in_which_the_partner_takes_our_offer():
    found = features_of(sums_of((TALK, False), (TALK[:3], True)))
    assert found["past_talks"] == pytest.approx(math.log(3) / 4)
    assert found["past_agreed"] == 0.5 and found["past_taken"] == 0.25
    assert found["deal_units"] == 0.5 and found["deal_today"] == 1 and found["deal_ahead"] == 0
    assert found["deal_gain"] == pytest.approx(0.6) and found["past_heard"] == pytest.approx(0.075)
    assert found["heard_most"] == pytest.approx(0.6)


def test_a_buyer_likes_low_prices():
    selling, buying = (features_of(sums_of((TALK, True), buys=buys)) for buys in (False, True))
    for name in ("deal_gain", "heard_gain"):
        assert buying.pop(name) == pytest.approx(1 - selling.pop(name))
    assert buying == selling


def test_a_talk_without_an_offer_leaves_no_trace():
    assert not sums_of(([], False), ([], True)).any()
    assert (sums_of(([], False), (TALK, True)) == sums_of((TALK, True))).all()


def test_of_a_stranger_nothing_is_known():
    assert not any(features_of(np.zeros(p.NUM_SUMS)).values())
    stranger = OpenNegotiation("a", True, 0, ())
    assert stranger == replace(stranger, memory=())
    known = replace(stranger, memory=tuple(sums_of((TALK, True)).tolist()))
    rows = o.threads(state(negotiations=[stranger, known]))[:, -len(f.MEMORY) :]
    assert not rows[0].any() and rows[1].any()


def test_who_never_offers_is_known_by_what_it_refuses():
    found = features_of(sums_of(([TALK[0]], False)))
    assert {name for name, value in found.items() if value} == {"past_talks"}


OFFERS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(1, 2000), st.integers(5, 15), st.integers(0, 40)),
    max_size=2 * ROUNDS,
)


@given(st.lists(st.tuples(OFFERS, st.booleans()), max_size=5), st.booleans())
def test_features_are_within_bounds_whatever_was_said(talks, buys):
    found = features_of(sums_of(*talks, buys=buys), lines=1.0)
    assert all(0 <= value <= f.MOST for value in found.values())
    bounded = set(f.MEMORY) - {"past_talks", "past_heard", "deal_units", "heard_units"}
    assert all(found[name] <= 1 for name in bounded - {"heard_most"})


def test_talks_of_many_partners_in_any_order():
    """Before each talk: those of the same two on days before it, and no other."""
    rng = np.random.default_rng(4)
    owner, partner, day = (grid.ravel() for grid in np.meshgrid(range(2), range(3), range(4)))
    length = rng.integers(0, 4, len(owner))
    stop = np.cumsum(length)
    offers = np.stack(
        [rng.integers(low, high, stop[-1]) for low, high in ((0, 2), (1, 9), (4, 9), (10, 21))], 1
    )
    agreed, buys = rng.random(len(owner)) < 0.5, partner == 1
    prices = np.tile([10.0, 20.0], (len(owner), 1))
    talks = Talks(owner, partner, day, buys, stop - length, stop, agreed, prices)
    mixed = rng.permutation(len(owner))
    found = memories_of(Talks(*(column[mixed] for column in talks)), offers)
    for row, talk in zip(found, mixed, strict=True):
        expected = np.zeros(p.NUM_SUMS)
        for one in np.lexsort((day,)):
            if (owner[one], partner[one]) == (owner[talk], partner[talk]) and day[one] < day[talk]:
                span = int(stop[one] - length[one]), int(stop[one])
                remember(expected, offers, *span, agreed[one], day[one], buys[one], 10.0, 20.0)
        assert (row == expected).all()


# --- live ----------------------------------------------------------------------------------------


def day_of(day):
    return replace(DAY_START, day=day, prices_in=(5, 9), prices_out=(10, 20))


def test_today_is_remembered_tomorrow():
    memory = Memory()
    memory.open_day(day_of(5), ["supplier"])
    memory.hear("buyer", 1, (6, 5, 12))
    memory.say("buyer", (5, 5, 16))
    memory.hear("supplier", 1, (3, 6, 9))
    memory.agree("buyer")
    assert memory.negotiation("buyer", False).memory == p.NOTHING_KNOWN
    memory.open_day(day_of(6), ["supplier"])
    found = memory.negotiation("buyer", False)
    assert not found.offers and found.memory == tuple(sums_of((TALK[1:3], True)))
    of_supplier = memory.negotiation("supplier", True).memory
    assert of_supplier[p.NUM_HEARD] == 1 and of_supplier[p.HEARD_GAIN] == 0  # the highest price
    assert of_supplier[p.NUM_CONTRACTS] == 0
    memory.open_day(day_of(7), ["supplier"])  # a day without a word
    assert memory.negotiation("buyer", False).memory == found.memory


# --- from recordings -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recordings():
    return played(PLAN)[0]


def test_a_recorded_memory_is_by_definition_what_was_said_before(recordings):
    """From the rows of the tables, one by one."""
    heard, own, agreed = defaultdict(list), defaultdict(int), defaultdict(list)
    levels = recordings["worlds"]["levels"][0].as_py()
    decisions = sorted(recordings["decisions"].to_pylist(), key=lambda row: row["moment"])
    talks = defaultdict(set)
    for row in decisions:
        pair = row["factory"], row["partner"]
        goes_nowhere = row["call"] == "first_proposals" and (3 - levels[row["factory"]]) % 2 == 0
        if row["heard_quantity"] is not None:
            heard[pair].append((row["day"], row["heard_quantity"], row["heard_day"] - row["day"]))
            talks[pair].add(row["day"])
        if row["offered_quantity"] is not None and not goes_nowhere:
            own[pair, row["day"]] += 1
            talks[pair].add(row["day"])
    for row in recordings["contracts"].to_pylist():
        for pair in ((row["buyer"], row["seller"]), (row["seller"], row["buyer"])):
            agreed[pair].append((row["concluded"], row["quantity"], row["day"] - row["concluded"]))
    recording = Recording(recordings)
    calls = recording.calls()
    assert calls.states.memory.any(axis=0).all()
    days = calls.states.facts[calls.states.state_of, p.DAY]
    owners = calls.owner[calls.states.state_of]
    pairs = zip(owners.tolist(), calls.partner.tolist(), strict=True)
    for pair, today, memory in zip(pairs, days.tolist(), calls.states.memory, strict=True):
        before = [one for one in heard[pair] if one[0] < today]
        signed = [one for one in agreed[pair] if one[0] < today]
        assert memory[p.TALKS_HELD] == sum(day < today for day in talks[pair])
        assert memory[p.OWN_OFFERS] == sum(own[pair, day] for day in talks[pair] if day < today)
        assert memory[p.NUM_HEARD] == len(before) and memory[p.NUM_CONTRACTS] == len(signed)
        assert memory[p.HEARD_UNITS] == sum(one[1] for one in before)
        assert memory[p.HEARD_AHEAD] == sum(one[2] for one in before)
        assert memory[p.HEARD_MOST] == max((one[1] for one in before), default=0)
        assert memory[p.CONTRACT_UNITS] == sum(one[1] for one in signed)
        assert memory[p.CONTRACT_AHEAD] == sum(one[2] for one in signed)
        assert memory[p.CONTRACT_TODAY] == sum(one[2] == 0 for one in signed)
        assert memory[p.OWN_TAKEN] <= min(memory[p.NUM_CONTRACTS], memory[p.OWN_OFFERS])


def test_stock_is_seen_beyond_where_it_is_cut():
    at = list(f.STATIC).index("stock_log")
    for stock, expected in ((0, 0), (10, math.log(2)), (200, math.log(21)), (10**6, f.MOST)):
        assert o.static(state(stock=stock))[at] == pytest.approx(expected)
    assert o.static(state(stock=200))[f.STATIC_AT.stock] == f.MOST
