"""Learning from samples with a memory: in training it is what it will be in play."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.functional import mse_loss

from tests.learn.fitting import fit
from tests.learn.toy_samples import TOY, toy_columns, write_matches
from understudy.data.shards import shard_path, write_shard
from understudy.errors import InputError
from understudy.learn import metrics_log
from understudy.learn.policy import FactoredPolicy, PolicyShape, load_policy
from understudy.learn.recipe import TrainOptions
from understudy.learn.supervised.awr import AdvantageWeighted
from understudy.learn.supervised.cloning import Cloning
from understudy.learn.supervised.dataset import Batches
from understudy.learn.supervised.evaluate import evaluate
from understudy.learn.supervised.objective import consider
from understudy.learn.supervised.sequences import SequenceBatches, whole_matches

OBJECTIVES = [Cloning(label_smoothing=0.1), AdvantageWeighted()]
ALL = 10_000  # rows or sequences at a time


@pytest.fixture(autouse=True)
def no_tensorboard(monkeypatch):
    """It takes a second to import."""
    monkeypatch.setattr(metrics_log, "tensorboard", lambda folder, step: None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_matches(tmp_path_factory.mktemp("memory") / "samples")


def drawn(memory=4, seed=1):
    """A policy whose memory has a say."""
    policy = FactoredPolicy(PolicyShape(TOY.features, TOY.heads, (6,), memory), seed)
    if memory:
        chance = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            policy.recalled.weight.copy_(torch.randn(6, memory, generator=chance))
    return policy


def rows_of(folder, split="train"):
    return Batches(folder, TOY, split, batch_size=8)


def pieces(folder, steps, burn_in, split="train"):
    cut = SequenceBatches(rows_of(folder, split), steps=steps, batch_size=4, burn_in=burn_in)
    (batch,) = cut.in_order(ALL)
    return batch


@torch.no_grad()
def by_row(policy, batch):
    """What the policy says of each row that counts, by the row's number."""
    seen = consider(policy, batch)
    said = torch.cat([seen.distribution.probabilities(), seen.value[:, None]], 1)
    return dict(zip(batch.reward[batch.counts].long().tolist(), said, strict=True))


def step_by_step(policy, folder, split="train"):
    """The same as in play: one decision after the other, each match from its beginning."""
    source = rows_of(folder, split)
    (rows,) = source.in_order(ALL)
    names = ("match", "slot", "step")
    keys = [key for shard in source.shards for key in source.read(shard.path, names).to_pylist()]
    order = [tuple(key[name] for name in names) for key in keys]
    found, memory = {}, {}
    with torch.no_grad():
        for number in sorted(range(len(order)), key=lambda n: order[n]):
            match, slot, _ = order[number]
            before = memory.get((match, slot), torch.zeros(1, policy.shape.memory))
            seen, legal = rows.observation[number, None], rows.legal[number, None]
            hidden, _ = policy.unroll(seen[None], torch.zeros(1, 1, dtype=torch.bool), before)
            acted = policy.act(seen, legal, torch.zeros(1, 2), before)
            memory[match, slot] = acted.memory
            options = policy.layout.distribution(policy.options(hidden[0]), legal)
            said = torch.cat([options.probabilities()[0], policy.value(hidden[0])])
            found[int(rows.reward[number])] = said
    return found


def assert_same(one, other):
    assert one.keys() == other.keys()
    for number, said in one.items():
        assert torch.allclose(said, other[number], atol=1e-6), number


# --- what it remembers ---------------------------------------------------------------------------


def test_whole_matches_are_what_play_is(folder):
    policy = drawn()
    (batch,) = whole_matches(rows_of(folder)).in_order(ALL)
    assert batch.first[0].all() and not batch.first[1:].any()
    assert len(batch.reward) == 12 == batch.counts.sum(0).max()
    assert_same(by_row(policy, batch), step_by_step(policy, folder))


@pytest.mark.parametrize("steps", [1, 3, 5])
def test_led_up_to_from_the_beginning_a_piece_is_as_in_the_whole_match(folder, steps):
    policy = drawn()
    (whole,) = whole_matches(rows_of(folder)).in_order(ALL)
    expected = by_row(policy, whole)
    assert_same(by_row(policy, pieces(folder, steps, burn_in=12)), expected)
    unled = by_row(policy, pieces(folder, steps, burn_in=0))
    assert unled.keys() == expected.keys()
    assert any(not torch.allclose(said, expected[row], atol=1e-3) for row, said in unled.items())


def test_a_longer_lead_comes_nearer(folder):
    policy = drawn()
    (whole,) = whole_matches(rows_of(folder)).in_order(ALL)
    expected = by_row(policy, whole)
    gaps = []
    for burn_in in (0, 2, 4):
        led = by_row(policy, pieces(folder, 2, burn_in))
        gaps.append(sum(float((said - expected[row]).abs().sum()) for row, said in led.items()))
    assert gaps[0] > 2 * gaps[1] > 4 * gaps[2] > 0


