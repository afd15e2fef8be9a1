import itertools
import json
import math
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from tests.learn.fitting import fit
from tests.learn.toy_samples import TOY, write_toy
from understudy.data.files import sweep
from understudy.errors import InputError
from understudy.learn import metrics_log
from understudy.learn.base import Loss, read_evaluation, usable_device
from understudy.learn.metrics_log import read_metrics
from understudy.learn.policy import load_policy
from understudy.learn.supervised.cloning import Cloning
from understudy.learn.supervised.dataset import Batches
from understudy.learn.supervised.loop import learning_rate

AGAIN = "Start over: the same command with --fresh"


@pytest.fixture(autouse=True)
def no_tensorboard(monkeypatch):
    """It takes a second to import; `test_metrics_log.py` looks at it."""
    monkeypatch.setattr(metrics_log, "tensorboard", lambda folder, step: None)


class StoppedError(Exception):
    pass


def stop_at(step):
    def progress(now, steps, metrics):
        if now == step:
            raise StoppedError

    return progress


def weights(out):
    return [load_file(out / name) for name in ("weights.safetensors", "last.safetensors")]


def assert_same_training(out, other):
    """Bit for bit the same weights, and the same numbers but for times."""
    for one, two in zip(weights(out), weights(other), strict=True):
        assert one.keys() == two.keys()
        assert all(torch.equal(one[name], two[name]) for name in one)
    assert timeless(read_metrics(out)) == timeless(read_metrics(other))
    files = [read_evaluation(folder) for folder in (out, other)]
    assert timeless(files[:1]) == timeless(files[1:])


def timeless(lines):
    return [
        {key: value for key, value in line.items() if key not in ("seconds", "samples_per_second")}
        for line in lines
    ]


@pytest.fixture(scope="module")
def somewhere(tmp_path_factory):
    return tmp_path_factory.mktemp("unbroken") / "toy"


@pytest.fixture
def whole(samples, recipe, somewhere):
    """The folder of a training that was never stopped; the first test to ask makes it."""
    fit(recipe, samples, somewhere, seed=1)
    return somewhere


@pytest.mark.parametrize("step", [1, 3, 4, 5, 7, 8, 11, 12])
def test_stopping_changes_nothing(samples, recipe, whole, tmp_path, step):
    out = tmp_path / "toy"
    with pytest.raises(StoppedError):
        fit(recipe, samples, out, seed=1, progress=stop_at(step))
    fit(recipe, samples, out, seed=1)
    assert_same_training(out, whole)


def test_stopping_again_and_again_changes_nothing(samples, recipe, whole, tmp_path):
    out = tmp_path / "toy"
    for step in (5, 6, 9, 10):
        with pytest.raises(StoppedError):
            fit(recipe, samples, out, seed=1, progress=stop_at(step))
    fit(recipe, samples, out, seed=1)
    assert_same_training(out, whole)


def test_an_objective_that_throws_dice_resumes_exactly_too(samples, recipe, tmp_path):
    noisy = replace(recipe, objective=Noisy())
    fit(noisy, samples, tmp_path / "a", seed=1)
    with pytest.raises(StoppedError):
        fit(noisy, samples, tmp_path / "b", seed=1, progress=stop_at(6))
    torch.rand(3)  # what happens in between does not matter
    fit(noisy, samples, tmp_path / "b", seed=1)
    assert_same_training(tmp_path / "a", tmp_path / "b")


KILLED = """
import os, signal, sys
from pathlib import Path
import torch
from tests.learn.fitting import fit
from tests.learn.toy_samples import TOY
from understudy.learn import metrics_log
from understudy.learn.supervised.cloning import Cloning
from understudy.learn.supervised.recipe import PolicyRecipe

metrics_log.tensorboard = lambda folder, step: None
torch.set_num_threads(1)
save, calls = torch.save, []

def save_half_of_the_second(content, path):
    save(content, path)
    calls.append(path)
    if len(calls) == 2:
        os.truncate(path, path.stat().st_size // 2)
        os.kill(os.getpid(), signal.SIGKILL)

torch.save = save_half_of_the_second
recipe = PolicyRecipe(
    description="a toy", decisions=TOY, objective=Cloning(), steps=12, hidden=(8,), batch_size=32,
    learning_rate=0.01, warmup=3, evaluate_every=3, checkpoint_every=4,
)
fit(recipe, Path(sys.argv[1]), Path(sys.argv[2]), seed=1)
"""


