"""Logs of other origin become recordings of a plain game, in both forms, whatever lies in them."""

import gzip
import json
import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests import nim_package
from tests.small_runs import assert_refused, rows, understudy
from understudy.data.players import PlayerRef
from understudy.data.samples import unpack_legal
from understudy.pipeline.pairings import Fixture

NIM = nim_package.module()
SEEN = NIM.MOVES.features


@pytest.fixture(autouse=True)
def nim():
    with nim_package.installed():
        yield


@pytest.fixture(scope="module")
def recordings():
    return NIM.GAME.play(Fixture((PlayerRef("expert"), PlayerRef("guesser")), (5, 6, 7))).recordings


@pytest.fixture
def logged(recordings):
    """The same matches as somebody else would have written them down."""
    outline = {row["match"]: row for row in recordings["matches"].to_pylist()}
    steps = recordings["steps"]
    legal = unpack_legal(steps["legal"], NIM.MOVES.options)
    found = []
    for row, options in zip(steps.to_pylist(), legal.tolist(), strict=True):
        match = outline[row["match"]]
        score = match["score"] * (1 - 2 * row["slot"])
        own = {"player": match[f"player_{row['slot']}"], "legal": options, "outcome": score}
        found.append({**row, **own})
    return found


def as_lists(row):
    kept = {name: value for name, value in row.items() if name not in (*SEEN, "take")}
    return {**kept, "features": [row[name] for name in SEEN], "actions": [row["take"]]}


def put(folder, rows, form):
    folder.mkdir(exist_ok=True)
    if form == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), folder / "log.parquet")
        return folder
    text = "".join(json.dumps(row) + "\n" for row in rows)
    if form == "jsonl.gz":
        (folder / "log.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    else:
        (folder / "log.jsonl").write_text(text)
    return folder


def record(tmp_path, logs, *more):
    return understudy(f"record nim --logs {logs} --out {tmp_path / 'run'}", *more)


@pytest.mark.parametrize("form", ["jsonl", "jsonl.gz", "parquet"])
@pytest.mark.parametrize("row", [dict, as_lists])
def test_logs_of_a_match_are_its_recording(recordings, logged, tmp_path, form, row):
    done = record(tmp_path, put(tmp_path / "logs", [row(one) for one in logged], form))
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("3 matches from 1 log in ")
    assert "Next: understudy encode nim --out " in done.out
    assert rows(tmp_path / "run/recordings", "steps") == recordings["steps"].to_pylist()
    told = rows(tmp_path / "run/recordings", "matches")
    same = ("match", "player_0", "player_1", "score", "steps")
    for one, other in zip(told, recordings["matches"].to_pylist(), strict=True):
        assert [one[name] for name in same] == [other[name] for name in same]
        assert one["ending"] == "imported"
    assert len({one["seed"] for one in told}) == 3


def test_what_is_imported_is_encoded(logged, tmp_path):
    record(tmp_path, put(tmp_path / "logs", logged, "jsonl"))
    done = understudy(f"encode nim --players guesser --quiet --workers 0 --out {tmp_path / 'run'}")
    assert (done.code, done.err) == (0, "")
    samples = rows(tmp_path / "run/samples", "moves")
    assert samples and {one["player"] for one in samples} == {"guesser"}


def test_little_is_enough(tmp_path):
    """Nobody's name, no steps, no mask, no outcome; only one player's decisions."""
    least = [{"match": 7, "slot": 1, "features": [0.0] * len(SEEN), "actions": [k]} for k in (3, 0)]
    assert record(tmp_path, put(tmp_path / "logs", least, "jsonl")).err == ""
    (match,) = rows(tmp_path / "run/recordings", "matches")
    assert (match["match"], match["player_0"], match["player_1"]) == ("7", "unknown", "unknown")
    assert math.isnan(match["score"]) and match["steps"] == 2  # no draw
    assert match["ending"] == "imported, outcome unknown"
    steps = rows(tmp_path / "run/recordings", "steps")
    assert [(one["step"], one["take"], one["legal"][0]) for one in steps] == [
        (0, 3, 15),
        (1, 0, 15),
    ]


GOOD = {"match": "a", "slot": 0, "features": [0.0] * len(SEEN), "actions": [1]}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"actions": [4]}, "'take' is 4; it has the options 0 to 3"),
        ({"actions": [1, 1]}, "'actions' has 2 entries, not 1"),
        ({"features": [0.0]}, f"'features' has 1 entries, not {len(SEEN)}"),
        ({"features": [float("nan")] * len(SEEN)}, "a feature is not a finite number"),
        ({"features": None}, "no 'turn'"),
        ({"slot": 2}, "slot is 2, not 0 or 1"),
        ({"match": "../../x"}, "match '../../x' means a folder, not a name"),
        ({"player": "a\nb"}, r"player 'a\nb' holds a character that cannot be seen"),
        ({"legal": [1, 1]}, "'legal' has 2 entries, not 4"),
        ({"outcome": 3}, "outcome is 3, not between -1 and 1"),
        ({"step": 0}, "step 0 of slot 0 is there already"),
        ({"features": ["x"] * len(SEEN)}, "could not convert"),
    ],
)
def test_a_row_that_is_no_decision_is_left_out_and_told(tmp_path, change, said):
    done = record(tmp_path, put(tmp_path / "logs", [GOOD, {**GOOD, **change}, GOOD], "jsonl"))
    assert done.code == 0 and "1 match from" in done.out
    assert f"log.jsonl:2: {said}" in done.err and done.err.count("\n") == 1
    assert len(rows(tmp_path / "run/recordings", "steps")) == 2


def test_damaged_logs_give_what_they_hold(tmp_path):
    logs = put(tmp_path / "logs", [GOOD], "jsonl")
    with (logs / "log.jsonl").open("a") as file:
        file.write('{"match": \n[1]\n\n\xff\n')
    whole = gzip.compress(json.dumps({**GOOD, "match": "b"}).encode() + b"\n")
    (logs / "short.jsonl.gz").write_bytes(whole[:-6])
    (logs / "none.parquet").write_bytes(b"PAR1")
    done = record(tmp_path, logs)
    for line in (
        "log.jsonl:2: not JSON",
        "log.jsonl:3: not an object",
        "none.parquet: cannot be read",
    ):
        assert line in done.err
    told = rows(tmp_path / "run/recordings", "matches")
    assert {one["match"] for one in told} >= {"a"}


def test_a_match_in_two_logs_is_read_once_also_when_resumed(tmp_path):
    logs = tmp_path / "logs"
    logs.mkdir()
    for name in ("one", "two"):
        (logs / f"{name}.jsonl").write_text(json.dumps(GOOD) + "\n")
    for _ in range(2):
        done = record(tmp_path, logs)
        assert "two.jsonl:1: match 'a' was in an earlier log" in done.err
        assert len(rows(tmp_path / "run/recordings", "matches")) == 1


def test_a_folder_without_logs_is_refused(tmp_path):
    assert_refused(record(tmp_path, tmp_path), "no logs (.jsonl, .jsonl.gz, .parquet)")
    assert not (tmp_path / "run").exists()
