"""Learning by play as a whole."""

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.games.scml.agent.checkpoint import read_checkpoint
from understudy.games.scml.agent.policy import SHIPPED
from understudy.games.scml.learning.online.fields import Company, block_of, layouts
from understudy.games.scml.learning.online.learner import LearnerSettings, Rates
from understudy.games.scml.learning.online.recipe import OnlineRecipe
from understudy.games.scml.learning.online.rollout import collect
from understudy.games.scml.learning.online.train import OnlineSettings, OnlineTraining, Stage
from understudy.learn.metrics_log import MetricsLogger, read_metrics
from understudy.learn.recipe import TrainingJob, TrainOptions

SMALL = OnlineSettings(
    stages=(
        Stage(name="l4", iterations=1, rates=Rates(learning_rates={"l4": 1e-3}), days=10),
        Stage(
            name="all",
            iterations=2,
            rates=Rates(
                learning_rates={"l2": 1e-4, "l3": 1e-3, "l4": 1e-3}, kl_weight=0.01, goal_noise=0.1
            ),
            days=10,
        ),
    ),
    learner=LearnerSettings(epochs=1, batch_size=256, critic_hidden=32),
    company=Company(past=0.5, conserved=0.5, most_days=10),
    worlds=4,
    rollouts=2,
    keep=0.7,
    critic_first=0,
    snapshot_every=1,
    most_past=2,
    choosing=6,
    averaging=0.75,
)


START = read_checkpoint(SHIPPED)
ROOT = Path(__file__).parents[5]


def job(folder: Path) -> TrainingJob:
    return TrainingJob(run=Run(folder), out=folder / "models" / "online", seed=5, workers=0)


def weights(path: Path) -> dict[str, np.ndarray]:
    layers = read_checkpoint(path).layers
    return {f"{layer}.{n}": v for layer, one in layers.items() for n, v in one.items()}


def test_a_training_that_was_stopped_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    whole = OnlineTraining(SMALL, read_checkpoint(SHIPPED), job(tmp_path / "a"))
    evaluation = whole.run()
    stopped = job(tmp_path / "b")

    def stop(step: int, steps: int, metrics: object) -> None:
        if step == 2:
            raise KeyboardInterrupt

    def stop_at_once(*told: object) -> None:
        raise KeyboardInterrupt

    for owner, name in ((MetricsLogger, "write"), (OnlineTraining, "_save")):
        with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(owner, name, stop_at_once)
            OnlineTraining(SMALL, read_checkpoint(SHIPPED), stopped).run()
    with pytest.raises(KeyboardInterrupt):
        OnlineTraining(SMALL, read_checkpoint(SHIPPED), replace(stopped, progress=stop)).run()
    goes_on = OnlineTraining(SMALL, read_checkpoint(SHIPPED), stopped)
    goes_on._resume()
    left, mean_l4 = weights(stopped.out / "weights.safetensors"), goes_on.mean["l4"]
    assert all(np.array_equal(left[f"l4.{name}"], values) for name, values in mean_l4.items())
    assert any((goes_on._layers()["l4"][name] != mean_l4[name]).any() for name in mean_l4)
    again = OnlineTraining(SMALL, read_checkpoint(SHIPPED), stopped).run()
    assert again["stages"] == evaluation["stages"]
    told, known = (
        [{**line, "seconds": 0} for line in read_metrics(tmp_path / f / "models/online")]
        for f in "ab"
    )
    assert told == known and len(told) == SMALL.iterations
    for name in ("l4", "all"):
        one, other = (
            weights(tmp_path / f / "models/online/stages" / f"{name}.safetensors") for f in "ab"
        )
        assert all(np.array_equal(one[key], other[key]) for key in one)
    mean, other = (
        weights(tmp_path / f / "models/online/stages/averaged.safetensors") for f in "ab"
    )
    assert all(np.array_equal(mean[key], other[key]) for key in mean)
    start = weights(SHIPPED)
    moved = {key.split(".")[0] for key in start if not np.array_equal(start[key], one[key])}
    assert moved == {"l2", "l3", "l4"}
    after_l4 = weights(tmp_path / "a/models/online/stages/l4.safetensors")
    assert {k.split(".")[0] for k in start if not np.array_equal(start[k], after_l4[k])} == {"l4"}


