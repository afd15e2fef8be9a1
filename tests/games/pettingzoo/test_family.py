"""PettingZoo's environments and a user's own are games; what cannot be one says so in a line."""

import json
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from gymnasium import spaces

from tests.games.pettingzoo import toy_envs
from tests.small_runs import assert_refused, rows, understudy
from understudy import games
from understudy.data.players import PlayerRef
from understudy.data.runs import Run
from understudy.games.pettingzoo import spaces as ours
from understudy.games.pettingzoo.family import PettingZoo
from understudy.games.two_player import hosted
from understudy.games.two_player.hosted import RANDOM, replays_exactly
from understudy.learn import metrics_log
from understudy.learn.policy import load_policy
from understudy.learn.recipe import TrainingJob
from understudy.pipeline.pairings import Fixture

TOYS = "tests.games.pettingzoo.toy_envs"
GUESS, COUNTDOWN = (PettingZoo(f"{TOYS}:{kind}") for kind in ("Guess", "Countdown"))
PAIR = (PlayerRef(RANDOM), PlayerRef(RANDOM))


def played(host, seeds=tuple(range(30))):
    game = games.load(host.name)
    found = game.play(Fixture(PAIR, seeds))
    return game, found.recordings["matches"].to_pylist(), found.recordings


# --- spaces --------------------------------------------------------------------------------------

NESTED = spaces.Dict(
    {
        "box": spaces.Box(-1, 1, (2, 2)),
        "kinds": spaces.Tuple((spaces.Discrete(3, start=-1), spaces.MultiBinary(2))),
        "many": spaces.MultiDiscrete([2, 3], start=[0, 1]),
        "action_mask": spaces.MultiBinary(9),
    }
)


def test_observations_become_numbers_part_by_part():
    seen = {
        "box": np.array([[0.5, -1], [0, 1]], np.float32),
        "kinds": (1, np.array([1, 0])),
        "many": np.array([1, 2]),
        "action_mask": np.ones(9),
    }
    row = np.full(ours.size(NESTED), 7.0)
    ours.writer(NESTED)(seen, row)
    box, kinds, binary, many = [0.5, -1, 0, 1], [0, 0, 1], [1, 0], [0, 1, 0, 1, 0]
    assert row.tolist() == [*box, *kinds, *binary, *many]


@pytest.mark.parametrize(
    ("space", "heads", "options", "action"),
    [
        (spaces.Discrete(4, start=2), (4,), [3], 5),
        (spaces.MultiDiscrete([2, 3]), (2, 3), [1, 2], [1, 2]),
        (spaces.MultiDiscrete([[2], [3]], start=[[5], [6]]), (2, 3), [1, 2], [[6], [8]]),
        (spaces.MultiBinary(2), (2, 2), [1, 0], [1, 0]),
    ],
)
def test_options_become_what_the_environment_takes(space, heads, options, action):
    assert ours.heads_of(space) == heads
    found = ours.action_of(space)(np.array(options))
    assert np.array_equal(found, action) and space.contains(found)


# --- matches -------------------------------------------------------------------------------------


def test_both_at_once_and_whoever_gathers_more_has_won():
    game, outline, recordings = played(GUESS)
    assert {row["steps"] for row in outline} == {4}
    assert {row["ending"] for row in outline} == {"ended by the rules"}
    assert {row["score"] for row in outline} == {1.0, 0.0, -1.0}
    steps = recordings["steps"].to_pylist()
    for row in outline:  # by the rules of the toy: who named the digit that was shown more often
        hits = [0, 0]
        for step in steps:
            if step["match"] == row["match"]:
                hits[step["slot"]] += (
                    step[f"seen_{step['action_0']}"] == 1.0 if step["action_0"] < 3 else 0
                )
        assert np.sign(hits[0] - hits[1]) == row["score"]
    assert {row["action_0"] for row in steps if row["slot"] == 0} == {0, 1, 2}
    assert {row["action_0"] for row in steps if row["slot"] == 1} == {0, 1, 2, 3}
    assert len(game.samples[0].columns) == 5 + 2 + 9 + 2 + 2 + 3


