"""A studio on a socket of this process, and requests to it that may be anything."""

import asyncio
import contextlib
import http.client
import json
import threading
import urllib.parse

import pytest

pytest.importorskip("fastapi")

from understudy.cli.studio import verb_of
from understudy.studio.access import Access
from understudy.studio.app import studio_app
from understudy.studio.server import hosts_of, listen, server_of
from understudy.studio.studio import Studio


class Served:
    """Where it is, and whoever may come in."""

    def __init__(self, access, port, studio):
        self.access, self.port, self.studio = access, port, studio
        self.address = f"http://127.0.0.1:{port}"
        self.link = f"{self.address}/?token={access.token}"
        self.cookie = f"{access.cookie}={access.session}"

    def ask(self, path, method="GET", body=None, headers=None, host=None, seconds=30):
        """An answer: status, headers, text. By default from a page of its own."""
        own = {"Cookie": self.cookie, "Origin": self.address, "Host": f"127.0.0.1:{self.port}"}
        given = {
            name: told for name, told in {**own, **(headers or {})}.items() if told is not None
        }
        asked = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        with contextlib.closing(asked):
            if isinstance(body, dict):
                body = urllib.parse.urlencode(body, doseq=True)
                given["Content-Type"] = "application/x-www-form-urlencoded"
            asked.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, told in given.items():
                asked.putheader(name, told)
            if body is not None:
                asked.putheader("Content-Length", str(len(body)))
            asked.endheaders(body.encode() if isinstance(body, str) else body)
            answer = asked.getresponse()
            return Answer(answer.status, dict(answer.getheaders()), answer.read().decode())

    @contextlib.contextmanager
    def socket(self, path="/play/table", **headers):
        """A WebSocket; send and receive JSON."""
        from websockets.sync.client import connect

        own = {"Cookie": self.cookie, "Origin": self.address, **headers}
        given = {name: told for name, told in own.items() if told is not None}
        with connect(f"ws://127.0.0.1:{self.port}{path}", additional_headers=given) as socket:
            yield socket

    def events(self, topic):
        """Server-sent events of a topic, one by one: what has changed."""
        asked = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        asked.request("GET", f"/events/{topic}", headers={"Cookie": self.cookie})
        with contextlib.closing(asked), asked.getresponse() as answer:
            for line in answer:
                if line.startswith(b"data:"):
                    yield json.loads(line[5:])


class Answer:
    def __init__(self, status, headers, text):
        self.status, self.text = status, text
        self.headers = {name.lower(): told for name, told in headers.items()}


@contextlib.contextmanager
def served(*places, **told):
    """A studio of these folders."""
    listening = listen("127.0.0.1", 0)
    port = listening.getsockname()[1]
    access = Access(hosts_of("127.0.0.1", port), cookie=f"understudy-{port}")
    studio = Studio.of(list(places), verb_of, **told)
    ready = threading.Event()
    server = server_of(studio_app(studio, access), ready.set)
    loop = asyncio.new_event_loop()

    def run():
        loop.run_until_complete(server.serve(sockets=[listening]))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(30)
    try:
        yield Served(access, port, studio)
    finally:
        server.should_exit = True
        thread.join(30)
        loop.close()
        listening.close()
