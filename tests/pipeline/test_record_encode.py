"""What is lost or changed is made again, and nothing else."""

import json
import os
import shutil
from collections import Counter

import pyarrow.parquet as pq
import pytest

from tests.pipeline.rewriting import identity, rewritten
from tests.small_runs import (
    ENCODE,
    RECORD,
    contents,
    succeed,
    understudy,
)
from understudy.data.runs import read_manifest

KEYS = ["00000", "00001", "00002", "00003"]


def shard(folder, table, key):
    (path,) = folder.glob(f"*/{table}-{key}.parquet")
    return path


def truncated(path):
    """As a copy that broke off leaves it."""
    os.truncate(path, path.stat().st_size // 2)


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
    assert done.out.startswith(f"2 matches from 2 logs in {tmp_path}/run/recordings\nNext: ")
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
    truncated(shard(run, "moves", "00001"))
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
