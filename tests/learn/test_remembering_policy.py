"""Policies with a memory and with plans: step by step, unrolled, extended, and on disk."""

import json
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.learn.toy_samples import FEATURES, TOY
from understudy.data.runs import WEIGHTS
from understudy.errors import InputError
from understudy.learn.policy import SHAPE_KEY, FactoredPolicy, PolicyShape, load_policy, save_policy

PLAIN = PolicyShape(tuple(FEATURES), {"move": 3, "fire": 2}, (6,))
BOTH = replace(PLAIN, memory=4, plans=3, plan_width=3)
STEPS, SEQUENCES = 9, 5


def restless(shape, seed=0):
    """A policy whose every weight matters, `recalled` too."""
    policy, chance = FactoredPolicy(shape, seed), torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in policy.parameters():
            weight.normal_(0.0, 0.7, generator=chance)
    policy.standardise(torch.tensor([0.1, -0.2, 0.3]), torch.tensor([1.0, 2.0, 0.5]))
    return policy


def seen(policy, seed=0):
    """Inputs of sequences, in some of which a match begins, and what is remembered before."""
    chance = torch.Generator().manual_seed(seed)
    observation = torch.randn(STEPS, SEQUENCES, 3, generator=chance)
    first = torch.rand(STEPS, SEQUENCES, generator=chance) < 0.2
    plan = torch.randint(max(policy.shape.plans, 1), (STEPS, SEQUENCES), generator=chance)
    memory = torch.randn(SEQUENCES, policy.shape.memory, generator=chance)
    return policy.with_plan(observation, plan), first, memory


SHAPES = [
    PLAIN,
    replace(PLAIN, memory=4),
    replace(PLAIN, plans=3, plan_width=3),
    BOTH,
    replace(BOTH, hidden=()),
]
shapes = pytest.mark.parametrize("shape", SHAPES, ids=["plain", "memory", "plans", "both", "flat"])


@shapes
def test_step_by_step_it_does_what_it_does_unrolled(shape):
    policy = restless(shape)
    inputs, first, memory = seen(policy)
    legal = torch.rand(STEPS, SEQUENCES, 5, generator=torch.Generator().manual_seed(1)) < 0.7
    uniform = torch.rand(STEPS, SEQUENCES, 2, generator=torch.Generator().manual_seed(2))
    hidden, last = policy.unroll(inputs, first, memory)
    for t in range(STEPS):
        memory = torch.where(first[t, :, None], 0.0, memory)
        acted = policy.act(inputs[t], legal[t], uniform[t], memory)
        judged = policy.layout.judge(policy.logits(hidden[t]), legal[t], acted.action)
        torch.testing.assert_close(acted.log_prob, judged.log_prob, rtol=1e-6, atol=1e-6)
        memory = acted.memory
    torch.testing.assert_close(memory, last, rtol=1e-6, atol=1e-6)


