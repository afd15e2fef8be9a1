"""Hosted classes pass for the agents' own, and whatever an agent leaves to scml stays scml's."""

import pytest
from scml.oneshot.agent import OneShotAgent
from scml.std import StdAgent
from scml.std.agents import RandomStdAgent, StdDoNothingAgent, SyncRandomStdAgent

from tests.games.scml.chains import begun, chain
from understudy.games.scml.engine.hosting.host import hosted
from understudy.games.scml.engine.hosting.negotiators import decides_jointly
from understudy.games.scml.engine.hosting.wrapping import own_calls, subclass
from understudy.games.scml.engine.responses import REJECT_OFFER
from understudy.games.scml.engine.world import World


class Own(StdAgent):
    """Makes itself, looks at its day starts, and listens."""

    heard: list = []  # noqa: RUF012

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.day_starts = 0

    def before_step(self):
        self.day_starts += 1

    def propose(self, negotiator_id, state):
        return 2, self.awi.current_step, self.get_nmi(negotiator_id).issues[2].min_value

    def respond(self, negotiator_id, state, source=None):
        return REJECT_OFFER

    def on_negotiation_failure(self, partners, annotation, mechanism, state):
        self.heard.append((partners, annotation["product"], state.timedout))


@pytest.fixture
def world():
    return World(chain((0, 1)), [(Own, {}), (Own, {})], strict=True)


# --- what is replaced ----------------------------------------------------------------------------


def test_only_what_an_agent_adds_is_its_own():
    assert own_calls(Own) == [
        "__init__",
        "before_step",
        "propose",
        "respond",
        "on_negotiation_failure",
    ]
    joint = own_calls(SyncRandomStdAgent)
    assert {"first_proposals", "counter_all"} <= set(joint) and "propose" not in joint


def test_a_subclass_passes_for_its_parent_and_has_other_methods():
    made = subclass(SyncRandomStdAgent, {"step": lambda self: "mine"})
    assert (made.__name__, made.__module__) == ("SyncRandomStdAgent", SyncRandomStdAgent.__module__)
    assert made.__qualname__ == SyncRandomStdAgent.__qualname__
    assert issubclass(made, SyncRandomStdAgent) and made.step(None) == "mine"
    assert decides_jointly(made) and made.before_step is SyncRandomStdAgent.before_step


def test_a_hosted_class_is_made_once_and_keeps_what_agents_share():
    class Sharing(RandomStdAgent):
        memory: list = []  # noqa: RUF012

    one, again = hosted(Sharing), hosted(Sharing)
    assert one is again and one.memory is Sharing.memory
    assert (one.__name__, one.__doc__) == (Sharing.__name__, Sharing.__doc__)
    assert one.awi is None and Sharing.awi is OneShotAgent.awi

    class Heir(Sharing):
        pass

    assert hosted(Heir) is not one and issubclass(hosted(Heir), Heir)


# --- an agent in a world -------------------------------------------------------------------------


def test_an_agent_knows_its_name_its_world_and_its_negotiations(world):
    world.run()
    for host, name in zip(world.hosts, ("00@0", "01@1"), strict=True):
        agent = host.agent
        assert (agent.id, agent.name, agent.day_starts) == (name, name, 6)
        assert agent.awi is agent._awi is host.awi
        assert isinstance(agent, Own)


def test_before_it_joins_an_agent_has_no_world(world):
    with pytest.raises(ValueError):
        world.hosts[0].agent.awi.current_step  # noqa: B018
    world.hosts[0].join()
    assert world.hosts[0].agent.awi.current_step == 0


def test_negotiations_are_open_until_they_end_and_both_hear_how(world):
    Own.heard = []
    first, last = begun(world).hosts
    assert list(first.open_negotiations) == ["01@1"] and list(last.open_negotiations) == ["00@0"]
    assert first.agent.negotiators.keys() == {"01@1"}
    assert first.agent.get_nmi("01@1") is last.agent.get_nmi("00@0")
    world._negotiation()  # neither ever accepts
    assert first.open_negotiations == last.open_negotiations == {}
    assert first.agent.get_nmi("01@1") is None
    assert Own.heard == [(["01@1", "00@0"], 1, True)] * 2


def test_who_does_not_listen_is_not_told():
    kinds = [StdDoNothingAgent, Own]
    quiet, keen = World(chain((0, 1)), [(kind, {}) for kind in kinds]).hosts
    assert not quiet.hears_of_success and not keen.hears_of_success
    assert keen._hears_of_failure

    class Listening(SyncRandomStdAgent):
        def on_negotiation_success(self, contract, mechanism):
            pass

    (host, _) = World(chain((0, 1)), [(Listening, {}), (Own, {})]).hosts
    assert host.hears_of_success
