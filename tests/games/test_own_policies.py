"""Policies that people bring meet ours: in competitions, environments, training and leagues."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests import nim_package
from tests.small_runs import assert_refused, contents, finished_run, rows, tiny_recipe, understudy
from understudy.data.players import PlayerRef
from understudy.data.runs import Run, read_manifest
from understudy.errors import InputError
from understudy.games.arena import env, league
from understudy.games.arena.codec.actions import HEADS
from understudy.games.arena.recipes import RECIPES
from understudy.league.interface import Pairing
from understudy.learn.recipe import TrainOptions
from understudy.pipeline import train as train_stage
from understudy.pipeline.game import load
from understudy.pipeline.league import season_of
from understudy.pipeline.pairings import Fixture
from understudy.pipeline.players import resolve
from understudy.terminal.options import shares

POLICY = """
import numpy as np

SIZES = {sizes}

def careful(observations, masks):
    '''The first legal option of each head.'''
    parts = np.split(masks, np.cumsum(SIZES)[:-1], axis=1)
    return np.stack([part.argmax(1) for part in parts], axis=1)

class Chancy:
    '''Any legal option.'''
    def __call__(self, observations, masks, uniform):
        chosen = []
        for part, u in zip(np.split(masks, np.cumsum(SIZES)[:-1], axis=1), uniform.T):
            place = (u * part.sum(1)).astype(int)
            chosen.append((part.cumsum(1) > place[:, None]).argmax(1))
        return np.stack(chosen, axis=1)

def illegal(observations, masks):
    return np.full((len(masks), len(SIZES)), 99)
