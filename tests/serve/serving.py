"""An app on a socket of this process."""

import asyncio
import contextlib
import http.client
import json
import threading

import pytest

pytest.importorskip("fastapi")

from understudy.studio.server import hosts_of, listen, server_of


class Here:
    """Where it is, and how to ask it."""

    def __init__(self, port, headers):
        self.port, self.headers = port, headers

    def ask(self, path, content=None, **headers):
        """Status and text of an answer; with `content` it is a POST."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        given = {**self.headers, **{name.replace("_", "-"): told for name, told in headers.items()}}
        with contextlib.closing(connection):
            body = json.dumps(content).encode() if isinstance(content, dict) else content
            connection.request("GET" if body is None else "POST", path, body, given)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def socket(self, path="/ws", **headers):
        """A WebSocket."""
        from websockets.sync.client import connect

        given = {**self.headers, **headers}
        return connect(
            f"ws://127.0.0.1:{self.port}{path}",
            additional_headers={name: told for name, told in given.items() if told},
            compression=None,
        )


@contextlib.contextmanager
def running(make, **headers):
    """The app that `make` makes of the names by which it is called."""
    listening = listen("127.0.0.1", 0)
    port = listening.getsockname()[1]
    ready = threading.Event()
    server = server_of(make(hosts_of("127.0.0.1", port)), ready.set, 1 << 20)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(
        target=lambda: loop.run_until_complete(server.serve(sockets=[listening])), daemon=True
    )
    thread.start()
    assert ready.wait(30)
    try:
        yield Here(port, headers)
    finally:
        server.should_exit = True
        thread.join(30)
        loop.close()
        listening.close()
