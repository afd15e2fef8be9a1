"""Supply chains written by hand: factories and worlds whose numbers are easy to follow."""

from scml.std.agents import StdDoNothingAgent

from understudy.games.scml.engine.config import Exogenous, FactoryConfig, WorldConfig
from understudy.games.scml.engine.world import World


def factory_config(
    level=1,
    *,
    steps=1,
    balance=1000,
    lines=10,
    cost=2,
    storage=0.0,
    disposal=0.0,
    shortfall=0.0,
):
    """A factory whose costs are the same every day."""
    return FactoryConfig(
        level=level,
        lines=lines,
        cost=cost,
        initial_balance=balance,
        storage_cost=(storage,) * steps,
        disposal_cost=(disposal,) * steps,
        shortfall_penalty=(shortfall,) * steps,
        means=(storage, disposal, shortfall),
        deviations=(0.0, 0.0, 0.0),
    )


def chain(levels=(0, 1), outside=(), *, steps=6, track="std", **costs):
    """A world with a factory for each of `levels`; product p costs 10 (p + 1) in the catalog."""
    return WorldConfig(
        track=track,
        steps=steps,
        catalog_prices=tuple(10 * product for product in range(1, max(levels) + 3)),
        factories=tuple(factory_config(level, steps=steps, **costs) for level in levels),
        exogenous=tuple(outside),
    )


def supply(quantity, unit_price=10, day=0, factory=0):
    """The outside world forces input on a factory of the first level."""
    return Exogenous(day, 0, factory, quantity, unit_price)


def demand(quantity, unit_price=30, day=0, factory=1, product=2):
    """The outside world takes output from a factory of the last level."""
    return Exogenous(day, product, factory, quantity, unit_price)


def begun(world):
    """A world on its first day, before anybody has said a word."""
    for host in world.hosts:
        host.join()
    world._prepare()
    return world


def middle_host():
    """The host of an idle agent in the middle of three levels, on the first day of twenty."""
    outside = [supply(4), demand(3, 40, factory=2, product=3)]
    config = chain((0, 1, 2), outside, steps=20)
    return begun(World(config, [(StdDoNothingAgent, {})] * 3)).hosts[1]