"""


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    path = tmp_path_factory.mktemp("theirs") / "mine.py"
    path.write_text(POLICY.format(sizes=list(HEADS.values())))
    return path


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return finished_run(tmp_path_factory)


def test_they_compete_by_clean_names_here_and_in_processes(mine, tmp_path):
    command = f"compete arena {mine}:careful {mine}:Chancy rusher --matches 4 --quiet"
    for workers in (0, 2):
        done = understudy(command, "--out", tmp_path / str(workers), "--workers", workers)
        assert (done.code, done.err) == (0, "")
        assert "careful" in done.out and "mine.py" not in done.out
    assert contents(tmp_path / "0") == contents(tmp_path / "2")
    (folder,) = (tmp_path / "0" / "results").iterdir()
    assert folder.name == "careful-Chancy-rusher-4-0"
    stamp = read_manifest(folder)["settings"]["players"]["careful"]
    assert stamp.startswith("mine.py:careful ") and len(stamp.split()[1]) == 16


def test_they_are_recorded_to_learn_from(mine, tmp_path):
    command = f"record arena --players {mine}:Chancy --opponents rusher --matches 2 --quiet"
    assert understudy(command, "--workers", 0, "--out", tmp_path).code == 0
    assert understudy("encode arena --quiet --workers 0", "--out", tmp_path).code == 0
    assert {row["player"] for row in rows(tmp_path / "samples", "moves")} == {"Chancy"}


def test_a_mistake_is_one_line(mine, tmp_path):
    for command, words in {
        f"compete arena {mine}:nobody rusher": ["there is no nobody in it"],
        f"compete arena {mine}:illegal rusher --workers 0 --quiet": ["chose option 99 of"],
        "compete arena rushr expert": ["no player 'rushr' (did you mean rusher?)"],
        "record arena --opponents kitter": ["no player 'kitter' (did you mean kiter?)"],
    }.items():
        assert_refused(understudy(command, "--out", tmp_path), *words)


# --- environments --------------------------------------------------------------------------------


def played(opponent, steps=30):
    """What is seen against an opponent, when nothing is done."""
    one = env.ArenaEnv(opponent)
    first, _ = one.reset(seed=5)
    return np.array([first, *(one.step(np.zeros(len(HEADS), int))[0] for _ in range(steps))])


def test_an_environments_opponent_may_be_a_file_or_a_trained_folder(mine, finished):
    assert (played(f"{mine}:Chancy") == played(f"{mine}:Chancy")).all()
    assert (played(f"{mine}:Chancy") != played("rusher")).any()
    model = finished / "models" / "imitate-quick"
    assert (played(str(model)) == played(model)).all()
    assert (played(model) != played("rusher")).any()
    vector = env.ArenaVectorEnv(3, opponent=f"{mine}:careful")
    vector.reset(seed=1)
    assert vector.step(np.zeros((3, len(HEADS)), int))[0].shape[0] == 3


def test_an_unknown_opponent_is_told_who_there_is():
    with pytest.raises(InputError, match=r"'rushre' \(did you mean rusher\?\); it has"):
        env.ArenaEnv("rushre")


# --- plain games ---------------------------------------------------------------------------------


def test_a_plain_game_takes_them_too(tmp_path):
    path, game = tmp_path / "mine.py", nim_package.module().GAME
    path.write_text(POLICY.format(sizes=list(nim_package.module().MOVES.heads.values())))
    me = resolve(game, Run(tmp_path), f"{path}:Chancy")
    you = PlayerRef(next(iter(game.players)))
    once, again = (game.play(Fixture((me, you), (1, 2, 3))) for _ in range(2))
    assert set(once.results["player"].to_pylist()) == {"Chancy", you.name}
    assert once.recordings["steps"].equals(again.recordings["steps"])


# --- learning ------------------------------------------------------------------------------------


def test_shares_are_read_as_typed():
    assert shares("self, expert=2,a/b.py:C=0.5") == (("self", 1), ("expert", 2), ("a/b.py:C", 0.5))
    assert shares(None) is None
    for text, words in {"expert=x": "not NAME=SHARE", "expert=0": "must be above 0"}.items():
        with pytest.raises(InputError, match=words):
            shares(text)


def small(recipe):
    return replace(recipe, iterations=2, matches=8, steps=8, updates=2, log_every=1, critic=None,
                   critic_first=0, rollouts=1)  # fmt: skip


def test_refining_meets_them_and_trained_ones(mine, finished, tmp_path, monkeypatch):
    torch.set_num_threads(1)
    shutil.copytree(finished / "models", tmp_path / "models")
    with tiny_recipe():
        monkeypatch.setitem(RECIPES, "refine-ppo", small(RECIPES["refine-ppo"]))
        run, game = Run(tmp_path), load("arena")
        told = shares(f"self,rusher,imitate-quick,{mine}:Chancy=5")
        options = TrainOptions(start="imitate-quick", opponents=told)
        found = train_stage.train(game, run, "refine-ppo", options=options, worker=0)
    settings = read_manifest(run.model("refine-ppo"))["settings"]
    assert settings["opponents"] == {"self": 1, "rusher": 1, "imitate-quick": 1, "Chancy": 5}
    assert settings["code"]["Chancy"].startswith("mine.py:Chancy")
    assert found["steps"] > 0
    with pytest.raises(InputError, match="no player 'nobody'"):
        train_stage.train(game, run, "refine-ppo", options=TrainOptions(opponents=shares("nobody")))
    with pytest.raises(InputError, match=r"learns from samples.*leave out --opponents"):
        train_stage.train(game, run, "imitate", options=TrainOptions(opponents=told))


def test_a_league_has_them_from_the_beginning(mine, finished):
    run, game = Run(finished), load("arena")
    model = "imitate-quick"
    season = season_of(
        game, run, "demo", start=model, opponents=(f"{mine}:Chancy", "collector", "rusher")
    )
    members = season.begun().roster.members()
    assert members.count("rusher") == 1 and {"Chancy", "collector"} <= set(members)
    assert season.player_ref("Chancy").code is not None
    assert season.player_ref("main-001").weights is not None
    assert season._settings()["guests"]["Chancy"].startswith("mine.py:Chancy")
    pairing = Pairing((season.player_ref("Chancy"), season.player_ref("rusher")), (1, 2))
    assert len(league.play_pairings([pairing])) == 8