def test_one_after_the_other_with_a_mask_in_the_infos_and_an_early_end_for_one():
    game, outline, recordings = played(COUNTDOWN)
    steps = recordings["steps"].to_pylist()
    for row in outline:
        mine = [step for step in steps if step["match"] == row["match"] and step["turn"]]
        assert len(mine) == row["steps"]
        assert {step["second"] for step in mine if step["slot"] == 1} == {1.0}
        lost = next(step for step in mine if step["seen_0"] - step["action"] - 1 == 0)
        assert row["score"] == (1.0 if lost["slot"] == 1 else -1.0)
        assert mine[-1]["seen_0"] == 0.0 and mine[-1]["slot"] != lost["slot"]
        assert mine[0]["slot"] == row["seed"] % 2
        assert all(step["action"] == 0 for step in mine if step["seen_0"] == 1.0)
    samples = game.encode(recordings, None)["moves"].to_pylist()
    assert samples and all(row["turn"] == 1 and row["seen_0"] > 1 for row in samples)
    assert (
        game.summarise(recordings, {"moves": game.encode(recordings, None)["moves"]})["violations"]
        == 0
    )


def test_own_rewards_are_the_pseudo_reward_and_the_score_stays():
    env = GUESS(40, 0.5)
    every = np.arange(40)
    env.reset(every, every)
    total = np.zeros((40, 2))
    for _ in range(4):
        for slot in (0, 1):
            env.script(RANDOM, every, slot)
        result = env.step()
        total += result.reward
    gathered = np.array([match.sides.gathered for match in env.matches])
    np.testing.assert_allclose(total, result.score + 0.5 * gathered)
    assert result.terminated.all() and not result.truncated.any()
    assert not env.step().terminated.any()  # an ended match stays as it is


def test_what_is_deterministic_is_found_out():
    assert replays_exactly(GUESS) and replays_exactly(COUNTDOWN)
    assert not replays_exactly(PettingZoo(f"{TOYS}:Restless"))


def test_record_says_where_nothing_can_be_repeated(tmp_path):
    told = "is not deterministic"
    for kind, said in (("Restless", True), ("Guess", False)):
        command = f"record pettingzoo:{TOYS}:{kind} --matches 4 --workers 0 --quiet --out"
        done = understudy(command, tmp_path / kind)
        assert done.code == 0 and len(rows(tmp_path / kind / "recordings", "matches")) == 4
        assert (told in " ".join(done.err.split())) == said


def test_a_host_travels_to_other_processes_and_tells_the_same_of_itself():
    games.load(GUESS.name)
    again = pickle.loads(pickle.dumps(GUESS))
    assert again == GUESS and len(pickle.dumps(GUESS)) < 300
    assert repr(again) == f"PettingZoo(environment='{TOYS}:Guess')"


@pytest.mark.parametrize("kind", ["Throng", "Round"])
def test_of_players_alike_two_seats_are_ours_and_the_others_guess(kind):
    host = PettingZoo(f"{TOYS}:{kind}")
    assert replays_exactly(host)
    seats = set()
    for seed in range(40):
        match = host.match()
        match.reset(seed)
        seats.add(tuple(match.env.seats.values()))
        turns = 0
        while turn := match.turn():
            row, legal = np.zeros(host.features, np.float32), np.zeros(sum(host.heads), bool)
            match.see(turn[0], row, legal)
            assert legal.sum() == sum(host.heads)
            shown = int(row[:3].argmax()) if kind == "Throng" else int(row[0])
            options = np.zeros((2, len(host.heads)), np.int64)
            options[:, 0] = [shown, 0]  # the first slot knows what to say
            turns += 0 in turn
            match.step(options)
        if kind == "Round":
            assert match.sides.gathered == [turns, 0]
        assert match.score() >= 0
    everybody = len(host.match().env.env.possible_agents)
    assert len(seats) == everybody * (everybody - 1)


