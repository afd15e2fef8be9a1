"""The utility function of a day: scml's own, made only when somebody looks at it."""

import random
from copy import copy

import numpy as np
import pytest
from scml.oneshot.ufun import OneShotUFun
from scml.std import StdAgent
from scml.std.agents import StdDoNothingAgent

from tests.games.scml.chains import begun, chain, demand, middle_host, supply
from understudy.games.scml.engine.config import draw
from understudy.games.scml.engine.responses import ACCEPT_OFFER, REJECT_OFFER
from understudy.games.scml.engine.world import World
from understudy.games.scml.reference.scml_simulator import quiet, scml_world

DEALS = ((3, 0, 18), (2, 0, 21)), (False, True)
"""Three units bought and two sold."""


class Reckoner(StdAgent):
    """Asks what things are worth: at the start of a day, after agreements and in the evening."""

    seen: list = []  # noqa: RUF012

    def reckon(self):
        today, ufun = self.awi.current_step, self.ufun
        offers = tuple((quantity, today, price) for quantity, _, price in DEALS[0])
        alone = ufun.from_offers(offers, DEALS[1])
        beside = ufun.from_offers(offers, DEALS[1], ignore_signed_contracts=False)
        info = ufun.from_offers((), (), return_info=True, ignore_signed_contracts=False)
        signed = info.total_input, info.total_output, info.producible, info.utility
        self.seen.append((self.id, today, float(alone), float(beside), *map(float, signed)))

    before_step = step = reckon

    def on_negotiation_success(self, contract, mechanism):
        self.reckon()

    def propose(self, negotiator_id, state):
        _, day, price = self.get_nmi(negotiator_id).issues
        return 2 + state.step, day.min_value, price.max_value

    def respond(self, negotiator_id, state, source=None):
        return ACCEPT_OFFER if state.step > 1 else REJECT_OFFER


@pytest.mark.parametrize("track", ["std", "oneshot"])
def test_offers_are_worth_as_much_as_in_scml(track, tmp_path):
    config = draw((2, 2), 7, 5, track)
    Reckoner.seen = ours = []
    World(config, [(Reckoner, {})] * 4, strict=True).run()
    Reckoner.seen = theirs = []
    with quiet():
        scml_world(config, [Reckoner] * 4, str(tmp_path)).run()
    assert ours == theirs
    assert any(alone != beside for _, _, alone, beside, *_ in ours)


@pytest.fixture
def host():
    return middle_host()


def is_made(ufun):
    return "_deferred" not in vars(ufun)


def worth(ufun):
    return ufun.from_offers((), (), ignore_signed_contracts=False)


def test_it_is_made_when_first_looked_at(host):
    ufun = host.make_ufun(add_exogenous=True)
    assert isinstance(ufun, OneShotUFun) and host.agent.ufun is ufun
    assert not is_made(ufun)
    assert ufun.n_lines == 10 and is_made(ufun)
    assert ufun.production_cost == 2


def test_looking_draws_no_random_numbers(host):
    random.seed(3)
    np.random.seed(3)
    before = random.getstate(), np.random.get_state()[1].tolist()
    assert host.make_ufun(add_exogenous=True).n_lines
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before


def test_what_was_agreed_before_it_was_made_counts_as_what_was_agreed_after(host):
    events = [("register_supply", 4, 18, 0), ("register_sale", 4, 33, 0)]
    early, late = (host.make_ufun(add_exogenous=True) for _ in range(2))
    for event in events:
        early.note(*event)
    assert not is_made(early)
    assert late.n_lines
    for event in events:
        late.note(*event)
    assert worth(early) == worth(late) == 4 * 33 - 4 * 18 - 4 * 2


def test_exogenous_contracts_can_be_left_out():
    config = chain((0, 1), [supply(4), demand(3)])
    first, _ = begun(World(config, [(StdDoNothingAgent, {})] * 2)).hosts
    with_them, without = (first.make_ufun(add_exogenous=chosen) for chosen in (True, False))
    assert (with_them.ex_qin, with_them.ex_pin) == (4, 40)
    assert (without.ex_qin, without.ex_pin) == (0, 0)


def test_asking_whether_it_is_something_else_makes_nothing(host):
    """Copying and pickling look for methods of their own by name."""
    ufun = host.make_ufun(add_exogenous=True)
    with pytest.raises(AttributeError):
        ufun.__deepcopy__  # noqa: B018
    assert not is_made(ufun)
    assert not is_made(copy(ufun))
    assert ufun.n_lines == 10
    with pytest.raises(AttributeError, match="nonsense"):
        ufun.nonsense  # noqa: B018
