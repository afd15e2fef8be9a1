"""Acting and learning together: on a game whose best play is known, and exactly resumable."""

import json
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.learn.rl.toy_matches import NUMBERS, ToyMatches
from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.learn.base import read_evaluation
from understudy.learn.metrics_log import read_metrics
from understudy.learn.policy import FactoredPolicy, PolicyShape, load_policy, save_policy
from understudy.learn.recipe import TrainingJob
from understudy.learn.rl import train
from understudy.learn.rl.acting.actors import Actors
from understudy.learn.rl.acting.opponents import Opponent, packed
from understudy.learn.rl.env import SELF
from understudy.learn.rl.improve import improve
from understudy.learn.rl.learner import Learner, met_by
from understudy.learn.rl.losses.ppo import PPO
from understudy.learn.rl.losses.vtrace import OffPolicy
from understudy.learn.rl.recipe import START, RLRecipe

START_POLICY = FactoredPolicy(PolicyShape(NUMBERS.features, NUMBERS.heads, (8,)), 0)
REMEMBERING = FactoredPolicy(
    PolicyShape(NUMBERS.features, NUMBERS.heads, (8,), memory=3, plans=4, plan_width=4), 0
)
TINY = RLRecipe(
    description="a toy",
    decisions=NUMBERS,
    make=ToyMatches,
    objective=OffPolicy(groups=(("name",), ("shout",)), kl_weight=1e-3),
    opponents=((SELF, 2.0), ("right", 1.0), (START, 1.0)),
    iterations=6,
    rollouts=2,
    updates=3,
    matches=8,
    steps=8,
    staleness_max=8,
    learning_rate=0.01,
    log_every=2,
    checkpoint_every=2,
)


def learner(recipe=TINY, seed=0, begun=START_POLICY):
    return Learner(recipe, begun, met_by(recipe, begun), seed)


def weights(policy):
    return torch.cat([tensor.flatten() for tensor in policy.state_dict().values()])


def share_right(policy):
    """How likely the policy names the number it is shown, on average."""
    legal = torch.ones(3, 5, dtype=torch.bool)
    return policy.probabilities(torch.eye(3), legal).diagonal().mean().item()


# --- learning ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "objective",
    [
        OffPolicy(kl_weight=0.0, upgo_weight=0.0, value_weight=0.5),
        OffPolicy(kl_weight=0.0, policy_weight=0.0, value_weight=0.5),
        PPO(),
    ],
    ids=["v-trace", "upgo", "ppo"],
)
@pytest.mark.parametrize("critic", [None, (8,)], ids=["own value", "critic"])
def test_the_best_play_is_found(objective, critic):
    recipe = replace(
        TINY,
        objective=objective,
        critic=critic,
        opponents=((SELF, 1.0), ("right", 1.0)),
        matches=64,
        updates=3,
        decay=0.0,
        learning_rate=0.03,
    )
    assert share_right(START_POLICY) < 0.4
    policy = improve(recipe, START_POLICY, met_by(recipe, START_POLICY), 50_000, seed=1).policy
    assert share_right(policy) > 0.9


def test_a_heavy_teacher_holds_the_student_back():
    base = replace(TINY, opponents=((SELF, 1.0), ("right", 1.0)), matches=32, decay=0.0)
    free, held = (
        improve(recipe, START_POLICY, met_by(recipe, START_POLICY), 20_000, 0).policy
        for recipe in (replace(base, objective=OffPolicy(kl_weight=w)) for w in (0.0, 100.0))
    )
    assert share_right(free) > 0.5
    assert share_right(held) == pytest.approx(share_right(START_POLICY), abs=0.05)


def test_the_policy_one_begins_with_is_left_alone():
    before = weights(START_POLICY).clone()
    improve(TINY, START_POLICY, met_by(TINY, START_POLICY), 2_000, 0)
    assert torch.equal(weights(START_POLICY), before)


