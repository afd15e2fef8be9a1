"""Worlds drawn by the thousand against those that scml's own generator draws, field by field."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

from understudy.errors import InputError
from understudy.games.scml.batch.sampler import sample
from understudy.games.scml.batch.setup import Seat, record_of
from understudy.games.scml.engine.config import draw

DAYS, THEIRS, OURS = 50, 80, 600
SIZES = {"std": (4, 5, 6), "oneshot": (5, 6)}


def units(world):
    """Of the trades with the outside, [factories, days]."""
    found = np.zeros((world["factories"], DAYS))
    for day in range(DAYS):
        for trade in range(*world["trades_until"][day : day + 2]):
            found[world["trade_factory"][trade], day] = world["trade_units"][trade]
    return found


def fields(worlds):
    """Numbers by name, one for each world."""
    found = {f"catalog {n}": worlds["catalog"][:, n] for n in range(len(worlds["catalog"][0]))}
    first, traded = worlds["first_of"][0], np.array([units(world) for world in worlds])
    levels = worlds["levels"][0]
    for level in range(levels):
        me = first[level]
        for name in ("cost", "initial"):
            found[f"{name} {level}"] = worlds[name][:, me]
        for name in ("storage", "disposal", "penalty"):
            found[f"{name} {level}"] = worlds[name][:, me, 3]
            found[f"{name} spread {level}"] = worlds[name][:, me, :DAYS].std(axis=1)
    for level in (0, levels - 1):
        own = traded[:, first[level] : first[level + 1]]
        found[f"units {level}"] = own[:, 0, 7]
        found[f"of all {level}"] = own[:, :, 7].sum(axis=1)
        found[f"mean {level}"] = own.mean(axis=(1, 2))
        found[f"of one {level}"] = own[:, 1].mean(axis=1)
        found[f"spread of one {level}"] = own[:, 1].std(axis=1)
        found[f"most {level}"] = own.max(axis=(1, 2))
        found[f"spread of all {level}"] = own.sum(axis=1).std(axis=1)
    for product in (0, levels):
        prices = [w["trade_price"][: w["trades_until"][DAYS]] for w in worlds]
        sold = [w["trade_product"][: w["trades_until"][DAYS]] == product for w in worlds]
        own = [price[mask] for price, mask in zip(prices, sold, strict=True)]
        found[f"price {product}"] = np.array([price.mean() for price in own])
        found[f"spread of prices {product}"] = np.array([p.std() / p.mean() for p in own])
    return found


@pytest.mark.parametrize("track", ["std", "oneshot"])
def test_every_field_is_distributed_as_in_scml(track):
    sizes = SIZES[track]
    idle = [Seat("DoNothing")] * sum(sizes)
    theirs = [record_of(draw(sizes, DAYS, seed, track), idle, seed) for seed in range(THEIRS)]
    ours = sample([sizes] * OURS, [DAYS] * OURS, range(OURS), track)
    expected, found = fields(np.array(theirs)), fields(ours)
    chances = {name: ks_2samp(expected[name], found[name]).pvalue for name in expected}
    # Of some fifty fields, seeded: none may stand out more than one of fifty would by chance.
    assert min(chances.values()) > 0.05 / len(chances), chances
    for name in ("horizon", "most_units", "price_share", "perishable", "lines", "level", "levels"):
        assert (np.array(theirs)[0][name] == ours[0][name]).all(), name


def test_a_world_depends_on_its_seed_alone():
    many = sample([(4, 5), (6, 4, 5), (4, 4)], [50, 60, 200], [3, 7, 11])
    alone = sample([(6, 4, 5)], [60], [7])
    assert alone[0].tobytes() == many[1].tobytes()
    assert many[0].tobytes() != sample([(4, 5)], [50], [4])[0].tobytes()


def test_what_does_not_fit_is_refused():
    with pytest.raises(InputError, match="200 days"):
        sample([(4, 4)], [201], [0])
    with pytest.raises(InputError, match="levels of"):
        sample([(4, 9)], [50], [0])