SCRIPT = """
import sys
from pathlib import Path
from tests.games.scml.learning.online.test_train import SMALL, START, job
from understudy.games.scml.learning.online.train import OnlineTraining
OnlineTraining(SMALL, START, job(Path(sys.argv[1]))).run()
"""


@pytest.mark.slow
def test_a_training_that_was_killed_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    """kill -9 at three different moments, the same command again each time."""
    whole, killed = tmp_path / "a", tmp_path / "b"

    def started(folder: Path) -> "subprocess.Popen[bytes]":
        return subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder)], cwd=ROOT)

    assert started(whole).wait(250) == 0
    lines, metrics = 0, killed / "models/online/metrics.jsonl"
    for pause in (0.0, 0.2, 0.0):
        process = started(killed)
        while process.poll() is None and _lines(metrics) <= lines:
            time.sleep(0.01)
        time.sleep(pause)
        process.kill()  # SIGKILL
        process.wait()
        lines = _lines(metrics)
    assert started(killed).wait(250) == 0
    one, other = (
        weights(folder / "models/online/weights.safetensors") for folder in (whole, killed)
    )
    assert all(np.array_equal(one[key], other[key]) for key in one)


def _lines(path: Path) -> int:
    return len(path.read_bytes().splitlines()) if path.is_file() else 0


def test_a_risk_is_trained_under_and_written_down(tmp_path: Path) -> None:
    def first(risk: float | None, name: str) -> tuple[float, int]:
        company = replace(SMALL.company, places=("first",))
        settings = replace(SMALL, risk=risk, company=company, keep=1.0, thrifty=False)
        training = OnlineTraining(settings.lasting(2), START, job(tmp_path / name))
        played = collect(training._jobs(0, training.acted)[0]).played
        first = np.searchsorted(played.decision, np.unique(played.world, return_index=True)[1])
        training._write(tmp_path / name / "w.safetensors")
        found = read_checkpoint(tmp_path / name / "w.safetensors").about.risk
        return found, int(played.left[first, 1:].sum())

    (none, known), (some, counted) = first(None, "a"), first(0.5, "b")
    assert (none, some) == (0.0, 0.5)
    assert counted > known  # more may be promised for the days to come, from the first day on
    told = OnlineRecipe(description="", online=SMALL).with_options(
        "online", TrainOptions(own={"risk": 0.2})
    )
    assert told.online.risk == told.settings()["risk"] == 0.2
    with pytest.raises(InputError, match="from 0 to 1, not 2"):
        OnlineTraining(replace(SMALL, risk=2.0), START, job(tmp_path))


def test_weights_for_thrifty_buyers_play_their_part_and_stay_what_they_are(tmp_path: Path) -> None:
    company = replace(SMALL.company, places=("first",), official=1.0, past=0.0)
    whole = replace(SMALL.lasting(2), company=company, keep=1.0)
    learning = OnlineTraining(whole, START, job(tmp_path / "a"))
    one = OnlineTraining(replace(whole, thrifty=False), START, job(tmp_path / "b"))
    theirs, own = (len(collect(by._jobs(0, by.acted)[0]).played.world) for by in (learning, one))
    assert 0 < theirs < own  # their decisions are not learnt from
    learning.run()
    end = tmp_path / "a/models/online/stages/all.safetensors"
    start, found = START.thrifty, read_checkpoint(end).thrifty
    for layer, kept in start.layers.items():
        assert all(np.array_equal(kept[name], found.layers[layer][name]) for name in kept)
    assert not np.array_equal(weights(end)["l3.torso.0.bias"], START.layers["l3"]["torso.0.bias"])
    assert one.start.thrifty is None
    none = replace(company, official=0.0)  # champions order little
    with pytest.raises(InputError, match=r"online\.thrifty=false"):
        OnlineTraining(replace(whole, company=none), START, job(tmp_path / "c")).run()


def test_another_seed_is_refused(tmp_path: Path) -> None:
    OnlineTraining(SMALL.lasting(2), read_checkpoint(SHIPPED), job(tmp_path)).run()
    other = replace(job(tmp_path), seed=6)
    with pytest.raises(InputError, match="begun with seed 5, now 6"):
        OnlineTraining(SMALL.lasting(2), read_checkpoint(SHIPPED), other).run()