def test_a_learner_with_a_memory_goes_on_where_it_was():
    recipe = replace(TINY, critic=(4,), decay=0.0, objective=OffPolicy(kl_weight=0.0))
    met = [Opponent(SELF, 1.0)]
    first = improve(recipe, START_POLICY, met, 1_000, 0)
    fresh, remembering = (
        improve(recipe, first.policy, met, 1_000, 1, memory=memory)
        for memory in (None, first.memory)
    )
    assert remembering.metrics["train/value"] != fresh.metrics["train/value"]
    steps = {state["step"].item() for state in remembering.memory["optimizer"]["state"].values()}
    assert steps == {24.0}  # four iterations of three updates in each of two calls
    once = {state["step"].item() for state in first.memory["optimizer"]["state"].values()}
    assert once == {12.0}  # what was remembered is left alone
    assert set(first.tally) == {SELF} and first.agent_steps == 1024


def test_its_matches_go_on_with_it():
    """Else every lesson would begin with first moves only."""
    recipe = replace(TINY, decay=0.0)
    met = [Opponent(SELF, 1.0)]
    first = improve(recipe, START_POLICY, met, 1_000, 0)
    one = learner(recipe)
    one.recall(first.memory)
    terminated = [state["game"] for state in first.memory["matches"]]
    begun = [job.state["game"] for job in one._jobs(0)]
    assert len(begun) == recipe.rollouts
    for before, after in zip(terminated, begun, strict=True):
        assert set(before) == set(after)
        assert all(np.array_equal(before[name].numpy(), after[name]) for name in before)


def test_a_new_critic_learns_before_the_policy_does():
    one = learner(replace(TINY, critic=(4,), critic_first=2))
    before, critic = weights(one.policy).clone(), weights(one.actor_critic.critic).clone()
    for _ in range(2):
        one.iterate(Actors(0))
    assert torch.equal(weights(one.policy), before)
    assert not torch.equal(weights(one.actor_critic.critic), critic)
    one.iterate(Actors(0))
    assert not torch.equal(weights(one.policy), before)


def test_improving_takes_about_the_steps_it_is_given():
    rounds = Learner(TINY, START_POLICY, [Opponent(SELF, 1.0)], 0)
    rounds.run(5, Actors(0))
    assert rounds.agent_steps == 5 * 2 * 16 * 8
    assert rounds.version == 15


# --- exactly -------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_weights_and_another_does_not():
    met = [Opponent(SELF, 0.5), Opponent("past", 0.5, packed(START_POLICY))]
    one, again, other = (
        weights(improve(TINY, START_POLICY, met, 1_000, s).policy) for s in (3, 3, 4)
    )
    assert torch.equal(one, again)
    assert not torch.equal(one, other)


def test_processes_change_nothing():
    """Everybody has a memory and plans: the learner, the teacher and the frozen opponent."""
    here, there = learner(begun=REMEMBERING), learner(begun=REMEMBERING)
    here.run(3, Actors(0))
    with Actors(2) as actors:
        there.run(3, actors)
    assert torch.equal(weights(here.policy), weights(there.policy))
    assert here.since == there.since


@pytest.mark.slow
def test_a_dask_cluster_changes_nothing():
    from distributed import LocalCluster

    here, there = learner(), learner()
    here.run(3, Actors(0))
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        Actors(cluster.scheduler_address) as actors,
    ):
        there.run(3, actors)
    assert torch.equal(weights(here.policy), weights(there.policy))


def test_no_two_rollouts_share_their_dice():
    one = learner()
    seeds = [job.seed for iteration in range(3) for job in one._jobs(iteration)]
    assert len(set(seeds)) == len(seeds) == 6


def test_play_is_one_iteration_old_when_it_arrives_and_never_stale():
    one = learner()
    lags = []
    update = one.update

    def watched(batch):
        lags.append({one.version - int(version) for version in batch.version})
        return update(batch)

    one.update = watched
    one.run(4, Actors(0))
    # The first play is fresh, and waits for three updates; later play is three old and waits too.
    assert lags[:4] == [{0}, {1}, {2}, {3}]
    assert lags[6:9] == [{3}, {4}, {5}]
    assert one.since.lag_max == 5


def test_a_longer_replay_is_bounded_by_staleness():
    one = learner(replace(TINY, replay=9, uses=0.75, staleness_max=8))
    one.run(6, Actors(0))
    assert one.since.lag_max == 8


