"""Competitions: pairs with sides swapped, the same however they are run; and their report."""

import shutil
from collections import Counter

import pyarrow.parquet as pq

from tests.small_runs import (
    assert_refused,
    contents,
    succeed,
    understudy,
)
from understudy import games
from understudy.data.results import read_results
from understudy.data.runs import Run
from understudy.pipeline import report as report_stage

ARENA = games.load("arena")


def results_of(folder):
    (path,) = (folder / "results").iterdir()
    return read_results(path, ARENA.results).to_pylist()


def test_matches_of_a_competition_come_in_pairs_with_sides_swapped(tmp_path):
    succeed("compete arena expert rusher kiter --matches 5 --seed 9", tmp_path)
    results = results_of(tmp_path)
    assert len(results) == 3 * 5 * 2
    by_seed = {}
    for row in results:
        by_seed.setdefault(row["seed"], set()).add((row["player"], row["slot"]))
    sides = Counter(len(seats) for seats in by_seed.values())
    assert sides == {4: 6, 2: 3}  # of 5 matches, the last has no rematch
    for seats in by_seed.values():
        players = {player for player, _ in seats}
        assert len(players) == 2
        if len(seats) == 4:
            assert seats == {(player, slot) for player in players for slot in (0, 1)}


def test_a_competition_never_plays_a_recorded_match(recorded, tmp_path):
    succeed("compete arena expert rusher --matches 40 --seed 9", tmp_path)
    paths = (recorded / "recordings").glob("matches-*.parquet")
    taught = {seed for path in paths for seed in pq.read_table(path)["seed"].to_pylist()}
    assert len(taught) == 20
    assert not taught & {row["seed"] for row in results_of(tmp_path)}


def test_results_hang_on_the_seed_and_not_on_the_workers(clone, tmp_path):
    command = f"compete arena {clone} expert --matches 8"
    for name, more in {
        "here": ["--seed", 5],
        "again": ["--seed", 5, "--workers", 1],
        "other": ["--seed", 6],
    }.items():
        succeed(command, tmp_path / name, *more)
    here, again, other = (contents(tmp_path / name) for name in ("here", "again", "other"))
    assert here == again
    assert not here.keys() & other.keys()
    assert {row["seed"] for row in results_of(tmp_path / "here")}.isdisjoint(
        row["seed"] for row in results_of(tmp_path / "other")
    )


def test_a_model_elsewhere_competes_under_the_name_of_its_folder(clone, tmp_path):
    done = succeed(f"compete arena {clone} expert --matches 2", tmp_path / "run")
    assert "imitate-quick" in done.out
    assert [path.name for path in (tmp_path / "run" / "results").iterdir()] == [
        "imitate-quick-expert-2-0"
    ]
    assert sorted(path.name for path in clone.parent.iterdir()) == ["imitate-quick"]


def test_two_models_of_one_name_are_told_apart_by_nobody(clone, tmp_path):
    shutil.copytree(clone, tmp_path / "run" / "models" / "imitate-quick")
    done = understudy(f"compete arena {clone} imitate-quick", "--out", tmp_path / "run")
    assert_refused(done, "compete needs at least two different players")


def test_a_competition_without_results_yet_does_not_hide_the_rest(run):
    succeed("compete arena expert rusher --matches 2", run)
    begun = run / "results" / "expert-kiter-2-0"
    shutil.copytree(run / "results" / "expert-rusher-2-0", begun)
    for path in begun.glob("*.parquet"):
        path.unlink()
    page = report_stage.report(Run(run)).read_text()
    assert "Strength: expert, rusher" in page
