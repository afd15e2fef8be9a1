"""Agents' random states: one stream for a world, or a seed for each call, whatever is drawn
between."""

import random

import numpy as np
import pytest

from understudy.games.scml.reference.agent_rng import Stream, on_one_stream
from understudy.games.scml.reference.reseeding import reseeded


class Player:
    """As much of an agent as draws random numbers."""

    def __init__(self):
        self.made_with = random.random()

    def step(self):
        return random.random(), np.random.random()

    def propose(self, state):
        return (random.random(), self.step())

    def respond(self, state, source=None):
        raise KeyError(state)


def rolled(player):
    """Some calls, with or without somebody else rolling in between."""
    return [player.step(), player.propose(1), player.step()]


def seed(number):
    random.seed(number)
    np.random.seed(number)


# --- one stream ----------------------------------------------------------------------------------


def test_what_others_roll_in_between_changes_nothing():
    seed(1)
    plain = Player()
    expected = [plain.made_with, *rolled(plain)]
    seed(1)
    stream = Stream()
    (kind,) = on_one_stream([Player], stream)
    seed(99)
    player = kind()
    found = [player.made_with]
    for call in (player.step, lambda: player.propose(1), player.step):
        random.random()
        np.random.random(3)
        found.append(call())
    assert found == expected


def test_agents_of_a_world_share_the_stream():
    seed(1)
    expected = [random.random() for _ in range(2)]
    seed(1)
    stream = Stream()
    one, other = on_one_stream([Player, Player], stream)
    assert [one().made_with, other().made_with] == expected


def test_who_raised_is_known_and_the_stream_goes_on():
    stream = Stream()
    kinds = on_one_stream([Player, Player], stream)
    one, other = (kind() for kind in kinds)
    one.step()
    assert stream.raised_by is None
    with pytest.raises(KeyError):
        other.respond("lost")
    assert stream.raised_by == 1
    first = one.step()
    assert one.step() != first


# --- a seed for each call ------------------------------------------------------------------------


def test_equal_calls_draw_equal_numbers_and_are_counted():
    calls, (kind,) = reseeded([Player], seed=5)
    first = rolled(kind())
    assert calls == [1 + 3 + 1]  # the making, and a step inside of propose
    random.random()
    again, (other,) = reseeded([Player], seed=5)
    assert rolled(other()) == first and again == calls
    assert len(set(map(str, first))) == 3


def test_agents_and_seeds_have_random_states_of_their_own():
    found = set()
    for number in (5, 6):
        _, kinds = reseeded([Player, Player], seed=number)
        found |= {kind().made_with for kind in kinds}
    assert len(found) == 4


def test_an_argument_the_method_does_not_take_is_refused_as_by_itself():
    """negmas finds out by a TypeError what it may tell an agent."""
    calls, (kind,) = reseeded([Player], seed=5)
    player = kind()
    with pytest.raises(TypeError):
        player.propose(1, dest="them")
    with pytest.raises(KeyError):
        player.respond("lost", source="them")
    assert calls == [2]  # the refused call never reached the agent
