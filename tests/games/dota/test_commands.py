"""Dota on the command line: what it does, and what it says where it cannot."""

import json

import pytest

from tests.games.dota.small_matches import small_match
from tests.small_runs import rows, understudy


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dota") / "run"
    assert understudy("record dota --synthetic 60", "--out", folder).code == 0
    done = understudy("encode dota --workers 0 --quiet", "--out", folder)
    assert done.code == 0 and "patch" in done.out
    return folder


def test_matches_are_made_up_and_encoded(run):
    manifest = json.loads((run / "samples/manifest.json").read_text())
    assert manifest["settings"]["horizon"] == 180
    assert manifest["facts"]["counts"]["matches"] == 60


def test_the_same_command_does_nothing_twice_and_another_horizon_is_other_work(run):
    shard = next((run / "samples").glob("value-*.parquet"))
    before = shard.stat().st_mtime_ns
    assert understudy("encode dota --workers 0 --quiet", "--out", run).code == 0
    assert shard.stat().st_mtime_ns == before
    other = understudy("encode dota --workers 0 --quiet --horizon 120", "--out", run)
    assert other.code == 2 and "horizon was 180, now 120" in other.err


def test_files_are_read_with_a_word_on_each_that_is_not(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(small_match(1)))
    (tmp_path / "b.json").write_text(json.dumps(small_match(2, radiant_win=None)))
    done = understudy("record dota --files", tmp_path, "--out", tmp_path / "run")
    assert done.code == 0 and done.out.startswith("1 match in")
    assert "b.json: nobody won" in done.err


def numbers(folder):
    return sorted(row["match_id"] for row in rows(folder / "recordings", "matches"))


def test_imports_add_up_and_a_match_is_taken_once(run, tmp_path):
    """A run's own layout, then files, then both again: nothing is there twice, nothing is lost."""
    (tmp_path / "a.json").write_text(json.dumps(small_match(1)))
    tables, both = f"record dota --tables {run}", f"--files {tmp_path / 'a.json'}"
    out = ("--out", tmp_path / "run")
    assert understudy(tables, *out).out.startswith("60 matches in")
    assert understudy(f"record dota {both}", *out).out.startswith("61 matches in")
    assert numbers(tmp_path / "run") == sorted([1, *numbers(run)])
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")}
    for again in (tables, f"record dota {both}"):
        assert understudy(again, *out).out.startswith("61 matches in")
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")}
    assert understudy(f"{tables} {both}", *out).out.startswith("61 matches in")
    assert len(numbers(tmp_path / "run")) == 61
    assert understudy(f"{tables} {both}", "--out", tmp_path / "new").out.startswith("61 matches")
    assert understudy("encode dota --workers 0 --quiet", *out).code == 0
    facts = json.loads((tmp_path / "run/recordings/manifest.json").read_text())["facts"]
    assert [part["matches"] for part in facts["by_import"].values()] == [60, 1, 0]


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("record dota", "say where matches come from, by one or more of --files, --tables"),
        ("record dota --files nowhere", "there is no file or folder nowhere"),
        ("record dota --api nonsense --pro 3", "--api must be an address"),
        ("record dota --api http://127.0.0.1:9 --matches x", "neither a match number nor a file"),
        ("record dota --api http://127.0.0.1:9", "say what to download"),
        ("split dota --by luck", "--by must be patch or time, not 'luck'"),
        ("encode dota --horizon 100", "--horizon must be whole minutes"),
        ("recommend dota nothing --minute 5", "neither a match file nor RUN/NUMBER"),
    ],
)
def test_a_mistake_is_one_line(command, line, tmp_path):
    out = () if command.startswith("recommend") else ("--out", tmp_path / "run")
    done = understudy(command, *out)
    assert done.code == 2 and line in done.err and done.err.count("\n") == 1


def test_splits_are_files(run):
    done = understudy("split dota --by time", "--out", run)
    assert done.code == 0 and "42 train, 6 val, 12 test: 3 files in" in done.out
    done = understudy("split dota --test 7.37", "--out", run)
    assert done.code == 0 and "18 train, 2 val, 20 test" in done.out


def test_advice_on_a_recorded_match(run):
    done = understudy("recommend dota", run / "9000000001", "--minute", 10, "--json")
    advice = json.loads(done.out)
    assert advice["minute"] == 10 and len(advice["items"]) == 30 and 0 < advice["chance"] < 1
    for by in ("frequency", "habit"):  # its name now, and the one it had
        again = understudy(
            "recommend dota", run / "9000000001", "--minute", 10, "--json", "--by", by
        )
        assert json.loads(again.out) == advice
    done = understudy("recommend dota", run / "9000000001", "--minute", 10, "--player", 3)
    assert done.code == 0 and "Radiant wins with" in done.out and "no proof" in done.out
    assert "models trained on 7.35, 7.36, 7.37, 7.38" in done.out
    done = understudy("recommend dota", run / "9000000001", "--minute", 10, "--by", "luck")
    assert done.code == 2 and "--by must be frequency or value, not 'luck'" in done.err


def test_advice_fits_a_narrow_terminal(run):
    done = understudy("recommend dota", run / "9000000001", "--minute", 20, "--player", 3)
    assert (done.code, done.err) == (0, "") and "…" not in done.out
    assert max(map(len, done.out.splitlines())) <= 82
