"""Requests that no client should send, to the services that answer over HTTP."""

import contextlib
import json
import os
import queue
import random
import re
import signal
import socket
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from understudy.trust.attacks.stages import base
from understudy.trust.campaign import Attack, Fault, Ground, faults_of
from understudy.trust.command import run, shown

_TOKEN = "a-token-for-the-campaign"
SERVICES = {
    "serve arena imitate-quick --run {run}": ("/act", "/health", "/metrics", "/ws"),
    "serve dota shipped --run {run}": ("/gsi", "/gsi", "/", "/version", "/live.json", "/metrics"),
    "studio {run}": ("/", "/run/x/", "/compare", "/start", "/upload/arena", "/play", "/jobs"),
}
_METHODS = ("GET", "POST", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "BREW", "G\x00T", "")
_PLACES = (
    "/../../etc/passwd",
    "/%2e%2e/%2f",
    "/%00",
    "/\udcff",
    "/" + "a" * 5000,
    "*",
    "//",
    "/?=&%",
)
_BODIES = (
    b"",
    b"null",
    b"[]",
    b'{"match": 1}',
    b'{"match": "m", "observation": null}',
    b'{"match": "m", "observation": {"position": ["x"]}}',
    b'{"match": "m", "observation": {"position": [1e999, NaN]}}',
    b'{"match": "\\ud800", "observation": []}',
    b'{"a": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    b'{"match": ' + b"9" * 5000 + b"}",
    b"\xff\xfe\x00",
    b"x" * 70_000,
    b'{"map": {"clock_time": "x", "game_state": []}, "player": 3, "hero": null}',
    b"a=1&a=2&%%%=%zz",
)
_HEADERS = (
    "Host: evil.example",
    "Content-Length: -1",
    "Content-Length: 99999999999999",
    "Content-Length: x",
    "Transfer-Encoding: chunked",
    "Content-Encoding: gzip",
    "Content-Type: multipart/form-data; boundary=" + "b" * 300,
    "Cookie: understudy=" + "c" * 4000,
    "Range: bytes=9-1",
    "Origin: null",
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13",
    "X: " + "y" * 40_000,
    "Authorization: Bearer \x7f",
)
_LONGEST = 10.0
"""Seconds within which a whole request is answered, or its line closed."""
_BEGINS = 60.0
EVERY = 30
"""Requests of one case."""


@dataclass
class _Client:
    """Whoever asks a service, and what came of it."""

    port: int
    paths: tuple[str, ...]
    dice: random.Random
    cookie: str = "none=none"
    sent: list[bytes] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def ask_and_end(self, begun: "queue.Queue[int]") -> None:
        """Ask the service of that number until it has had enough, and end it in order."""
        child = begun.get()
        if self._is_there():
            self._ask()
        else:
            self.faults.append(Fault("lost", "it never answered"))
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGTERM)

    def _is_there(self) -> bool:
        until = time.monotonic() + _BEGINS
        while time.monotonic() < until:
            if head := self._answer(self._asked("GET", f"/?token={_TOKEN}", b""), whole=True):
                found = re.search(rb"(?i)set-cookie: ([^;\r]+)", head)
                self.cookie = found.group(1).decode() if found else self.cookie
                return True
            time.sleep(0.05)
        return False

    def _ask(self) -> None:
        for _ in range(EVERY):
            request, whole = self._request()
            self.sent.append(request)
            answer = self._answer(request, whole)
            told = request[:150].decode(errors="replace")
            if answer is None:
                self.faults.append(Fault("hangs", f"no answer to {told!r}"))
            elif answer.startswith((b"HTTP/1.1 500", b"HTTP/1.0 500")):
                self.faults.append(Fault("tracebacks", f"{answer[:60]!r} to {told!r}"))
            if not self._answer(self._asked("GET", "/health", b""), whole=True):
                self.faults.append(Fault("lost", f"answers nobody after {told!r}"))
                return

    def _asked(self, method: str, path: str, body: bytes, *more: str) -> bytes:
        lines = [f"{method} {path} HTTP/1.1", f"Authorization: Bearer {_TOKEN}"]
        for one in (f"Host: 127.0.0.1:{self.port}", f"Content-Length: {len(body)}"):
            if not any(other.startswith(one[:5]) for other in more):
                lines.append(one)
        head = "\r\n".join([*lines, f"Cookie: {self.cookie}", *more, "Connection: close", "", ""])
        return head.encode("utf-8", errors="surrogateescape") + body

    def _request(self) -> tuple[bytes, bool]:
        """What is sent, and whether it is all that it says it is."""
        dice = self.dice
        path = dice.choice(self.paths if dice.random() < 0.7 else _PLACES)
        path += f"?token={_TOKEN}" if dice.random() < 0.3 else ""
        body = dice.choice(_BODIES)
        if dice.random() < 0.3:
            body = json.dumps({**_GIVEN, "observation": dice.choice(_ODD)}).encode()
        elif dice.random() < 0.3:
            body = json.dumps({**_GIVEN, dice.choice(_PARTS): dice.choice(_ODD)}).encode()
        more = dice.sample(_HEADERS, dice.choice((0, 0, 0, 1, 2)))
        sent = self._asked(dice.choice(_METHODS), path, body, *more)
        if dice.random() < 0.15:
            return sent[: dice.randrange(len(sent))], False
        if dice.random() < 0.15:
            changed = bytearray(sent)
            for _ in range(dice.randint(1, 9)):
                changed[dice.randrange(len(changed))] = dice.randrange(256)
            return bytes(changed), False
        return sent, not any(one.startswith(("Content-L", "Transfer", "Upgrade")) for one in more)

    def _answer(self, sent: bytes, whole: bool) -> bytes | None:
        """Its beginning; empty where the line was closed. None: nothing came of a whole request."""
        with contextlib.suppress(ConnectionError):
            limit = _LONGEST if whole else 0.5
            made = socket.create_connection(("127.0.0.1", self.port), timeout=limit)
            with contextlib.closing(made):
                with contextlib.suppress(ConnectionError):
                    made.sendall(sent)
                try:
                    return made.recv(1 << 16)
                except TimeoutError:
                    return None if whole else b""
        return b""


