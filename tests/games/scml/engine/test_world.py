"""Who negotiates with whom in a world, what it tells agents, and what comes of an agreement."""

import gc

import pytest
from scml.std import StdAgent
from scml.std.agents import RandomStdAgent, StdDoNothingAgent

from tests.games.scml.chains import begun, chain, demand, supply
from understudy.games.scml.engine.responses import ACCEPT_OFFER, END_NEGOTIATION
from understudy.games.scml.engine.world import World, collecting_rarely
from understudy.games.scml.reference.scml_simulator import quiet, scml_world


class Keen(StdAgent):
    """Offers five units for today, and accepts whatever is offered."""

    def propose(self, negotiator_id, state):
        return 5, self.awi.current_step, self.get_nmi(negotiator_id).issues[2].min_value

    def respond(self, negotiator_id, state, source=None):
        return ACCEPT_OFFER


class Dull(Keen):
    def respond(self, negotiator_id, state, source=None):
        return END_NEGOTIATION


def world(config, kind=Keen, **options):
    return World(config, [(kind, {})] * len(config.factories), **options)


def pairings(made):
    """Opener, other and product of today's negotiations, in the order they were called for."""
    return [
        (
            negotiation.annotation["caller"],
            negotiation.sides[0].partner,
            negotiation.annotation["product"],
        )
        for negotiation in made._negotiations
    ]


# --- who meets whom ------------------------------------------------------------------------------


def test_in_a_pair_of_levels_the_last_opens():
    made = begun(world(chain((0, 0, 1))))
    assert pairings(made) == [("02@1", "00@0", 1), ("02@1", "01@0", 1)]


def test_every_second_level_opens_with_its_suppliers_first():
    made = begun(world(chain((0, 1, 2, 3))))
    assert pairings(made) == [("03@3", "02@2", 3), ("01@1", "00@0", 1), ("01@1", "02@2", 2)]


@pytest.mark.parametrize("levels", [(0, 1), (0, 0, 1, 1, 1), (0, 1, 1, 2), (0, 1, 2, 2, 3, 4)])
def test_neighbours_meet_once_a_day_and_nobody_else(levels):
    made = begun(world(chain(levels)))
    found = [frozenset(pair[:2]) for pair in pairings(made)]
    names = made.config.names
    neighbours = {
        frozenset((one, other))
        for one in names
        for other in names
        if int(other[-1]) == int(one[-1]) + 1
    }
    assert len(found) == len(set(found)) and set(found) == neighbours


def test_the_bankrupt_do_not_meet_anybody():
    made = world(chain((0, 0, 1)))
    made.factories[0].bankrupt = True
    assert pairings(begun(made)) == [("02@1", "01@0", 1)]
    made.factories[2].bankrupt = True
    made._prepare()
    assert pairings(made) == []


def test_a_world_of_one_level_has_nobody_to_negotiate_with():
    made = world(chain((0, 0), [supply(3), demand(3, 20, factory=0, product=1)])).run()
    assert made.ledger.contracts == [] and made.faults == []
    assert made.factories[0].profits[0] == 3 * 20 - 3 * 10 - 3 * 2


# --- what comes of it ----------------------------------------------------------------------------


def test_what_is_agreed_is_a_contract_of_that_day():
    made = world(chain((0, 1), [supply(5), demand(5)])).run()
    first = made.ledger.contracts[0]
    assert (first.seller, first.buyer, first.product) == (0, 1, 1)
    assert (first.quantity, first.day, first.unit_price, first.concluded) == (5, 0, 18, 0)
    assert [contract.concluded for contract in made.ledger.contracts] == list(range(6))
    assert made.factories[0].profits[0] == 5 * 18 - 50 - 10


def test_where_nobody_agrees_there_are_no_contracts():
    made = world(chain((0, 1)), Dull).run()
    assert made.ledger.contracts == [] and [f.balance for f in made.factories] == [1000, 1000]


def test_every_factory_needs_a_player():
    with pytest.raises(ValueError, match="2 factories but 3 players"):
        World(chain((0, 1)), [(Keen, {})] * 3)


def test_parameters_reach_the_agent():
    class Named(Keen):
        def __init__(self, *arguments, units=1, **named):
            super().__init__(*arguments, **named)
            self.units = units

    made = World(chain((0, 1)), [(Named, {"units": 7}), (Named, {})])
    assert [host.agent.units for host in made.hosts] == [7, 1]


# --- what it tells -------------------------------------------------------------------------------


def test_makers_and_users_of_each_product_with_the_outside_at_both_ends():
    made = world(chain((0, 1, 1)))
    assert made.suppliers == [["SELLER"], ["00@0"], ["01@1", "02@1"]]
    assert made.consumers == [["00@0"], ["01@1", "02@1"], ["BUYER"]]
    assert made.capacities == [10, 20]
    assert made.agents == ["00@0", "01@1", "02@1", "SELLER", "BUYER"]
    assert made.factory_of("02@1") is made.factories[2]


def test_trades_with_the_outside_are_summarised_by_product():
    made = begun(world(chain((0, 0, 1), [supply(3, 9), supply(2, 12, factory=1)])))
    assert made.exogenous_summary == [(5, 27 + 24), (0, 0), (0, 0)]


@pytest.mark.parametrize("track", ["std", "oneshot"])
def test_rules_are_told_as_scml_tells_them(track, tmp_path):
    config = chain((0, 1), [supply(1), demand(1)], track=track)
    with quiet():
        theirs = scml_world(config, [StdDoNothingAgent] * 2, str(tmp_path))
    told = theirs.bulletin_board.data["settings"]
    ours = world(config).settings
    shared = ours.keys() & told.keys()
    assert {"n_steps", "horizon", "perishable", "force_signing"} <= shared
    assert {name: ours[name] for name in shared} == {name: told[name] for name in shared}


def test_the_board_has_reports_and_nothing_unknown():
    made = world(chain((0, 1)), StdDoNothingAgent).run()
    assert made.bulletin("reports_agent").keys() == {"00@0", "01@1"}
    assert list(made.bulletin("reports_agent")["00@0"]) == [0, 5]
    assert made.bulletin("settings")["n_steps"] == 6
    assert made.bulletin("weather") == {}


def test_offers_about_the_first_product_are_never_renewed():
    """Nobody negotiates about it, and scml leaves its agenda as it was before the first day."""
    made = world(chain((0, 1), [supply(9, 20, day=day) for day in range(6)]), RandomStdAgent).run()
    assert made.prices.now[0] > 12
    assert made.agendas[0].ranges == ((1, 30), (0, 5), (9, 11))
    assert made.agendas[1].ranges[1] == (5, 5)


def test_the_garbage_collector_is_left_as_it_was():
    before = gc.get_threshold()
    with pytest.raises(KeyError), collecting_rarely():
        assert gc.get_threshold() != before
        raise KeyError
    assert gc.get_threshold() == before
