"""The stages leave the same files however they are run, stopped or repeated."""

import contextlib
import errno
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil
import pyarrow.parquet as pq
import pytest

from tests.pipeline import tasks
from tests.small_runs import (
    COMPETE,
    ENCODE,
    RECORD,
    TRAIN,
    a_disk_that_takes_files_up_to,
    assert_refused,
    contents,
    finished_run,
    succeed,
    tiny_recipe,
    understudy,
)
from understudy import games
from understudy.data.results import read_results
from understudy.data.runs import COMPETE as COMPETE_PURPOSE
from understudy.data.runs import RECORD as RECORD_PURPOSE
from understudy.data.runs import Run, read_manifest
from understudy.errors import InputError
from understudy.games import PlayerRef
from understudy.pipeline import compete as compete_stage
from understudy.pipeline import pairings
from understudy.pipeline import playing as playing_stage
from understudy.pipeline import report as report_stage

PROGRAM = "from understudy.cli import main; main()"
ARENA = games.load("arena")
KEYS = ["00000", "00001", "00002", "00003"]
EVERYBODY = "record arena --players {0} --opponents {0} --matches 50 --seed 4".format(
    "expert,rusher,kiter,camper,collector"
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return finished_run(tmp_path_factory)


@pytest.fixture(scope="module")
def recorded(finished, tmp_path_factory):
    """A run that has been recorded and encoded; not to be changed."""
    folder = tmp_path_factory.mktemp("recorded")
    for name in ("recordings", "samples"):
        shutil.copytree(finished / name, folder / name)
    return folder


@pytest.fixture
def run(recorded, tmp_path):
    """A copy to work on."""
    shutil.copytree(recorded, tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """The folder of a model that has learnt nothing; it is named like the recipe."""
    from understudy.learn.policy import FactoredPolicy, save_policy

    folder = tmp_path_factory.mktemp("models") / "imitate-quick"
    folder.mkdir()
    save_policy(folder, FactoredPolicy(ARENA.recipe("imitate-quick").shape, seed=1))
    return folder


def shard(folder, table, key):
    (path,) = folder.glob(f"*/{table}-{key}.parquet")
    return path


def identity(folder):
    """Changes for every file that is written again, be it with the same content."""
    return {
        path.name: (path.stat().st_ino, path.stat().st_mtime_ns)
        for path in folder.glob("*.parquet")
    }


def rewritten(before, folder):
    after = identity(folder)
    return sorted(name for name in after if after[name] != before.get(name))


def cut(path):
    """As a copy that broke off leaves it."""
    os.truncate(path, path.stat().st_size // 2)


# --- Killed --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [RECORD, ENCODE, pytest.param(TRAIN, marks=pytest.mark.slow)],
    ids=["record", "encode", "train"],
)
def test_being_killed_over_and_over_changes_nothing(command, recorded, tmp_path):
    broken, whole = tmp_path / "broken", tmp_path / "whole"
    if "record" not in command:
        for folder in (broken, whole):
            shutil.copytree(recorded, folder)
    if "encode" in command:
        for folder in (broken, whole):
            shutil.rmtree(folder / "samples")
    here = [] if "train" in command else ["--workers", "0"]
    program = [sys.executable, Path(__file__).parents[1] / "killed_often.py", "2", whole]
    done = subprocess.run(
        [*program, *command.split(), "--quiet", *here, "--out", broken],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout.split()[-1]) >= 2  # times it was killed
    assert contents(broken) == contents(whole)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A run of many shards, made without a break."""
    folder = tmp_path_factory.mktemp("many") / "run"
    succeed(EVERYBODY, folder)
    succeed(ENCODE, folder)
    return folder


@pytest.mark.parametrize(
    ("command", "made"), [(EVERYBODY, "recordings"), (ENCODE, "samples")], ids=["record", "encode"]
)
def test_workers_die_with_the_program_and_the_same_command_goes_on(command, made, many, tmp_path):
    run = tmp_path / "run"
    if command == ENCODE:
        shutil.copytree(many / "recordings", run / "recordings")
    shards = random.Random(made).randint(2, 8)
    kill_when(shards, run / made, [*command.split(), "--out", str(run)])
    assert read_manifest(run / made)["finished"] is None
    kept = identity(run / made)
    assert len(kept) >= shards
    succeed(command, run)
    assert contents(run / made) == contents(many / made)
    assert len(rewritten(kept, run / made)) <= len(identity(run / made)) - shards + 1


def kill_when(shards, folder, arguments):
    """Start a command on two workers; kill it when there are that many shards, and see all end."""
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments, "--quiet", "--workers", "2"],
        start_new_session=True,
    )
    with program:
        wait_until(lambda: len(list(folder.glob("*.parquet"))) >= shards)
        program.kill()
        try:
            wait_until(lambda: not group_of(program.pid))
        finally:
            for survivor in group_of(program.pid):
                survivor.kill()


def group_of(leader):
    """Running processes of that group; the leader itself may still wait to be reaped."""
    found = []
    for process in psutil.process_iter(["status"]):
        with contextlib.suppress(ProcessLookupError):
            if os.getpgid(process.pid) == leader and process.info["status"] != "zombie":
                found.append(process)
    return found


def wait_until(condition, seconds=30.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.003)


# --- Wherever it runs ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster():
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=":0") as cluster:
        yield cluster.scheduler_address


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_recordings_do_not_depend_on_the_number_of_workers(workers, recorded, tmp_path):
    succeed(RECORD, tmp_path / "run", "--workers", workers)
    assert contents(tmp_path / "run" / "recordings") == contents(recorded / "recordings")


@pytest.mark.slow
def test_a_cluster_makes_the_same_recordings_and_samples(cluster, recorded, tmp_path):
    succeed(RECORD, tmp_path / "run", "--workers", cluster)
    succeed(ENCODE, tmp_path / "run", "--workers", cluster)
    assert contents(tmp_path / "run") == contents(recorded)


# --- Tasks that fail -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("workers", "limit", "told"),
    [("0", "1", "OverLimit: over its time limit"), ("2", "3", "no answer within 3 s, killed")],
)
def test_a_hung_task_is_told_and_the_same_command_does_the_rest(
    workers, limit, told, recorded, tmp_path, monkeypatch
):
    run = tmp_path / "run"
    options = ["--out", run, "--quiet", "--workers", workers, "--task-seconds", limit]
    with monkeypatch.context() as patch:
        patch.setattr(playing_stage, "_play_fixture", tasks.play_or_hang)
        assert_refused(
            understudy(RECORD, *options),
            f"1 of 4 tasks failed, the first ({tasks.HUNG}) because: {told}",
            "The others are kept; the same command tries these again",
        )
    kept = identity(run / "recordings")
    assert len(kept) == 9
    assert not list(run.rglob("*.part"))
    succeed(RECORD, run)
    assert rewritten(kept, run / "recordings") == [
        f"{table}-00002.parquet" for table in ("matches", "results", "steps")
    ]
    assert contents(run / "recordings") == contents(recorded / "recordings")


def test_a_failed_write_leaves_nothing_half_written(recorded, tmp_path):
    run = tmp_path / "run"
    sizes = sorted(p.stat().st_size for p in (recorded / "recordings").glob("steps-*.parquet"))
    with a_disk_that_takes_files_up_to(sizes[1]):
        done = understudy(RECORD, "--out", run, "--quiet", "--workers", "0")
    assert_refused(done, "2 of 4 tasks failed", "cannot write", "File too large", "free some space")
    assert len(identity(run / "recordings")) == 6
    assert not list(run.rglob("*.part"))
    succeed(RECORD, run)
    assert contents(run / "recordings") == contents(recorded / "recordings")


def test_a_full_disk_during_encode_is_one_line(run, monkeypatch):
    shutil.rmtree(run / "samples")
    write, left = pq.write_table, iter(range(2))

    def write_twice(rows, path, **options):
        write(rows, path, **options)
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(pq, "write_table", write_twice)
    done = understudy(ENCODE, "--out", run, "--quiet", "--workers", "0")
    assert_refused(done, "2 of 4 tasks failed", "No space left on device", "free some space")
    assert len(identity(run / "samples")) == 2
    assert not list(run.rglob("*.part"))


def test_a_full_disk_during_training_is_one_line_and_it_goes_on_afterwards(run, finished):
    whole, model = (folder / "models" / "imitate-quick" for folder in (finished, run))
    with tiny_recipe():
        for name in ("weights.safetensors", "checkpoint.pt"):
            with a_disk_that_takes_files_up_to((whole / name).stat().st_size - 1):
                done = understudy(TRAIN, "--out", run, "--quiet")
            assert_refused(done, f"cannot write {model / name}: ", "free some space")
            assert not list(run.rglob("*.part"))
            assert not (model / name).exists()
        succeed(TRAIN, run)
    assert contents(model) == contents(whole)


# --- Record --------------------------------------------------------------------------------------


def test_every_seed_is_met_twice_with_sides_swapped_and_no_match_is_doubled():
    me, you = PlayerRef("me"), PlayerRef("you")
    plan = pairings.fixtures([(me, me), (me, you)], 251, 3, RECORD_PURPOSE)
    played = [(f.players, seed) for f in plan.values() for seed in f.seeds]
    assert len(set(played)) == len(played) == 251
    assert Counter(players for players, _ in played) == {
        (me, me): 126,
        (me, you): 63,
        (you, me): 62,
    }
    seeds = {pair: {s for p, s in played if p == pair} for pair in [(me, you), (you, me)]}
    assert seeds[you, me] < seeds[me, you]
    assert max(len(f.seeds) for f in plan.values()) == pairings.MATCHES_PER_TASK


def test_no_two_purposes_or_seeds_share_a_match():
    me, you = PlayerRef("me"), PlayerRef("you")
    seen = [
        {
            seed
            for f in pairings.fixtures([(me, you)] * 3, 99, seed, purpose).values()
            for seed in f.seeds
        }
        for seed in (0, 1, 2)
        for purpose in (RECORD_PURPOSE, COMPETE_PURPOSE)
    ]
    assert sum(map(len, seen)) == len(set.union(*seen))


def test_seeds_never_run_into_those_of_another_purpose():
    me, you = PlayerRef("me"), PlayerRef("you")
    with pytest.raises(InputError, match="too many matches"):
        pairings.fixtures([(me, you)] * 10**5, 1001, 0, RECORD_PURPOSE)


@pytest.mark.parametrize("table", ["matches", "steps"])
def test_a_lost_recording_is_made_again_and_no_other(table, run, recorded):
    shard(run, table, "00001").unlink()
    before = identity(run / "recordings")
    succeed(RECORD, run)
    assert f"{table}-00001.parquet" in rewritten(before, run / "recordings")
    assert all("00001" in name for name in rewritten(before, run / "recordings"))
    assert contents(run / "recordings") == contents(recorded / "recordings")


LINE = {
    "step": 0,
    "slot": 0,
    "observation": {"position": [1, 2], "health": 60},
    "action": {"fire": 1},
}


def write_log(path, *lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in lines)
    )


def test_a_broken_line_of_a_log_is_told_and_the_rest_is_kept(tmp_path):
    later = LINE | {"step": 1}
    write_log(tmp_path / "logs" / "deep" / "a.jsonl", LINE, '{"step": 1, "obs', later)
    write_log(tmp_path / "logs" / "b.jsonl", LINE)
    done = understudy("record arena", "--logs", tmp_path / "logs", "--out", tmp_path / "run")
    assert done.code == 0
    assert done.out == f"2 matches from 2 logs in {tmp_path}/run/recordings\n"
    (told,) = done.err.splitlines()
    assert told.startswith("deep/a.jsonl:2: not JSON (")
    facts = read_manifest(tmp_path / "run" / "recordings")["facts"]
    assert facts == {"matches": 2, "files": 2, "rejected": [told]}
    succeed(ENCODE, tmp_path / "run")
    assert read_manifest(tmp_path / "run" / "samples")["facts"]["counts"]["decisions"] == 3


def test_many_broken_lines_are_counted_and_all_are_in_the_manifest(tmp_path):
    place = "a-folder-with-quite-a-long-name-" * 3
    write_log(tmp_path / "logs" / place / "a.jsonl", LINE, *["?"] * 9)
    done = understudy("record arena", "--logs", tmp_path / "logs", "--out", tmp_path / "run")
    *some, more = done.err.splitlines()
    assert more == "... and 4 more, all in the manifest"
    rejected = read_manifest(tmp_path / "run" / "recordings")["facts"]["rejected"]
    assert some == rejected[:5]
    assert [line.split(":")[1] for line in rejected] == [str(n) for n in range(2, 11)]


def test_logs_that_are_gone_leave_no_recordings(tmp_path):
    logs, run = tmp_path / "logs", tmp_path / "run"
    for name in "abc":
        write_log(logs / f"{name}.jsonl", LINE)
    assert understudy("record arena", "--logs", logs, "--out", run).code == 0
    (logs / "a.jsonl").unlink()
    write_log(logs / "b.jsonl", "?")  # and this one holds nothing now
    assert understudy("record arena", "--logs", logs, "--out", run).code == 0
    tables = [pq.read_table(path) for path in sorted((run / "recordings").glob("*.parquet"))]
    assert [set(table["match"].to_pylist()) for table in tables] == [{"c.jsonl"}] * 2


# --- Encode --------------------------------------------------------------------------------------


def test_encoding_again_encodes_nothing(run):
    before = identity(run / "samples")
    succeed(ENCODE, run)
    assert rewritten(before, run / "samples") == []


def test_only_the_samples_of_changed_recordings_are_made_again(run):
    counts = read_manifest(run / "samples")["facts"]["counts"]
    before = identity(run / "samples")
    steps = pq.read_table(shard(run, "steps", "00001"))
    pq.write_table(steps.slice(2), shard(run, "steps", "00001"))  # the first step is gone
    for table in ("matches", "steps"):
        shard(run, table, "00002").unlink()
        shutil.copy(shard(run, table, "00003"), run / "recordings" / f"{table}-00009.parquet")
    succeed(ENCODE, run)
    assert rewritten(before, run / "samples") == ["moves-00001.parquet", "moves-00009.parquet"]
    assert sorted(identity(run / "samples")) == [
        f"moves-{key}.parquet" for key in ("00000", "00001", "00003", "00009")
    ]
    rows = {
        key: pq.read_metadata(shard(run, "moves", key)).num_rows for key in KEYS if key != "00002"
    }
    facts = read_manifest(run / "samples")["facts"]
    assert facts["inputs"].keys() == {"00000", "00001", "00003", "00009"}
    assert facts["counts"]["decisions"] == sum(rows.values()) + rows["00003"]
    assert facts["counts"]["matches"] == counts["matches"]


def test_damaged_samples_are_made_again(run, recorded):
    cut(shard(run, "moves", "00001"))
    succeed(ENCODE, run)
    assert contents(run) == contents(recorded)


def test_only_the_chosen_players_are_encoded(run):
    def deciding():
        paths = (run / "samples").glob("*.parquet")
        return Counter(name for path in paths for name in pq.read_table(path)["player"].to_pylist())

    assert deciding().keys() == {"expert"}  # who was recorded to learn from
    expert = deciding()["expert"]
    succeed(ENCODE, run, "--players", "rusher, kiter", "--fresh")
    assert deciding().keys() == {"rusher", "kiter"}
    assert deciding().total() == expert  # both decide at every step
    assert len(identity(run / "samples")) == 4


# --- Manifests -----------------------------------------------------------------------------------


def test_manifests_say_how_all_was_made(finished):
    (results,) = (finished / "results").iterdir()
    folders = (finished / "recordings", finished / "samples", finished / "models" / "imitate-quick")
    recordings, samples, model, results = (read_manifest(path) for path in (*folders, results))
    for manifest, command in zip(
        (recordings, samples, model, results), (RECORD, ENCODE, TRAIN, COMPETE), strict=True
    ):
        assert manifest["command"][: 1 + len(command.split())] == ["understudy", *command.split()]
        assert manifest["stage"] == command.split()[0]
        assert manifest["settings"]["game"] == "arena"
        assert {"understudy", "python", "torch", "numba"} <= manifest["versions"].keys()
        assert manifest["begun"] <= manifest["finished"]
    assert [m["settings"].get("seed") for m in (recordings, samples, model, results)] == [
        9,
        None,
        9,
        0,
    ]
    assert samples["facts"]["inputs"].keys() == set(KEYS)
    assert model["inputs"].keys() == {f"moves-{key}.parquet" for key in KEYS}
    assert model["settings"]["steps"] == 24
    assert results["settings"]["players"].keys() == {"imitate-quick", "expert"}
    assert len(results["settings"]["players"]["imitate-quick"]) == 32  # the digest of its weights
    assert results["settings"]["players"]["expert"] is None


# --- Compete -------------------------------------------------------------------------------------


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


def test_some_matches_of_each_pair_and_side_are_kept_for_replays(tmp_path):
    refs = [PlayerRef("expert"), PlayerRef("rusher")]
    schedule = pairings.to_compete(ARENA, refs, matches=120, keep=2)
    competition = compete_stage.compete(ARENA, Run(tmp_path), schedule, worker=0, quiet=True)
    assert len(competition.results) == 2 * 120
    paths = (tmp_path / "results").rglob("steps-*.parquet")
    filmed = {match for path in paths for match in pq.read_table(path)["match"].to_pylist()}
    assert Counter(name.rsplit("-", 1)[0] for name in filmed) == {
        "expert-rusher": 2,
        "rusher-expert": 2,
    }


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


# --- Report --------------------------------------------------------------------------------------


def test_a_competition_without_results_yet_does_not_hide_the_rest(run):
    succeed("compete arena expert rusher --matches 2", run)
    begun = run / "results" / "expert-kiter-2-0"
    shutil.copytree(run / "results" / "expert-rusher-2-0", begun)
    for path in begun.glob("*.parquet"):
        path.unlink()
    page = report_stage.report(Run(run)).read_text()
    assert "Strength: expert, rusher" in page
