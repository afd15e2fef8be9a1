"""Many who connect, some who never read, folders made to hurt: refused or served, never down."""

import contextlib
import json
import os
import shutil
import socket
import threading
import time

import pytest

from tests.studio.serving import served
from tests.studio.small_run import lock_of_this_process, model, small_run, stage
from understudy.data.runs import MANIFEST, ModelFolder, Run
from understudy.studio import server
from understudy.studio.play.table import MOST_TABLES

SOON = 5.0
"""Seconds within which others are answered, whatever goes on: the machine may be busy."""


@pytest.fixture
def here(tmp_path):
    small_run(tmp_path / "a")
    with served(tmp_path) as found:
        yield found


def raw(here, sent=b""):
    made = socket.create_connection(("127.0.0.1", here.port), timeout=10)
    made.sendall(sent)
    return made


def request(here, path, more=b""):
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{here.port}\r\nCookie: {here.cookie}\r\n"
    return head.encode() + more + b"\r\n"


def answered(here, path="/"):
    began = time.monotonic()
    assert here.ask(path).status == 200
    assert time.monotonic() - began < SOON


def until(asked):
    end = time.monotonic() + 20
    while not asked():
        assert time.monotonic() < end
        time.sleep(0.05)


def is_closed(made, seconds=10):
    made.settimeout(seconds)
    with contextlib.suppress(ConnectionError):
        while made.recv(1 << 16):
            pass
    return True


@contextlib.contextmanager
def many(here, count, sent):
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(raw(here, sent(number))) for number in range(count)]


@pytest.mark.slow
def test_a_thousand_connections_are_closed_or_served(here):
    halves = [b"", b"GET / HT", request(here, "/")[:-2], request(here, "/")]
    with many(here, 1000, lambda number: halves[number % 4]):
        answered(here)
        kept = here.studio.catalogue  # and the studio goes on watching
        kept.look()
        answered(here, "/run/a/")
    answered(here)


@pytest.mark.slow
def test_a_thousand_who_look_on_keep_nobody_out(here):
    with many(here, 1000, lambda _: request(here, "/events/a")):
        until(lambda: 300 < len(here.studio.watch._listeners) <= server.MOST_CONNECTIONS)
        for _ in range(5):
            answered(here)
        assert len(here.studio.watch._listeners) <= server.MOST_CONNECTIONS
    for _ in range(200):
        if not here.studio.watch._listeners:
            break
        time.sleep(0.05)
    assert len(here.studio.watch._listeners) == 0


def test_many_sockets_get_few_tables(here):
    with contextlib.ExitStack() as stack:
        for _ in range(40):
            stack.enter_context(here.socket())
        answered(here)
        assert here.studio.tables._taken <= MOST_TABLES


def test_who_never_says_anything_whole_is_dropped(here, monkeypatch):
    monkeypatch.setattr(server, "FIRST_SECONDS", 0.3)
    with raw(here, b"GET / HTTP/1.1\r\nHost: ") as slow:
        assert is_closed(slow)
    answered(here)


@pytest.mark.parametrize(
    ("path", "method"), [("/", "GET"), ("/run/a/notes", "POST"), ("/events/a", "GET")]
)
def test_a_request_that_turns_out_to_be_none_is_no_fault_of_ours(here, caplog, path, method):
    head = request(here, path, b"Transfer-Encoding: chunked\r\n").replace(b"GET", method.encode())
    for wait in (0.0, 0.2):
        with raw(here, head) as made:
            time.sleep(wait)
            with contextlib.suppress(ConnectionError):
                made.sendall(b"no chunk\r\n")
            assert is_closed(made)
    answered(here)
    assert [one.getMessage() for one in caplog.records if one.levelname == "ERROR"] == []


@pytest.mark.parametrize("path", ["/run/a/notes", "/upload/arena"])
@pytest.mark.parametrize("more", [b"Content-Length: 99", b"Transfer-Encoding: chunked"])
def test_who_leaves_in_the_midst_of_what_is_sent_is_no_fault_of_ours(here, caplog, path, more):
    own = f"\r\nOrigin: {here.address}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    head = request(here, path, more + own.encode()).replace(b"GET", b"POST", 1)
    with raw(here, head) as made:
        time.sleep(0.2)
        made.sendall(b"5\r\nhalf")
    answered(here)
    with raw(here, head) as made:
        time.sleep(0.2)
        made.sendall(b"half and none\r\n\r\n")
    time.sleep(0.2)
    answered(here)
    assert [one.getMessage() for one in caplog.records if one.levelname == "ERROR"] == []


@pytest.mark.slow
def test_who_never_reads_is_dropped_and_holds_nobody_up(here, monkeypatch):
    monkeypatch.setattr(server, "STUCK_SECONDS", 0.5)
    page = request(here, "/run/a/part?key=models/imitate")
    with raw(here) as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        slow.settimeout(2)
        with contextlib.suppress(OSError):
            for _ in range(4000):
                slow.sendall(page)  # asks and asks, and takes nothing
        answered(here)
        assert is_closed(slow)
    answered(here)


