"""Few large shards hold what many small ones did, whenever they were made."""

import shutil
import signal

import pytest

from tests.small_runs import (
    ENCODE,
    RECORD,
    assert_refused,
    contents,
    finished_run,
    rows,
    succeed,
    understudy,
)
from understudy import cli
from understudy.data.elsewhere import compact as stage
from understudy.data.runs import Run
from understudy.trust.attacks.kills import dying_at
from understudy.trust.check import check
from understudy.trust.command import run as run_command

TABLES = ("matches", "steps", "results")


@pytest.fixture
def recorded(tmp_path_factory):
    """Not to be changed."""
    return finished_run(tmp_path_factory)


@pytest.fixture(autouse=True)
def two_shards_in_one(monkeypatch, recorded):
    sizes = [path.stat().st_size for path in (recorded / "recordings").glob("*.parquet")]
    monkeypatch.setattr(stage, "SIZE", sum(sizes) // 4 + 1)


def compacted(source, target):
    done = understudy("compact", source, "--out", target)
    assert (done.code, done.err) == (0, ""), done.err
    return target


def keys(run, table="matches"):
    return sorted(path.name for path in (run / "recordings").glob(f"{table}-*.parquet"))


def test_rows_are_the_same_in_the_same_order(recorded, tmp_path):
    there = compacted(recorded, tmp_path / "few")
    assert 1 < len(keys(there)) < len(keys(recorded))
    for table in TABLES:
        assert rows(there / "recordings", table) == rows(recorded / "recordings", table)
    assert check(Run(there)).findings == []


def test_samples_of_it_are_the_same(recorded, tmp_path):
    there = compacted(recorded, tmp_path / "few")
    shutil.copytree(recorded, tmp_path / "many")
    for run in (there, tmp_path / "many"):
        succeed(ENCODE, run)
    few, many = (rows(run / "samples", "moves") for run in (there, tmp_path / "many"))
    assert few == many
    assert check(Run(there)).findings == []


def test_what_is_whole_is_kept_and_what_changed_is_made_again(recorded, tmp_path):
    source = shutil.copytree(recorded, tmp_path / "source")
    there = compacted(source, tmp_path / "few")
    first = {path: path.stat().st_mtime_ns for path in (there / "recordings").glob("*.parquet")}
    compacted(source, there)
    assert {path: path.stat().st_mtime_ns for path in first} == first
    last = sorted(first)[-1]
    last.write_bytes(last.read_bytes()[:-9])
    compacted(source, there)
    assert [path for path in first if path.stat().st_mtime_ns != first[path]] == [last]
    succeed(RECORD.replace("--matches 40", "--matches 60"), source)
    compacted(source, there)
    assert rows(there / "recordings", "steps") == rows(source / "recordings", "steps")


@pytest.mark.parametrize("moment", range(1, 6))
def test_killed_at_a_file_it_goes_on(moment, recorded, tmp_path):
    whole, there = compacted(recorded, tmp_path / "whole"), tmp_path / "few"
    arguments = ["compact", str(recorded), "--out", str(there)]
    prepare = dying_at(moment, moment % 2 == 0, signal.SIGKILL)
    assert run_command(cli.main, arguments, prepare=prepare).code == -signal.SIGKILL
    compacted(recorded, there)
    assert contents(there) == contents(whole)


def test_what_cannot_be_compacted_is_refused(recorded, tmp_path):
    assert_refused(understudy("compact", recorded, "--out", recorded), "is the run itself")
    source = shutil.copytree(recorded, tmp_path / "source")
    (source / "recordings" / keys(source, "steps")[0]).unlink()
    assert_refused(understudy("compact", source, "--out", tmp_path / "x"), "is missing")
    (source / "recordings" / "manifest.json").unlink()
    assert_refused(understudy("compact", source, "--out", tmp_path / "x"), "no finished recording")
