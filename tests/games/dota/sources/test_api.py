"""The downloader against a server here that answers as OpenDota does, and errs as servers do."""

import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.games.dota.small_matches import small_match
from understudy.errors import InputError
from understudy.games.dota.sources.api import (
    Api,
    Asker,
    download,
    league_matches,
    numbers_in,
    pro_matches,
)
from understudy.games.dota.sources.match_files import read_logs


class Server(ThreadingHTTPServer):
    """Answers what it is given, once each; then matches."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.faults, self.asked = [], []


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_GET(self):
        parts = urlsplit(self.path)
        query = {key: value[0] for key, value in parse_qs(parts.query).items()}
        self.server.asked.append((parts.path, query))
        code, headers, body = (
            self.server.faults.pop(0) if self.server.faults else answer(parts.path, query)
        )
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) + (7 if code == 299 else 0)))
        self.end_headers()
        self.wfile.write(body)


def answer(path, query):
    name, _, number = path.removeprefix("/api/").partition("/")
    if name == "proMatches":
        first = int(query.get("less_than_match_id", 106))
        found = [{"match_id": n} for n in range(first - 1, max(first - 4, 99), -1)]
    elif name == "leagues":
        found = [{"match_id": n} for n in (13, 11, 12)]
    elif number == "404":
        return 404, {}, b"{}"
    else:
        found = small_match(int(number))
    return 200, {"Content-Encoding": "gzip"}, gzip.compress(json.dumps(found).encode())


@pytest.fixture
def server():
    with Server() as found:
        thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield found
        found.shutdown()
        thread.join()


@pytest.fixture
def slept():
    return []


@pytest.fixture
def ask(server, slept):
    address = f"http://127.0.0.1:{server.server_address[1]}/api/"
    return Asker(Api(address, pause=0.0, tries=3, patience=2.0, timeout=5.0), slept.append)


def test_matches_are_fetched_once_and_without_names(ask, server, tmp_path):
    assert download(ask, [5, 6, 5], tmp_path)[:2] == (2, 0)
    assert download(ask, [5, 6, 7], tmp_path)[:2] == (1, 2)
    assert [path for path, _ in server.asked] == [f"/api/matches/{n}" for n in (5, 6, 7)]
    (batch,) = read_logs(tmp_path)
    assert batch.tables["matches"]["match_id"].to_pylist() == [5, 6, 7]
    assert b"somebody" not in gzip.decompress((tmp_path / "5.json.gz").read_bytes())


def test_a_busy_server_is_asked_again_after_longer_and_longer(ask, server, slept, tmp_path):
    server.faults = [(429, {}, b""), (503, {"Retry-After": "9"}, b"")]
    assert download(ask, [5], tmp_path).new == 1
    assert slept == [2.0, 9.0]


def test_waits_double(ask, server, slept, tmp_path):
    server.faults = [(500, {}, b""), (502, {}, b"")]
    assert download(ask, [5], tmp_path).new == 1
    assert slept == [2.0, 4.0]


@pytest.mark.parametrize(
    "fault",
    [
        (200, {}, b'{"match_id": 5, "pl'),
        (299, {}, b"cut"),
        (200, {"Content-Encoding": "gzip"}, b"x"),
    ],
)
def test_an_answer_cut_off_is_asked_for_again(ask, server, tmp_path, fault):
    server.faults = [fault]
    assert download(ask, [5], tmp_path).new == 1


def test_what_cannot_be_had_costs_one_line_and_nothing_half_written(ask, server, tmp_path):
    fetched = download(ask, [404, 5], tmp_path)
    assert fetched.new == 1 and fetched.failed == ["match 404: the server says 404 Not Found"]
    server.faults = [(500, {}, b"")] * 3
    failed = download(ask, [6], tmp_path).failed
    assert failed == ["match 6: 3 tries failed, the last with: 500 Internal Server Error"]
    server.faults = [(200, {}, json.dumps(small_match(8)).encode())]
    assert download(ask, [9], tmp_path).failed == ["match 9: the answer is not this match"]
    assert [path.name for path in tmp_path.iterdir()] == ["5.json.gz"]


@pytest.mark.parametrize(("asked", "waited"), [("99999", 600.0), ("soon", 2.0), ("1", 2.0)])
def test_a_server_may_ask_for_patience_but_not_for_any(ask, server, slept, asked, waited, tmp_path):
    server.faults = [(503, {"Retry-After": asked}, b"")]
    assert download(ask, [5], tmp_path).new == 1 and slept == [waited]


def test_what_is_refused_is_not_asked_for_again_and_progress_is_reported(
    ask, server, slept, tmp_path
):
    done = []
    assert download(ask, [404, 5, 404], tmp_path, done.append).new == 1
    assert len(server.asked) == 2 and slept == [] and done == [1, 2]


def test_lists_of_matches(ask, server, tmp_path):
    assert league_matches(ask, 77) == [11, 12, 13]
    assert pro_matches(ask, 4) == [105, 104, 103, 102]
    assert pro_matches(ask, 50) == [105, 104, 103, 102, 101, 100]
    server.faults = [(200, {}, b'{"error": "no"}')]
    with pytest.raises(InputError, match="the answer is no list of matches"):
        pro_matches(ask, 1)
    server.faults = [(403, {}, b"")]
    with pytest.raises(InputError, match=r"no list of matches from .*403 Forbidden"):
        league_matches(ask, 1)
    path = tmp_path / "numbers.txt"
    path.write_text("5\n6\n")
    assert list(numbers_in(path)) == [5, 6]
    path.write_text("5\nsix\n")
    with pytest.raises(InputError, match="'six' is no match number"):
        list(numbers_in(path))
    with pytest.raises(InputError, match=r"nothing\.txt cannot be read"):
        list(numbers_in(tmp_path / "nothing.txt"))


def test_a_key_is_sent_and_requests_keep_their_distance(server, slept, tmp_path):
    address = f"http://127.0.0.1:{server.server_address[1]}/api"
    ask = Asker(Api(address, key="secret", pause=30.0), slept.append)
    download(ask, [5, 6], tmp_path)
    assert server.asked[0][1] == {"api_key": "secret"}
    assert len(slept) == 1 and 29 < slept[0] <= 30


def test_nobody_there_and_no_address(slept, tmp_path):
    ask = Asker(Api("http://127.0.0.1:9/", pause=0.0, tries=2, patience=0.5), slept.append)
    (line,) = download(ask, [5], tmp_path).failed
    assert line.startswith("match 5: 2 tries failed") and slept == [0.5]
    with pytest.raises(InputError, match="--api must be an address"):
        Api("opendota")
