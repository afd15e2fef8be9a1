"""Who of a generation goes on, what a kill leaves behind, and in which worlds a plan is judged."""

import itertools
import multiprocessing
import os
import signal

import numpy as np
import pytest

from tests.games.scml.tuning import toy
from understudy.games.scml.tuning import search as tuning
from understudy.games.scml.tuning.trials import Trial, scores


@pytest.fixture
def asked(monkeypatch, found):
    """Every task of a search, as it was asked for; and searches."""
    kept, told = [], tuning.scores

    def noted(trial):
        kept.append(trial)
        return told(trial)

    monkeypatch.setattr(tuning, "scores", noted)
    return kept, found


def by_block(trials):
    """The tasks of each generation, and of what confirms."""
    blocks = dict.fromkeys(trial.block for trial in trials)
    return {block: [trial for trial in trials if trial.block == block] for block in blocks}


def played(trials):
    """How many worlds each plan was played in, from the most on."""
    worlds = {}
    for trial in trials:
        told = tuple(sorted(trial.told.items()))
        worlds.setdefault(told, set()).update(range(trial.first, trial.last))
    assert all(one == set(range(len(one))) for one in worlds.values())  # the first so many
    return worlds


def of_many(trial):
    """Plans that differ in one number, of which each has its luck in every world."""
    number = round(trial.told.get("firm", 0))
    worlds = range(trial.first, trial.last)
    return [float(np.random.default_rng([number, world]).normal()) for world in worlds]


def test_few_play_on_and_they_are_the_best_so_far(found, monkeypatch):
    trials, number = [], itertools.count(1)
    monkeypatch.setattr(tuning, "_changed", lambda *_: {"firm": float(next(number))})
    monkeypatch.setattr(tuning, "scores", lambda trial: [trials.append(trial), of_many(trial)][1])
    found(generations=1, worlds=64)
    worlds = played(by_block(trials)[1])
    assert len(worlds.pop(())) == 64  # the plan before plays in all, or nothing could be compared
    assert sorted(map(len, worlds.values())) == [8] * 9 + [32] * 2 + [64]

    def best_first(plans, count):
        def mean(told):
            return np.mean(of_many(Trial("official", "first", 1, 0, count, dict(told))))

        return sorted(plans, key=mean, reverse=True)

    eighth = best_first(worlds, 8)[:3]
    assert set(eighth) == {told for told, seen in worlds.items() if len(seen) >= 32}
    assert len(worlds[best_first(eighth, 32)[0]]) == 64


def test_no_generation_sees_worlds_of_another_and_what_confirms_sees_its_own(asked):
    trials, search = asked
    search(generations=3, seed=7)
    blocks = list(by_block(trials))
    assert blocks == [7001, 7002, 7003, tuning.CONFIRMING + 7]
    confirming = played(by_block(trials)[blocks[-1]])
    assert {len(worlds) for worlds in confirming.values()} == {64}
    assert () in confirming and len(confirming) == 2  # the original and what was found


def test_a_gain_that_only_the_search_saw_is_not_confirmed(found, monkeypatch):
    """In the blocks of the search one plan is lucky; elsewhere it is worth nothing."""

    def lucky(trial):
        prize = trial.told.get("firm") == 12.0 and trial.block < tuning.CONFIRMING
        return [float(prize)] * (trial.last - trial.first)

    monkeypatch.setattr(tuning, "scores", lucky)
    result = found()
    assert result.told["firm"] == 12.0
    assert any(one.accepted and one.gain == 1 for one in result.generations)
    assert result.confirmed.value == 0


def _killed(folder, after):
    """Search until so many tasks were played, and be killed in the next."""
    played_so_far = itertools.count()

    def mortal(trial):
        if next(played_so_far) == after:
            os.kill(os.getpid(), signal.SIGKILL)
        return toy.scores(trial)

    tuning.scores = mortal
    toy.search(folder)


# Of 116 tasks: in the first rung, after a generation, in the midst, and in what confirms.
@pytest.mark.parametrize("after", [3, 19, 60, 110])
def test_killed_anywhere_it_ends_with_the_same_bytes(found, tmp_path, after):
    whole = found("whole")
    child = multiprocessing.get_context("fork").Process(
        target=_killed, args=(tmp_path / "part", after)
    )
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    assert not (tmp_path / "part" / "numbers.json").exists()
    assert found("part") == whole
    for name in ("search.json", "numbers.json"):
        part, other = (tmp_path / folder / name for folder in ("part", "whole"))
        assert part.read_bytes() == other.read_bytes()


def test_the_numbers_that_tell_the_field_decide_which_way_is_played():
    """A way's own numbers matter only while the buyers count as such."""

    def first(**told):
        told = {name.replace("_", ".", 1): value for name, value in told.items()}
        return scores(Trial("official", "first", 5, 0, 3, told))

    usual = first()
    for share, silent, heard in ((0, "thrifty", "eager"), (2, "eager", "thrifty")):
        field = {"telling_eager_share": share}
        assert first(**field) == usual  # both ways are the same at first
        assert first(**field, **{f"{silent}_choosy": 0}) == usual
        assert first(**field, **{f"{heard}_choosy": 0}) != usual


def test_before_it_asks_it_plays_the_first_way():
    told = {"telling.watch_days": 300, "telling.eager_share": 0}

    def first(**changed):
        return scores(Trial("official", "first", 5, 0, 3, {**told, **changed}))

    way = {"telling.first_way": 1}
    assert first(**{"eager.choosy": 0}) == first() != first(**{"thrifty.choosy": 0})
    assert (
        first(**way, **{"thrifty.choosy": 0}) == first(**way) != first(**way, **{"eager.choosy": 0})
    )
