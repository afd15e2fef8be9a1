"""Agents that fail: the fault is written down and the world goes on, or ends as in scml."""

import gc
import signal
import sys
import threading
import time

import numpy as np
import pytest
from negmas import ResponseType, SAOResponse
from scml.std import StdSyncAgent
from scml.std.agents import RandomStdAgent, SyncRandomStdAgent

from understudy.games.scml.engine.config import draw
from understudy.games.scml.engine.world import World
from understudy.games.scml.reference import verify
from understudy.games.scml.reference.scml_simulator import quiet

CONFIG = draw((2, 2), 6, seed=3)


@pytest.fixture(autouse=True)
def _no_garbage_collection():
    """In a process with many modules a full one takes longer than the limits set here."""
    gc.disable()
    yield
    gc.enable()


class Failing(RandomStdAgent):
    day = 2

    def propose(self, negotiator_id, state):
        if self.awi.current_step == self.day:
            raise KeyError("lost")
        return super().propose(negotiator_id, state)


class FailingAtNight(RandomStdAgent):
    def step(self):
        raise ZeroDivisionError("at night")


class Endless(StdSyncAgent):
    def first_proposals(self):
        if self.awi.current_step == 0:
            while True:
                pass
        return {}

    def counter_all(self, offers, states):
        return {k: SAOResponse(ResponseType.END_NEGOTIATION, None) for k in offers}


class Asleep(RandomStdAgent):
    def step(self):
        if self.awi.current_step == 1:
            time.sleep(10**6)


class Leaving(RandomStdAgent):
    def propose(self, negotiator_id, state):
        sys.exit("enough")

    def step(self):
        sys.exit("enough")


class Stubborn(RandomStdAgent):
    """Gives way to the third interruption only."""

    interruptions = 0

    def step(self):
        while Stubborn.interruptions < 3:
            try:
                time.sleep(10**6)
            except BaseException:
                Stubborn.interruptions += 1


def unborn(fail):
    class Unborn(RandomStdAgent):
        def __init__(self, *arguments, **named):
            super().__init__(*arguments, **named)
            fail()

    return Unborn


def never_ends():
    while True:
        pass


def stuck_in(name):
    def method(self, *arguments, **named):
        if self.awi.current_step == 0:  # later it may be bankrupt and have no negotiations
            never_ends()
        return getattr(RandomStdAgent, name)(self, *arguments, **named)

    return type(f"Stuck in {name}", (RandomStdAgent,), {name: method})


def answering(response):
    class Answering(RandomStdAgent):
        def respond(self, negotiator_id, state, source=None):
            return response

    return Answering


class Forgiven(RandomStdAgent):
    """Fails every other time: negmas asks twice."""

    asked = 0

    def respond(self, negotiator_id, state, source=None):
        self.asked += 1
        if self.asked % 2:
            raise ValueError("not yet")
        return super().respond(negotiator_id, state, source)


def play(kind, **options):
    world = World(CONFIG, [(kind, {}), *[(RandomStdAgent, {})] * 3], **options)
    return world.run()


def test_an_exception_is_written_down_and_the_world_goes_on():
    world = play(FailingAtNight)
    assert [fault.day for fault in world.faults] == list(range(6))
    assert world.faults[0].factory == "00@0"
    assert world.faults[0].error == "ZeroDivisionError: at night"
    assert len(world.factories[0].profits) == 6


def test_who_fails_in_a_negotiation_leaves_it():
    world = play(Failing)
    assert {fault.day for fault in world.faults} <= {2}


def test_an_endless_call_is_cut_off():
    config = draw((1, 1), 3, seed=3)
    world = World(config, [(RandomStdAgent, {}), (Endless, {})], call_seconds=0.2).run()
    assert {fault.day for fault in world.faults} == {0}
    assert world.faults[0].error == "CallTimeout: no answer after 0.2 s of CPU time"


@pytest.mark.parametrize(
    ("name", "partner"),
    [
        ("before_step", RandomStdAgent),
        ("step", RandomStdAgent),
        ("propose", RandomStdAgent),
        ("on_negotiation_success", answering(ResponseType.ACCEPT_OFFER)),
        ("on_negotiation_failure", answering(ResponseType.END_NEGOTIATION)),
    ],
)
def test_an_endless_call_is_cut_off_wherever_it_is(name, partner):
    config = draw((1, 1), 3, seed=3)
    world = World(config, [(partner, {}), (stuck_in(name), {})], call_seconds=0.2).run()
    assert [(fault.factory, fault.day) for fault in world.faults] == [("01@1", 0)]


def test_a_sleeping_agent_is_woken():
    world = play(Asleep, call_wall_seconds=0.4)
    assert [(fault.factory, fault.day) for fault in world.faults] == [("00@0", 1)]
    assert world.faults[0].error == "CallTimeout: no answer after 0.4 s"


def test_who_catches_the_interruption_is_interrupted_again_and_written_down_once():
    Stubborn.interruptions = 0
    world = play(Stubborn, call_wall_seconds=0.4)
    assert Stubborn.interruptions == 3
    assert [fault.day for fault in world.faults] == [0]


