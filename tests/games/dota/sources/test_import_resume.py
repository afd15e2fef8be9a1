"""An import that is stopped goes on after the last lot it wrote, and notices what has changed."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.games.dota.small_matches import small_match, small_tables, write_tables
from tests.small_runs import understudy
from understudy import games
from understudy.data.runs import Run
from understudy.games.dota.sources import match_files, synthetic, table_import
from understudy.pipeline import import_matches as import_matches_stage
from understudy.pipeline.game import Awaited

DOTA = games.load("dota")
KILLED_OFTEN = Path(__file__).parents[3] / "killed_often.py"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Seven files, a match or more each, one of them damaged; lots of three matches."""
    for module in (synthetic, table_import, match_files):
        monkeypatch.setattr(module, "MATCHES_PER_BATCH", 3)
    source = tmp_path / "files"
    source.mkdir()
    for number in range(1, 6):
        (source / f"{number}.json").write_text(json.dumps(small_match(number)))
    (source / "3.json").write_text("{")
    lines = "\n".join(json.dumps(small_match(number)) for number in (6, 7, 1, 8, 9))
    (source / "some.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (source / "z.json").write_text(json.dumps(small_match(10)))
    return source


def taken(folder, run):
    """Take the folder in; which lots were read for it, and what came of it."""
    read = []

    def watched(lot):
        load = lot._load
        lot._load = lambda: read.append(lot.source) or load()
        return lot

    found = import_matches_stage.take_in(
        DOTA, run, map(watched, match_files.read_logs(folder)), {"files": "here"}
    )
    return read, found


def contents(run):
    return {path.name: path.read_bytes() for path in run.recordings.glob("[!m]*-*.*")}


def numbers(run):
    paths = sorted(run.recordings.glob("matches-*.parquet"))
    return [pq.read_table(path)["match_id"].to_pylist() for path in paths]


def test_files_and_lines_fill_lots_in_order(folder):
    lots = list(match_files.read_logs(folder))
    assert [lot.source for lot in lots] == ["3.json", "some.jsonl.gz", "some.jsonl.gz", "z.json"]
    found = [lot.tables["matches"]["match_id"].to_pylist() for lot in lots]
    assert found == [[1, 2], [4, 5, 6], [7, 8], [9, 10]]
    assert [word.split(": ")[0] for lot in lots for word in lot.rejected] == [
        *("3.json", "some.jsonl.gz:3")
    ]
    assert len({lot.stamp for lot in lots}) == 4


def test_nothing_is_read_twice(folder, tmp_path):
    run = Run(tmp_path / "run")
    read, first = taken(folder, run)
    before = contents(run)
    assert len(read) == 4 and first.matches == 9 and len(first.rejected) == 2
    read, again = taken(folder, run)
    assert read == [] and again == first and contents(run) == before
    (folder / "zz.json").write_text(json.dumps(small_match(11)))
    read, more = taken(folder, run)
    assert read == ["zz.json"] and more.matches == 10
    assert numbers(run) == [[1, 2], [4, 5, 6], [7, 8], [9, 10, 11]]


def test_what_was_mended_is_read_again_with_all_that_may_hang_on_it(folder, tmp_path):
    run = Run(tmp_path / "run")
    taken(folder, run)
    (folder / "3.json").write_text(json.dumps(small_match(8)))  # so 8 comes no more later
    read, found = taken(folder, run)
    assert len(read) == 4
    assert numbers(run) == [[1, 2, 8], [4, 5, 6], [7], [9, 10]]
    assert any("match 8 was read before" in word for word in found.rejected)


def test_a_lost_or_vanished_lot_is_made_again_or_goes(folder, tmp_path):
    run = Run(tmp_path / "run")
    taken(folder, run)
    whole = contents(run)
    (run.recordings / "events-00002.parquet").unlink()
    read, _ = taken(folder, run)
    assert read == ["some.jsonl.gz"] and contents(run) == whole
    (folder / "z.json").unlink()
    (folder / "some.jsonl.gz").unlink()
    read, found = taken(folder, run)
    assert read == ["5.json"] and found.matches == 4
    assert {path.name for path in run.recordings.glob("*-0000[34]*")} == set()


def test_duplicates_are_known_from_lots_that_were_not_read_again(folder, tmp_path):
    run = Run(tmp_path / "run")
    taken(folder, run)
    (folder / "zz.json").write_text(json.dumps(small_match(2)))
    _, found = taken(folder, run)
    assert found.matches == 9
    assert any("zz.json: match 2 was read before" in word for word in found.rejected)


def test_tables_too_are_taken_in_lot_by_lot(folder, tmp_path):
    source = tmp_path / "tables"
    source.mkdir()
    for name, table in small_tables(*map(small_match, range(1, 8))).items():
        pq.write_table(table, source / f"{name}.parquet")
    lots = list(table_import.read_tables(source))
    assert [len(lot.tables["matches"]) for lot in lots] == [3, 3, 1]
    stamps = [lot.stamp for lot in table_import.read_tables(source)]
    assert stamps == [lot.stamp for lot in lots] and len(set(stamps)) == 3
    os.utime(source / "events.parquet", ns=(1, 1))
    changed = [lot.stamp for lot in table_import.read_tables(source)]
    assert all(one != other for one, other in zip(stamps, changed, strict=True))


def test_matches_that_are_there_already_are_counted(tmp_path):
    for name, which in (("a", range(1, 8)), ("b", range(5, 10)), ("c", range(9, 11))):
        (tmp_path / name).mkdir()
        write_tables(tmp_path / name, small_tables(*map(small_match, which)))
    both = ["--tables", tmp_path / "a", "--tables", tmp_path / "b", "--out", tmp_path / "run"]
    for _ in range(2):  # the second time nothing is read
        done = understudy("record dota", *both)
        assert done.out.startswith("9 matches in"), done.err
        assert "3 matches left out: in the run already" in done.out
    done = understudy("record dota --tables", tmp_path / "c", "--out", tmp_path / "run")
    assert done.out.startswith("10 matches in"), done.err
    assert "4 matches left out: in the run already" in done.out
    found = [number for lot in numbers(Run(tmp_path / "run")) for number in lot]
    assert sorted(found) == list(range(1, 11))
    done = understudy("check", tmp_path / "run")
    assert done.code == 0, done.out


def test_a_match_that_is_faulty_in_one_folder_is_taken_from_the_next(tmp_path):
    tables = small_tables(*map(small_match, range(1, 4)))
    won = tables["matches"]["radiant_win"].to_pylist()
    place = tables["matches"].schema.get_field_index("radiant_win")
    faulty = tables["matches"].set_column(
        place, "radiant_win", pa.array([won[0], None, won[2]], tables["matches"].schema[place].type)
    )
    write_tables(tmp_path / "a", tables | {"matches": faulty})
    write_tables(tmp_path / "b", tables)
    both = ["--tables", tmp_path / "a", "--tables", tmp_path / "b", "--out", tmp_path / "run"]
    done = understudy("record dota", *both)
    assert done.out.startswith("3 matches in"), done.err
    assert "2 matches left out: in the run already" in done.out
    assert numbers(Run(tmp_path / "run")) == [[1, 3], [2]]


def test_what_is_never_asked_for_is_never_read():
    def fail():
        raise AssertionError("read")

    lot = Awaited("somewhere", "stamp", fail)
    assert lot.source == "somewhere" and lot.stamp == "stamp"
    with pytest.raises(AssertionError, match="read"):
        _ = lot.tables


def test_being_killed_over_and_over_changes_nothing(folder, tmp_path):
    broken, whole = tmp_path / "broken", tmp_path / "whole"
    command = ["record", "dota", "--files", folder, "--quiet", "--out", broken]
    done = subprocess.run(
        [sys.executable, KILLED_OFTEN, "2", whole, *command],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) >= 2  # times it was killed
    assert contents(Run(broken)) == contents(Run(whole))
    assert numbers(Run(broken)) == numbers(Run(whole)) == [[1, 2], [4, 5, 6], [7, 8], [9, 10]]


def test_the_command_goes_on_and_says_the_same(folder, tmp_path):
    first = understudy("record dota --files", folder, "--out", tmp_path / "run")
    again = understudy("record dota --files", folder, "--out", tmp_path / "run")
    assert first.code == again.code == 0 and first == again
    assert first.out.startswith("9 matches in")