def test_being_killed_while_writing_a_checkpoint_changes_nothing(samples, recipe, whole, tmp_path):
    out = tmp_path / "toy"
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(samples), str(out)],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    assert torch.load(out / "checkpoint.pt", weights_only=True)["position"]["step"] == 4
    assert [line["step"] for line in read_metrics(out)] == [3, 6]
    with (out / "metrics.jsonl").open("a") as file:
        file.write('{"step": 7, "tra')  # a line that was being written
    sweep(out)
    fit(recipe, samples, out, seed=1)
    assert_same_training(out, whole)


def test_a_finished_training_is_only_read(samples, recipe, whole):
    before = {path: path.stat().st_mtime_ns for path in whole.iterdir()}
    again = fit(recipe, samples, whole, seed=1, progress=stop_at(1))
    assert again == read_evaluation(whole)
    assert {path: path.stat().st_mtime_ns for path in whole.iterdir()} == before


def test_the_same_seed_gives_the_same_and_another_another(samples, recipe, whole, tmp_path):
    fit(recipe, samples, tmp_path / "toy", seed=1)
    assert_same_training(tmp_path / "toy", whole)
    fit(recipe, samples, tmp_path / "other", seed=2)
    assert not torch.equal(
        weights(whole)[0]["options.weight"], weights(tmp_path / "other")[0]["options.weight"]
    )


def test_the_callers_random_numbers_are_left_alone(samples, recipe, tmp_path):
    before = torch.get_rng_state()
    fit(recipe, samples, tmp_path / "toy", seed=1)
    assert torch.equal(torch.get_rng_state(), before)


def test_every_evaluation_is_a_line_and_every_step_is_told(samples, recipe, tmp_path):
    told = []
    fit(recipe, samples, tmp_path / "toy", 1, progress=lambda *now: told.append(now))
    lines = read_metrics(tmp_path / "toy")
    assert [line["step"] for line in lines] == [3, 6, 9, 12]
    assert [(step, steps) for step, steps, _ in told] == [(step, 12) for step in range(1, 13)]
    assert told[3][2] == {key: value for key, value in lines[0].items() if key != "step"}
    expected = {"step", "train/loss", "train/log_loss", "train/value_error", "train/gradient_norm"}
    expected |= {"val/loss", "learning_rate", "samples_per_second", "seconds"}
    for head, name in itertools.product(
        TOY.heads, ("accuracy", "majority", "majority_legal", "log_loss")
    ):
        expected.add(f"val/{name}/{head}")
    assert lines[0].keys() == expected
    assert lines[-1]["val/loss"] < lines[0]["val/loss"]


def test_what_can_be_learnt_is_learnt(tmp_path, recipe):
    write_toy(tmp_path / "samples", (2_000, 2_000))
    longer = replace(recipe, steps=400, hidden=(32, 32), batch_size=128, evaluate_every=200)
    test = fit(longer, tmp_path / "samples", tmp_path / "toy", seed=0)["test"]
    move, fire = test["heads"]["move"], test["heads"]["fire"]
    assert test["rows"] == 400
    assert move["accuracy"] > 0.95
    assert move["accuracy"] > move["majority"] + 0.3
    assert fire["accuracy"] == 1
    assert fire["log_loss"] < 0.05


def test_majorities_are_those_of_the_training_split(samples, recipe, whole):
    (train,) = Batches(samples, TOY, "train", batch_size=8).in_order(1_000)
    (test,) = Batches(samples, TOY, "test", batch_size=8).in_order(1_000)
    scores = json.loads((whole / "evaluation.json").read_text())["test"]["heads"]
    for number, head in enumerate(TOY.heads):
        favourite = train.action[:, number].bincount().argmax()
        expected = (test.action[:, number] == favourite).float().mean().item()
        assert scores[head]["majority"] == pytest.approx(expected)
    # where firing is legal everybody fires, so here the mask makes all the difference
    often = train.action[:, 1].bincount().argmax().item()
    allowed = torch.where(test.legal[:, 4], often, 0)
    assert scores["fire"]["majority_legal"] == pytest.approx(
        (test.action[:, 1] == allowed).float().mean().item()
    )


@dataclass(frozen=True)
class Scripted:
    """Trains as cloning does; on the validation split (30 rows at once) it says what it is told."""

    losses: tuple[float, ...]
    by_outcome = False

    def __call__(self, policy, batch):
        if len(batch.action) != 30:
            return Cloning()(policy, batch)
        number = SEEN.setdefault(self.losses, itertools.count())
        return Loss(torch.tensor(self.losses[next(number)]), {})


