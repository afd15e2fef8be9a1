"""The studio on a socket: how many may connect, and how long somebody may keep it waiting."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable
from typing import Any

import h11
import uvicorn
from starlette.requests import ClientDisconnect
from uvicorn.protocols.http.h11_impl import H11Protocol

from understudy.errors import InputError

MOST_CONNECTIONS = 400
"""At once. One more, and the one that has been idle longest is closed; where none is idle, the
oldest, whose page connects again."""
FIRST_SECONDS = 10.0
"""Until a connection must have asked something whole."""
STUCK_SECONDS = 30.0
"""That a reader may take for what is waiting for it."""
LARGEST_HEAD = 32 << 10
LARGEST_MESSAGE = 64 << 10
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class PatientProtocol(H11Protocol):
    """HTTP with somebody who may be slow, but not for ever."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody has connected; there may be too many."""
        super().connection_made(transport)
        self._stuck: asyncio.TimerHandle | None = None
        self._first = self.loop.call_later(FIRST_SECONDS, self._drop_if_silent)
        if len(self.connections) > MOST_CONNECTIONS:
            self._make_room()

    def _make_room(self) -> None:
        every = [one for one in self.connections if isinstance(one, PatientProtocol)]
        there = [one for one in every if not one.transport.is_closing()]
        if len(there) > MOST_CONNECTIONS:
            others = (one for one in there if one is not self)
            oldest = min(others, key=lambda one: (not one._idle(), one._first.when()))
            oldest.transport.abort()

    def _idle(self) -> bool:
        cycle: Any = self.cycle  # none before the first request
        return cycle is None or cycle.response_complete

    def end_stream(self) -> None:
        """The studio ends: whoever is being told things for ever is let go."""
        cycle: Any = self.cycle
        if cycle is not None and cycle.response_started and not cycle.response_complete:
            self.transport.abort()

    def _drop_if_silent(self) -> None:
        cycle: Any = self.cycle
        if cycle is None:
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """What was asked turns out to be no HTTP; whoever is working on it has no reader left."""
        cycle: Any = self.cycle
        if cycle is not None:
            cycle.disconnected = True
            cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:  # an answer has begun
            self.transport.abort()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """From now on it is a socket's; who is silent there is that page's affair."""
        self._first.cancel()
        super().handle_websocket_upgrade(event)

    def pause_writing(self) -> None:
        """What was sent is not being read."""
        super().pause_writing()
        if self._stuck is None:
            self._stuck = self.loop.call_later(STUCK_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """It is read again."""
        super().resume_writing()
        self._free()

    def connection_lost(self, exc: Exception | None) -> None:
        """It has ended."""
        self._first.cancel()
        self._free()
        super().connection_lost(exc)

    def _free(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None


def listen(host: str, port: int) -> socket.socket:
    """A socket that takes connections; port 0 is any free one."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # The protocol is named, for asyncio turns delays off (TCP_NODELAY) only where it is.
        made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen(1024)
    except OSError as failure:
        raise InputError(
            f"cannot listen on {host}:{port}: {failure.strerror or failure}. "
            "Give another --port (0: any free one) or --host"
        ) from failure
    return made


def hosts_of(host: str, port: int) -> frozenset[str]:
    """The names by which browsers may call it."""
    names = {host, *_LOOPBACK}
    return frozenset(f"[{name}]:{port}" if ":" in name else f"{name}:{port}" for name in names)


def serve(
    app: Any,
    listening: socket.socket,
    ready: Callable[[], None],
    largest_message: int = LARGEST_MESSAGE,
) -> None:
    """Answer until somebody stops it; `ready` is called once it does."""
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(server_of(app, ready, largest_message).serve(sockets=[listening]))


def server_of(
    app: Any, ready: Callable[[], None], largest_message: int = LARGEST_MESSAGE
) -> uvicorn.Server:
    """What answers."""
    _allow_files(4 * MOST_CONNECTIONS)
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    config = uvicorn.Config(
        _until_gone(app),
        http=PatientProtocol,
        ws="websockets-sansio",
        loop="asyncio",
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=LARGEST_HEAD,
        ws_max_size=largest_message,
        ws_per_message_deflate=False,
        ws_ping_interval=20,
        ws_ping_timeout=20,
    )
    return _Server(config, ready)


def _until_gone(app: Any) -> Any:
    """The same; who leaves in the midst of what he asks is no fault to be shown."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        with contextlib.suppress(ClientDisconnect):
            await app(scope, receive, send)

    return answer


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End, without waiting for pages that look on."""
        for one in list(self.server_state.connections):
            if isinstance(one, PatientProtocol):
                one.end_stream()
        await super().shutdown(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin, and say so."""
        await super().startup(sockets)
        if self.started:
            self._ready()


def _allow_files(wanted: int) -> None:
    """As many open files as connections need, where the machine lets us."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
