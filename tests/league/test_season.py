"""A whole league of a toy: what it achieves, and that it goes on exactly where it was."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.league import rps
from tests.league.toy_league import average, distance, play, season, strategies
from tests.small_runs import contents, rows
from understudy.data.integrity.json_files import write_json
from understudy.data.runs import LeagueFolder
from understudy.errors import InputError
from understudy.league.analysis.nash import nash
from understudy.league.analysis.ratings import elo
from understudy.league.interface import TrainingResult
from understudy.league.matches import MATCHES
from understudy.league.payoff import belief
from understudy.league.rules import Overrides
from understudy.league.state import State, read_state
from understudy.league.training import train

SMALL = {"rounds": 4, "matches": 10, "agent_steps": 60, "patience": 3}


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A small league, played without a break; not to be changed."""
    league = season(tmp_path_factory.mktemp("league") / "quick", **SMALL)
    return league, league.run()


@pytest.fixture
def copy(played, tmp_path):
    shutil.copytree(played[0].folder, tmp_path / "quick")
    return tmp_path / "quick"


def rated(state):
    names = state.payoff.names()
    return elo(names, state.payoff.points(names), anchor=state.roster.start)


# --- What leagues are for ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1])
def test_in_a_circle_the_league_mixes_evenly_while_self_play_runs_round(seed, tmp_path):
    league = season(tmp_path / "league", seed=seed)
    state = league.run()
    mixture = average(strategies(league, state), state.history[-1]["nash"])
    assert distance(mixture) < 0.08

    alone = season(tmp_path / "alone", "quick-self-play", seed=seed)
    end = alone.run()
    assert end.agent_steps == state.agent_steps
    past = [strategies(alone, end)[name] for name in end.roster.snapshots()]
    assert all(distance(one) > 0.25 for one in past)  # it never comes near
    assert {int(np.argmax(one)) for one in past} == {0, 1, 2}  # and favours each in turn


def test_self_play_meets_nobody_else(tmp_path):
    state = season(tmp_path, "quick-self-play", **SMALL).run()
    assert all(entry["opponents"] == {"main": {"main": 1.0}} for entry in state.history)


def test_fictitious_self_play_meets_all_it_was(tmp_path):
    state = season(tmp_path, "quick-fictitious", **SMALL).run()
    assert state.history[-1]["opponents"]["main"] == pytest.approx(
        {"rock": 1 / 3, "main-002": 1 / 3, "main": 1 / 3}
    )


# --- Rounds --------------------------------------------------------------------------------------


def test_everybody_has_met_everybody_as_often(played):
    _, state = played
    names = state.roster.members()
    games = state.payoff.points(names) + state.payoff.points(names).T
    assert (games + 10 * np.eye(len(names)) == 10).all()


def test_agent_steps_are_shared_out_and_counted(played):
    _, state = played
    assert state.agent_steps == 4 * 60
    lives = [learner["agent_steps"] for learner in state.history[0]["learners"].values()]
    assert lives == [30, 15, 15]


def test_a_snapshot_is_what_was_trained_not_what_follows_a_reset(played):
    league, state = played
    reset = {
        (entry["round"], name): start
        for entry in state.history
        for name, start in entry["reset"].items()
    }
    assert reset  # an exploiter has started over
    for number, name in reset:
        kept = state.roster.player(f"{name}-{number:03d}")
        manifest = json.loads((league.folder / "players" / kept.name / "manifest.json").read_text())
        assert manifest["settings"]["name"] == kept.name
        assert rps.strategy(league.player_ref(kept.name)).tolist() != pytest.approx(
            rps.strategy(league.player_ref(reset[number, name])).tolist()
        )


def test_the_next_life_begins_where_it_was_reset_to(played):
    _, state = played
    for entry, following in zip(state.history[:-1], state.history[1:], strict=True):
        for name, start in entry["reset"].items():
            life = following["learners"][name]
            assert (life["begun_from"], life["parent"]) == (start, start)
            assert life["life"] == entry["learners"][name]["life"] + 1