_GIVEN = {"match": "m", "auth": {"token": _TOKEN}}
_PARTS = ("map", "player", "hero", "items", "provider", "match", "auth", "buildings", "id")
_ODD: tuple[Any, ...] = (
    None,
    3,
    "x",
    [],
    [None] * 19,
    [1e308] * 20,
    {"position": {}},
    {"health": -1},
    [[[]]],
)


def hostile_requests(ground: Ground, place: Path, dice: random.Random) -> Attack:
    """Each is answered with no server error, or its line is closed; the next one is answered."""
    command, paths = dice.choice(list(SERVICES.items()))
    token = place / "token"
    token.write_text(_TOKEN + "\n")
    token.chmod(0o600)
    arguments = command.format(run=base(ground, "arena")).split()
    client = _Client(_free_port(), paths, dice)
    arguments += ["--port", str(client.port), "--token", str(token)]
    begun = queue.Queue[int]()
    asking = threading.Thread(target=client.ask_and_end, args=(begun,))
    asking.start()
    done = run(ground.main, arguments, begun=begun.put, seconds=_BEGINS + 3 * _LONGEST * EVERY)
    asking.join()
    (place / "sent").write_bytes(b"\n\n----\n\n".join(client.sent[-3:]))
    faults = [*client.faults, *faults_of(done)]
    return Attack(command.split(" {")[0], shown(arguments, place), faults, len(client.sent))


def _free_port() -> int:
    with socket.socket() as any_one:
        any_one.bind(("127.0.0.1", 0))
        return int(any_one.getsockname()[1])