SEEN: dict = {}


@dataclass(frozen=True)
class Noisy:
    by_outcome = False

    def __call__(self, policy, batch):
        loss, metrics = Cloning()(policy, batch)
        return Loss(loss * (1 + torch.rand(())), metrics)


def test_patience_ends_training_and_the_best_weights_are_kept(samples, recipe, tmp_path):
    losses = (5.0, 6.0, 3.0, 4.0, 3.0, 9.0, 9.0)  # the last two: the evaluation of the best
    impatient = replace(recipe, objective=Scripted(losses), patience=2, steps=60)
    done = fit(impatient, samples, tmp_path / "toy", 1)
    assert (done["steps"], done["best_step"]) == (15, 9)
    assert [line["val/loss"] for line in read_metrics(tmp_path / "toy")] == [5, 6, 3, 4, 3]
    best, last = weights(tmp_path / "toy")
    assert not torch.equal(best["options.weight"], last["options.weight"])
    better_and_better = replace(recipe, steps=60, objective=Scripted((3.0, 2.0, 1.0)))
    with pytest.raises(StoppedError):
        fit(better_and_better, samples, tmp_path / "short", 1, progress=stop_at(9))
    after_nine = load_policy(tmp_path / "short", TOY).state_dict()
    assert all(torch.equal(best[name], after_nine[name]) for name in best)


def test_an_ended_patience_is_remembered(samples, recipe, tmp_path):
    losses = (5.0, 6.0, 7.0, 7.0, 7.0, 0.0)
    impatient = replace(recipe, objective=Scripted(losses), patience=2, steps=60)
    with pytest.raises(StoppedError):
        fit(impatient, samples, tmp_path / "toy", 1, progress=stop_at(9))
    assert (
        torch.load(tmp_path / "toy" / "checkpoint.pt", weights_only=True)["position"]["step"] == 9
    )
    assert fit(impatient, samples, tmp_path / "toy", 1)["steps"] == 9


@pytest.mark.parametrize("size", [0, 10, 2_000])
def test_a_cut_checkpoint_is_refused_with_the_cure(samples, recipe, tmp_path, size):
    out = stopped(samples, recipe, tmp_path)
    with (out / "checkpoint.pt").open("r+b") as file:
        file.truncate(size)
    with pytest.raises(InputError) as error:
        fit(recipe, samples, out, seed=1)
    assert str(error.value).startswith(f"{out}/checkpoint.pt: not a whole checkpoint (")
    assert str(error.value).endswith(AGAIN)
    assert "\n" not in str(error.value)


def test_a_checkpoint_that_holds_no_numbers_is_refused(samples, recipe, tmp_path):
    out = stopped(samples, recipe, tmp_path)
    content = torch.load(out / "checkpoint.pt", weights_only=True)
    name = next(iter(content["network"]))
    content["network"][name].view(-1)[0] = torch.nan
    torch.save(content, out / "checkpoint.pt")
    with pytest.raises(InputError, match=f"'{name}' holds what is no number.*--fresh"):
        fit(recipe, samples, out, seed=1)


@pytest.mark.parametrize("content", [[1, 2], {"step": 3}, {"shape": "{}", "seed": 1}])
def test_a_checkpoint_of_something_else_is_refused(samples, recipe, tmp_path, content):
    (tmp_path / "toy").mkdir()
    torch.save(content, tmp_path / "toy" / "checkpoint.pt")
    with pytest.raises(InputError, match=r"checkpoint\.pt: .* Start over: the same command"):
        fit(recipe, samples, tmp_path / "toy", seed=1)


def test_a_checkpoint_of_another_shape_or_seed_is_refused(samples, recipe, tmp_path):
    out = stopped(samples, recipe, tmp_path)
    with pytest.raises(InputError) as error:
        fit(replace(recipe, hidden=(9,)), samples, out, seed=1)
    assert str(error.value) == f"{out}/checkpoint.pt: of a network of another shape. {AGAIN}"
    with pytest.raises(InputError) as error:
        fit(recipe, samples, out, seed=2)
    assert str(error.value) == f"{out}/checkpoint.pt: begun with seed 1, now 2. {AGAIN}"


def test_code_in_a_checkpoint_is_not_run(samples, recipe, tmp_path):
    class Trap:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "sprung",))

    (tmp_path / "toy").mkdir()
    torch.save({"shape": Trap()}, tmp_path / "toy" / "checkpoint.pt")
    with pytest.raises(InputError, match="not a whole checkpoint"):
        fit(recipe, samples, tmp_path / "toy", seed=1)
    assert not (tmp_path / "sprung").exists()