def test_no_world_serves_two_purposes() -> None:
    blocks = {
        purpose: {block_of(purpose, seed, k) for seed in range(20) for k in range(20)}  # type: ignore[arg-type]
        for purpose in ("train", "choose", "report")
    }
    assert not blocks["train"] & blocks["choose"]
    assert not blocks["report"] & (blocks["train"] | blocks["choose"])
    assert all(len(found) == 400 for found in blocks.values())


def test_learners_sit_in_turn_at_all_places_among_rivals_and_selves() -> None:
    found = layouts(Company(past=0.5, official=0.0, conserved=0.5), block_of("train", 0), 0, 60, 2)
    assert [one.level for one in found[:6]] == [0, 1, 2, 0, 1, 2]
    assert {number for one in found for number in one.learners.values()} == {0, 1, 2}
    assert all(one.learners[one.layout.mine] == 0 for one in found)
    assert 15 < sum(one.conserves for one in found) < 45


def test_iterations_are_shared_out_as_the_stages_are() -> None:
    long = replace(SMALL, stages=(*SMALL.stages, replace(SMALL.stages[0], name="c", iterations=97)))
    assert [stage.iterations for stage in long.lasting(10).stages] == [1, 1, 8]
    assert [stage.iterations for stage in long.lasting(3).stages] == [1, 1, 1]
    with pytest.raises(InputError, match="3 stages need as many"):
        long.lasting(2)


def test_steps_get_smaller_until_a_stage_ends() -> None:
    falling = Rates(learning_rates={"l3": 1e-3, "l4": 2e-3}, rate_end=0.2)
    stages = (Stage(name="a", iterations=2, rates=falling), *SMALL.stages)
    settings = replace(SMALL, stages=stages, critic_first=1)
    assert settings.rates_at(0).learning_rates == {}  # the critic learns alone
    assert settings.rates_at(1).learning_rates == pytest.approx({"l3": 0.6e-3, "l4": 1.2e-3})
    assert settings.rates_at(2) == SMALL.stages[0].rates
    assert falling.at(1.0).learning_rates == pytest.approx({"l3": 0.2e-3, "l4": 0.4e-3})


def test_the_mean_follows_the_weights_and_is_compared_with_the_stages(tmp_path: Path) -> None:
    training = OnlineTraining(SMALL, START, job(tmp_path))
    first = training.mean["l3"]["response.bias"].copy()
    with torch.no_grad():
        training.learner.player.l3.response.bias += 1.0
    wanted = first
    for _ in range(2):
        training._average()
        wanted = wanted + 0.25 * (first + 1.0 - wanted)
    np.testing.assert_allclose(training.mean["l3"]["response.bias"], wanted, rtol=1e-6)
    for layer, name in (("l4", "each.0.bias"), ("l3", "torso.0.weight")):  # these have not moved
        assert np.array_equal(training.mean[layer][name], START.layers[layer][name])
    found = OnlineTraining(SMALL.lasting(2), START, job(tmp_path)).run()
    assert list(found["stages"]) == ["start", "l4", "all", "averaged"]


def test_a_missing_start_names_the_cure(tmp_path: Path) -> None:
    recipe = OnlineRecipe(description="", online=SMALL)
    with pytest.raises(InputError, match="--from shipped"):
        recipe.inputs(Run(tmp_path))
    told = recipe.with_options("online", TrainOptions(start="shipped", iterations=2))
    assert told.inputs(Run(tmp_path)) == {"weights": [SHIPPED]}
    assert told.online.iterations == 2
    torch.manual_seed(0)


def test_oneshot_is_a_run_of_its_own(tmp_path: Path) -> None:
    company = Company(rivals=("AlmostEqual",), places=("first", "last"), track="oneshot")
    found = layouts(company, block_of("train", 0), 0, 40, 0)
    assert {one.layout.track for one in found} == {"oneshot"}
    assert {len(one.layout.sizes) for one in found} == {2}
    assert {one.level for one in found} == {0, 2}
    names = {name for one in found for name in one.layout.players}
    assert names == {"AlmostEqual", "Greedy", "RandDist", "EqualDist"}
    recipe = OnlineRecipe(description="", online=replace(SMALL, company=company), start="shipped")
    with pytest.raises(InputError, match="horizon of 10 days, not 0"):
        recipe.fit(job(tmp_path))
