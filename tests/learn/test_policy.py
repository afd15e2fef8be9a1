import json
from dataclasses import replace

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from tests.learn.toy_samples import FEATURES, TOY
from understudy.data.runs import WEIGHTS
from understudy.data.samples import decisions
from understudy.errors import InputError
from understudy.learn.policy import (
    SHAPE_KEY,
    FactoredPolicy,
    PolicyShape,
    load_policy,
    save_policy,
)

SHAPE = PolicyShape(tuple(FEATURES), {"move": 3, "fire": 2}, (6, 4))
AGAIN = "Train again: understudy train arena imitate --fresh"


@pytest.fixture
def folder(tmp_path):
    saved = tmp_path / "imitate"
    save_policy(saved, FactoredPolicy(SHAPE, seed=1))
    return saved


def refusal(folder, expected=TOY):
    with pytest.raises(InputError) as error:
        load_policy(folder, expected)
    return str(error.value)


def same(one, other):
    first, second = one.state_dict(), other.state_dict()
    return first.keys() == second.keys() and all(torch.equal(first[k], second[k]) for k in first)


def test_a_policy_speaks_of_every_head_and_of_the_outcome():
    policy = FactoredPolicy(SHAPE)
    logits, value = policy(torch.rand(7, 3))
    assert logits.shape == (7, 5)
    assert value.shape == (7,)


def test_the_functions_of_a_policy_agree_with_each_other():
    policy = FactoredPolicy(SHAPE, seed=2)
    observation, legal = torch.rand(5, 3), torch.ones(5, 5, dtype=torch.bool)
    legal[:, 1] = legal[2, 3] = False
    action = policy.sample(observation, legal, torch.full((5, 2), 0.4))
    share = policy.probabilities(observation, legal)
    chosen = share[:, :3].gather(1, action[:, :1]) * share[:, 3:].gather(1, action[:, 1:])
    torch.testing.assert_close(policy.log_prob(observation, action, legal).exp(), chosen[:, 0])
    assert not share.requires_grad
    assert (share[~legal] == 0).all()


def test_an_untrained_policy_is_nearly_even():
    share = FactoredPolicy(SHAPE).probabilities(
        torch.rand(50, 3), torch.ones(50, 5, dtype=torch.bool)
    )
    torch.testing.assert_close(share[:, :3], torch.full((50, 3), 1 / 3), atol=0.02, rtol=0)


def test_first_weights_hang_on_the_seed_and_disturb_nothing():
    before = torch.get_rng_state()
    assert same(FactoredPolicy(SHAPE, seed=1), FactoredPolicy(SHAPE, seed=1))
    assert not same(FactoredPolicy(SHAPE, seed=1), FactoredPolicy(SHAPE, seed=2))
    assert torch.equal(torch.get_rng_state(), before)


def test_a_policy_without_hidden_layers_is_linear():
    policy = FactoredPolicy(replace(SHAPE, hidden=()))
    assert sum(weight.numel() for weight in policy.parameters()) == 3 * 5 + 5 + 3 + 1


def test_a_saved_policy_comes_back_the_same(folder):
    found = load_policy(folder, TOY)
    assert found.shape == SHAPE
    assert same(found, FactoredPolicy(SHAPE, seed=1))
    assert not found.training
    assert [path.name for path in folder.iterdir()] == [WEIGHTS]


def test_no_policy_names_the_cure(tmp_path):
    assert refusal(tmp_path / "imitate") == (
        f"{tmp_path}/imitate holds no trained policy: there is no weights.safetensors. {AGAIN}"
    )


def test_a_truncated_file_is_refused_at_every_length(folder):
    whole = (folder / WEIGHTS).read_bytes()
    for length in (0, 4, 60, len(whole) - 1):
        (folder / WEIGHTS).write_bytes(whole[:length])
        message = refusal(folder)
        assert message.startswith(f"{folder}/weights.safetensors: not the weights of a policy (")
        assert message.endswith(AGAIN)