def test_a_crowd_goes_on_from_any_state_as_if_nothing_had_happened():
    for kind in ("Throng", "Round"):
        host = PettingZoo(f"{TOYS}:{kind}")
        one, other = host(3, 0.0), host(3, 0.0)
        one.reset(np.arange(3), np.array([5, 6, 7]))
        for step in range(3):
            for slot in (0, 1):
                one.script(RANDOM, np.arange(3), slot)
            one.step()
            hosted._PARKED.clear()
            other.restore(one.state())
            assert np.array_equal(one.seen, other.seen), (kind, step)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("chess_v99", ("no environment 'chess_v99'", "pettingzoo:MODULE:FUNCTION")),
        (f"{TOYS}:Nothing", ("no function Nothing",)),
        ("no.such.module:env", ("cannot be imported", "No module named 'no'")),
        (f"{TOYS}:Crowd", ("is for 3 players that are not alike",)),
        (f"{TOYS}:Steering", ("acts by Box", "neither Discrete nor MultiDiscrete")),
        (f"{TOYS}:pictures", ("21,174 numbers, more than 4,096",)),
        (f"{TOYS}:words", ("observes Text",)),
        (f"{TOYS}:pictuers", ("no function pictuers (did you mean pictures?)",)),
        (f"{TOYS}.py:pictures", (f"not its file: pettingzoo:{TOYS}:pictures",)),
        (f"{TOYS}:fails", ("cannot be made: ZeroDivisionError: division by zero (toy_envs.py:",)),
        (f"{TOYS}:none", ("makes no environment of PettingZoo but NoneType",)),
        (f"{TOYS}:Spaceless", ("has no spaces: RuntimeError: not yet (toy_envs.py:",)),
    ],
)
def test_what_cannot_be_a_game_says_why_in_one_line(name, words, tmp_path):
    for verb in ("record", "encode"):
        assert_refused(understudy(f"{verb} pettingzoo:{name} --out", tmp_path / "run"), *words)
    assert not (tmp_path / "run").exists()


def test_an_environment_that_fails_as_it_is_played_is_one_line(tmp_path):
    done = understudy(f"record pettingzoo:{TOYS}:Failing --out", tmp_path / "run")
    assert_refused(done, "fails as it is played: KeyError: 'left' (toy_envs.py:")


def test_a_module_with_a_mistake_in_it_is_one_line(tmp_path, monkeypatch):
    (tmp_path / "misspelt_env.py").write_text("def env(:\n")
    monkeypatch.syspath_prepend(tmp_path)
    done = understudy("record pettingzoo:misspelt_env:env --out", tmp_path / "run")
    assert_refused(done, "misspelt_env:env cannot be imported: SyntaxError: invalid syntax")
    assert "frozen" not in done.err


def test_an_unknown_family_or_verb_is_answered_with_those_there_are():
    others = "openspiel:NAME, pettingzoo:NAME"
    assert_refused(understudy("record spelunker:cave"), "no game 'spelunker:cave'", others)
    assert_refused(understudy("encode spelunker:cave"), "no game 'spelunker:cave'", others)
    assert_refused(
        understudy("exploitability pettingzoo:x y"), "pettingzoo:x has no exploitability; there is"
    )
    assert_refused(understudy("join arena l2"), "arena has no join; there is scml")
    assert_refused(
        understudy("compete arnea x"), "no game 'arnea' to compete (did you mean arena?)"
    )


def test_help_tells_which_games_are_named_by_family():
    told = " ".join(understudy("record --help").out.split())
    assert "openspiel:NAME and pettingzoo:NAME." in told and ":NAME, " in told
    assert "openspiel:NAME." in understudy("exploitability --help").out
    assert "--matches" in understudy("record pettingzoo:anything --help").out


def test_a_run_of_a_hosted_game_has_a_plain_folder():
    assert Run.of("pettingzoo:my.envs:make").folder == Path("runs/pettingzoo-my.envs-make")
    assert (
        Run.of("openspiel:liars_dice(dice_sides=4)").folder.name
        == "openspiel-liars_dice-dice_sides-4"
    )


