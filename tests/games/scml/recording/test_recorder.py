"""What is recorded is what agents were asked and answered, in either simulator."""

import random

import numpy as np
import pytest
from negmas import ResponseType, SAOResponse
from scml.std import StdAgent, StdSyncAgent
from scml.std.agents import GreedyStdAgent, RandomStdAgent, SyncRandomStdAgent

from understudy.games.scml.engine.config import draw
from understudy.games.scml.engine.hosting.negotiators import decides_jointly
from understudy.games.scml.engine.world import World
from understudy.games.scml.recording.days import day_ledger
from understudy.games.scml.recording.recorder import Recorder, recorded
from understudy.games.scml.reference.scml_simulator import quiet, scml_world

ACCEPT, REJECT = ResponseType.ACCEPT_OFFER, ResponseType.REJECT_OFFER
END, WAIT = ResponseType.END_NEGOTIATION, ResponseType.WAIT
CONFIG = draw((2, 2), 4, seed=3)
SIMULATORS = ("engine", "scml")


@pytest.fixture(autouse=True)
def rng():
    random.seed(1)
    np.random.seed(1)


def price(agent):
    awi = agent.awi
    issues = awi.current_output_issues if awi.is_first_level else awi.current_input_issues
    return issues[2].max_value


class Buyer(StdSyncAgent):
    """At the last level, so it opens: an offer to the first partner, none to the other."""

    def first_proposals(self):
        first, *_ = self.negotiators
        return {first: (2, self.awi.current_step, price(self))}

    def counter_all(self, offers, states):
        return {partner: SAOResponse(REJECT, (1, self.awi.current_step, 99)) for partner in offers}


class Seller(StdAgent):
    """Answers from a list, and makes the same offer again and again."""

    answers = (REJECT,)
    offer = None

    def init(self):
        self.asked = 0

    def propose(self, negotiator_id, state):
        return self.offer or (3, self.awi.current_step, price(self))

    def respond(self, negotiator_id, state, source=None):
        self.asked += 1
        self.propose(negotiator_id, state)  # its own affair
        return self.answers[min(self.asked, len(self.answers)) - 1]


class Silent(StdSyncAgent):
    def first_proposals(self):
        return {}

    def counter_all(self, offers, states):
        return {}


def recorder_of(kinds, simulator="engine", config=CONFIG, watched=None, strict=True):
    recorder = Recorder(len(kinds))
    actors = recorded(kinds, recorder, watched)
    with quiet():
        if simulator == "engine":
            world = World(config, [(kind, {}) for kind in actors], strict=strict).run()
        else:
            world = scml_world(config, actors, ".")
            world.run()
    days = day_ledger(config, world.ledger.contracts if simulator == "engine" else [], False)
    return recorder.table("m", config, days.ranges).to_pylist(), world


def answers_of(rows, **where):
    kept = [row for row in rows if all(row[key] == value for key, value in where.items())]
    return [(row["answer"], row["omitted"], row["offered_quantity"]) for row in kept]


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_rejection_and_its_offer_are_one_row(simulator):
    rows, _ = recorder_of([Seller, Seller, Buyer, Silent], simulator)
    (first, *_) = [row for row in rows if row["factory"] == 0]
    assert (first["call"], first["partner"], first["round"]) == ("respond", 2, 0)
    assert (first["heard_quantity"], first["heard_day"]) == (2, 0)
    assert (first["answer"], first["offered_quantity"]) == ("reject", 3)
    assert not any(row["call"] == "propose" for row in rows if row["partner"] == 2)


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_joint_decision_has_a_row_for_every_open_negotiation(simulator):
    rows, _ = recorder_of([Seller, Seller, Buyer, Silent], simulator)
    opening = [row for row in rows if row["factory"] == 2 and row["call"] == "first_proposals"]
    assert [(row["partner"], row["offered_quantity"]) for row in opening[:2]] == [(0, 2), (1, None)]
    assert len({row["moment"] for row in opening[:2]}) == 1
    assert {row["answer"] for row in opening} == {None}
    # the negotiation with 1 broke, for want of an offer; a price of 99 is no offer either
    counter = [row for row in rows if row["factory"] == 2 and row["call"] == "counter_all"]
    assert [(row["partner"], row["heard_quantity"]) for row in counter[:1]] == [(0, 3)]
    assert answers_of(counter[:1]) == [("reject", False, None)]


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (None, ("reject", False, None)),
        (SAOResponse(ACCEPT, (2, 0, 16)), ("accept", False, None)),
        (SAOResponse(END, (2, 0, 16)), ("end", False, None)),
        (SAOResponse(REJECT, (2, 0, 16)), ("reject", False, 2)),
        (SAOResponse(REJECT, (2.0, 0, 16)), ("reject", False, 2)),
        (SAOResponse(REJECT, (2, 0, 16.5)), ("reject", False, None)),
        (SAOResponse(REJECT, (31, 0, 16)), ("reject", False, None)),
        (SAOResponse(REJECT, (2, 16)), ("reject", False, None)),
        ("left out", ("end", True, None)),
    ],
)
def test_what_a_joint_answer_comes_to(response, expected):
    class Once(StdSyncAgent):
        def first_proposals(self):
            return {}

        def counter_all(self, offers, states):
            return {} if response == "left out" else dict.fromkeys(offers, response)

    class Opener(GreedyStdAgent):
        def propose(self, negotiator_id, state):
            return (4, self.awi.current_step, price(self))

    rows, _ = recorder_of([Once, Once, Opener, Opener], strict=False)
    found = answers_of(rows, call="counter_all", factory=0, day=0)
    assert found[0] == expected


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_partner_not_heard_yet_is_answered_too(simulator):
    """A buyer waits for its second seller only so long."""

    class Slow(Seller):
        answers = (WAIT, WAIT, WAIT, REJECT)

    class Patient(Buyer):
        def first_proposals(self):
            return {k: (2, self.awi.current_step, price(self)) for k in self.negotiators}

    rows, _ = recorder_of([Seller, Slow, Patient, Silent], simulator)
    counter = [r for r in rows if r["factory"] == 2 and r["call"] == "counter_all"]
    assert [(r["partner"], r["heard_quantity"]) for r in counter[:2]] == [(0, 3), (1, None)]
    assert counter[0]["moment"] == counter[1]["moment"]
    assert answers_of(counter[:2]) == [("reject", False, None), ("end", True, None)]


