"""A key is used, and found in no file, on no page and in no message afterwards."""

import json

import pytest

from tests.games.dota.small_matches import small_match
from tests.games.dota.sources.test_api import server
from tests.small_runs import understudy
from understudy.games.dota.commands import KEY

__all__ = ["server"]
SECRET = "S3CR3T value/7"


@pytest.fixture(params=["environment", "file", "prompt"])
def key(request, monkeypatch, tmp_path):
    """The options that give it, one way after the other."""
    monkeypatch.delenv(KEY, raising=False)
    if request.param == "environment":
        monkeypatch.setenv(KEY, SECRET)
        return []
    if request.param == "prompt":
        monkeypatch.setattr("typer.prompt", lambda *words, hide_input, err: SECRET)
        return ["--api-key", "-"]
    (tmp_path / "key").write_text(f"{SECRET}\n")
    return ["--api-key", tmp_path / "key"]


def record(server, run, *more):
    address = f"http://127.0.0.1:{server.server_address[1]}/api"
    return understudy("record dota --pause 0 --quiet --out", run, "--api", address, *more)


def leaks(folder, told=""):
    """Files that hold the secret, and what was said if that does."""
    found = [
        path for path in folder.rglob("*") if path.is_file() and b"S3CR3T" in path.read_bytes()
    ]
    return [*found, *([told] if "S3CR3T" in told else [])]


def test_no_file_of_a_run_holds_the_key(server, key, tmp_path):
    run = tmp_path / "run"
    done = record(server, run, "--matches", "5,6", *key)
    assert (done.code, done.err) == (0, "")
    assert all(query == {"api_key": SECRET} for _, query in server.asked)
    assert len(server.asked) == 2
    assert understudy("report", run).code == 0
    assert len([path for path in run.rglob("*") if path.is_file()]) > 5
    assert leaks(run, done.out + done.err) == []


def test_no_message_holds_the_key(server, key, tmp_path):
    server.faults = [(403, {}, SECRET.encode())]
    done = record(server, tmp_path / "run", "--matches", "5", *key)
    assert done.code == 2 and "none of 1 matches could be had" in done.err
    assert leaks(tmp_path / "run", done.out + done.err) == []


def test_a_key_in_the_command_line_is_refused_and_not_repeated(server, tmp_path):
    done = record(server, tmp_path / "run", "--matches", "5", "--api-key", SECRET)
    assert done.code == 2 and KEY in done.err and server.asked == []
    assert leaks(tmp_path, done.out + done.err) == []


def test_a_password_in_an_address_is_not_written_down(tmp_path, monkeypatch):
    monkeypatch.setattr("understudy.games.dota.commands._download", lambda *told: None)
    (tmp_path / "run" / "downloads").mkdir(parents=True)
    (tmp_path / "run" / "downloads" / "5.json").write_text(json.dumps(small_match(5)))
    done = understudy(
        "record dota --quiet --matches 5 --api http://me:S3CR3T@host/?api_key=S3CR3T --out",
        tmp_path / "run",
    )
    assert done.code == 0
    assert understudy("report", tmp_path / "run").code == 0
    assert leaks(tmp_path / "run") == []