def test_a_job_begins_with_the_weights_of_the_round_before(tmp_path):
    seen = []

    def improve(job):
        seen.append((job.name, job.start.name, job.agent_steps, job.imitation.name))
        return rps.improve(job)

    season(tmp_path, "quick-self-play", improve=improve, **SMALL).run()
    assert seen == [
        ("main-001", "rock", 60, "rock"),
        ("main-002", "main-001", 60, "rock"),
        ("main-003", "main-002", 60, "rock"),
        ("main-004", "main-003", 60, "rock"),
    ]


def test_every_job_begins_where_its_learner_stands_and_hunts_in_its_way(tmp_path):
    """Not with the imitation: that is only what it may be kept near to."""
    jobs = {}

    def improve(job):
        jobs[job.name] = job
        return rps.improve(job)

    hunting = Overrides(rate=2.0, rate_end=2.0, kl_scale=0.2, draw=-1.0)
    more = {"reset": "past main", "keep_every": 1, "patience": 2, "hunting": hunting}
    league = season(tmp_path, improve=improve, **SMALL | more)
    history = league.run().history
    begun = dict.fromkeys(history[0]["learners"], "rock")
    others = set()
    for entry in history:
        for name, learner in entry["learners"].items():
            job = jobs[learner["version"]]
            assert job.start == league.player_ref(begun[name])
            assert job.imitation == league.start
            assert (job.overrides == hunting) == (name != "main")
            begun[name] = learner["version"]
        begun |= entry["reset"]
        others |= {*entry["reset"].values()} - {"rock"}
    assert others  # some have started over from a past main agent


def test_a_job_has_no_more_opponents_than_allowed(tmp_path):
    met = []

    def improve(job):
        met.append(len(job.opponents))
        return rps.improve(job)

    league = season(tmp_path, improve=improve, **SMALL)
    replace(league, recipe=replace(league.recipe, opponents_max=2)).run()
    assert max(met) == 2


def test_what_is_believed_of_a_new_version_is_what_it_played_itself(tmp_path):
    payoff = season(tmp_path, **SMALL | {"rounds": 3}).run().payoff
    for other in ("rock", "main-exploiter-003"):
        played = payoff.played("main-003", other)
        assert played.games == payoff.belief("main-003", other).n == 10
        assert payoff.belief("main-003", other).value == belief(played).value


def test_after_the_last_round_nobody_starts_over(tmp_path):
    league = season(tmp_path, **SMALL | {"rounds": 3, "patience": 1, "reset": "past main"})
    state = league.run()
    assert [bool(entry["reset"]) for entry in state.history] == [True, True, False]
    assert all(one.version.endswith("-003") for one in state.roster.learners)


def test_psro_answers_the_nash_mixture_and_a_magnet_is_the_last_snapshot(tmp_path):
    seen = []

    def improve(job):
        seen.append(job)
        return rps.improve(job)

    payoff = season(tmp_path / "psro", "quick-psro", improve=improve, **SMALL).run().payoff
    assert [job.start.name for job in seen] == ["rock"] * len(seen)  # each from the beginning
    frozen = ["rock"]
    for job in seen:
        shares = nash(payoff.matrix(frozen))
        expected = {n: s for n, s in zip(frozen, shares, strict=True) if s >= 1e-3}
        met = {one.player.name: one.probability for one in job.opponents}
        assert met == pytest.approx({n: s / sum(expected.values()) for n, s in expected.items()})
        frozen.append(job.name)
    seen.clear()
    season(tmp_path / "magnet", "quick-magnet", improve=improve, **SMALL | {"keep_every": 2}).run()
    assert [job.magnet.name for job in seen] == ["rock", "rock", "main-002", "main-002"]
    assert {job.overrides.magnet for job in seen} == {0.1}


def test_a_job_that_was_done_before_tells_the_same_again(tmp_path):
    seen = []

    def improve(job):
        seen.append(job)
        return rps.improve(job)

    season(tmp_path / "league", improve=improve, **SMALL | {"rounds": 1}).run()
    job = replace(seen[0], out=tmp_path / "again")
    first = train(rps.improve, job)
    assert 0 < first.match_steps <= first.agent_steps
    assert train(lambda job: pytest.fail("done twice"), job) == first


