"""A trained policy at play: it says what it said in training."""

import numpy as np
import pyarrow as pa
import pytest
import torch

from understudy.data.players import PlayerRef
from understudy.data.shards import shard_path, write_shard
from understudy.games.arena.data.encode import MOVES, encode
from understudy.games.arena.play.play import play_matches
from understudy.learn.distributions import Layout
from understudy.learn.policy import FactoredPolicy, PolicyShape, save_policy
from understudy.learn.supervised.dataset import Batches
from understudy.learn.supervised.objective import consider
from understudy.learn.supervised.sequences import whole_matches

SEEDS = range(12)  # some of each split


@pytest.fixture
def policy():
    """A policy whose memory has a say."""
    policy = FactoredPolicy(PolicyShape(MOVES.features, MOVES.heads, (16,), memory=8), seed=3)
    chance = torch.Generator().manual_seed(4)
    with torch.no_grad():
        policy.recalled.weight.copy_(torch.randn(16, 8, generator=chance))
        policy.options.weight.copy_(torch.randn(policy.options.weight.shape, generator=chance) / 8)
    return policy


def test_what_is_learnt_from_a_recorded_match_is_what_was_said_in_it(policy, tmp_path, monkeypatch):
    save_policy(tmp_path, policy)
    said, sample = [], Layout.sample

    def overheard(layout, logits, legal, uniform):
        said.append(layout.distribution(logits.T, legal).log_probabilities)
        return sample(layout, logits, legal, uniform)

    monkeypatch.setattr(Layout, "sample", overheard)
    clone = PlayerRef("clone", tmp_path)
    seats = [(clone, PlayerRef("expert"), seed) for seed in SEEDS]
    matches, steps = play_matches(seats, keep=len(seats))
    moves = encode({"matches": matches, "steps": steps}, frozenset({"clone"}))["moves"]
    # The policy was asked once a step, for all matches that were still running, in their order.
    order = np.lexsort((_numbers(moves["match"], matches["match"]), moves["step"].to_numpy()))
    live = dict(zip(order.tolist(), torch.cat(said), strict=True))

    numbered = moves.set_column(
        moves.schema.get_field_index("reward"),
        moves.schema.field("reward"),
        pa.array(np.arange(len(moves), dtype=np.float32)),
    )
    write_shard(shard_path(tmp_path, MOVES.table, "000"), numbered)
    for split in ("train", "val", "test"):
        rows = Batches(tmp_path, MOVES, split, batch_size=1)
        for batch in whole_matches(rows).in_order(1_000):
            with torch.no_grad():
                found = consider(policy, batch).distribution.log_probabilities
            for row, own in zip(batch.reward[batch.counts].int().tolist(), found, strict=True):
                assert torch.allclose(live.pop(row), own, atol=1e-5), row
    assert not live


def _numbers(names, known):
    return [known.to_pylist().index(name) for name in names.to_pylist()]
