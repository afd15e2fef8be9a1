"""Policies that choose together choose as each would alone."""

import numpy as np
import pytest
import torch

from understudy.learn.policy import FactoredPolicy, PolicyShape
from understudy.learn.rl.acting import crowd
from understudy.learn.rl.acting.crowd import Crowd, crowded
from understudy.learn.rl.acting.opponents import PolicyPlayer

SHAPE = PolicyShape(("left", "right", "ammo"), {"move": 3, "fire": 2}, (16, 8))
MATCHES = 60


def policies(number, shape=SHAPE):
    """Far enough apart to choose differently."""
    found = [FactoredPolicy(shape, seed) for seed in range(number)]
    for seed, one in enumerate(found):
        one.standardise(torch.full((3,), 0.1 * seed), torch.full((3,), 1.0 + seed))
        with torch.no_grad():
            one.options.weight.normal_(0, 2, generator=torch.Generator().manual_seed(seed))
    return found


def moment(seed, which, slot, told=3):
    """What is seen and legal in these matches, and chance."""
    rng = np.random.default_rng((seed, slot))
    seen = rng.normal(size=(MATCHES, told)).astype(np.float32)[which]
    legal = (rng.random((MATCHES, 5)) < 0.7)[which]
    legal[:, [0, 3]] = True
    return (seen, legal), torch.from_numpy(rng.random((MATCHES, 2), np.float32)[which])


@pytest.mark.parametrize("rows_max", [0, 10**6], ids=["one by one", "stacked"])
@pytest.mark.parametrize("told", [3, 2], ids=["all told", "a feature not told"])
def test_each_chooses_as_it_would_alone(monkeypatch, rows_max, told):
    monkeypatch.setattr(crowd, "_ROWS_MAX", rows_max)
    everybody = policies(5)
    who = np.random.default_rng(0).integers(0, 5, (MATCHES, 2))
    together = Crowd(everybody, who)
    alone = [PolicyPlayer(one, MATCHES, 2) for one in everybody]
    for seed in range(20):
        slot = seed % 2
        which = np.flatnonzero(np.random.default_rng(seed).random(MATCHES) < (0.9, 0.05)[slot])
        seen, chance = moment(seed, which, slot, told)
        found = together.act(seen, chance, which, np.full(len(which), slot))
        for place, at in enumerate(which):
            seen, chance = moment(seed, np.array([at]), slot, told)
            own = alone[who[at, slot]].act(seen, chance, np.array([at]), np.array([slot]))
            assert (found[place] == own[0]).all()


def test_who_remembers_or_is_of_another_shape_stays_apart():
    shapes = [
        SHAPE,
        PolicyShape(SHAPE.features, SHAPE.heads, (16, 8), memory=4),
        SHAPE,
        PolicyShape(SHAPE.features, SHAPE.heads, (16,)),
        PolicyShape(SHAPE.features, SHAPE.heads, (16, 8), memory=4),
    ]
    trained = {place + 1: FactoredPolicy(shape, 0) for place, shape in enumerate(shapes)}
    who = np.array([[0, 1], [1, 3], [3, 2], [5, 4]])  # 0 is somebody else
    players, seats = crowded(trained, who)
    assert isinstance(players[1], Crowd) and players[3] is players[1]
    assert all(isinstance(players[place], PolicyPlayer) for place in (2, 4, 5))
    assert len({id(player) for player in players.values()}) == 4
    assert seats.tolist() == [[0, 1], [1, 1], [1, 2], [5, 4]]
    assert players[1].who[1].tolist() == [0, 1]
