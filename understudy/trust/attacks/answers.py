"""A server that answers the download of Dota matches as no server should."""

import gzip
import json
import random
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from understudy.trust.campaign import Attack, Fault, Ground, faults_of
from understudy.trust.command import run, shown

_MATCH = {"match_id": 7, "duration": 1800, "radiant_win": True, "players": []}


def _body(kind: str, dice: random.Random) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and content of an answer."""
    whole = json.dumps(_MATCH).encode()
    packed = gzip.compress(whole)
    zipped = {"Content-Encoding": "gzip"}
    bodies: dict[str, tuple[int, dict[str, str], bytes]] = {
        "gzip cut": (200, zipped, packed[: dice.randrange(len(packed))]),
        "gzip flipped": (200, zipped, _flipped(packed, dice)),
        "gzip bomb": (200, zipped, gzip.compress(bytes(200 << 20), 9)),
        "no gzip": (200, zipped, whole),
        "cut": (200, {}, whole[: dice.randrange(len(whole))]),
        "flipped": (200, {}, _flipped(whole, dice)),
        "nested": (200, {}, b"[" * 200_000 + b"]" * 200_000),
        "nested match": (200, {}, b'{"match_id": 7, "a": ' + b"[" * 900 + b"]" * 900 + b"}"),
        "infinity": (200, {}, b'{"match_id": Infinity}'),
        "many digits": (200, {}, b'{"match_id": ' + b"7" * 5000 + b"}"),
        "odd wait": (429, {"Retry-After": "1"}, b""),
        "superscript wait": (503, {"Retry-After": "\u00b2"}, b""),
        "endless wait": (503, {"Retry-After": "-1"}, b"no"),
        "not UTF-8": (200, {}, b"\xff\xfe" + whole),
        "null": (200, {}, b"null"),
        "a list": (200, {}, b"[]"),
        "wrong types": (200, {}, _wrong_types(dice)),
        "another match": (200, {}, b'{"match_id": 8}'),
        "empty": (200, {}, b""),
        "teapot": (418, {}, b"<html>"),
        "long length": (200, {"Content-Length": "99999"}, whole),
        "bad status": (599, {}, whole),
    }
    return bodies[kind]


KINDS = (
    *("gzip cut", "gzip flipped", "gzip bomb", "no gzip", "cut", "flipped", "nested"),
    *("nested match", "infinity", "many digits", "odd wait", "superscript wait", "endless wait"),
    *("not UTF-8", "null", "a list", "wrong types", "another match", "empty", "teapot"),
    *("long length", "bad status"),
)


def _flipped(content: bytes, dice: random.Random) -> bytes:
    changed = bytearray(content)
    changed[dice.randrange(len(changed))] ^= 1 << dice.randrange(8)
    return bytes(changed)


def _wrong_types(dice: random.Random) -> bytes:
    odd: list[Any] = [None, -1, "x", [], {}, 1e300, True, [[None]], {"a": []}]
    names = (
        "duration",
        "radiant_win",
        "players",
        "start_time",
        "patch",
        "objectives",
        "picks_bans",
    )
    return json.dumps({"match_id": 7, **{name: dice.choice(odd) for name in names}}).encode()


def hostile_answer(ground: Ground, place: Path, dice: random.Random) -> Attack:
    """A damaged answer is asked for again or reported, and nothing of it is taken for a match."""
    kind = dice.choice(KINDS)
    status, headers, body = _body(kind, dice)
    server = _server(status, headers, body)
    address = f"http://127.0.0.1:{server.server_address[1]}/api"
    command = f"record dota --api {address} --matches 7 --pause 0 --quiet --out {place / 'run'}"
    try:
        done = run(_impatient(ground), command.split(), seconds=60)
    finally:
        server.shutdown()
        server.server_close()
    faults = faults_of(done)
    if not faults and done.code == 0 and kind not in ("wrong types", "flipped", "nested match"):
        told = done.out + done.err
        if "7" not in told:
            faults.append(Fault("silent wrong", f"nothing was said of it: {told[-100:]}"))
    return Attack(kind, shown(command.split(), place), faults)


def _impatient(ground: Ground) -> Any:
    """The program without pauses between tries: a campaign has better things to do."""

    def main() -> None:
        import time

        time.sleep = lambda seconds: None
        ground.main()

    return main


def _server(status: int, headers: dict[str, str], body: bytes) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *told: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