def test_waiting_is_no_answer():
    class Waiting(Seller):
        answers = (WAIT, WAIT, END)

    rows, _ = recorder_of([Waiting, Waiting, Buyer, Silent], "engine")
    first = [row for row in rows if row["factory"] == 0 and row["day"] == 0]
    assert answers_of(first) == [("end", False, None)]


def test_a_call_that_fails_is_not_recorded_and_fails_as_before():
    class Failing(Seller):
        def propose(self, negotiator_id, state):
            if self.awi.current_step == 1:
                raise KeyError("lost")
            return super().propose(negotiator_id, state)

        def respond(self, negotiator_id, state, source=None):
            return REJECT

    kinds = [Failing, Failing, Buyer, Silent]
    rows, world = recorder_of(kinds, strict=False)
    plain = World(CONFIG, [(kind, {}) for kind in kinds]).run()
    assert [fault.error for fault in world.faults] == [fault.error for fault in plain.faults] != []
    # it was asked twice to answer, and twice failed to follow with an offer: one row is left
    assert answers_of(rows, factory=0, day=1) == [("reject", False, None)]
    with pytest.raises(KeyError, match="lost"):
        recorder_of(kinds, strict=True)


class Witness(RandomStdAgent):
    """Writes down what ought to be recorded."""

    seen: list = []  # noqa: RUF012

    def respond(self, negotiator_id, state, source=None):
        answer = super().respond(negotiator_id, state, source)
        awi = self.awi
        agreed = [
            units
            for book in (awi._future_sales, awi._future_supplies)
            for partners in book.values()
            for units in partners.values()
        ]
        self.seen.append((awi.needed_supplies, awi.needed_sales, sum(agreed)))
        return answer


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_needs_and_contracts_are_those_of_the_moment(simulator):
    Witness.seen = []
    rows, world = recorder_of(
        [Witness, *[RandomStdAgent] * 3], simulator, draw((2, 2), 12, seed=3), watched={0}
    )
    asked = [row for row in rows if row["call"] == "respond"]
    assert len(asked) == len(Witness.seen) > 20
    needs = [(row["needed_supplies"], row["needed_sales"]) for row in asked]
    assert needs == [(supplies, sales) for supplies, sales, _ in Witness.seen]
    if simulator == "scml":
        return
    own = [c for c in world.ledger.contracts if 0 in (c.seller, c.buyer)]
    assert max(row["contracts"] for row in asked) > 3
    for row, (_, _, agreed) in zip(asked, Witness.seen, strict=True):
        made = [c for c in own[: row["contracts"]] if c.day >= row["day"]]
        assert sum(c.quantity for c in made) == agreed


def test_only_the_watched_are_recorded_and_numbers_follow_each_other():
    kinds = [RandomStdAgent, SyncRandomStdAgent] * 2
    rows, _ = recorder_of(kinds, watched={1, 2})
    assert {row["factory"] for row in rows} == {1, 2}
    assert sorted({row["moment"] for row in rows}) == list(
        range(max(r["moment"] for r in rows) + 1)
    )
    assert [row["factory"] for row in rows] == sorted(row["factory"] for row in rows)


@pytest.mark.parametrize("kind", [GreedyStdAgent, SyncRandomStdAgent])
def test_a_recorded_class_passes_for_its_own(kind):
    (actor,) = recorded([kind], Recorder(1))
    assert (actor.__name__, actor.__module__) == (kind.__name__, kind.__module__)
    assert decides_jointly(actor) == decides_jointly(kind)
    assert actor.on_negotiation_success is kind.on_negotiation_success
    assert actor.step is kind.step