def test_single_rows_are_refused_where_there_is_a_memory(folder):
    (rows,) = rows_of(folder).in_order(ALL)
    with pytest.raises(ValueError, match="has a memory"):
        consider(drawn(), rows)


# --- the losses ----------------------------------------------------------------------------------


def gradient(objective, policy, batch):
    policy.zero_grad()
    loss, metrics = objective(policy, batch)
    loss.backward()
    found = {name: weight.grad.clone() for name, weight in policy.named_parameters()}
    return loss.detach(), metrics, found


def doubles(batch):
    return batch._replace(observation=batch.observation.double(), outcome=batch.outcome.double())


@pytest.mark.parametrize("objective", OBJECTIVES, ids=["cloning", "awr"])
@pytest.mark.parametrize("burn_in", [0, 3])
def test_without_a_memory_sequences_are_the_same_rows(folder, objective, burn_in):
    policy = drawn(memory=0).double()
    (rows,) = rows_of(folder).in_order(ALL)
    loss, metrics, slope = gradient(objective, policy, doubles(rows))
    again, same, rise = gradient(objective, policy, doubles(pieces(folder, 4, burn_in)))
    assert torch.allclose(loss, again, rtol=1e-12)
    assert metrics.keys() == same.keys()
    assert all(torch.allclose(metrics[name], same[name], rtol=1e-9) for name in metrics)
    for name, expected in slope.items():
        assert torch.allclose(rise[name], expected, rtol=1e-9, atol=1e-13), name


@pytest.mark.parametrize("objective", OBJECTIVES, ids=["cloning", "awr"])
def test_what_does_not_count_has_no_say_but_what_leads_up_is_seen(folder, objective):
    policy, batch = drawn(), pieces(folder, 3, burn_in=2)
    loss = objective(policy, batch).value
    idle = ~batch.counts
    deaf = batch._replace(
        action=batch.action.masked_fill(idle[..., None], 0),
        outcome=batch.outcome.masked_fill(idle, 9.0),
    )
    assert torch.equal(objective(policy, deaf).value, loss)
    place = torch.arange(len(idle))[:, None].expand_as(idle)
    over = place > torch.where(batch.counts, place, -1).amax(0)
    assert over.any() and (idle & ~over).any()
    for which, matters in ((over, False), (idle & ~over, True)):
        seen = batch.observation.masked_fill(which[..., None], 3.0)
        found = objective(policy, batch._replace(observation=seen)).value
        assert torch.allclose(found, loss, atol=1e-6) is not matters


def test_cloning_is_the_mean_over_decisions_step_by_step(folder):
    policy = drawn()
    (batch,) = whole_matches(rows_of(folder)).in_order(ALL)
    (rows,) = rows_of(folder).in_order(ALL)
    said = step_by_step(policy, folder)
    chance, value = torch.stack([said[n] for n in rows.reward.long().tolist()]).split([5, 1], 1)
    at = rows.action + torch.tensor([0, 3])
    copied = -chance.gather(1, at).log().sum(1).mean()
    missed = mse_loss(value[:, 0], rows.outcome)
    loss = Cloning(value_weight=0.3)(policy, batch).value
    assert loss.item() == pytest.approx((copied + 0.3 * missed).item(), rel=1e-5)


def test_validation_is_that_of_play(folder):
    policy, rows = drawn(), rows_of(folder, "val")
    score = evaluate(policy, Cloning(), rows, rows.counts, whole_matches(rows))
    said = step_by_step(policy, folder, "val")
    (batch,) = rows.in_order(ALL)
    chance = torch.stack([said[n] for n in batch.reward.long().tolist()])
    assert score.rows == len(batch.reward) == 18
    for head, (begin, end) in {"move": (0, 3), "fire": (3, 5)}.items():
        action = batch.action[:, list(TOY.heads).index(head)]
        own = chance[:, begin:end]
        right = (own.argmax(1) == action).float().mean().item()
        assert score.heads[head].accuracy == pytest.approx(right)
        copied = -own.gather(1, action[:, None]).log().mean().item()
        assert score.heads[head].log_loss == pytest.approx(copied, rel=1e-5)
        favourite = rows.counts[begin:end].argmax()
        assert score.heads[head].majority == pytest.approx(
            (action == favourite).float().mean().item()
        )


# --- as a recipe ---------------------------------------------------------------------------------


@pytest.fixture
def recurrent(recipe):
    return replace(recipe, memory=4, sequence=4, burn_in=2)