@pytest.mark.parametrize("text", [None, "{}", "[1]", '{"features": 3, "heads": {}, "hidden": []}'])
def test_weights_of_something_else_are_refused(folder, text):
    save_file({"a": torch.ones(2)}, folder / WEIGHTS, text and {"understudy.policy": text})
    assert "not the weights of a policy (not the shape of a policy: " in refusal(folder)


def test_pickled_code_is_refused_and_not_run(folder):
    torch.save({"a": 1}, folder / WEIGHTS)
    assert "not the weights of a policy" in refusal(folder)


def test_other_features_are_named(folder):
    grown = decisions("arena", "moves", 4, FEATURES | {"height": "", "wind": ""}, TOY.heads)
    assert refusal(folder, grown) == (
        f"{folder}: made for 3 features, the arena now has 5 (with height, with wind). {AGAIN}"
    )
    swapped = decisions("arena", "moves", 4, dict(reversed(FEATURES.items())), TOY.heads)
    assert refusal(folder, swapped) == (
        f"{folder}: made for 'left' as feature 0, the arena now has 'ammo' there. {AGAIN}"
    )


@pytest.mark.parametrize("heads", [{"move": 4, "fire": 2}, {"fire": 2, "move": 3}, {"move": 3}])
def test_other_heads_are_named(folder, heads):
    message = refusal(folder, decisions("arena", "moves", 4, FEATURES, heads))
    assert message.startswith(f"{folder}: made for heads move (3), fire (2), the arena now has")
    assert message.endswith(AGAIN)


def test_weights_that_do_not_fit_their_own_shape_are_refused(folder):
    path = folder / WEIGHTS
    tensors = load_file(path)
    text = json.dumps({"features": SHAPE.features, "heads": SHAPE.heads, "hidden": [6, 5]})
    save_file(tensors, path, {"understudy.policy": text})
    assert refusal(folder) == f"{path}: 'options.weight' is (5, 4), not (5, 5). {AGAIN}"
    del tensors["torso.0.bias"]
    save_file(tensors, path, {"understudy.policy": SHAPE.to_json()})
    assert refusal(folder) == f"{path}: 'torso.0.bias' is missing, not (6,). {AGAIN}"


def test_a_standardised_policy_does_not_mind_the_unit_of_a_feature():
    shape = PolicyShape(("a", "b"), {"x": 3}, (8,))
    plain, scaled = FactoredPolicy(shape, 5), FactoredPolicy(shape, 5)
    observation = torch.randn(6, 2, generator=torch.Generator().manual_seed(0))
    mean, std = torch.tensor([3.0, -1.0]), torch.tensor([10.0, 0.5])
    scaled.standardise(mean, std)
    torch.testing.assert_close(scaled(observation * std + mean).logits, plain(observation).logits)


def test_a_feature_that_never_varies_stays_finite():
    policy = FactoredPolicy(PolicyShape(("a",), {"x": 2}, (4,)))
    policy.standardise(torch.tensor([2.0]), torch.tensor([0.0]))
    assert policy(torch.tensor([[2.0], [5.0]])).logits.isfinite().all()


def test_the_same_weights_are_the_same_bytes(tmp_path):
    for folder in ("a", "b"):
        save_policy(tmp_path / folder, FactoredPolicy(SHAPE, seed=1))
    assert (tmp_path / "a" / WEIGHTS).read_bytes() == (tmp_path / "b" / WEIGHTS).read_bytes()


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_refused(folder, wrong):
    path = folder / WEIGHTS
    with safe_open(path, framework="pt") as file:
        shape = PolicyShape.from_json(file.metadata()[SHAPE_KEY])  # what was changed has no seal
    tensors = load_file(path)
    name = sorted(tensors)[0]
    tensors[name].view(-1)[-1] = wrong
    save_file(tensors, path, {SHAPE_KEY: shape.to_json()})
    assert refusal(folder) == f"{path}: '{name}' holds what is no number. {AGAIN}"