@shapes
def test_sequences_cut_in_two_go_on_where_they_were(shape):
    policy = restless(shape)
    inputs, first, memory = seen(policy)
    whole, last = policy.unroll(inputs, first, memory)
    early, between = policy.unroll(inputs[:4], first[:4], memory)
    late, end = policy.unroll(inputs[4:], first[4:], between)
    torch.testing.assert_close(torch.cat([early, late]), whole, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(end, last, rtol=1e-6, atol=1e-6)


def test_without_a_memory_unrolling_is_looking_at_each():
    policy = restless(PLAIN)
    inputs, first, memory = seen(policy)
    hidden = policy.unroll(inputs, first, memory)[0].flatten(0, 1)
    output = policy(inputs.flatten(0, 1))
    torch.testing.assert_close(policy.logits(hidden).T, output.logits)
    torch.testing.assert_close(policy.value(hidden), output.value)


def test_a_plan_and_a_memory_matter():
    policy = restless(BOTH)
    inputs, first, memory = seen(policy)
    hidden = policy.unroll(inputs, first & False, memory)[0]
    forgot = policy.unroll(inputs, first & False, 0 * memory)[0]
    assert ((hidden - forgot).abs().amax(2) > 1e-6).all()
    observation = torch.zeros(3, 3)
    planned = policy.with_plan(observation, torch.arange(3, dtype=torch.int16))
    assert torch.equal(planned, torch.cat([observation, torch.eye(3)], 1))
    logits = policy.options(policy._torso(planned))
    assert (logits[0] != logits[1]).any() and (logits[1] != logits[2]).any()


@pytest.mark.parametrize("ask", ["forward", "distribution", "log_prob", "sample", "probabilities"])
def test_a_policy_with_a_memory_cannot_be_asked_about_single_decisions(ask):
    policy, legal = FactoredPolicy(replace(PLAIN, memory=4)), torch.ones(2, 5, dtype=torch.bool)
    others = {
        "forward": (),
        "log_prob": (torch.zeros(2, 2, dtype=torch.long), legal),
        "sample": (legal, torch.rand(2, 2)),
    }.get(ask, (legal,))
    with pytest.raises(ValueError, match=r"has a memory: .* so unroll it"):
        getattr(policy, ask)(torch.zeros(2, 3), *others)


# --- given more ----------------------------------------------------------------------------------


def played(policy, plan):
    """Logits and values over some sequences from their beginning, all by one plan."""
    observation = torch.randn(STEPS, SEQUENCES, 3, generator=torch.Generator().manual_seed(4))
    inputs = policy.with_plan(observation, torch.full((STEPS, SEQUENCES), plan))
    memory = torch.zeros(SEQUENCES, policy.shape.memory)
    first = torch.zeros(STEPS, SEQUENCES, dtype=torch.bool)
    hidden = policy.unroll(inputs, first, memory)[0].flatten(0, 1)
    return policy.logits(hidden), policy.value(hidden)


@pytest.mark.parametrize("more", [{"memory": 4}, {"plans": 3}, {"memory": 4, "plans": 3}])
@pytest.mark.parametrize(
    "shape",
    [PLAIN, replace(PLAIN, hidden=()), replace(PLAIN, memory=2, hidden=()), BOTH],
    ids=["plain", "flat", "flat memory", "both"],
)
def test_with_more_it_plays_as_before(shape, more):
    """Whatever plan is drawn: what is new adds 0."""
    policy = restless(shape)
    grown = policy.extended(**more, seed=3)
    for plan in range(3):
        had = plan if shape.plans else 0
        for one, other in zip(played(grown, plan), played(policy, had), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-6)
    expected = {"memory": shape.memory or more.get("memory", 0)}
    expected["plans"] = shape.plans or more.get("plans", 0)
    assert {name: getattr(grown.shape, name) for name in expected} == expected
    assert (grown.std > 0).all()


def test_what_there_is_stays_and_the_copy_is_its_own():
    policy = restless(BOTH)
    policy.set_plans(torch.rand(3, 3, generator=torch.Generator().manual_seed(0)))
    same = policy.extended(memory=9, plans=9)
    assert same.shape == policy.shape
    own, copied = policy.state_dict(), same.state_dict()
    assert own.keys() == copied.keys() and all(torch.equal(own[k], copied[k]) for k in own)
    same.table.zero_()
    same.torso[0].weight.data.zero_()
    assert policy.table.any() and policy.torso[0].weight.any()


@pytest.mark.parametrize("more", [{"memory": 4}, {"plans": 3}])
def test_what_is_new_can_learn(more):
    """Weights of 0 must not be stuck there: the first gradient moves them."""
    policy = restless(PLAIN).extended(**more)
    inputs, first, memory = seen(policy)
    hidden, _ = policy.unroll(inputs, first, memory)
    policy.options(hidden).square().sum().backward()
    new = policy.recalled.weight.grad if "memory" in more else policy.torso[0].weight.grad[:, 3:]
    assert (new != 0).any(0).all()


# --- on disk -------------------------------------------------------------------------------------


@shapes
def test_a_saved_policy_comes_back_the_same(tmp_path, shape):
    policy = restless(shape)
    if shape.plans:
        policy.set_plans(torch.rand(3, 3, generator=torch.Generator().manual_seed(0)))
    save_policy(tmp_path / "imitate", policy)
    found = load_policy(tmp_path / "imitate", TOY)
    assert found.shape == shape and PolicyShape.from_json(shape.to_json()) == shape
    own, copied = policy.state_dict(), found.state_dict()
    assert own.keys() == copied.keys() and all(torch.equal(own[k], copied[k]) for k in own)


def test_weights_from_before_there_were_memories_still_load(tmp_path):
    policy = restless(PLAIN)
    save_policy(tmp_path / "imitate", policy)
    path = tmp_path / "imitate" / WEIGHTS
    old = {name: getattr(PLAIN, name) for name in ("features", "heads", "hidden")}
    save_file(load_file(path), path, {SHAPE_KEY: json.dumps(old)})
    found = load_policy(tmp_path / "imitate", TOY)
    assert found.shape == PLAIN
    for one, other in zip(played(found, 0), played(policy, 0), strict=True):
        assert torch.equal(one, other)


def test_a_memory_without_its_weights_is_refused(tmp_path):
    save_policy(tmp_path / "imitate", restless(PLAIN))
    path = tmp_path / "imitate" / WEIGHTS
    save_file(load_file(path), path, {SHAPE_KEY: replace(PLAIN, memory=4).to_json()})
    with pytest.raises(InputError, match=r"'core\.kept\.bias' is missing, not \(12,\)"):
        load_policy(tmp_path / "imitate", TOY)