def test_a_body_that_trickles_in_ends(here, monkeypatch):
    monkeypatch.setattr("understudy.studio.look.routes._SEND_SECONDS", 0.3)
    head = request(here, "/").replace(b"GET /", b"POST /upload/arena?name=a.jsonl", 1)[:-2]
    told = f"Origin: {here.address}\r\nContent-Length: 1000\r\n\r\nx".encode()
    with raw(here, head + told) as slow:
        slow.settimeout(10)
        assert b" 422 " in slow.recv(2000)[:20]
    answered(here)


HOSTILE = ["<script>alert(1)</script>", "a\nb", "\u202egnp.exe", "'\"><img src=x>", "..", "%2e%2e",
           "{{7*7}}", "a&b=c#d?e", "x" * 180]  # fmt: skip


def test_runs_with_hostile_names_are_words_or_left_out(tmp_path):
    for name in HOSTILE:
        if name not in ("..",) and "/" not in name:
            small_run(tmp_path / name)
    deep = small_run(tmp_path / "plain", name="{{7*7}}").folder
    (deep / "notes.json").write_text(json.dumps({"tags": ["<b>"], "note": "<script>x</script>"}))
    with served(tmp_path) as here:
        page = here.ask("/").text
        for wrong in ("<script>alert", "<img src=x", "<b></", "\u202e"):
            assert wrong not in page
        assert "{{7*7}}" in page
        assert "Left out" in page
        for name in here.studio.catalogue.runs:
            link = here.studio.catalogue[name]
            answer = here.ask(f"/run/{_quoted(link.name)}/")
            assert answer.status == 200
            assert "<script>alert" not in answer.text


def _quoted(name):
    return "".join(f"%{byte:02x}" for byte in name.encode())


DAMAGE = [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"stage": 3}', b"[" * 100_000,
          b'{"stage":"train","settings":{},"command":[],"begun":"x","finished":null}',
          b'{"stage":"train","settings":{"steps":1e999},"inputs":{},"command":["a"],"versions":{},'
          b'"begun":"2026-11-18T12:00:00+00:00","finished":null}']  # fmt: skip


@pytest.mark.parametrize("number", range(len(DAMAGE)))
def test_damaged_manifests_and_metrics_are_a_line_on_the_page(tmp_path, number):
    run = small_run(tmp_path / "a")
    model(run, "more")
    (run.model("more") / MANIFEST).write_bytes(DAMAGE[number])
    ModelFolder(run.model("imitate")).metrics.write_bytes(DAMAGE[number])
    with served(tmp_path) as here:
        for path in ("/", "/run/a/", "/run/a/stages", "/run/a/part?key=models/imitate", "/compare"):
            answer = here.ask(path)
            assert answer.status == 200, path
            assert "Traceback" not in answer.text
        assert here.ask("/run/a/resume", "POST", {"place": "models/more"}).status == 422


def test_pipes_and_links_in_a_run_hold_nobody_up_and_lead_nowhere(tmp_path):
    run = small_run(tmp_path / "runs" / "a")
    model(run, "open", finished=None, total=99)
    os.mkfifo(run.folder / "models" / ".open.lock")
    secret = tmp_path / "secret.html"
    secret.write_text("root:x")
    (run.folder / "x.html").symlink_to(secret)
    metrics = ModelFolder(run.model("imitate")).metrics
    metrics.unlink()
    os.mkfifo(metrics)
    os.mkfifo(run.folder / "notes.json")
    with served(tmp_path / "runs") as here:
        answered(here, "/run/a/")
        answered(here, "/run/a/part?key=models/imitate")
        assert here.ask("/run/a/x.html").status == 404
        assert "root:x" not in here.ask("/run/a/x.html").text


def test_a_run_that_comes_and_goes_while_it_is_asked_for(tmp_path):
    small_run(tmp_path / "kept")
    over = threading.Event()

    def come_and_go():
        while not over.is_set():
            run = small_run(tmp_path / "b")
            lock_of_this_process(run.model("imitate"))
            stage(run.result("r"), "compete")
            shutil.rmtree(run.folder, ignore_errors=True)

    with served(tmp_path) as here:
        thread = threading.Thread(target=come_and_go)
        thread.start()
        try:
            paths = (
                "/run/b/",
                "/run/b/stages",
                "/run/b/part?key=models/imitate",
                "/",
                "/run/b/look",
            )
            codes = {here.ask(path).status for _ in range(12) for path in paths}
            for _ in range(20):
                here.studio.catalogue.look()
        finally:
            over.set()
            thread.join()
        assert codes <= {200, 204, 404}
        answered(here, "/run/kept/")
        assert Run(tmp_path / "kept").recordings.is_dir()
