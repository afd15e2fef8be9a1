"""Logs that grow become recordings as they grow, whatever happens to them and to us."""

import json
import os

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.serve.services import view
from tests.small_runs import understudy
from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.serve.follow import Follower


def line(step):
    action = {"move": [1, 0]}
    return json.dumps({"event": "step", "t": step, "observation": view(step), "action": action})


def stream(folder, name="m"):
    path = folder / name / "feedback_stream.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def write(path, *steps):
    with path.open("a") as file:
        file.write("".join(f"{line(step)}\n" for step in steps))


def copied(run, name="m"):
    return [
        json.loads(one)["t"] for one in stream(run.followed / "logs", name).read_text().splitlines()
    ]


def test_what_is_added_is_taken_and_half_a_line_waits(tmp_path):
    logs, run = tmp_path / "logs", Run(tmp_path / "run")
    path = stream(logs)
    write(path, 0, 1)
    follower = Follower(logs, run)
    assert follower.look() == 2 and follower.look() == 0
    with path.open("a") as file:
        file.write(line(2)[:20])
    assert follower.look() == 0
    with path.open("a") as file:
        file.write(line(2)[20:] + "\n")
    assert follower.look() == 1
    assert copied(run) == [0, 1, 2]


@pytest.mark.parametrize("name", ["feedback_stream.jsonl.1", "feedback_stream.1.jsonl"])
def test_a_stream_that_is_renamed_is_read_to_its_end_and_then_on(tmp_path, name):
    logs, run = tmp_path / "logs", Run(tmp_path / "run")
    path = stream(logs)
    write(path, 0, 1)
    follower = Follower(logs, run)
    follower.look()
    write(path, 2)
    path.rename(path.with_name(name))
    write(path, 3)
    assert follower.look() == 2
    assert copied(run) == [0, 1, 2, 3]
    assert sorted(p.name for p in run.followed.rglob("*.jsonl")) == ["feedback_stream.jsonl"]


def test_a_stream_that_is_emptied_begins_anew(tmp_path):
    logs, run = tmp_path / "logs", Run(tmp_path / "run")
    path = stream(logs)
    write(path, 0, 1, 2)
    follower = Follower(logs, run)
    follower.look()
    os.truncate(path, 0)
    write(path, 3)
    assert follower.look() == 1 and copied(run) == [0, 1, 2, 3]


def test_a_line_longer_than_what_is_read_at_once_is_taken(tmp_path, monkeypatch):
    monkeypatch.setattr("understudy.serve.follow._CHUNK", 8)
    logs, run = tmp_path / "logs", Run(tmp_path / "run")
    write(stream(logs), 0, 1)
    assert Follower(logs, run).look() == 2 and copied(run) == [0, 1]


@settings(max_examples=15)
@given(data=st.data())
def test_wherever_it_is_killed_no_line_is_lost_or_taken_twice(tmp_path_factory, data):
    place = tmp_path_factory.mktemp("killed")
    logs, run = place / "logs", Run(place / "run")
    path, step = stream(logs), 0
    for _ in range(data.draw(st.integers(1, 5))):
        for _ in range(data.draw(st.integers(0, 3))):
            write(path, step)
            step += 1
        follower = Follower(logs, run)
        if data.draw(st.booleans()):  # copied, and killed before it was noted
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("understudy.serve.follow.write_json", _killed)
                try:
                    follower.look()
                except KeyboardInterrupt:
                    continue
        else:
            follower.look()
        if step and data.draw(st.booleans()):
            path.rename(path.with_name(f"feedback_stream.jsonl.{step}"))
            path.touch()
    Follower(logs, run).look()
    assert (copied(run) if step else []) == list(range(step))


def _killed(*_):
    raise KeyboardInterrupt


def test_the_run_holds_what_was_followed(tmp_path):
    logs, out = tmp_path / "logs", tmp_path / "run"
    write(stream(logs, "one"), 0, 1, 2)
    command = f"follow {logs} --out {out} --once"
    assert "3 new lines: 1 match in" in understudy(command).out
    write(stream(logs, "two"), 0)
    write(stream(logs, "one"), 3)
    with (logs / "manifest.jsonl").open("w") as file:
        told = {"runtime_feedback": "one/feedback_stream.jsonl", "outcome": "loss"}
        file.write(json.dumps(told) + "\n")
    done = understudy(command)
    assert (done.code, done.err) == (0, "") and "3 new lines: 2 matches" in done.out
    rows = [
        row
        for path in (out / "recordings").glob("matches-*.parquet")
        for row in pq.read_table(path).to_pylist()
    ]
    assert {row["match"]: (row["steps"], row["score"]) for row in rows} == {
        "one": (4, -1.0),
        "two": (1, None),
    }
    assert understudy(f"check {out}").code == 0
    again = understudy(command)
    assert again.code == 0 and "new lines" not in again.out


def test_a_folder_without_logs_is_said_to_have_none(tmp_path):
    done = understudy(f"follow {tmp_path} --out {tmp_path / 'run'} --once")
    assert (done.code, done.err) == (0, "")
    assert "There are no logs (*.jsonl)" in done.out and "Next:" not in done.out


def test_a_run_follows_one_folder(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    write(stream(tmp_path / "a"), 0)
    Follower(tmp_path / "a", Run(tmp_path / "run")).look()
    with pytest.raises(InputError, match=r"follows .*/a, not .*/b"):
        Follower(tmp_path / "b", Run(tmp_path / "run"))
    with pytest.raises(InputError, match="no folder"):
        Follower(tmp_path / "c", Run(tmp_path / "run"))