# --- the pipeline --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A toy recorded, cloned and refined in no time."""
    folder = tmp_path_factory.mktemp("guess") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metrics_log, "tensorboard", lambda folder, step: None)
        for command in (
            f"record {GUESS.name} --matches 200",
            f"encode {GUESS.name}",
            f"train {GUESS.name} imitate-quick",
            f"train {GUESS.name} refine-quick --iterations 6 --updates 16",
        ):
            done = understudy(command, "--out", folder, "--quiet", "--workers", "0")
            assert (done.code, done.err) == (0, "")
    return folder


def test_a_toy_is_learnt_by_play(run):
    command = f"compete {GUESS.name} refine-quick imitate-quick random --matches 200 --json"
    done = understudy(command, "--out", run, "--quiet", "--workers", "0")
    rates = {(rate["player"], rate["opponent"]): rate for rate in json.loads(done.out)}
    assert rates["refine-quick", "imitate-quick"]["low"] > 0.7
    assert rates["refine-quick", "random"]["low"] > 0.7
    assert understudy("report", run).code == 0
    assert GUESS.name in (run / "report.html").read_text()


def test_stopped_and_resumed_it_learns_exactly_the_same(run, tmp_path):
    """In a new process no match is there any more: all are played again from their seeds."""
    quick = games.load(GUESS.name).recipe("refine-quick")
    small = replace(quick, iterations=4, matches=12, steps=6, updates=2, uses=1.0)
    small = replace(small, start="imitate-quick", checkpoint_every=1, log_every=1)

    def fit(name, progress=None):
        job = TrainingJob(run=Run(run), out=tmp_path / name, seed=3, workers=0, progress=progress)
        small.fit(job)
        return load_policy(tmp_path / name).state_dict()

    def stop(step, steps, metrics):
        if step == 2:
            raise KeyboardInterrupt

    whole = fit("whole")
    with pytest.raises(KeyboardInterrupt):
        fit("stopped", stop)
    hosted._PARKED.clear()
    resumed = fit("stopped")
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)


def test_a_module_of_the_folder_one_stands_in_is_found_also_by_processes(tmp_path):
    (tmp_path / "zzmine.py").write_text(Path(toy_envs.__file__).read_text())
    command = [sys.executable, "-m", "understudy", "record", "pettingzoo:zzmine:Guess"]
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}  # as the installed program: not from here
    done = subprocess.run(
        [*command, "--matches", "120", "--workers", "2", "--quiet"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert len(rows(tmp_path / "runs/pettingzoo-zzmine-Guess/recordings", "matches")) == 120


# --- PettingZoo's own ----------------------------------------------------------------------------


def test_connect_four_is_seen_as_it_shows_itself_and_won_by_four():
    pytest.importorskip("pygame", reason="PettingZoo's classic games need pygame-ce")
    _, outline, recordings = played(PettingZoo("connect_four_v3"), (3, 4))
    steps = recordings["steps"].to_pylist()
    theirs = sys.modules[
        "pettingzoo.classic.connect_four_v3"
    ].env()  # with its wrappers, which end a match that breaks the rules
    for row in outline:
        theirs.reset(seed=row["seed"])
        for number in range(row["steps"]):
            slot = theirs.possible_agents.index(theirs.agent_selection)
            mine = next(
                step
                for step in steps
                if (step["match"], step["step"], step["slot"]) == (row["match"], number, slot)
            )
            seen = theirs.observe(theirs.agent_selection)
            assert [mine[f"seen_{k}"] for k in range(84)] == seen["observation"].ravel().tolist()
            assert [mine["legal"][0] >> k & 1 for k in range(7)] == seen["action_mask"].tolist()
            theirs.step(mine["action"])
        assert all(theirs.terminations.values())
        assert theirs._cumulative_rewards["player_0"] == row["score"]


@pytest.mark.parametrize("name", ["tictactoe_v3", "rps_v2"])
def test_others_of_the_classic_games_are_played(name):
    pytest.importorskip("pygame", reason="PettingZoo's classic games need pygame-ce")
    _, outline, _ = played(PettingZoo(name))
    assert {row["score"] for row in outline} == {1.0, 0.0, -1.0}
    assert replays_exactly(PettingZoo(name))
