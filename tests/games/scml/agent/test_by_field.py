"""Weights by field: others at the first level until buyers have asked for much."""

import numpy as np
import pytest

from understudy.errors import InputError
from understudy.games.scml.agent.by_field import EAGER_SHARE, LARGE, are_thrifty
from understudy.games.scml.agent.checkpoint import read_checkpoint, write_checkpoint
from understudy.games.scml.agent.hrl import HRLAgent
from understudy.games.scml.agent.policy import CLONE, CLONES, SHIPPED_ONESHOT, policy_of
from understudy.games.scml.engine.config import draw
from understudy.games.scml.engine.world import World
from understudy.games.scml.players import catalogue
from understudy.games.scml.view.columns import HEARD_MOST

OTHER = CLONES["HorizonAwareClone"]


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Weights with others for thrifty buyers."""
    path = tmp_path_factory.mktemp("both") / "both.safetensors"
    write_checkpoint(path, read_checkpoint(CLONE).with_thrifty(read_checkpoint(OTHER)))
    return path


class Noting(HRLAgent):
    """Keeps by which weights it played each day, and what its buyers had asked for until then."""

    def init(self):
        super().init()
        self.days = []

    def before_step(self):
        super().before_step()
        asked = [known[HEARD_MOST] for known in self._memory._known.values()]
        self.days.append((self._policy, asked))


def played(buyer, path, seat=0):
    """The agent after a world of two levels of three, with these in all other seats."""
    kinds = [(catalogue.load(buyer), {})] * 6
    kinds[seat] = Noting, {"checkpoint": path}
    world = World(draw((3, 3), 8, 5), kinds).run()
    return world.hosts[seat].agent.days


def test_it_plays_by_the_other_weights_until_a_third_of_the_buyers_ask_for_much(both):
    own, days = policy_of(both), played("Greedy", both)
    assert days[0] == (own.thrifty, [])
    for policy, asked in days:
        eager = sum(units >= LARGE for units in asked)
        assert policy is (own if eager >= EAGER_SHARE * 3 else own.thrifty)
    assert {policy for policy, _ in days} == {own, own.thrifty}


@pytest.mark.parametrize(("seat", "is_thrifty"), [(0, True), (3, False)])
def test_who_asks_for_nothing_is_no_eager_buyer_and_only_the_first_level_asks_itself(
    both, seat, is_thrifty
):
    own = policy_of(both)
    expected = own.thrifty if is_thrifty else own
    assert {policy for policy, _ in played("DoNothing", both, seat)} == {expected}


def test_weights_without_others_play_by_themselves():
    assert policy_of(CLONE).thrifty is None
    assert {policy for policy, _ in played("DoNothing", CLONE)} == {policy_of(CLONE)}


def test_a_third_of_the_buyers_is_counted_among_all_of_them():
    asked = np.array([[5, 0, 0, 0], [5, 4, 4, 0], [9, 5, 4, 4], [0, 0, 0, 0]])
    assert are_thrifty(asked, np.array([2, 3, 4, 4])).tolist() == [False, True, False, True]


def test_weights_are_kept_as_they_were_and_taken_apart_again(both):
    own, other, whole = map(read_checkpoint, (CLONE, OTHER, both))
    for expected, found in ((own, whole.with_thrifty(None)), (other, whole.thrifty)):
        assert expected.layers.keys() == found.layers.keys() and expected.about == found.about
        for name, layer in expected.layers.items():
            assert all(np.array_equal(layer[key], found.layers[name][key]) for key in layer)
    with pytest.raises(InputError, match="were made for something else"):
        own.with_thrifty(read_checkpoint(SHIPPED_ONESHOT))
