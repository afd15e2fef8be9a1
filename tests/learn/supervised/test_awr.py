import json
import math
from dataclasses import replace

import pytest
import torch

from tests.learn.fitting import fit
from tests.learn.toy_samples import TOY, write_toy
from understudy.data.runs import Run
from understudy.data.samples import decisions
from understudy.errors import InputError
from understudy.learn import metrics_log
from understudy.learn.policy import FactoredPolicy, PolicyShape, load_policy
from understudy.learn.recipe import TrainOptions
from understudy.learn.supervised.awr import AdvantageWeighted, advantage_weights
from understudy.learn.supervised.cloning import Cloning
from understudy.learn.supervised.dataset import Batch
from understudy.learn.supervised.objective import Objective


@pytest.fixture(autouse=True)
def no_tensorboard(monkeypatch):
    """It takes a second to import."""
    monkeypatch.setattr(metrics_log, "tensorboard", lambda folder, step: None)


def drawn(rows=64, hidden=(8,)):
    """A policy and decisions of all kinds, in doubles."""
    chance = torch.Generator().manual_seed(3)
    policy = FactoredPolicy(PolicyShape(TOY.features, TOY.heads, hidden), seed=2).double()
    batch = Batch(
        torch.rand(rows, 3, generator=chance, dtype=torch.float64),
        torch.randint(0, 2, (rows, 2), generator=chance),
        torch.ones(rows, 5, dtype=torch.bool),
        torch.randint(-1, 2, (rows,), generator=chance).double(),
        torch.zeros(rows, dtype=torch.float64),
    )
    return policy, batch


def gradient(objective, policy, batch):
    policy.zero_grad()
    objective(policy, batch).value.backward()
    return {name: weight.grad.clone() for name, weight in policy.named_parameters()}


# --- the definition ------------------------------------------------------------------------------


def test_weights_are_exp_of_the_advantage_capped_and_one_on_average():
    found = advantage_weights(torch.tensor([0.0, 1.0, -1.0, 9.0]), 0.5, 20.0)
    expected = torch.tensor([1.0, math.e**2, math.e**-2, 20.0])
    assert torch.allclose(found.weight, expected / expected.mean())
    assert found.weight.mean().item() == pytest.approx(1)
    assert found.clipped.item() == 0.25


def test_worked_example():
    """One head of two options, 3/4 and 1/4; the expected outcome is the only feature."""
    policy = FactoredPolicy(PolicyShape(("x",), {"go": 2}, ()), seed=None)
    with torch.no_grad():
        policy.options.bias[:] = torch.tensor([0.75, 0.25]).log()
        policy.outcome.weight[:] = 1.0
    rows = Batch(
        torch.tensor([[0.8], [-0.4]]),
        torch.tensor([[0], [1]]),
        torch.ones(2, 2, dtype=torch.bool),
        torch.tensor([1.0, -1.0]),
        torch.zeros(2),
    )
    value, metrics = AdvantageWeighted(temperature=1.0, value_weight=0.3)(policy, rows)
    good, bad = math.exp(0.2), math.exp(-0.6)  # 1 - 0.8, and -1 + 0.4
    copied = -(good * math.log(0.75) + bad * math.log(0.25)) / (good + bad)
    assert value.item() == pytest.approx(copied + 0.3 * (0.04 + 0.36) / 2)
    assert metrics["log_loss"].item() == pytest.approx(-math.log(0.75 * 0.25) / 2)
    share = (good + bad) ** 2 / (2 * (good**2 + bad**2))
    assert metrics["effective"].item() == pytest.approx(share)


def test_at_an_endless_temperature_it_is_cloning():
    policy, batch = drawn()
    hot = gradient(AdvantageWeighted(temperature=1e12), policy, batch)
    for name, expected in gradient(Cloning(), policy, batch).items():
        assert torch.allclose(hot[name], expected, rtol=1e-9, atol=1e-13), name
    cold = gradient(AdvantageWeighted(temperature=1.0), policy, batch)
    assert not torch.allclose(cold["options.weight"], hot["options.weight"], rtol=1e-2)


@pytest.mark.parametrize("temperature", [0.2, 1.0, 5.0])
def test_the_value_learns_by_its_own_error_and_not_through_the_weights(temperature):
    policy, batch = drawn(hidden=())  # nothing shared with the choice
    found = gradient(AdvantageWeighted(temperature=temperature), policy, batch)
    expected = gradient(Cloning(), policy, batch)
    for name in ("outcome.weight", "outcome.bias"):
        assert torch.allclose(found[name], expected[name], rtol=1e-12, atol=0), name


# --- a toy whose answer is known -----------------------------------------------------------------

OUTCOMES = {0: [1, 1, 1, -1, 0, -1], 1: [1, 1, 1, 1, -1], 2: [-1, -1, -1, -1, 1]}
"""Of matches in which each option was taken: 0 most often, 1 with the best ends, 2 the worst."""


def converged(objective):
    """The options' probabilities once a policy has learnt OUTCOMES by heart."""
    policy = FactoredPolicy(PolicyShape(("x",), {"go": 3}, ()), seed=0).double()
    taken = [(option, end) for option, ends in OUTCOMES.items() for end in ends]
    action, outcome = (torch.tensor(column) for column in zip(*taken, strict=True))
    seen = torch.zeros(len(taken), 1, dtype=torch.float64)
    legal = torch.ones(len(taken), 3, dtype=torch.bool)
    batch = Batch(seen, action[:, None], legal, outcome.double(), seen[:, 0])
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.1)
    for _ in range(600):
        optimizer.zero_grad()
        objective(policy, batch).value.backward()
        optimizer.step()
    return policy.probabilities(seen[:1], legal[:1])[0]