@pytest.mark.parametrize("ahead", [True, False], ids=["ahead", "in turns"])
@pytest.mark.parametrize(
    ("more", "begun"),
    [
        ({}, START_POLICY),
        ({"critic": (4,)}, START_POLICY),
        ({"memory": 3, "plans": 4}, START_POLICY),
        ({"critic": (4,)}, REMEMBERING),  # the teacher and the frozen opponent remember, too
    ],
    ids=["plain", "critic", "extended", "remembering"],
)
def test_a_refiner_taken_up_again_goes_on_as_if_it_had_never_stopped(more, begun, ahead):
    # Six steps: with matches of four, the stop is in the middle of some.
    recipe = replace(TINY, ahead=ahead, replay=2, staleness_max=11, steps=6, **more)
    whole, first, second = (learner(recipe, begun=begun) for _ in range(3))
    whole.run(6, Actors(0))
    for _ in range(3):
        first.iterate(Actors(0))
    second.restore(first.state())
    second.run(6, Actors(0))
    assert torch.equal(weights(whole.policy), weights(second.policy))
    assert whole.since == second.since and whole.agent_steps == second.agent_steps


# --- to files ------------------------------------------------------------------------------------


def refine(recipe, start, out, seed, progress=None):
    job = TrainingJob(run=Run(out.parent), out=out, seed=seed, workers=0, progress=progress)
    return train.refine(recipe, start, job)


@pytest.fixture
def start(tmp_path):
    save_policy(tmp_path / "imitate", START_POLICY)
    return tmp_path / "imitate"


def test_everything_is_written(start, tmp_path):
    seen = []
    out = tmp_path / "refine"
    evaluation = refine(TINY, start, out, 1, progress=lambda *told: seen.append(told[:2]))
    assert read_evaluation(out) == evaluation
    assert evaluation["iterations"] == 6 and evaluation["steps"] == 18
    assert set(evaluation["met"]) == {SELF, "right", START}
    shares = evaluation["met"]["right"]
    assert shares["won"] + shares["drawn"] + shares["lost"] == pytest.approx(1)
    lines = read_metrics(out)
    assert [line["step"] for line in lines] == [2, 4, 6]
    logged = {"train/loss", "train/policy", "train/upgo", "train/value", "train/kl"}
    logged |= {"train/entropy", "train/lag", "lag_max", "points/right", "agent_steps_per_second"}
    assert logged <= set(lines[-1])
    assert seen == [(step, 6) for step in range(1, 7)]
    expected = learner(seed=1)
    expected.run(6, Actors(0))
    assert torch.equal(weights(load_policy(out, NUMBERS)), weights(expected.policy))
    assert refine(TINY, start, out, 1) == evaluation  # what is finished is only read


KILLED = """
import os, signal, sys
from pathlib import Path
import torch
from dataclasses import replace
from tests.learn.rl.test_learner import TINY, refine
start, out, moment = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
changes = eval(sys.argv[4])
rename, count = os.replace, 0
def rename_or_die(*paths):
    global count
    count += 1
    if count == moment:
        os.kill(os.getpid(), signal.SIGKILL)
    rename(*paths)
os.replace = rename_or_die
refine(replace(TINY, **changes), start, out, 1)
"""


@pytest.mark.parametrize(
    ("moment", "changes"),
    [
        (4, {"memory": 3, "plans": 4, "steps": 6}),
        pytest.param(4, {"memory": 3, "ahead": False, "steps": 6}, marks=pytest.mark.slow),
        pytest.param(3, {}, marks=pytest.mark.slow),
        pytest.param(6, {"memory": 3, "plans": 4}, marks=pytest.mark.slow),
    ],
)
def test_killed_and_resumed_it_ends_the_same(start, tmp_path, moment, changes):
    whole, broken, recipe = tmp_path / "whole", tmp_path / "broken", replace(TINY, **changes)
    refine(recipe, start, whole, 1)
    call = [sys.executable, "-c", KILLED, str(start), str(broken), str(moment), repr(changes)]
    died = subprocess.run(call, capture_output=True)
    assert died.returncode == -signal.SIGKILL, died.stderr.decode()
    assert not (broken / "evaluation.json").exists()
    refine(recipe, start, broken, 1)
    for name in ("weights.safetensors",):
        assert (broken / name).read_bytes() == (whole / name).read_bytes()
    timing = ("seconds", "agent_steps_per_second")
    for one, other in zip(read_metrics(whole), read_metrics(broken), strict=True):
        assert {k: v for k, v in one.items() if k not in timing} == {
            k: v for k, v in other.items() if k not in timing
        }


