"""HRL-XF asked by many worlds at once plays as it does alone, whoever shares the batch."""

import numpy as np
import pytest

from tests.games.scml.batch import live
from understudy.games.scml.agent.l4_priorities import priorities
from understudy.games.scml.agent.policy import SHIPPED, policy_of
from understudy.games.scml.batch.learnt.choices import draw, new_books, open_books
from understudy.games.scml.batch.learnt.histories import Histories
from understudy.games.scml.batch.learnt.networks import ManyScores
from understudy.games.scml.batch.learnt.policy import ManyDecisions, play, play_in_threads
from understudy.games.scml.batch.learnt.room import Room
from understudy.games.scml.batch.observe import questions_of
from understudy.games.scml.batch.setup import Seat, record_of
from understudy.games.scml.batch.speech import is_supplier
from understudy.games.scml.batch.state import END
from understudy.games.scml.batch.worlds import Log, Worlds
from understudy.games.scml.domain import COUNTER_ALL, SafetySettings
from understudy.games.scml.engine.config import draw as draw_world
from understudy.games.scml.view import features as f

PLAYERS = ["HRL", "HRL", "Greedy", "Random", "Steward"]
POLICY = policy_of(SHIPPED)


class Refuser:
    """A learner that ends everything; it counts how often it is asked."""

    asked = 0

    def answer(self, fixed, state, waiting):
        self.asked += len(waiting)
        state["reply"][waiting] = END
        state["reply_offer"][waiting] = 0
        state["answered"][waiting] = 1


@pytest.mark.parametrize("risk", [0.0, 0.5])
def test_many_worlds_at_once_give_the_contracts_of_hosted_agents(risk):
    seeds = range(10, 14)
    drawn = [(*live.mixed(seed, PLAYERS), seed, seed % 2 == 1) for seed in seeds]
    worlds = Worlds([live.compiled(*world) for world in drawn])
    log = Log.of(len(drawn), 15)
    assert play(worlds, [ManyDecisions(POLICY, SafetySettings(risk=risk))], log) > 200
    for index, world in enumerate(drawn):
        host = live.hosted(*world, risk)
        found = live.results(worlds, log, index, len(world[1]))
        assert found == (host.contracts, host.scores)


def records(count):
    return [
        record_of(
            draw_world([2, 3, 2], 12, seed), [Seat(None), Seat("Greedy")] * 3 + [Seat(None)], seed
        )
        for seed in range(count)
    ]


def test_a_world_does_not_depend_on_those_beside_it():
    together, alone = Worlds(records(5)), Worlds(records(5)[3:4])
    for worlds in (together, alone):
        play(worlds, [ManyDecisions(POLICY)])
    assert together.scores[3].tolist() == alone.scores[0].tolist()
    assert together.state["balance"][3].tolist() == alone.state["balance"][0].tolist()
    assert together.state["signed"][3] == alone.state["signed"][0] > 0


def test_a_copied_world_goes_on_as_the_one_it_was_copied_from():
    worlds, many = Worlds(records(4)), ManyDecisions(POLICY)
    waiting = worlds.play()
    while (worlds.state["day"] == 0).any():  # into the middle of a day
        many.answer(worlds.fixed, worlds.state, waiting)
        waiting = worlds.play()
    assert len(waiting) == 4 and (worlds.state["day"] > 0).all()
    other = Worlds(records(2))
    other.fixed[1], other.state[1] = worlds.fixed[2], worlds.state[2]
    for copy in (worlds, other):
        play(copy, [many])
    assert other.scores[1].tolist() == worlds.scores[2].tolist()
    assert other.state[1]["signed"] == worlds.state[2]["signed"]


def test_each_seat_is_played_by_its_policy():
    config = draw_world([2, 2], 12, 5)
    refuser, seats = Refuser(), [Seat(None, policy=0), Seat(None, policy=1)] * 2
    worlds, log = Worlds([record_of(config, seats, 5)]), Log.of(1, 12)
    decisions = play(worlds, [ManyDecisions(POLICY), refuser], log)
    sides = log.contracts[0, : worlds.state["signed"][0], :2]
    assert 0 < refuser.asked < decisions
    assert len(sides) > 0 and set(sides.ravel().tolist()) == {0, 2}


def test_histories_are_those_of_the_agent():
    rng = np.random.default_rng(0)
    length = np.array([0, 1, 40, 7, 0, 2, 23], np.int32)
    history = rng.random((len(length), f.HISTORY, len(f.PAST_OFFER)), np.float32)
    found, spoken = Histories(POLICY.l3.history)(history, length, Room())
    expected = POLICY.l3.histories(history, length)
    assert spoken.tolist() == [1, 2, 3, 5, 6]
    np.testing.assert_allclose(found, expected[spoken], atol=2e-5)


def test_a_seat_of_a_policy_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="of policy 0, there are 0"):
        play(Worlds(records(5)), [])


