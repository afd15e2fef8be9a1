"""What a hosted agent can ask of its world, beside the answers of scml's own interface."""

import numpy as np
import pytest
from negmas.sao import SAOState
from scml.oneshot.common import NegotiationDetails
from scml.std import StdAgent
from scml.std.agents import StdDoNothingAgent
from scml.std.awi import StdAWI

from tests.games.scml.chains import begun, chain, demand, middle_host, supply
from understudy.games.scml.engine.config import draw
from understudy.games.scml.engine.responses import ACCEPT_OFFER, REJECT_OFFER
from understudy.games.scml.engine.world import World
from understudy.games.scml.reference.scml_simulator import quiet, scml_world

OF_NEGMAS = {
    "accepted_negotiation_requests", "annotation", "default_signing_delay", "initialized",
    "negotiation_requests", "params", "requested_negotiations", "running_mechanism_dicts",
    "running_negotiations", "unsigned_contracts", "settings", "state",
}  # fmt: skip
"""For agents that ask for negotiations and sign contracts, which nobody does in this league;
`settings` has more in scml, and `state` is the others put together."""
QUESTIONS = [
    name
    for name in dir(StdAWI)
    if isinstance(getattr(StdAWI, name), property) and name not in OF_NEGMAS
]


def plain(value):
    """In a form that can be compared; of a negotiation, how it stands."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, NegotiationDetails):
        return value.buyer, value.seller, value.product, plain(value.nmi)
    if hasattr(value, "negotiator_ids"):
        return sorted(value.agent_ids), plain(value.issues), plain(value.state)
    if isinstance(value, SAOState):
        return value.step, value.current_offer, value.agreement, value.relative_time
    return value


class Witness(StdAgent):
    """Trades by a rule that needs no random numbers, and writes down all that it can see."""

    seen: list = []  # noqa: RUF012

    def look(self, when):
        awi, day = self.awi, self.awi.current_step
        found = {name: plain(getattr(awi, name)) for name in QUESTIONS}
        for start in (day - 1, day, day + 2):
            for what in ("sales", "supplies"):
                for kind, days in (("at", [start]), ("from", [start]), ("between", [start, day])):
                    asked = f"total_{what}_{kind}"
                    found[asked, start] = getattr(awi, asked)(*days)
        found["bankrupt"] = [awi.is_bankrupt(name) for name in (None, "00@0", "SELLER")]
        found["reports"] = [
            {name: (one.step, one.cash, one.breach_prob, one.breach_level, one.is_bankrupt)}
            for name, one in sorted(awi.reports_at_step(day).items() if day else ())
        ]  # before the first, scml raises an IndexError
        found["penalties"] = awi.penalty_multiplier(True, None), awi.penalty_multiplier(False, 7)
        self.seen.append((self.id, day, when, found))

    def before_step(self):
        self.look("morning")

    def on_negotiation_success(self, contract, mechanism):
        self.look("agreed")

    def step(self):
        self.look("evening")

    def propose(self, negotiator_id, state):
        _, day, price = self.get_nmi(negotiator_id).issues
        turn = state.step + self.awi.current_step + int(negotiator_id[:2])
        days, prices = day.max_value - day.min_value + 1, price.max_value - price.min_value + 1
        return 1 + turn % 6, day.min_value + turn % days, price.min_value + turn % prices

    def respond(self, negotiator_id, state, source=None):
        return REJECT_OFFER if (state.step + self.awi.current_step) % 3 else ACCEPT_OFFER


@pytest.fixture(scope="module", params=["std", "oneshot"])
def lived(request, tmp_path_factory):
    """What the agents of a world saw in our engine, and in scml."""
    track = request.param
    config = draw((2, 2, 2) if track == "std" else (2, 2), 12, 5, track)
    kinds = [Witness] * len(config.factories)
    Witness.seen = ours = []
    World(config, [(kind, {}) for kind in kinds], strict=True).run()
    Witness.seen = theirs = []
    with quiet():
        scml_world(config, kinds, str(tmp_path_factory.mktemp("scml"))).run()
    return ours, theirs


def test_agents_are_asked_and_told_in_the_same_order(lived):
    ours, theirs = ([moment[:3] for moment in seen] for seen in lived)
    assert ours == theirs
    assert {"morning", "agreed", "evening"} == {when for _, _, when in ours}


def test_everything_an_agent_can_ask_is_answered_as_in_scml(lived):
    differ = {
        question: (name, day, when, mine[question], scmls[question])
        for (name, day, when, mine), (*_, scmls) in zip(*lived, strict=True)
        for question in mine
        if mine[question] != scmls[question]
    }
    assert differ == {} and len(QUESTIONS) > 60


def test_the_world_had_much_to_ask_about(lived):
    """Else equal answers would prove little."""
    ours = [found for *_, found in lived[0]]
    for question in ("current_inventory_input", "needed_sales", "needed_supplies", "supplies"):
        assert len({str(found[question]) for found in ours}) > 3 or ours[0]["is_perishable"]
    assert any(found["reports"] for found in ours)
    assert any(found["current_offers"] for found in ours)


# --- answers that are kept -----------------------------------------------------------------------


@pytest.fixture
def host():
    return middle_host()


def test_what_is_agreed_shows_in_every_sum_at_once(host):
    awi = host.awi
    assert awi.total_sales_between(0, 5) == awi.total_sales_from(0) == 0
    awi._register_sale("02@2", 4, 30, 3)
    awi._register_sale("02@2", 2, 31, 0)
    assert (awi.total_sales_at(3), awi.total_sales_between(0, 5), awi.total_sales_from(1)) == (
        4,
        6,
        4,
    )
    assert awi.future_sales == {3: {"02@2": 4}}
    assert awi.total_supplies_from(0) == 0 and awi.future_supplies == {}
    awi._register_supply("00@0", 5, 20, 3)
    assert awi.total_supplies_between(3, 3) == 5
    assert awi.future_supplies == {3: {"00@0": 5}}


def test_yesterday_is_over(host):
    awi = host.awi
    awi._register_sale("02@2", 2, 31, 0)
    awi._register_sale("02@2", 3, 31, 1)
    assert awi.total_sales_from(0) == 5
    host._world.day = 1
    host.before_step()
    assert (awi.total_sales_at(0), awi.total_sales_from(0), awi.total_sales_at(1)) == (0, 3, 3)
    assert awi.future_sales == {}


def test_an_agent_that_spoils_an_answer_spoils_its_own_copy(host):
    host.awi._register_supply("00@0", 5, 20, 3)
    host.awi.future_supplies.clear()
    assert host.awi.future_supplies == {3: {"00@0": 5}}


def test_only_the_ends_of_the_chain_need_nothing_on_one_side(host):
    first, middle, last = (one.awi for one in host._world.hosts)
    assert (first.needed_sales, first.needed_supplies) == (4, 0)
    assert (last.needed_sales, last.needed_supplies) == (0, 3)
    middle._register_sale("02@2", 7, 30, 0)
    middle._register_supply("00@0", 2, 20, 0)
    assert (middle.needed_supplies, middle.needed_sales) == (5, -5)


@pytest.mark.parametrize(("track", "needs"), [("std", (15, 14)), ("oneshot", (10, 10))])
def test_where_all_perishes_nobody_needs_more_than_a_days_work(track, needs):
    config = chain((0, 1), [supply(15), demand(14)], track=track)
    first, last = begun(World(config, [(StdDoNothingAgent, {})] * 2)).hosts
    assert (first.awi.needed_sales, last.awi.needed_supplies) == needs
