"""HRL by field: the clone's weights at the first level until buyers have asked for much."""

import pytest

from understudy.games.scml.agent.by_field import EAGER_SHARE, LARGE, HRLByField
from understudy.games.scml.agent.policy import CLONES, SHIPPED, policy_of
from understudy.games.scml.engine.config import draw
from understudy.games.scml.engine.world import World
from understudy.games.scml.players import catalogue

OWN, CLONE = policy_of(SHIPPED), policy_of(CLONES["HorizonAwareClone"])


class Noting(HRLByField):
    """Keeps by which weights it played each day, and what its buyers had asked for until then."""

    def init(self):
        super().init()
        self.days = []

    def before_step(self):
        super().before_step()
        self.days.append((self._policy, sorted(self._asked.values())))


def played(buyer, seat=0):
    """The agent after a world of two levels of three, with these in all other seats."""
    kinds = [catalogue.load(buyer)] * 6
    kinds[seat] = Noting
    world = World(draw((3, 3), 8, 5), [(kind, {}) for kind in kinds]).run()
    return world.hosts[seat].agent.days


def test_it_begins_as_the_clone_and_leaves_it_when_a_third_of_the_buyers_ask_for_much():
    days = played("Greedy")
    assert days[0] == (CLONE, [])
    for policy, asked in days:
        eager = sum(units >= LARGE for units in asked)
        assert policy is (OWN if eager >= EAGER_SHARE * 3 else CLONE)
    assert {policy for policy, _ in days} == {OWN, CLONE}


@pytest.mark.parametrize(("seat", "expected"), [(0, CLONE), (3, OWN)])
def test_who_asks_for_nothing_is_no_eager_buyer_and_only_the_first_level_asks_itself(
    seat, expected
):
    assert {policy for policy, _ in played("DoNothing", seat)} == {expected}