def test_another_seed_or_shape_in_the_same_folder_is_refused(start, tmp_path):
    out = tmp_path / "refine"
    refine(TINY, start, out, 1)
    (out / "evaluation.json").unlink()
    with pytest.raises(
        InputError, match=r"begun with seed 1, now 2\. Start over: the same command"
    ):
        refine(TINY, start, out, 2)
    save_policy(start, FactoredPolicy(PolicyShape(NUMBERS.features, NUMBERS.heads, (9,)), 0))
    with pytest.raises(InputError, match=r"of a policy of another shape. Start over"):
        refine(TINY, start, out, 1)


def test_a_damaged_checkpoint_is_one_clear_line(start, tmp_path):
    out = tmp_path / "refine"
    refine(TINY, start, out, 1)
    (out / "evaluation.json").unlink()
    whole = (out / "checkpoint.pt").read_bytes()
    (out / "checkpoint.pt").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"checkpoint\.pt: not a whole checkpoint .* --fresh"):
        refine(TINY, start, out, 1)


def test_a_start_that_is_missing_is_one_clear_line(tmp_path):
    with pytest.raises(InputError, match="holds no trained policy"):
        refine(TINY, tmp_path / "nowhere", tmp_path / "refine", 1)


def test_a_loss_that_is_no_number_ends_training(start, tmp_path):
    explosive = replace(TINY, learning_rate=1e30, gradient_norm_max=1e30)
    with pytest.raises(InputError, match=r"the (loss|gradient) is (nan|inf).* learning_rate"):
        refine(explosive, start, tmp_path / "refine", 1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"iterations": 0},
        {"critic_first": 1},
        {"discount": 0.0},
        {"learning_rate": 0.0},
        {"staleness_max": 4},
        {"uses": 3.5},  # three updates, each with more sequences than there are
        {"memory": -1},
        {"plans": -1},
    ],
)
def test_a_senseless_setting_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        replace(TINY, **wrong)


def test_more_updates_than_sequences_are_refused():
    with pytest.raises(ValueError, match=r"25 updates are more than the .* x 2 x 12 sequences"):
        learner(replace(TINY, updates=25, staleness_max=99))


def test_a_critic_that_learns_alone_to_the_end_is_refused():
    with pytest.raises(ValueError, match="so the policy would never learn"):
        replace(TINY, critic=(4,), critic_first=6)


@pytest.mark.parametrize(("updates", "uses"), [(3, 1.0), (5, 1.0), (7, 2.0)])
def test_every_sequence_of_an_iteration_is_used_just_as_often(updates, uses):
    one = learner(replace(TINY, updates=updates, uses=uses, staleness_max=99))
    one.run(3, Actors(0))
    assert all((counts == uses).all() for counts in one.replay.uses)


def test_match_steps_are_counted_beside_agent_steps():
    one = learner()  # half of the eight matches are self-play: two agent-steps to a match-step
    one.run(3, Actors(0))
    assert one.match_steps == 3 * 2 * 8 * 8
    assert one.agent_steps == 3 * 2 * 8 * (4 * 2 + 4)


def test_play_is_of_the_newest_policy_where_it_may_not_run_ahead():
    one = learner(replace(TINY, ahead=False))
    one.run(3, Actors(0))
    assert one.since.lag_max == TINY.updates - 1


def test_settings_are_plain_and_complete():
    settings = json.loads(json.dumps(TINY.settings()))
    assert settings["objective"]["name"] == "OffPolicy"
    assert settings["opponents"] == {SELF: 2.0, "right": 1.0, START: 1.0}
    assert settings["make"] == "ToyMatches"
    assert np.isclose(settings["discount"], TINY.discount)
