"""Recordings grow: what is there stays, more is added, and the same command goes on."""

from collections import Counter

import pytest

from tests.small_runs import ENCODE, assert_refused, rows, succeed, understudy
from understudy.data.integrity.json_files import write_json
from understudy.data.manifests import Size, cuts, grown
from understudy.data.runs import read_manifest

ARENA = "record arena --opponents rusher,kiter --seed 3"
SCML = "record scml --agents Greedy,SyncRandom --competitors-per-world 2 --steps 6 --seed 4"


def shards(folder):
    """What lies there, and when it was written."""
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("*.parquet")}


@pytest.mark.parametrize(("size", "parts"), [(5, [(0, 5)]), (9, [(0, 2), (2, 5), (5, 9)])])
def test_parts_follow_each_other(size, parts):
    assert cuts(Size(size, (2, 5) if size == 9 else ())) == parts


def test_a_size_is_as_asked_or_so_many_more(tmp_path):
    assert grown(tmp_path, "matches", 7, None) == Size(7)
    assert grown(tmp_path, "matches", 7, 3) == Size(3)


def test_a_recording_of_a_game_of_two_grows_and_old_shards_stay(tmp_path):
    succeed(f"{ARENA} --matches 8", tmp_path)
    before = shards(tmp_path / "recordings")
    succeed(ENCODE, tmp_path)
    encoded = shards(tmp_path / "samples")
    succeed(f"{ARENA} --matches 20", tmp_path)
    after = shards(tmp_path / "recordings")
    assert before.items() < after.items()
    played = rows(tmp_path / "recordings", "matches")
    assert len(played) == 20
    seats = Counter((row["player_0"], row["player_1"], row["seed"]) for row in played)
    assert max(seats.values()) == 1  # no match is there twice
    succeed(f"{ARENA} --more 4", tmp_path)
    manifest = read_manifest(tmp_path / "recordings")
    assert manifest["settings"]["parts"] == [8, 20] and manifest["settings"]["matches"] == 24
    succeed(ENCODE, tmp_path)
    assert encoded.items() < shards(tmp_path / "samples").items()
    assert len({row["match"] for row in rows(tmp_path / "samples", "moves")}) == 24


def test_what_was_lost_of_a_part_is_made_again_alike(tmp_path):
    succeed(f"{ARENA} --matches 8", tmp_path)
    succeed(f"{ARENA} --matches 14", tmp_path)
    folder = tmp_path / "recordings"
    whole = {path.name: path.read_bytes() for path in folder.glob("*.parquet")}
    for name in list(whole)[::2]:
        (folder / name).unlink()
    succeed(f"{ARENA} --matches 14", tmp_path)
    assert {path.name: path.read_bytes() for path in folder.glob("*.parquet")} == whole


def test_more_of_an_unfinished_one_finishes_it(tmp_path):
    succeed(f"{ARENA} --matches 8", tmp_path)
    known = read_manifest(tmp_path / "recordings")
    write_json(tmp_path / "recordings" / "manifest.json", known | {"finished": None})
    succeed(f"{ARENA} --more 4", tmp_path)
    assert len(rows(tmp_path / "recordings", "matches")) == 8
    succeed(f"{ARENA} --more 4", tmp_path)
    assert len(rows(tmp_path / "recordings", "matches")) == 12


def test_other_work_is_still_refused(tmp_path):
    succeed(f"{ARENA} --matches 8", tmp_path)
    for command, words in {
        f"{ARENA} --matches 6": "matches was 8, now 6",
        "record arena --opponents rusher --seed 3 --matches 20": "opponents was",
        "record arena --opponents rusher,kiter --seed 4 --more 2": "seed was 3, now 4",
    }.items():
        assert_refused(understudy(command, "--out", tmp_path, "--quiet"), words)
    assert read_manifest(tmp_path / "recordings")["settings"]["matches"] == 8


def test_a_recording_of_worlds_grows_to_what_it_would_have_been_at_once(tmp_path):
    succeed(f"{SCML} --configs 1", tmp_path / "grown")
    before = shards(tmp_path / "grown" / "recordings")
    succeed(f"{SCML} --configs 2", tmp_path / "grown")
    succeed(f"{SCML} --more 1", tmp_path / "grown")
    succeed(f"{SCML} --configs 3", tmp_path / "whole")
    assert before.items() < shards(tmp_path / "grown" / "recordings").items()
    for table in ("worlds", "contracts", "days", "decisions", "results"):
        found = [rows(tmp_path / name / "recordings", table) for name in ("grown", "whole")]
        assert found[0] == found[1]


def test_so_many_worlds_in_all_do_not_grow(tmp_path):
    command = f"{SCML} --configs 1 --target-worlds 2"
    assert_refused(understudy(f"{command} --more 1", "--out", tmp_path), "--more or --target")
    succeed(command, tmp_path)
    more = understudy(f"{SCML} --configs 2 --target-worlds 2", "--out", tmp_path, "--quiet")
    assert_refused(more, "configs was 1, now 2")
