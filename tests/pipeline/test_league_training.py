"""Lessons from folder to folder: the same again, with a memory, and against whom they say."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from tests import page_game
from understudy.data.players import PlayerRef
from understudy.errors import InputError
from understudy.league.interface import LearnerJob, Opponent
from understudy.league.rules import USUAL, Overrides
from understudy.learn.policy import FactoredPolicy, PolicyShape, save_policy
from understudy.learn.rl.env import SELF
from understudy.pipeline import league_training
from understudy.pipeline.league_training import MEMORY, improve, train

NIM = page_game.module()
TINY = replace(NIM.REFINE, matches=16, steps=4, updates=2, critic=(8,), critic_first=1)
STEPS = 2 * 24 * 4  # two iterations: half of the matches have two learners


@pytest.fixture
def start(tmp_path):
    torch.set_num_threads(1)
    folder = tmp_path / "start"
    folder.mkdir()
    shape = PolicyShape(NIM.MOVES.features, NIM.MOVES.heads, (8,))
    save_policy(folder, FactoredPolicy(shape, 1))
    return folder


def job(imitation, out, **changes):
    opponents = (Opponent(None, 0.5), Opponent(PlayerRef("expert"), 0.25),
                 Opponent(PlayerRef("old", imitation), 0.25))  # fmt: skip
    told = {
        "name": "main-001",
        "start": PlayerRef("start", imitation),
        "imitation": PlayerRef("start", imitation),
        "opponents": opponents,
        "agent_steps": STEPS,
        "seed": 3,
        "out": out,
    }
    out.mkdir(exist_ok=True)
    return LearnerJob(**told | changes)


def weights(folder):
    return (folder / "weights.safetensors").read_bytes()


def flat(folder):
    tensors = load_file(folder / "weights.safetensors")
    return np.concatenate([tensor.numpy().ravel() for tensor in tensors.values()])


def test_the_same_job_gives_the_same_weights(start, tmp_path):
    one = train(TINY, job(start, tmp_path / "one"))
    two = train(TINY, job(start, tmp_path / "two"))
    other = train(TINY, job(start, tmp_path / "other", seed=4))
    assert one.tallies == two.tallies
    assert weights(tmp_path / "one") == weights(tmp_path / "two")
    assert weights(tmp_path / "other") != weights(tmp_path / "one") != weights(start)
    assert one.agent_steps == other.agent_steps == STEPS


def test_all_who_are_named_are_met(start, tmp_path):
    longer = job(start, tmp_path / "out", agent_steps=10 * STEPS)
    outcomes = train(TINY, longer)
    assert set(outcomes.tallies) == {SELF, "expert", "old"}
    assert "train/loss" in outcomes.metrics


def test_a_critic_goes_on_from_job_to_job(start, tmp_path):
    """A new one learns first and alone; one iteration of that leaves the policy as it was."""
    short = {"agent_steps": STEPS // 2}
    train(TINY, job(start, tmp_path / "one", **short))
    assert weights(tmp_path / "one") == weights(start)
    second = PlayerRef("main-001", tmp_path / "one")
    train(TINY, job(start, tmp_path / "two", start=second, **short))
    assert weights(tmp_path / "two") != weights(start)
    (tmp_path / "one" / MEMORY).unlink()
    train(TINY, job(start, tmp_path / "three", start=second, **short))
    assert weights(tmp_path / "three") == weights(start)


def moved(start, folder, **overrides):
    """How far a training job in that manner takes the weights."""
    train(TINY, job(start, folder, agent_steps=4 * STEPS, overrides=Overrides(**overrides)))
    return np.abs(flat(folder) - flat(start)).max()


def test_a_job_says_how_fast_to_learn(start, tmp_path):
    assert moved(start, tmp_path / "still", rate=1e-12, rate_end=1e-12) < 1e-9
    usual, falling = moved(start, tmp_path / "usual"), moved(start, tmp_path / "f", rate_end=0.0)
    assert 1e-9 < falling < usual


def test_a_job_says_how_near_to_stay_and_what_a_draw_is_worth(start, tmp_path, monkeypatch):
    asked = []

    def noted(recipe, *_, **__):
        asked.append((recipe.objective.kl_weight, recipe.draw))
        return SimpleNamespace(tally={}, agent_steps=0, metrics={})

    monkeypatch.setattr(league_training, "improve", noted)
    near = replace(TINY, objective=replace(TINY.objective, kl_weight=0.5))
    for overrides in (USUAL, Overrides(kl_scale=0.0, draw=-1.0), Overrides(kl_scale=3.0)):
        train(near, job(start, tmp_path / "out", overrides=overrides))
    assert asked == [(0.5, 0.0), (0.0, -1.0), (1.5, 0.0)]


def test_who_begins_borrows_the_critic_of_an_opponent(start, tmp_path):
    """Of the likeliest that has one; it then learns alone for a third of the time only."""
    recipe = replace(TINY, critic_first=2)
    (tmp_path / "main").mkdir()
    improve(recipe, start, {PlayerRef(SELF): 1.0}, STEPS, 0, tmp_path / "main")
    old, main = PlayerRef("old", start), PlayerRef("main", tmp_path / "main")
    short = {"agent_steps": 2 * 16 * 4}  # two iterations
    train(recipe, job(start, tmp_path / "alone", opponents=(Opponent(old, 1.0),), **short))
    assert weights(tmp_path / "alone") == weights(start)
    both = (Opponent(old, 0.9), Opponent(main, 0.1))
    train(recipe, job(start, tmp_path / "lent", opponents=both, **short))
    assert weights(tmp_path / "lent") != weights(start)


def test_a_damaged_memory_is_one_line(start, tmp_path):
    (start / MEMORY).write_bytes(b"no")
    with pytest.raises(InputError, match=rf"{MEMORY}: not a whole checkpoint .* Delete it"):
        train(TINY, job(start, tmp_path / "out"))