def test_the_recipe_learns_from_pieces_and_is_judged_by_whole_matches(recurrent, folder):
    task = recurrent.prepare(folder, None, 0, torch.device("cpu"))
    assert task.network.shape.memory == 4
    learnt = next(task.splits["train"].from_step(0))
    assert learnt.counts.shape == (4 + 2, 32 // 4)
    (judged,) = task.splits["val"].in_order(ALL)
    assert judged.counts.shape == (9, 2) and judged.counts.all()
    rows = replace(recurrent, memory=0).prepare(folder, None, 0, torch.device("cpu"))
    assert next(rows.splits["train"].from_step(0)).action.shape == (32, 2)


@pytest.mark.parametrize("step", [3, 4, 7, 11])
@pytest.mark.parametrize("objective", OBJECTIVES, ids=["cloning", "awr"])
def test_a_stop_changes_nothing(recurrent, objective, folder, tmp_path, step):
    def stop(now, steps, metrics):
        if now == step:
            raise KeyboardInterrupt

    chosen = replace(recurrent, objective=objective)
    fit(chosen, folder, tmp_path / "whole", seed=1)
    with pytest.raises(KeyboardInterrupt):
        fit(chosen, folder, tmp_path / "stopped", seed=1, progress=stop)
    fit(chosen, folder, tmp_path / "stopped", seed=1)
    for name in ("weights.safetensors", "last.safetensors"):
        one, other = (tmp_path / out / name for out in ("whole", "stopped"))
        assert one.read_bytes() == other.read_bytes()
    assert load_policy(tmp_path / "whole", TOY).shape.memory == 4


def test_a_clone_gets_a_memory_and_at_first_is_what_it_was(recipe, folder, tmp_path):
    fit(recipe, folder, tmp_path / "clone")
    further = replace(recipe, start="clone", objective=AdvantageWeighted(), memory=4)
    task = further.prepare(folder, tmp_path / "clone", 0, torch.device("cpu"))
    assert task.network.shape.memory == 4
    before = replace(further, memory=0).prepare(folder, tmp_path / "clone", 0, torch.device("cpu"))
    found, expected = (one.score(one.network, "val").heads for one in (task, before))
    for head in TOY.heads:
        assert found[head].log_loss == pytest.approx(expected[head].log_loss, rel=1e-6)


def test_a_clone_with_a_memory_keeps_it(recurrent, folder, tmp_path):
    fit(recurrent, folder, tmp_path / "clone")
    further = replace(recurrent, start="clone", memory=0)
    task = further.prepare(folder, tmp_path / "clone", 0, torch.device("cpu"))
    assert task.network.shape.memory == 4
    assert next(task.splits["train"].from_step(0)).counts.shape == (6, 8)


def test_the_manifest_tells_of_a_memory_and_of_nothing_that_does_not_matter(recipe, recurrent):
    told = json.loads(json.dumps(recurrent.settings()))
    assert (told["memory"], told["sequence"], told["burn_in"]) == (4, 4, 2)
    assert replace(recipe, sequence=5, burn_in=6).settings() == recipe.settings()
    assert not {"memory", "sequence", "burn_in"} & recipe.settings().keys()
    further = replace(recipe, start="clone")  # which may have one
    assert replace(further, sequence=5).settings() != further.settings()


def test_a_memory_can_be_asked_for(recipe):
    assert recipe.with_options("imitate", TrainOptions(memory=7)).shape.memory == 7
    with pytest.raises(InputError, match=r"'imitate' cannot be changed like that: memory must be"):
        recipe.with_options("imitate", TrainOptions(memory=-1))


@pytest.mark.parametrize("wrong", [{"memory": -1}, {"sequence": 0}, {"burn_in": -1}])
def test_senseless_settings_are_refused(recipe, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        replace(recipe, **wrong)


# --- a toy whose answer needs a memory -----------------------------------------------------------


def write_cues(folder, matches=240, length=6):
    """A cue at the first step, to be answered at the last one, where nothing tells it."""
    rows = matches * length
    columns = toy_columns(rows)
    step, match = np.arange(rows) % length, np.arange(rows) // length
    cue = np.random.default_rng(5).integers(1, 3, matches)[match]
    columns |= {
        "match": [f"m{number}" for number in match],
        "step": step,
        "split": np.where(match % 10 == 9, "test", np.where(match % 10 == 8, "val", "train")),
        "left": np.where(step == 0, cue - 1.0, 0.5).astype(np.float32),
        "right": (step == length - 1).astype(np.float32),
        "move": np.where(step == length - 1, cue, 0),
    }
    write_shard(shard_path(folder, TOY.table, "000"), TOY.table.build(columns))


def test_a_cue_is_remembered_with_a_memory_and_not_without(recipe, tmp_path):
    write_cues(tmp_path / "samples")
    longer = replace(recipe, steps=400, batch_size=96, learning_rate=0.02, evaluate_every=200)
    loss = {}
    for memory in (0, 8):
        chosen = replace(longer, memory=memory, sequence=3, burn_in=3)
        done = fit(chosen, tmp_path / "samples", tmp_path / str(memory))
        loss[memory] = done["test"]["heads"]["move"]["log_loss"]
    assert loss[0] > 0.9 * math.log(2) / 6  # one answer in six steps, a coin's throw
    assert loss[8] < 0.1 * math.log(2) / 6