def test_match_steps_are_counted_beside_agent_steps(tmp_path, played):
    alone = season(tmp_path, "quick-self-play", **SMALL).run()
    assert (alone.agent_steps, alone.match_steps) == (240, 120)  # two at a time
    assert [entry["match_steps"] for entry in alone.history] == [30, 60, 90, 120]
    _, state = played
    assert 120 < state.match_steps < state.agent_steps == 240


def test_only_the_weights_of_members_are_kept(played):
    league, state = played
    found = {path.name for path in (league.folder / "players").iterdir()}
    assert found == set(state.roster.members()) - {"rock"}
    assert len(state.payoff.names()) > len(found)  # others have been


def test_every_number_in_the_state_is_a_number(played):
    text = LeagueFolder(played[0].folder).state.read_text()
    assert "NaN" not in text
    assert "Infinity" not in text
    known = json.loads(text)
    del known["seal"]
    assert State.from_json(known).to_json() == known


def test_lines_and_rows_tell_of_the_same_matches(played):
    league, state = played
    lines = [json.loads(line) for line in (league.folder / MATCHES).read_text().splitlines()]
    first = [row for row in rows(league.folder, "results") if row["slot"] == 0]
    assert [line["match"] for line in lines] == [row["match"] for row in first]
    assert [line["score"] for line in lines] == [row["score"] for row in first]
    assert {line["round"] for line in lines} == {1, 2, 3, 4}
    assert len({line["match"] for line in lines}) == len(lines) == 2 * state.seeds
    assert lines[0]["players"] == ["rock", "main-001"]


# --- Going on ------------------------------------------------------------------------------------


