"""Training jobs from folder to folder: the same again, with a memory, and against whom they say."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from tests import nim_package
from understudy.data.players import PlayerRef
from understudy.errors import InputError
from understudy.league.interface import LearnerJob, Opponent
from understudy.league.rules import USUAL, Overrides
from understudy.learn.policy import FactoredPolicy, PolicyShape, load_policy, save_policy
from understudy.learn.rl.env import SELF
from understudy.pipeline import league_training
from understudy.pipeline.league_training import MEMORY, improve, recalled, train

NIM = nim_package.module()
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
    assert one.metrics == two.metrics
    assert weights(tmp_path / "one") == weights(tmp_path / "two")
    assert weights(tmp_path / "other") != weights(tmp_path / "one") != weights(start)
    assert one.agent_steps == other.agent_steps == STEPS


def test_a_clone_with_a_memory_and_plans_keeps_them_in_a_job(tmp_path):
    """Learner, teacher and an opponent alike."""
    torch.set_num_threads(1)
    shape = PolicyShape(NIM.MOVES.features, NIM.MOVES.heads, (8,), memory=4, plans=3, plan_width=2)
    clone = FactoredPolicy(shape, 1)
    clone.set_plans(torch.tensor([[0.5, 2.0], [-1.0, 0.0], [3.0, 1.0]]))
    (tmp_path / "clone").mkdir()
    save_policy(tmp_path / "clone", clone)
    done = train(TINY, job(tmp_path / "clone", tmp_path / "out", agent_steps=10 * STEPS))
    assert "points/old" in done.metrics
    learnt = load_policy(tmp_path / "out", NIM.MOVES)
    assert learnt.shape == shape and learnt.table.equal(clone.table)
    assert not learnt.core.seen.weight.equal(clone.core.seen.weight)


def test_all_who_are_named_are_met(start, tmp_path):
    longer = job(start, tmp_path / "out", agent_steps=10 * STEPS)
    outcomes = train(TINY, longer)
    assert {f"points/{one}" for one in (SELF, "expert", "old")} <= set(outcomes.metrics)
    assert "train/loss" in outcomes.metrics


def test_match_steps_are_those_of_the_matches_however_many_learn_in_them(start, tmp_path):
    for shares, per_match in (((0.5, 0.5), 1.5), ((1.0, 0.0), 2.0), ((0.0, 1.0), 1.0)):
        opponents = (Opponent(None, shares[0]), Opponent(PlayerRef("expert"), shares[1]))
        asked = int(3 * 4 * 16 * per_match)  # three iterations of four steps of 16 matches
        out = tmp_path / f"{per_match}"
        found = train(TINY, job(start, out, opponents=opponents, agent_steps=asked))
        assert (found.agent_steps, found.match_steps) == (asked, 3 * 4 * 16)


def noted(monkeypatch):
    """What the next jobs ask for: recipes and memories, nothing being learnt."""
    asked = []

    def improve(recipe, *_, memory, **__):
        asked.append((recipe, memory))
        return SimpleNamespace(tally={}, agent_steps=0, match_steps=0, metrics={})

    monkeypatch.setattr(league_training, "improve", improve)
    return asked


def test_a_critic_goes_on_from_job_to_job(start, tmp_path, monkeypatch):
    """A new one learns first and alone; one that goes on need not."""
    recipe = replace(TINY, critic_first=6)
    train(recipe, job(start, tmp_path / "one"))
    known = recalled(tmp_path / "one")
    asked = noted(monkeypatch)
    train(recipe, job(start, tmp_path / "anew"))
    train(recipe, job(start, tmp_path / "on", start=PlayerRef("main-001", tmp_path / "one")))
    (anew, nothing), (on, memory) = asked
    assert (anew.critic_first, nothing) == (6, None)
    assert on.critic_first == 0
    assert set(memory) == {"critic", "optimizer", "matches"}
    for name, tensor in known["critic"].items():
        assert torch.equal(memory["critic"][name], tensor)


@pytest.mark.parametrize("iterations", [1, 2, 5])
def test_however_short_a_job_its_policy_learns(iterations, start, tmp_path):
    """Shorter than a new critic would learn alone: it then gets a quarter of the time at most."""
    recipe = replace(TINY, critic_first=10)
    out = tmp_path / "out"
    found = train(recipe, job(start, out, agent_steps=iterations * STEPS // 2))
    assert found.agent_steps == iterations * STEPS // 2
    assert weights(out) != weights(start)
    assert np.abs(flat(out) - flat(start)).max() > 1e-4


def moved(start, folder, **overrides):
    """How far a training job in that manner takes the weights."""
    train(TINY, job(start, folder, agent_steps=4 * STEPS, overrides=Overrides(**overrides)))
    return np.abs(flat(folder) - flat(start)).max()


def test_a_job_says_how_fast_to_learn(start, tmp_path):
    assert moved(start, tmp_path / "still", rate=1e-12, rate_end=1e-12) < 1e-9
    usual, falling = moved(start, tmp_path / "usual"), moved(start, tmp_path / "f", rate_end=0.0)
    assert 1e-9 < falling < usual


def test_a_job_says_how_to_learn(start, tmp_path, monkeypatch):
    asked = noted(monkeypatch)
    near = replace(TINY, objective=replace(TINY.objective, kl_weight=0.5), learning_rate=0.02)
    given = (
        USUAL,
        Overrides(kl_scale=0.0, draw=-1.0),
        Overrides(kl_scale=3.0),
        Overrides(rate=0.5, rate_end=0.125),
    )
    for overrides in given:
        train(near, job(start, tmp_path / "out", overrides=overrides))
    assert [
        (one.objective.kl_weight, one.draw, one.learning_rate, one.decay) for one, _ in asked
    ] == [
        (0.5, 0.0, 0.02, 0.0),
        (0.0, -1.0, 0.02, 0.0),
        (1.5, 0.0, 0.02, 0.0),
        (0.5, 0.0, 0.01, 0.75),
    ]


STILL = Overrides(rate=1e-12, rate_end=1e-12)


def leaning(folder, option):
    """A player that always takes so many, where it may."""
    shape = PolicyShape(NIM.MOVES.features, NIM.MOVES.heads, (8,))
    policy = FactoredPolicy(shape, 1)
    with torch.no_grad():
        policy.options.bias[option] += 100.0
    folder.mkdir()
    save_policy(folder, policy)
    return PlayerRef("old", folder)


def points_of_ones(takes):
    """Of one who takes one, against one who takes so many: each beginning, whoever begins."""
    won = []
    for left in range(NIM.FEWEST, NIM.MOST + 1):
        for turn in (0, 1):
            rest = left
            while rest > 0:
                rest, turn = rest - min(rest, (1, takes)[turn]), 1 - turn
            won.append(turn == 1)  # whose turn it is when nothing is left has lost
    return float(np.mean(won))


def test_a_frozen_opponent_plays_with_its_own_weights(start, tmp_path):
    """Who always takes one wins half against its like, and less against one who takes two."""
    ones, twos = leaning(tmp_path / "ones", 1), leaning(tmp_path / "twos", 2)
    many = replace(TINY, matches=128, steps=32, updates=1)
    for opponent, takes in ((ones, 1), (twos, 2)):
        asked = job(start, tmp_path / f"{takes}", start=ones, agent_steps=2 * 128 * 32,
                    opponents=(Opponent(opponent, 1.0),), overrides=STILL)  # fmt: skip
        found = train(many, asked).metrics["points/old"]
        assert found == pytest.approx(points_of_ones(takes), abs=0.05)
    assert (points_of_ones(1), points_of_ones(2)) == (0.5, 0.375)


def test_the_teacher_is_the_imitation_and_not_where_the_job_begins(start, tmp_path):
    """A learner that stands still is as far from the imitation as it began."""
    near = replace(TINY, objective=replace(TINY.objective, kl_weight=0.5))
    begun = leaning(tmp_path / "begun", 2)
    for imitation, far in ((begun.weights, False), (start, True)):
        out = tmp_path / f"{far}"
        found = train(near, job(imitation, out, start=begun, overrides=STILL))
        assert (found.metrics["train/kl"] > 1.0) == far
        assert far or found.metrics["train/kl"] < 1e-6


def test_who_begins_borrows_the_critic_of_an_opponent(start, tmp_path, monkeypatch):
    """Of the likeliest that has one; it then learns alone for a third of the time only."""
    recipe = replace(TINY, critic_first=6)
    (tmp_path / "main").mkdir()
    improve(recipe, start, {PlayerRef(SELF): 1.0}, STEPS, 0, tmp_path / "main")
    old, main = PlayerRef("old", start), PlayerRef("main", tmp_path / "main")
    asked = noted(monkeypatch)
    for opponents in ((Opponent(old, 1.0),), (Opponent(old, 0.9), Opponent(main, 0.1))):
        train(recipe, job(start, tmp_path / "out", opponents=opponents))
    (alone, nothing), (lent, memory) = asked
    assert (alone.critic_first, nothing) == (6, None)
    assert lent.critic_first == 2
    known = recalled(tmp_path / "main")["critic"]
    assert set(memory) == {"critic"}
    assert all(torch.equal(memory["critic"][name], known[name]) for name in known)


def test_a_damaged_memory_is_one_line(start, tmp_path):
    (start / MEMORY).write_bytes(b"no")
    with pytest.raises(InputError, match=rf"{MEMORY}: not a whole checkpoint .* Delete it"):
        train(TINY, job(start, tmp_path / "out"))
