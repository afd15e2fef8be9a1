"""Decisions over HTTP and WebSocket, for programs on this machine that have the token.

    POST /act          a message; the answer (200), or an error (400, 413)
    WebSocket /ws      a message per frame, an answer per frame, in order
    GET  /health       that it is there, and for which game and model
    GET  /metrics      counts and times, for Prometheus

The token comes as `Authorization: Bearer TOKEN`, for a WebSocket also as `?token=`. Messages that
wait at the same moment are decided together.
"""

import asyncio
import contextlib
import hmac
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

from fastapi import FastAPI, Request, Response, WebSocket
from starlette.websockets import WebSocketDisconnect

from understudy.serve.messages import LARGEST, refusal, written
from understudy.serve.service import Arrived, Service

JSON = "application/json"
READ_OVER = 64 << 20
"""Bytes of a message that is too long that are heard out; beyond them the line is closed."""
_REFUSED = b'{"error":'
"""How an answer begins that is none."""


class Batcher:
    """Collects what comes in one turn of the event loop, and answers it together."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._waiting: list[tuple[Arrived, asyncio.Future[bytes]]] = []

    async def answer(self, raw: bytes | str) -> bytes:
        """The answer to one message."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        if not self._waiting:
            loop.call_soon(self._flush)  # after all that is ready to be read now
        self._waiting.append((Arrived(raw, time.perf_counter()), future))
        return bytes(await future)

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        try:
            answers = self._service.answer([arrived for arrived, _ in waiting])
        except Exception as failure:  # ours to mend; whoever waits must hear of it
            for _, future in waiting:
                if not future.done():
                    future.set_exception(failure)
            return
        for (_, future), answer in zip(waiting, answers, strict=True):
            if not future.done():  # its asker may have gone
                future.set_result(answer)


class Door:
    """Who may come in: programs that know the token and call us by our own name."""

    def __init__(self, token: str, hosts: frozenset[str]) -> None:
        self._token, self._hosts = token.encode(), hosts

    def stranger(self, asked: Request | WebSocket) -> str | None:
        """Why not, whatever its token: it calls us by another name, or comes from a page."""
        if asked.headers.get("host", "").lower() not in self._hosts:
            return "this server does not answer to that name"
        origin = asked.headers.get("origin")
        if origin is not None and origin.partition("://")[2] not in self._hosts:
            return "that came from a page of another site"
        return None

    def is_token(self, given: str) -> bool:
        """Is it ours?"""
        return hmac.compare_digest(given.encode(), self._token)

    def fault(self, asked: Request | WebSocket) -> str | None:
        """Why not; None where it may."""
        if (fault := self.stranger(asked)) is not None:
            return fault
        given = asked.headers.get("authorization", "").removeprefix("Bearer ")
        given = given or asked.query_params.get("token", "")
        if not self.is_token(given):
            return "the token is missing or wrong: Authorization: Bearer TOKEN"
        return None


def web_app(service: Service, door: Door) -> FastAPI:
    """The server's addresses."""

    @contextlib.asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        yield
        service.close()

    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=life)
    web = _Web(service, door, Batcher(service))
    app.add_api_route("/act", web.act, methods=["POST"])
    app.add_api_route("/health", web.health)
    app.add_api_route("/metrics", web.metrics)
    app.add_api_websocket_route("/ws", web.socket)
    return app


@dataclass(frozen=True)
class _Web:
    """What is behind each address."""

    service: Service
    door: Door
    batcher: Batcher

    async def act(self, request: Request) -> Response:
        """One decision."""
        if (fault := self.door.fault(request)) is not None:
            return _answer(403, written(refusal(fault)))
        raw = await body_of(request, LARGEST)
        if raw is None:
            self.service.metrics.add("errors")
            return _answer(413, written(refusal(f"a message may have {LARGEST:,} bytes")))
        answer = await self.batcher.answer(raw)
        return _answer(400 if answer.startswith(_REFUSED) else 200, answer)

    async def socket(self, websocket: WebSocket) -> None:
        """Decisions for as long as the line is open."""
        if self.door.fault(websocket) is not None:
            await websocket.close(4403)
            return
        await websocket.accept()
        with contextlib.suppress(WebSocketDisconnect):
            await _talk(websocket, self.batcher)

    async def health(self) -> Response:
        """That it is there."""
        told = {"ok": True, "game": self.service.game, "model": self.service.name}
        return _answer(200, written(told))

    async def metrics(self, request: Request) -> Response:
        """Counts and times."""
        if (fault := self.door.fault(request)) is not None:
            return _answer(403, written(refusal(fault)))
        text = self.service.metrics.text(matches=self.service.matches)
        return Response(text, media_type="text/plain; version=0.0.4")


def _answer(status: int, content: bytes) -> Response:
    return Response(content, status, media_type=JSON)


async def body_of(request: Request, most: int) -> bytes | None:
    """What was sent; None where it is too much, which is read to its end and not kept.

    Whoever is still sending when the line is closed sees that, and no answer.
    """
    found, size = b"", 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > READ_OVER:
            break
        found = found + chunk if size <= most else b""
    return found if size <= most else None


async def _talk(websocket: WebSocket, batcher: Batcher) -> None:
    """Answer frame by frame, in order, while the next are already read."""
    answers: asyncio.Queue[asyncio.Task[bytes]] = asyncio.Queue(maxsize=1024)

    async def send() -> None:
        while True:
            answer = await (await answers.get())
            await websocket.send_text(answer.decode())

    sending = asyncio.create_task(send())
    try:
        while True:
            frame = await websocket.receive()
            if frame["type"] == "websocket.disconnect":
                return
            raw = frame.get("text") or frame.get("bytes") or b""
            await answers.put(asyncio.create_task(batcher.answer(raw)))
    finally:
        sending.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await sending
