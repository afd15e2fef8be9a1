"""Several runs in one: links, splits by match, and what changes at the source changes here."""

import json

import pyarrow as pa
import pytest

from tests.small_runs import ENCODE, RECORD, assert_refused, rows, succeed, tiny_recipe, understudy
from understudy.data.elsewhere.gather import gather, labelled
from understudy.data.runs import read_manifest
from understudy.data.schema import Column, Table
from understudy.data.shards import shard_path, write_shard
from understudy.errors import InputError

TIME = "2026-11-18T12:00:00+00:00"
TABLE = Table("toy", "rows", 1, "make some", (Column("x", pa.int64(), "a number"),))


@pytest.fixture
def sources(tmp_path):
    found = {}
    for name, numbers in {"a": (1, 2), "b": (3,)}.items():
        folder = tmp_path / name / "recordings"
        for number in numbers:
            path = shard_path(folder, TABLE, f"{number:05d}")
            write_shard(path, TABLE.build({"x": [number]}))
        found[str(tmp_path / name)] = folder
    return found


def taken(folder):
    return sorted(path.name for path in folder.glob("*.parquet"))


def test_shards_are_linked_under_names_that_tell_where_they_are_from(sources, tmp_path):
    here = tmp_path / "both"
    gather(here, sources, [TABLE], "toy")
    assert taken(here) == ["rows-a-00001.parquet", "rows-a-00002.parquet", "rows-b-00003.parquet"]
    first = next(iter(sources.values())) / "rows-00001.parquet"
    assert (here / "rows-a-00001.parquet").samefile(first)
    assert read_manifest(here)["facts"] == {"shards": 3}


def test_what_came_or_went_since_comes_or_goes(sources, tmp_path):
    here = tmp_path / "both"
    gather(here, sources, [TABLE], "toy")
    one, other = sources.values()
    (one / "rows-00001.parquet").unlink()
    write_shard(one / "rows-00002.parquet", TABLE.build({"x": [20]}))
    write_shard(other / "rows-00004.parquet", TABLE.build({"x": [4]}))
    gather(here, sources, [TABLE], "toy")
    assert taken(here) == ["rows-a-00002.parquet", "rows-b-00003.parquet", "rows-b-00004.parquet"]
    assert sorted(row["x"] for row in rows(here, "rows")) == [3, 4, 20]


def test_runs_of_one_name_are_told_apart(tmp_path):
    same = {str(tmp_path / where / "scml"): tmp_path for where in ("x", "y")}
    assert list(labelled(same)) == ["scml", "scml.2"]
    assert list(labelled({str(tmp_path / "my run!"): tmp_path})) == ["my_run_"]


@pytest.mark.parametrize("told", [[{"players": ["A"]}, more] for more in ({"players": ["B"]}, {})])
def test_whom_to_learn_from_is_known_if_all_say_it(told, sources, tmp_path):
    known = {"stage": "record", "inputs": {}, "command": [], "versions": {},
                                "begun": TIME, "finished": TIME}  # fmt: skip
    for folder, settings in zip(sources.values(), told, strict=True):
        (folder / "manifest.json").write_text(json.dumps(known | {"settings": settings}))
    gather(tmp_path / "both", sources, [TABLE], "toy")
    expected = ["A", "B"] if told[1] else None
    assert read_manifest(tmp_path / "both")["settings"]["players"] == expected


def test_samples_filled_in_by_different_models_are_not_mixed(sources, tmp_path):
    one, other = sources.values()
    (one / "goals.safetensors").write_bytes(b"1")
    with pytest.raises(InputError, match="filled in by different models"):
        gather(tmp_path / "both", sources, [TABLE], "toy")
    (other / "goals.safetensors").write_bytes(b"1")
    gather(tmp_path / "both", sources, [TABLE], "toy")
    assert (tmp_path / "both" / "goals.safetensors").read_bytes() == b"1"


def test_several_runs_are_encoded_and_trained_on_together(tmp_path):
    a, b, both, more = (tmp_path / name for name in ("a", "b", "both", "more"))
    succeed(RECORD, a)
    succeed(RECORD.replace("--seed 9", "--seed 8"), b)
    for run in (a, b):
        succeed(ENCODE, run)
    succeed(f"{ENCODE} --from {a},{b}", both)

    def split_of(run):
        return {row["match"]: row["split"] for row in rows(run / "samples", "moves")}

    assert split_of(both) == split_of(a) | split_of(b)
    assert len(split_of(both)) == len(split_of(a)) + len(split_of(b))
    with tiny_recipe():
        succeed(f"train arena imitate-quick --seed 9 --from {a},{b}", more)
        assert len(rows(more / "samples", "moves")) == len(rows(both / "samples", "moves"))
        inputs = read_manifest(more / "models" / "imitate-quick")["inputs"]
        assert {name.split("/")[1].split("-")[1] for name in inputs} == {"a", "b"}
    assert_refused(understudy(f"{ENCODE} --from {a}", "--out", a), "is the run itself")
    assert_refused(understudy(f"{ENCODE} --from {a}", "--out", b), "made by 'record', not 'gather'")
    assert_refused(understudy(f"{ENCODE} --from {tmp_path / 'no'}", "--out", b), "there is no run")