def test_outside_of_the_main_thread_an_endless_call_is_cut_off_too():
    config = draw((1, 1), 3, seed=3)
    worlds = []

    def play_there():
        players = [(RandomStdAgent, {}), (stuck_in("step"), {})]
        worlds.append(World(config, players, call_seconds=0.2).run())

    thread = threading.Thread(target=play_there)
    thread.start()
    thread.join()
    assert [fault.day for fault in worlds[0].faults] == [0]


def test_leaving_python_is_a_fault():
    world = play(Leaving)
    assert {fault.error for fault in world.faults} == {"SystemExit: enough"}
    assert {fault.day for fault in world.faults} == set(range(6))


@pytest.mark.parametrize(
    ("fail", "limits", "error"),
    [
        (lambda: 1 / 0, {}, "ZeroDivisionError: division by zero"),
        (sys.exit, {}, "SystemExit: "),
        (never_ends, {"call_seconds": 0.2}, "CallTimeout: no answer after 0.2 s of CPU time"),
        (
            lambda: time.sleep(10**6),
            {"call_wall_seconds": 0.4},
            "CallTimeout: no answer after 0.4 s",
        ),
    ],
)
def test_for_an_agent_that_cannot_be_made_one_plays_that_does_nothing(fail, limits, error):
    world = play(unborn(fail), **limits)
    assert [(f.factory, f.day, f.error) for f in world.faults] == [("00@0", 0, error)]
    assert not any(0 in (c.seller, c.buyer) for c in world.ledger.contracts)
    assert len(world.factories[0].profits) == 6


def test_when_strict_an_agent_must_be_makeable():
    with pytest.raises(ZeroDivisionError):
        play(unborn(lambda: 1 / 0), strict=True)


class UnspeakableError(Exception):
    def __str__(self):
        raise ValueError


class FailingWithoutWords(RandomStdAgent):
    def step(self):
        raise UnspeakableError


class Forgetting(RandomStdAgent):
    def before_step(self):
        self._negotiators.clear()


class FailingAtDayStart(SyncRandomStdAgent):
    def reset(self):
        if getattr(self, "_awi", None):  # else it could not even be made
            raise KeyError("asleep")


class FailingAfterNegotiations(SyncRandomStdAgent):
    def _reset_for(self, negotiator_id):
        raise KeyError("tired")


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        (FailingWithoutWords, "UnspeakableError"),
        (Forgetting, None),
        (FailingAtDayStart, "KeyError: 'asleep'"),
        (FailingAfterNegotiations, "KeyError: 'tired'"),
    ],
)
def test_whatever_an_agent_spoils_is_its_own(kind, error):
    world = play(kind)
    assert {fault.factory for fault in world.faults} <= {"00@0"}
    assert error is None or error in {fault.error for fault in world.faults}
    assert len(world.factories[0].profits) == 6


NOT_NUMBERS = (float("nan"),) * 3
NONSENSE = [5, "abc", (1, 2), [1, 2, 3], {}, {"who": 1}, np.array([1, 2]), NOT_NUMBERS, object]


@pytest.mark.parametrize("nonsense", NONSENSE, ids=repr)
def test_whatever_an_agent_answers_the_world_goes_on(nonsense):
    def everywhere(self, *_, **__):
        return nonsense

    def to_all(self, *_):
        return dict.fromkeys(self.negotiators, nonsense)

    def countered(self, offers, states):
        return {partner: SAOResponse(ResponseType.REJECT_OFFER, nonsense) for partner in offers}

    answers = [
        {"propose": everywhere},
        {"respond": everywhere},
        *(
            {call: say}
            for call in ("first_proposals", "counter_all")
            for say in (everywhere, to_all)
        ),
        {"counter_all": countered},
    ]
    for methods in answers:
        one_by_one = methods.keys() <= {"propose", "respond"}
        base = RandomStdAgent if one_by_one else SyncRandomStdAgent
        world = play(type("Raving", (base,), methods))
        assert {fault.factory for fault in world.faults} <= {"00@0"}
        assert len(world.factories[0].profits) == 6


def test_nothing_is_left_of_the_watch():
    before = signal.getsignal(signal.SIGALRM), signal.getsignal(signal.SIGVTALRM)
    timer = signal.getitimer(signal.ITIMER_REAL)[0] > 0  # pytest's own time limit
    threads = threading.active_count()
    play(FailingAtNight)
    assert (signal.getsignal(signal.SIGALRM), signal.getsignal(signal.SIGVTALRM)) == before
    assert (signal.getitimer(signal.ITIMER_REAL)[0] > 0) == timer
    assert threading.active_count() == threads


@pytest.mark.parametrize("kind", [Failing, FailingAtNight, Forgiven])
def test_when_strict_a_failing_agent_ends_the_world_as_in_scml(kind):
    kinds = [RandomStdAgent, RandomStdAgent, kind, RandomStdAgent]
    with quiet():
        theirs = verify.play_in_scml(CONFIG, kinds, seed=3)
        ours = verify.play_in_engine(CONFIG, kinds, seed=3)
    assert (theirs.ended is None) == (kind is Forgiven)
    assert verify.differences(theirs, ours) == []