def test_equal_negotiations_are_served_by_name_wherever_they_lie():
    rng = np.random.default_rng(1)
    first = np.array([0, 1, 4, 11])
    state_of = np.repeat(np.arange(3), np.diff(first))
    thread = rng.random((3, len(f.THREAD)), np.float32)[state_of]
    static, situation = rng.random((3, len(f.STATIC))), rng.random((3, len(f.SITUATION)))

    class Seen:
        pass

    seen, goals = Seen(), np.zeros((3, 16), np.float32)
    seen.thread = thread
    seen.static, seen.situation = static.astype(np.float32), situation.astype(np.float32)
    scores = ManyScores(POLICY.l4)(seen, goals, state_of, first)
    assert priorities(scores, first).order.tolist() == list(range(11))
    overall = np.concatenate([seen.static, seen.situation, goals], axis=1)
    for decision in range(3):
        rows = slice(first[decision], first[decision + 1])
        expected = POLICY.l4(thread[rows], overall[decision, None])
        np.testing.assert_allclose(scores[rows], expected, atol=1e-4)


@pytest.mark.parametrize("luck, expected", [(0.0, 1), (0.24, 1), (0.26, 2), (0.999, 2)])
def test_drawn_by_their_chances(luck, expected):
    scores = np.array([-np.inf, 0.0, np.log(3.0), -np.inf], np.float32)
    assert draw(scores, 1.0, np.zeros(4), luck) == expected
    assert draw(scores, 0.0, np.zeros(4), luck) == 2


def one_left_out(buys):
    """A world that waits for answers to one side; who answers, and a partner heard that is left
    out of the decision."""
    worlds, many = Worlds(records(12)), ManyDecisions(POLICY)
    while len(waiting := worlds.play()):
        for index in waiting[worlds.state["call"][waiting] == COUNTER_ALL].tolist():
            world = worlds.state[index]
            me = int(world["asked"])
            heard = world["heard"][me, : world["num_heard"][me]].tolist()
            if len(heard) > 1 and {is_supplier(place) for place in heard} == {buys}:
                world["heard"][me, : len(heard) - 1] = heard[1:]
                world["num_heard"][me] -= 1
                return worlds.part(slice(index, index + 1)), me, heard[0]
        many.answer(worlds.fixed, worlds.state, waiting)
    raise AssertionError("nobody was heard")


@pytest.mark.parametrize("buys, bought, sold", [(True, 3, 0), (False, 0, 3)])
def test_what_others_may_still_take_up_binds_capacity(buys, bought, sold):
    """A partner that is not decided about has our offer: L1 keeps money and lines for it."""
    worlds, me, place = one_left_out(buys)
    world, waiting = worlds.state[0], np.array([0])
    world["bound"][me, place] = 3, world["day"], 7
    columns, books = questions_of(worlds.fixed, worlds.state, waiting).columns, new_books(1)
    open_books(worlds.state, waiting, columns, (0.1, False, 0.0), books)
    assert books.own.committed.tolist() == [[0, 0]]
    assert books.bound.committed.tolist() == [[bought, sold]]
    assert books.bound.ordered[0, 0] - books.own.ordered[0, 0] == sold
    cost = 7 if buys else int(worlds.fixed["cost"][0, me])
    assert books.own.money[0, 0] - books.bound.money[0, 0] == pytest.approx(3 * cost)
    world["open"][me, place] = 0  # that talk is over: signed, or never will be
    open_books(worlds.state, waiting, columns, (0.1, False, 0.0), books)
    assert books.bound.committed.tolist() == [[0, 0]]


def test_nothing_gets_through_that_others_leave_no_money_for():
    worlds, me, place = one_left_out(buys=True)
    world, before, waiting = worlds.state[0], worlds.state.copy(), np.array([0])
    heard = world["heard"][me, : world["num_heard"][me]].tolist()
    replies = {}
    for price in (0, 10**7):
        worlds.state[:] = before
        world["bound"][me, place] = 1, world["day"], price
        ManyDecisions(POLICY).answer(worlds.fixed, worlds.state, waiting)
        replies[price] = world["reply"][heard].tolist()
    assert set(replies[0]) - {END}
    assert set(replies[10**7]) == {END}


def test_a_network_on_a_device_plays_the_same():
    plain, torch = Worlds(records(3)), Worlds(records(3))
    play(plain, [ManyDecisions(POLICY)])
    play(torch, [ManyDecisions(POLICY, device="cpu")])
    assert torch.scores.tolist() == plain.scores.tolist()


def test_threads_give_the_same_worlds():
    together, apart = Worlds(records(5)), Worlds(records(5))
    decisions = play(together, [ManyDecisions(POLICY)])
    assert play_in_threads(apart, lambda: [ManyDecisions(POLICY)], 2) == decisions
    assert apart.scores.tolist() == together.scores.tolist()