def stopped(samples, recipe, tmp_path):
    with pytest.raises(StoppedError):
        fit(recipe, samples, tmp_path / "toy", seed=1, progress=stop_at(5))
    return tmp_path / "toy"


def test_a_damaged_evaluation_is_refused(samples, recipe, tmp_path):
    (tmp_path / "evaluation.json").write_text('{"steps": 1')
    with pytest.raises(InputError, match=r"evaluation\.json is damaged .* run the same command"):
        fit(recipe, samples, tmp_path, seed=1)


def test_a_loss_that_is_no_number_ends_training_and_spoils_nothing(samples, recipe, tmp_path):
    @dataclass(frozen=True)
    class Exploding:
        by_outcome = False

        def __call__(self, policy, batch):
            loss = Cloning()(policy, batch).value
            return Loss(loss * (math.nan if next(calls) == 6 else 1.0), {})

    calls = itertools.count()  # the fourth of them is an evaluation
    with pytest.raises(InputError, match=r"the loss is nan after step 5, so .* learning_rate"):
        fit(replace(recipe, objective=Exploding()), samples, tmp_path / "toy", seed=1)
    saved = torch.load(tmp_path / "toy" / "checkpoint.pt", weights_only=True)
    assert saved["position"]["step"] == 4
    assert all(torch.isfinite(weight).all() for weight in saved["network"].values())


def test_a_gradient_that_is_no_number_ends_training_too(samples, recipe, tmp_path):
    @dataclass(frozen=True)
    class Cliff:
        by_outcome = False

        def __call__(self, policy, batch):
            return Loss((policy(batch.observation).value.sum() * 0).sqrt(), {})

    with pytest.raises(InputError, match="the gradient is nan after step 0, so training ends"):
        fit(replace(recipe, objective=Cliff()), samples, tmp_path / "toy", seed=1)


def test_a_missing_graphics_card_is_one_line():
    if torch.cuda.is_available():
        pytest.skip("there is one here")
    with pytest.raises(InputError) as error:
        usable_device("cuda")
    assert str(error.value).startswith("cannot train on 'cuda' here (")
    assert str(error.value).endswith("Train on the processor: --device cpu")
    with pytest.raises(InputError, match="cannot train on 'abacus' here"):
        usable_device("abacus")


def test_empty_splits_are_noticed_before_training(tmp_path, recipe):
    write_toy(tmp_path / "samples", [45])  # no test match
    with pytest.raises(InputError, match="is in split 'test'"):
        fit(recipe, tmp_path / "samples", tmp_path / "toy", seed=1)
    assert not (tmp_path / "toy").exists()


def test_the_learning_rate_rises_then_falls(recipe):
    rates = [learning_rate(recipe, step) for step in range(12)]
    assert rates[0] == pytest.approx(0.01 / 3)
    assert rates[2] == max(rates)
    assert rates[2:] == sorted(rates[2:], reverse=True)
    assert rates[6] == pytest.approx(0.005)
    assert learning_rate(recipe, 12) == pytest.approx(0)
    steady = replace(recipe, cosine=False, warmup=0)
    assert {learning_rate(steady, step) for step in range(12)} == {0.01}


def test_the_rate_falls_in_stages_of_equal_length(recipe):
    staged = replace(recipe, steps=9, warmup=0, rate_stages=(1.0, 0.5, 0.25))
    factors = [learning_rate(staged, step) / staged.learning_rate for step in range(9)]
    assert factors == [1.0] * 3 + [0.5] * 3 + [0.25] * 3
    assert "cosine" not in staged.settings() and staged.settings()["rate_stages"]
    assert "rate_stages" not in recipe.settings()  # so that trainings begun before go on
    with pytest.raises(ValueError, match="rate_stages must be above 0"):
        replace(recipe, rate_stages=(1.0, 0.0))


def test_every_kth_weights_are_kept_and_nothing_else_changes(samples, recipe, whole, tmp_path):
    out = tmp_path / "toy"
    fit(replace(recipe, keep_every=5), samples, out, seed=1)
    kept = sorted((out / "kept").iterdir())
    assert [path.name for path in kept] == ["toy-000005", "toy-000010"]
    assert not torch.equal(*(next(load_policy(one, TOY).parameters()) for one in kept))
    assert_same_training(out, whole)
