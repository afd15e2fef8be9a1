"""scml's own world of a configuration of ours has its numbers; and what it prints, stays there."""

import os
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from scml.std.agents import StdDoNothingAgent

from tests.games.scml.chains import chain, demand, supply
from understudy.games.scml.engine.config import draw
from understudy.games.scml.reference.scml_simulator import quiet, scml_world


@pytest.fixture(scope="module")
def config():
    """With costs that differ from day to day, which scml would draw by itself."""
    drawn = draw((2, 2), 8, seed=3)
    costs = ("storage_cost", "disposal_cost", "shortfall_penalty")
    own = [
        replace(one, **{cost: tuple((k + day) / 64 for day in range(8)) for cost in costs})
        for k, one in enumerate(drawn.factories)
    ]
    return replace(drawn, factories=tuple(own))


@pytest.fixture(scope="module")
def world(config, tmp_path_factory):
    with quiet():
        return scml_world(config, [StdDoNothingAgent] * 4, str(tmp_path_factory.mktemp("scml")))


def test_factories_are_those_of_the_configuration(world, config):
    profiles = [world.agent_profiles[name] for name in config.names]
    assert profiles == [factory.profile for factory in config.factories]
    for name, factory in zip(config.names, config.factories, strict=True):
        assert world.agent_storage_cost[name].tolist() == list(factory.storage_cost)
        assert world.agent_disposal_cost[name].tolist() == list(factory.disposal_cost)
        assert world.agent_shortfall_penalty[name].tolist() == list(factory.shortfall_penalty)
        assert world.current_balance(name) == factory.initial_balance
    assert world.trading_prices.tolist() == list(config.catalog_prices)


def test_exogenous_contracts_are_those_of_the_configuration(world, config):
    found = [
        (day, c.annotation["product"], c.agreement["quantity"], c.agreement["unit_price"])
        for day, contracts in world.exogenous_contracts.items()
        for c in contracts
    ]
    expected = [(t.day, t.product, t.quantity, t.unit_price) for t in config.exogenous]
    assert sorted(found) == sorted(expected)


def test_who_does_nothing_has_only_its_exogenous_contracts(tmp_path):
    """A day by hand: four units of input at 10 are paid and stored, three sales fall short."""
    costs = {"storage": 0.5, "shortfall": 0.25}
    config = chain((0, 1), [supply(4), demand(3)], steps=6, **costs)
    with quiet():
        world = scml_world(config, [StdDoNothingAgent] * 2, str(tmp_path))
        world.step()
    first, last = (world._profits[name][0] for name in config.names)
    assert first == -40 - 4 * 0.5 * 10
    assert last == -3 * 0.25 * 30
    assert world._inventory_input["00@0"] == 4


def test_contracts_are_signed_in_the_order_they_were_made(world):
    assert list(world.unsigned_contracts[0]) == list(world.exogenous_contracts[0]) != []
    waiting = world.unsigned_contracts[10**6]
    for name in ("b", "a", "c"):
        waiting.add(name)
    waiting.remove("a")
    assert list(waiting) == ["b", "c"]


def test_what_agents_print_write_and_warn_of_is_gone_and_the_place_is_as_before(capsys):
    here = Path.cwd()
    with quiet():
        print("look at me")
        print("and me", file=sys.stderr)
        warnings.warn("beware", stacklevel=1)
        Path("left-behind.txt").write_text("mine")
        elsewhere = Path.cwd()
    assert Path.cwd() == here and elsewhere != here and not elsewhere.exists()
    assert capsys.readouterr() == ("", "")
    with pytest.raises(KeyError), quiet():
        os.chdir("/")
        raise KeyError
    assert Path.cwd() == here
