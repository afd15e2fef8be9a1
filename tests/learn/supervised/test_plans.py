"""Plans made of recorded matches: what a row sees, what the table holds, what they are for."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.learn.fitting import fit
from tests.learn.toy_samples import TOY, toy_columns, write_matches
from understudy.data.shards import shard_path, write_shard
from understudy.errors import InputError
from understudy.learn import metrics_log
from understudy.learn.policy import FactoredPolicy, load_policy, save_policy
from understudy.learn.recipe import TrainOptions
from understudy.learn.supervised.awr import AdvantageWeighted
from understudy.learn.supervised.dataset import Batches
from understudy.learn.supervised.plans import Statistic
from understudy.learn.supervised.sequences import SequenceBatches

ALL = 10_000


@pytest.fixture(autouse=True)
def no_tensorboard(monkeypatch):
    """It takes a second to import."""
    monkeypatch.setattr(metrics_log, "tensorboard", lambda folder, step: None)


def ends(rows):
    """The number of a player's first row in a match, that of its last one, and how many."""
    return [rows.reward[0].item(), rows.reward[-1].item(), len(rows.reward)]


ENDS = Statistic(("first", "last", "length"), ends)
LEFT = Statistic(("left",), lambda rows: [(rows.action[:, 0] == 1).float().mean().item()])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_matches(tmp_path_factory.mktemp("plans") / "samples")


@pytest.fixture
def planned(recipe):
    return replace(recipe, statistic=ENDS, plans=4)


def rows_of(folder, split="train", **settings):
    return Batches(folder, TOY, split, batch_size=8, beside=ENDS.beside, **settings)


def expected(folder):
    """By (match, slot): the split and the statistic, from the rows as they lie on disk."""
    found = {}
    for split in ("train", "val", "test"):
        plain = Batches(folder, TOY, split, batch_size=8)
        for shard in plain.shards:
            keys = plain.read(shard.path, ("match", "slot", "step", "reward")).to_pylist()
            for key in sorted(keys, key=lambda key: key["step"]):
                own = found.setdefault((key["match"], key["slot"]), (split, []))[1]
                own.append(key["reward"])
    return {who: (split, (own[0], own[-1], len(own))) for who, (split, own) in found.items()}


def test_each_row_sees_its_own_player_and_match(folder):
    by_row = {}
    known = expected(folder)
    for split in ("train", "val"):
        source = rows_of(folder, split)
        for shard in source.shards:
            keys = source.read(shard.path, ("match", "slot")).to_pylist()
            batch = source.decode(shard.path)
            assert batch.observation.shape == (len(keys), 3 + 3)
            for key, row in zip(keys, batch.observation[:, 3:].tolist(), strict=True):
                assert known[key["match"], key["slot"]] == (split, tuple(row))
                by_row[key["match"], key["slot"]] = row
    assert len(by_row) == len([split for split, _ in known.values() if split != "test"])
    plain, beside = (next(b.in_order(ALL)) for b in (Batches(folder, TOY, "train", batch_size=8),
                                                    rows_of(folder)))  # fmt: skip
    assert torch.equal(beside.observation[:, :3], plain.observation)


def test_sequences_see_it_too_and_it_stays_the_same_through_a_match(folder):
    cut = SequenceBatches(rows_of(folder), steps=3, batch_size=4, burn_in=2)
    (batch,) = cut.in_order(ALL)
    assert (batch.observation[..., 3:] == batch.observation[:1, :, 3:]).all()


def test_the_table_holds_training_matches_only_each_once_drawn_by_the_seed(folder):
    train = {own for split, own in expected(folder).values() if split == "train"}
    tables = [ENDS.table(rows_of(folder), 5, seed) for seed in (0, 0, 1)]
    for table in tables:
        drawn = [tuple(row) for row in table.tolist()]
        assert len(set(drawn)) == 5 and set(drawn) <= train
    assert torch.equal(tables[0], tables[1]) and not torch.equal(tables[0], tables[2])
    every = ENDS.table(rows_of(folder), 1_000, 0)
    assert {tuple(row) for row in every.tolist()} == train and len(every) == len(train)


def test_a_new_policy_has_the_table_and_is_measured_against_plans(planned, folder):
    policy = planned.prepare(folder, None, 3, torch.device("cpu")).network
    assert (policy.shape.plans, policy.shape.plan_width) == (4, 3)
    assert torch.equal(policy.table, ENDS.table(rows_of(folder), 4, 3))
    (rows,) = rows_of(folder).in_order(ALL)
    inputs = rows.observation.double()
    assert torch.allclose(policy.mean.double(), inputs.mean(0), rtol=1e-5)
    assert torch.allclose(policy.std.double(), inputs.std(0, correction=0), rtol=1e-4)


