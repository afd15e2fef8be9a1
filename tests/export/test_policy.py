"""A policy in numpy, as ONNX and as a program of torch says what torch says and chooses alike."""

import io
import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.export.numpy_policy import read_policy
from understudy.export.onnx_policy import OPSET, onnx_policy
from understudy.export.torch_policy import torch_policy
from understudy.learn.policy import FactoredPolicy, PolicyShape, save_policy

HEADS = {"move": 5, "fire": 2, "ability": 3, "pass": 1}
SHAPES = {
    "plain": PolicyShape(("a", "b", "c", "d"), HEADS, (16, 8)),
    "linear": PolicyShape(("a", "b", "c", "d"), HEADS, ()),
    "memory": PolicyShape(("a", "b", "c", "d"), HEADS, (16,), memory=6),
    "plans": PolicyShape(("a", "b", "c", "d"), HEADS, (16,), plans=3, plan_width=4),
    "both": PolicyShape(("a", "b", "c", "d"), HEADS, (16,), memory=5, plans=3, plan_width=4),
}
ROWS = 300


def drawn(shape, seed=0):
    """A policy whose every weight counts, and observations of all kinds."""
    policy = FactoredPolicy(shape, seed)
    rng = torch.Generator().manual_seed(seed + 1)
    for name, tensor in policy.state_dict().items():
        noise = torch.randn(tensor.shape, generator=rng)
        tensor.copy_(noise.abs() + 0.5 if name == "std" else noise)
    return policy.eval()


def situations(shape, seed=0):
    rng = np.random.default_rng(seed)
    legal = rng.random((ROWS, sum(shape.heads.values()))) < 0.6
    legal[:20] = False  # nothing is legal: then all of a head's options are alike
    uniform = rng.random((ROWS, len(shape.heads))).astype(np.float32)
    uniform[20:40] = 0.0
    return {
        "observation": rng.normal(0, 3, (ROWS, len(shape.features))).astype(np.float32),
        "legal": legal,
        "uniform": uniform,
        "plan": rng.integers(0, max(shape.plans, 1), ROWS),
        "memory": rng.normal(size=(ROWS, shape.memory)).astype(np.float32),
    }


def by_torch(policy, seen):
    """Probabilities, value, memory and choices of the policy as it plays here."""
    x = {name: torch.from_numpy(values) for name, values in seen.items()}
    inputs = policy.with_plan(x["observation"], x["plan"])
    with torch.no_grad():
        acted = policy.act(inputs, x["legal"], x["uniform"], x["memory"])
        hidden, _ = policy.unroll(inputs[None], torch.zeros(1, ROWS, dtype=bool), x["memory"])
        options = policy.layout.distribution(policy.options(hidden[0]), x["legal"])
        return (
            acted.action.numpy(),
            options.probabilities().numpy(),
            policy.value(hidden[0]).numpy(),
            acted.memory.numpy(),
        )


def assert_alike(found, expected):
    action, probabilities, value, memory = expected
    np.testing.assert_allclose(found[1], probabilities, atol=1e-5)
    np.testing.assert_allclose(found[2], value, atol=1e-5, rtol=1e-5)
    np.testing.assert_allclose(found[3], memory, atol=1e-5)
    np.testing.assert_array_equal(found[0], action)


@pytest.fixture(params=SHAPES, name="case")
def _case(request, tmp_path):
    policy = drawn(SHAPES[request.param])
    save_policy(tmp_path, policy)
    return policy, read_policy(tmp_path), situations(policy.shape)


def test_numpy_says_what_torch_says(case):
    policy, copy, seen = case
    assert_alike(copy.decide(**seen), by_torch(policy, seen))


def test_onnx_says_what_torch_says(case):
    onnxruntime = pytest.importorskip("onnxruntime")
    policy, copy, seen = case
    content = onnx_policy(copy, {"game": "toy"})
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_inputs()]
    assert ("memory" in names, "plan" in names) == (
        policy.shape.memory > 0,
        policy.shape.plans > 0,
    )
    out = dict(
        zip(
            [one.name for one in session.get_outputs()],
            session.run(None, {name: seen[name] for name in names}),
            strict=True,
        )
    )
    found = (
        np.stack([out[head] for head in HEADS], axis=1),
        np.concatenate([out[f"{head}.probabilities"] for head in HEADS], axis=1),
        out["value"],
        out.get("memory_after", seen["memory"]),
    )
    assert_alike(found, by_torch(policy, seen))


def test_the_file_says_what_it_is(case):
    onnx = pytest.importorskip("onnx")
    _, copy, _ = case
    content = onnx_policy(copy, {"game": "toy", "recipe": "imitate"})
    assert content == onnx_policy(copy, {"game": "toy", "recipe": "imitate"})  # the same bytes
    model = onnx.load_from_string(content)
    onnx.checker.check_model(model, full_check=True)
    told = {one.key: one.value for one in model.metadata_props}
    assert (told["game"], told["recipe"], model.opset_import[0].version) == (
        "toy",
        "imitate",
        OPSET,
    )
    shape = json.loads(told["understudy.policy"])
    assert shape["features"] == ["a", "b", "c", "d"] and shape["heads"] == HEADS
    assert shape["borders"] == [0, 5, 7, 10, 11]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # torch's own
def test_a_program_of_torch_says_what_torch_says(case):
    policy, _, seen = case
    files = {"understudy.policy": ""}
    written = io.BytesIO(torch_policy(policy, {"game": "toy"}))
    loaded = torch.export.load(written, extra_files=files).module()
    given_ = [torch.from_numpy(seen[name]) for name in seen]
    found = [part.detach().numpy() for part in loaded(*given_)]
    assert_alike(found, by_torch(policy, seen))
    assert json.loads(files["understudy.policy"])["game"] == "toy"
    one = loaded(*(part[:1] for part in given_))  # not only as many rows as it was traced with
    np.testing.assert_array_equal(one[0].numpy(), found[0][:1])


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_what_is_chosen_is_legal_and_probabilities_sum_to_one(seed):
    policy = _copy_of(drawn(SHAPES["plain"], seed % 7))
    seen = situations(policy.shape, seed)
    seen["uniform"][:50] = np.float32(1) - np.float32(6e-8)
    found = policy.decide(**seen)
    for head, (first, last) in enumerate(zip(policy.borders, policy.borders[1:], strict=False)):
        legal = seen["legal"][:, first:last]
        some = legal.any(axis=1)
        chosen = np.take_along_axis(legal, found.action[:, head, None], axis=1)[:, 0]
        assert chosen[some].all()
        np.testing.assert_allclose(found.probabilities[:, first:last].sum(1), 1, atol=1e-5)
        assert (found.probabilities[:, first:last][~legal & some[:, None]] == 0).all()


def _copy_of(policy):
    from understudy.export.numpy_policy import NumpyPolicy

    return NumpyPolicy(policy.shape, {k: v.numpy() for k, v in policy.state_dict().items()})
