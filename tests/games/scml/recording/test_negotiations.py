"""Negotiations told from decisions, ending by ending; and offers as text, there and back."""

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.games.scml.states import PROFILE
from understudy.games.scml.domain import ROUNDS
from understudy.games.scml.recording.negotiations import (
    AGREED,
    ENDED,
    LEFT_OUT,
    NO_OFFER,
    NOT_RECORDED,
    OUT_OF_ROUNDS,
    RecordedNegotiation,
    negotiations_by_day,
    opens,
    read,
    written,
)
from understudy.games.scml.recording.tables import DECISIONS

SELLER, BUYER = 0, 1
"""Of two levels; the last opens."""
A, B, C = (3, 5, 20), (4, 5, 18), (2, 6, 19)


def decisions(*rows):
    """(factory, call, round, heard, answer, offered) each, about the only partner, on day 5."""
    columns = {name: [] for name in (column.name for column in DECISIONS.columns)}
    for moment, (factory, call, number, heard, answer, offered) in enumerate(rows):
        row = {
            "match": "m", "moment": moment, "day": 5, "factory": factory, "call": call,
            "partner": 1 - factory, "round": number, "omitted": answer == "omitted",
            "answer": "end" if answer == "omitted" else answer,
            "needed_supplies": 0, "needed_sales": 0, "contracts": 0,
        }  # fmt: skip
        for prefix, offer in (("heard", heard), ("offered", offered)):
            for part, value in zip(("quantity", "day", "price"), offer or [None] * 3, strict=True):
                row[f"{prefix}_{part}"] = value
        for name, column in columns.items():
            column.append(row[name])
    return DECISIONS.build(columns)


def reconstructed(*rows, agreed=None):
    agreements = {} if agreed is None else {(5, BUYER, SELLER): agreed}
    (only,) = negotiations_by_day(decisions(*rows), [0, 1], agreements)[5]
    return only


def opening(offer):
    return BUYER, "first_proposals", 0, None, None, offer


# --- how negotiations end -------------------------------------------------------------------------


def test_an_offer_accepted_at_once():
    found = reconstructed(opening(A), (SELLER, "respond", 0, A, "accept", None), agreed=A)
    assert found == RecordedNegotiation(BUYER, SELLER, AGREED, [A])


def test_offers_go_back_and_forth():
    found = reconstructed(
        opening(A),
        (SELLER, "respond", 0, A, "reject", B),
        (BUYER, "counter_all", 1, B, "reject", C),
        (SELLER, "respond", 1, C, "accept", None),
        agreed=C,
    )
    assert found == RecordedNegotiation(BUYER, SELLER, AGREED, [A, B, C])


@pytest.mark.parametrize(
    ("answer", "ending"), [("end", ENDED), ("omitted", LEFT_OUT), ("reject", NO_OFFER)]
)
def test_a_negotiation_without_agreement(answer, ending):
    found = reconstructed(opening(A), (SELLER, "respond", 0, A, answer, None))
    assert found == RecordedNegotiation(BUYER, SELLER, ending, [A])


def test_nothing_was_offered_at_all():
    assert reconstructed(opening(None)) == RecordedNegotiation(BUYER, SELLER, NO_OFFER, [])


def test_an_answer_and_its_offer_recorded_apart_belong_together():
    found = reconstructed(
        opening(A),
        (SELLER, "respond", 0, A, "reject", None),
        (SELLER, "propose", 0, A, None, B),
    )
    assert found == RecordedNegotiation(BUYER, SELLER, NOT_RECORDED, [A, B])


def test_all_rounds_passed():
    rows = [opening(A)]
    for number in range(ROUNDS):
        if number:
            rows.append((BUYER, "counter_all", number, B, "reject", A))
        rows.append((SELLER, "respond", number, A, "reject", B))
    found = reconstructed(*rows)
    assert found.ending == OUT_OF_ROUNDS and found.offers == [A, B] * ROUNDS


# --- where one side was not recorded -------------------------------------------------------------


def test_from_the_other_side_alone_the_negotiation_is_as_long_as_what_it_heard():
    found = reconstructed(
        (SELLER, "respond", 0, A, "reject", B),
        (SELLER, "respond", 1, C, "reject", B),
    )
    assert found == RecordedNegotiation(BUYER, SELLER, NOT_RECORDED, [A, B, C, B])


def test_what_arrived_counts_more_than_what_was_meant():
    found = reconstructed(opening(A), (SELLER, "respond", 0, C, "end", None))
    assert found.offers == [C]


def test_the_last_offer_of_an_agreement_is_the_contract():
    found = reconstructed(opening(A), agreed=B)
    assert found == RecordedNegotiation(BUYER, SELLER, AGREED, [B])


# --- who opens -----------------------------------------------------------------------------------


@pytest.mark.parametrize("levels", [2, 3, 4, 5])
def test_who_opens_in_a_recording_opens_in_play(levels):
    for level in range(levels):
        assert opens(level, levels) == replace(PROFILE, level=level, levels=levels).opens
        assert level == 0 or opens(level, levels) != opens(level - 1, levels)


# --- offers as text ------------------------------------------------------------------------------

agenda = st.tuples(st.integers(1, 40), st.integers(0, 200), st.integers(0, 300))


@settings(max_examples=40, deadline=None, derandomize=True)
@example(offers=[(31, 1, 31), (32, 0, 32), (1000, 0, 5000)], day=4, lowest=9)
@example(offers=[], day=0, lowest=0)
@given(offers=st.lists(agenda, max_size=12), day=st.integers(0, 200), lowest=st.integers(0, 99))
def test_offers_survive_their_writing(offers, day, lowest):
    shown = [(quantity, day + ahead, lowest + over) for quantity, ahead, over in offers]
    text = written(shown, day, lowest)
    assert read(text, day, lowest) == shown
    assert text.replace("-", "").replace("_", "").isalnum() or not text


def test_usual_offers_take_three_letters_each():
    assert written([(10, 7, 21), (1, 5, 19)], 5, 19) == "KCCBAA"
    assert len(written([(32, 5, 19)], 5, 19)) == 4


@pytest.mark.parametrize("offer", [(-1, 5, 20), (1, 4, 20), (1, 5, 18)])
def test_an_offer_outside_of_the_agenda_cannot_be_written(offer):
    with pytest.raises(ValueError, match="outside the day's agenda"):
        written([offer], 5, 19)