def test_a_statistic_that_is_no_number_is_refused(folder):
    broken = Statistic(("share",), lambda rows: [float("nan")])
    source = Batches(folder, TOY, "train", batch_size=8, beside=broken.beside)
    with pytest.raises(ValueError, match="share is not finite"):
        next(source.in_order(ALL))


# --- as a recipe ---------------------------------------------------------------------------------


@pytest.mark.parametrize("memory", [0, 4])
def test_a_stop_changes_nothing(planned, folder, tmp_path, memory):
    def stop(now, steps, metrics):
        if now == 7:
            raise KeyboardInterrupt

    chosen = replace(planned, memory=memory, sequence=4)
    fit(chosen, folder, tmp_path / "whole", seed=1)
    with pytest.raises(KeyboardInterrupt):
        fit(chosen, folder, tmp_path / "stopped", seed=1, progress=stop)
    fit(chosen, folder, tmp_path / "stopped", seed=1)
    for name in ("weights.safetensors", "last.safetensors"):
        one, other = (tmp_path / out / name for out in ("whole", "stopped"))
        assert one.read_bytes() == other.read_bytes()


def test_what_goes_on_keeps_the_plans(planned, folder, tmp_path):
    fit(planned, folder, tmp_path / "clone")
    further = replace(planned, start="clone", plans=0, objective=AdvantageWeighted())
    task = further.prepare(folder, tmp_path / "clone", 9, torch.device("cpu"))
    assert torch.equal(task.network.table, load_policy(tmp_path / "clone").table)
    assert next(task.splits["train"].from_step(0)).observation.shape == (32, 6)


@pytest.mark.parametrize("own", [None, LEFT, ENDS])
def test_plans_that_are_no_statistic_of_the_recipe_are_refused(recipe, folder, tmp_path, own):
    """Unit vectors, even of the right width, came from elsewhere."""
    save_policy(tmp_path, FactoredPolicy(recipe.shape).extended(plans=3))
    further = replace(recipe, start="refined", statistic=own)
    with pytest.raises(InputError, match="refined plays by plans that are no statistic"):
        further.prepare(folder, tmp_path, 0, torch.device("cpu"))


def test_the_manifest_tells_of_plans_where_there_are_any(recipe, planned):
    told = json.loads(json.dumps(planned.settings()))
    assert told["plans"] == 4
    assert told["statistic"] == {"names": ["first", "last", "length"], "of": "ends"}
    assert replace(planned, plans=0).settings() == recipe.settings()


def test_plans_can_be_asked_for_where_matches_are_summed_up(recipe, planned):
    assert planned.with_options("imitate", TrainOptions(plans=7)).plans == 7
    with pytest.raises(InputError, match=r"'imitate' makes no plans of recorded .* out --plans"):
        recipe.with_options("imitate", TrainOptions(plans=7))
    further = replace(planned, start="clone", plans=0)
    with pytest.raises(InputError, match=r"'awr' makes no plans of recorded .* out --plans"):
        further.with_options("awr", TrainOptions(plans=7))


@pytest.mark.parametrize("wrong", [{"plans": -1}, {"statistic": None}, {"start": "clone"}])
def test_senseless_settings_are_refused(planned, wrong):
    with pytest.raises(ValueError, match="plans"):
        replace(planned, **wrong)


# --- a toy of two ways to play -------------------------------------------------------------------


def write_ways(folder, matches=200, length=5):
    """In a match a player goes always left or always right; nothing that is seen tells which."""
    rows = matches * length
    columns = toy_columns(rows)
    way = np.random.default_rng(5).integers(1, 3, matches)
    columns |= {"move": np.repeat(way, length), "ammo": np.zeros(rows, np.float32)}
    columns |= {"fire": np.zeros(rows, np.int16)}
    write_shard(shard_path(folder, TOY.table, "000"), TOY.table.build(columns))


def test_a_plan_is_kept_to_all_match_long(recipe, tmp_path):
    write_ways(tmp_path / "samples")
    longer = replace(recipe, steps=150, batch_size=96, learning_rate=0.03, evaluate_every=50)
    chosen = replace(longer, statistic=LEFT, plans=20)
    fit(chosen, tmp_path / "samples", tmp_path / "planned", seed=2)
    policy = load_policy(tmp_path / "planned", TOY)
    assert set(policy.table.flatten().tolist()) == {0.0, 1.0}
    seen = torch.rand(50, 3, generator=torch.Generator().manual_seed(0))
    legal = torch.ones(50, 5, dtype=torch.bool)
    for plan, left in enumerate(policy.table.flatten().tolist()):
        inputs = policy.with_plan(seen, torch.full((50,), plan))
        chance = policy.probabilities(inputs, legal)[:, 1]
        assert (abs(chance - left) < 0.05).all()
    fit(longer, tmp_path / "samples", tmp_path / "plain", seed=2)
    chance = load_policy(tmp_path / "plain", TOY).probabilities(seen, legal)[:, 1]
    assert 0.3 < chance.mean() < 0.7  # each step anew