@pytest.mark.parametrize("stride", [9, pytest.param(1, marks=pytest.mark.slow)])
def test_killed_at_any_moment_it_goes_on_exactly(stride, tmp_path):
    program = [sys.executable, Path(__file__).with_name("killed_league.py"), tmp_path, str(stride)]
    done = subprocess.run(
        program,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 40 / stride


def test_the_same_seed_gives_the_same_ratings_and_another_seed_others(played, tmp_path):
    _, state = played
    again = season(tmp_path / "again", **SMALL).run()
    assert rated(again) == rated(state)
    other = season(tmp_path / "other", seed=1, **SMALL).run()
    assert rated(other) != rated(state)


def test_a_finished_league_is_not_played_again(copy, played):
    def refuse(*_):
        raise AssertionError("called")

    state = season(copy, improve=refuse, play=refuse, **SMALL).run()
    assert state.to_json() == played[1].to_json()


def test_job_that_were_given_are_not_given_again(tmp_path):
    calls = []

    def improve(job):
        calls.append(job.name)
        return rps.improve(job)

    def fail(pairings):
        raise OSError("no more")

    with pytest.raises(OSError, match="no more"):
        season(tmp_path, improve=improve, play=fail, **SMALL).run()
    assert calls == ["main-001", "main-exploiter-001", "league-exploiter-001"]
    season(tmp_path, improve=improve, **SMALL).run()
    assert len(calls) == len(set(calls)) == 12


def test_matches_that_were_played_are_not_played_again(tmp_path):
    rounds = []

    def count(pairings):
        rounds.append(pairings[0].seeds[0])
        return play(pairings)

    def fail(job):
        if job.name == "main-003":
            raise OSError("no more")
        return rps.improve(job)

    with pytest.raises(OSError, match="no more"):
        season(tmp_path, improve=fail, play=count, **SMALL).run()
    LeagueFolder(
        tmp_path
    ).state.unlink()  # as if it had been killed before the first state was written
    with pytest.raises(OSError, match="no more"):
        season(tmp_path, improve=fail, play=count, **SMALL).run()
    assert len(rounds) == len(set(rounds)) == 2


def test_fresh_starts_over(copy):
    calls = []

    def improve(job):
        calls.append(job.name)
        return rps.improve(job)

    season(copy, improve=improve, **SMALL).run(resume=False)
    assert len(calls) == 12


def test_other_settings_are_refused(copy):
    with pytest.raises(InputError, match=r"matches was 10, now 12"):
        season(copy, **SMALL | {"matches": 12}).run()


# --- Damage --------------------------------------------------------------------------------------


def refused(folder):
    with pytest.raises(InputError) as error:
        season(folder, **SMALL | {"rounds": 4}).run()
    message = str(error.value)
    assert "\n" not in message
    assert str(folder) in message
    assert "--fresh" in message
    return message


def a_snapshot(folder):
    name = read_state(folder).roster.snapshots()[0]
    return name, folder / "players" / name / "weights.json"


def test_a_missing_snapshot_is_named(copy):
    name, path = a_snapshot(copy)
    path.unlink()
    assert f"the weights of {name} are missing" in refused(copy)


def test_a_missing_folder_of_a_snapshot_is_named(copy):
    name, path = a_snapshot(copy)
    shutil.rmtree(path.parent)
    assert f"the weights of {name} are missing" in refused(copy)


def test_a_damaged_snapshot_is_named(copy):
    name, path = a_snapshot(copy)
    path.write_text(path.read_text()[:-5])
    assert f"the weights of {name} are damaged" in refused(copy)


@pytest.mark.parametrize(
    "damage", ["{", "[]", '{"schema": "understudy.league"}', '{"schema": "x", "version": 4}']
)
def test_a_damaged_state_is_named(copy, damage):
    LeagueFolder(copy).state.write_text(damage)
    assert "league_state.json is damaged" in refused(copy)


@pytest.mark.parametrize("version", [2, 99])
def test_a_state_of_another_version_is_named_whatever_its_settings(copy, version):
    path = LeagueFolder(copy).state
    write_json(path, json.loads(path.read_text()) | {"version": version})
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["settings"] |= {"keep": 0.5}  # as leagues of version 2 had it
    write_json(copy / "manifest.json", manifest)
    assert f"league_state.json is of version {version}, and" in refused(copy)
    assert season(copy, **SMALL).run(resume=False).round == 4


def test_missing_results_of_a_round_are_named(copy):
    (copy / "results-00002.parquet").unlink()
    assert "the results of round 2 are missing" in refused(copy)


def test_lost_lines_are_written_again(copy):
    before = (copy / MATCHES).read_text()
    (copy / MATCHES).write_text(before[:100])
    season(copy, **SMALL).run()
    assert (copy / MATCHES).read_text() == before


def test_a_full_disk_is_named_and_nothing_is_lost(tmp_path, played):
    def fill(job):
        if job.name == "main-002":
            (tmp_path / MATCHES).unlink()
            (tmp_path / MATCHES).symlink_to("/dev/full")
        return rps.improve(job)

    with pytest.raises(InputError, match=r"cannot write .*matches.jsonl: No space left"):
        season(tmp_path, improve=fill, **SMALL).run()
    state = season(tmp_path, **SMALL).run()
    assert state.to_json() == played[1].to_json()
    assert (tmp_path / MATCHES).read_text() == (played[0].folder / MATCHES).read_text()


def test_a_job_without_weights_is_named(tmp_path):
    with pytest.raises(InputError, match=r"the training job of main-001 left no weights"):
        season(tmp_path, improve=lambda job: TrainingResult(1), **SMALL).run()


def test_whoever_loses_rows_is_told(tmp_path):
    with pytest.raises(ValueError, match="rows were due"):
        season(tmp_path, play=lambda pairings: play(pairings)[:-1], **SMALL).run()


def test_files_of_two_leagues_of_one_seed_are_equal(played, tmp_path):
    season(tmp_path / "again", **SMALL).run()
    assert contents(tmp_path / "again") == contents(played[0].folder)


def test_every_job_of_every_league_has_dice_of_its_own(tmp_path):
    seeds = []

    def improve(job):
        seeds.append(job.seed)
        return rps.improve(job)

    for seed in (0, 1):
        season(tmp_path / str(seed), seed=seed, improve=improve, **SMALL).run()
    assert len(set(seeds)) == len(seeds) == 24
