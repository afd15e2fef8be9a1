"""A player's manner in a match: means over its decisions, worked by hand."""

import pytest
import torch

from understudy.games.arena.codec.actions import HEADS
from understudy.games.arena.codec.features import FEATURES
from understudy.games.arena.data.manner import MANNER
from understudy.games.arena.sim import rules as r
from understudy.learn.supervised.dataset import Batch


def test_worked_example():
    seen = {name: torch.full((4,), 9.0) for name in FEATURES}
    seen["enemy_dx"] = torch.tensor([0.3, 0.6, 0.0, 0.0])
    seen["enemy_dy"] = torch.tensor([-0.4, 0.8, 0.0, 0.0])
    seen["cover_dx"] = torch.tensor([-0.2, 0.2, 0.0, 0.0])
    seen["cover_dy"] = torch.zeros(4)
    seen["own_x"] = torch.tensor([-1.0, -0.5, 0.0, 0.5])
    seen["enemy_seen"] = torch.tensor([1.0, 1.0, 1.0, 0.0])
    chosen = {name: torch.full((4,), 8) for name in HEADS}
    chosen["fire"] = torch.tensor([1, 1, 1, 0])
    chosen["ability"] = torch.tensor([r.DASH, r.SHIELD, r.SHIELD, 0])
    chosen["interact"] = torch.tensor([0, 0, 0, 1])
    rows = Batch(
        torch.stack([*seen.values()], 1),
        torch.stack([*chosen.values()], 1),
        torch.ones(4, 43, dtype=torch.bool),
        torch.zeros(4),
        torch.zeros(4),
    )
    assert dict(zip(MANNER.names, MANNER.of(rows), strict=True)) == pytest.approx(
        {
            "firing": 0.75,
            "dashing": 0.25,
            "shielding": 0.5,
            "at stations": 0.25,
            "distance to the enemy": 0.375,
            "distance to cover": 0.1,
            "how far forward": -0.25,
            "enemy in sight": 0.75,
        }
    )