def closed_form(temperature):
    """Of Peng et al. 2019: as often as recorded, times the mean of exp(advantage / temperature)."""
    mean = sum(map(sum, OUTCOMES.values())) / sum(map(len, OUTCOMES.values()))
    share = torch.tensor(
        [sum(math.exp((end - mean) / temperature) for end in ends) for ends in OUTCOMES.values()],
        dtype=torch.float64,
    )
    return share / share.sum()


def test_cloning_copies_the_mixture():
    assert torch.allclose(converged(Cloning()), torch.tensor([6, 5, 5]).double() / 16, atol=1e-4)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_it_prefers_what_ended_well_in_proportion_to_exp_of_the_advantage(temperature):
    found = converged(AdvantageWeighted(temperature=temperature, weight_max=1e9))
    assert torch.allclose(found, closed_form(temperature), atol=1e-4)
    assert found[1] / found[0] > 5 / 6 > found[2] / found[0]  # 5 / 6: as often as recorded


# --- as a recipe ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def somewhere(tmp_path_factory):
    return tmp_path_factory.mktemp("clone") / "clone"


@pytest.fixture
def clone(recipe, samples, somewhere):
    """Of a width of its own; the first test to ask trains it."""
    fit(replace(recipe, hidden=(5,)), samples, somewhere)
    return somewhere


@pytest.fixture
def awr(recipe, clone):
    return replace(recipe, objective=AdvantageWeighted(), start=str(clone), steps=6)


def test_it_begins_as_the_clone_whatever_the_seed(awr, clone, samples):
    expected = load_policy(clone, TOY)
    for seed in (0, 1):
        task = awr.prepare(samples, clone, seed, torch.device("cpu"))
        assert task.identity == expected.shape.to_json() != awr.shape.to_json()
        begun = task.network.state_dict()
        assert all(torch.equal(begun[name], was) for name, was in expected.state_dict().items())


def test_it_names_what_it_begins_with_and_nothing_that_does_not_matter(awr, recipe, samples, clone):
    run = Run(samples.parent)
    assert awr.inputs(run)["weights"] == [clone / "weights.safetensors"]
    assert recipe.inputs(run)["weights"] == []
    settings = json.loads(json.dumps(awr.settings()))
    assert settings["start"] == str(clone)
    assert settings["objective"]["name"] == "AdvantageWeighted"
    assert replace(awr, hidden=(7,)).settings() == awr.settings()
    assert replace(recipe, hidden=(7,)).settings() != recipe.settings()


def test_another_model_to_begin_with_can_be_named_where_there_is_one(awr, recipe, clone):
    assert awr.with_options("awr", TrainOptions(start="other")).start == "other"
    assert awr.with_options("awr", TrainOptions()) == awr
    with pytest.raises(InputError, match=r"'imitate' learns from samples.*leave out --from"):
        recipe.with_options("imitate", TrainOptions(start="other"))
    for recipe_ in (awr, recipe):
        assert recipe_.with_options("it", TrainOptions(init=clone)).start == str(clone)
    with pytest.raises(InputError, match="give one of them"):
        awr.with_options("awr", TrainOptions(init=clone, start="other"))


def test_a_stop_changes_nothing(awr, samples, tmp_path):
    fit(awr, samples, tmp_path / "whole")

    def stop(step, steps, metrics):
        if step == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(awr, samples, tmp_path / "stopped", progress=stop)
    fit(awr, samples, tmp_path / "stopped")
    files = [tmp_path / name / "last.safetensors" for name in ("whole", "stopped")]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_clone_for_other_features_is_refused(awr, clone, samples):
    other = replace(awr, decisions=decisions("arena", "moves", 3, {"left": ""}, TOY.heads))
    with pytest.raises(InputError, match="made for 3 features, the arena now has 1"):
        other.prepare(samples, clone, 0, torch.device("cpu"))


def test_outcomes_that_never_differ_teach_nothing_and_that_is_said(awr, recipe, tmp_path):
    for number, outcome in enumerate((0.0, math.nan, 1.0)):
        folder = tmp_path / str(number) / "samples"
        write_toy(folder, (100,), outcome=[outcome] * 100)
        with pytest.raises(InputError) as refused:
            fit(awr, folder, folder.parent / "models" / "awr")
        told = "an unknown outcome" if math.isnan(outcome) else f"outcome {outcome:g}"
        assert f"has {told}, so none turned out better" in str(refused.value)
        assert "understudy record arena" in str(refused.value)
        assert "\n" not in str(refused.value)
    fit(recipe, folder, folder.parent / "models" / "imitate")  # cloning needs no outcomes


@pytest.mark.parametrize(
    "wrong", [{"temperature": 0.0}, {"weight_max": 0.0}, {"value_weight": -1.0}]
)
def test_a_senseless_setting_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        AdvantageWeighted(**wrong)


def test_it_is_an_objective():
    assert isinstance(AdvantageWeighted(), Objective)
