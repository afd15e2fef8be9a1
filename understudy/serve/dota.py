"""A running match of Dota 2 over HTTP: posts of the client in, a page and JSON out.

    POST /gsi          a post of Game State Integration, with the token in it; 200, 400, 403, 413
    GET  /             the page                      GET /version   changes when the page would
    GET  /live.json    all that it says, for other programs
    GET  /health       that it is there              GET /metrics   for Prometheus

What posts tell is written down before they are answered, without who plays; a server that is
started again goes on with its match. Instead of posts, a live file may be looked at as it grows.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from fastapi import FastAPI, Request, Response

from understudy.data.files import append_line
from understudy.errors import InputError
from understudy.games.dota.advice.match_context import MatchContext, Models
from understudy.games.dota.live.brief import Brief, brief_of, brief_of_file, brief_of_nothing
from understudy.games.dota.live.gsi import read_post
from understudy.games.dota.live.live_list import read_live_file
from understudy.games.dota.live.match import LiveMatch
from understudy.games.dota.live.page import live_page
from understudy.games.dota.live.report import Report, ReportError
from understudy.games.dota.live.sight import LiveModels
from understudy.serve.follow import EVERY
from understudy.serve.messages import MessageError, refusal, written
from understudy.serve.metrics import Metrics
from understudy.serve.streams import lines_of
from understudy.serve.web import JSON, Door, body_of

LARGEST = 1 << 20
"""Bytes of a post; one of a client that watches has about 60,000."""


@dataclass
class LiveService:
    """The match that is going on."""

    live: LiveModels
    models: Models
    folder: Path | None = None
    """Where reports are written down; None: nowhere."""
    metrics: Metrics = field(default_factory=Metrics)
    version: int = 0
    fault: str = ""
    """Why nothing can be said, where that is known."""
    match: LiveMatch | None = None
    file: MatchContext | None = None
    _said: tuple[int, Brief] | None = None

    def take(self, content: Any) -> None:
        """A post; ReportError where it is none."""
        report = read_post(content)
        if report is not None:
            self.add(report)

    def add(self, report: Report) -> None:
        """What a message tells: of this match, or of the next."""
        if self.match is None or not self.match.continues(report):
            self.match = self._begun(report)
        before = self._mark()
        last = self.match.last
        if self.folder is not None and (last is None or report.clock > last.clock):
            append_line(self._path(self.folder, report), msgspec.json.encode(report).decode())
            self.metrics.add("recorded")
        self.match.add(report)
        self.version += self._mark() != before

    def read(self, context: MatchContext) -> None:
        """A match file has changed."""
        self.file = context
        self.version += 1

    def _mark(self) -> tuple[Any, ...]:
        """What changes when the page would."""
        assert self.match is not None
        last = self.match.last
        shown = None if last is None else (last.paused, last.going_on, last.winner)
        return (self.match.number, len(self.match.minutes), shown)

    def _path(self, folder: Path, report: Report) -> Path:
        return folder / f"{report.source}-{report.match_id}.jsonl"

    def _begun(self, report: Report) -> LiveMatch:
        """A match, with what was written down of it before."""
        match = LiveMatch(report.source, report.match_id)
        self.version += 1
        path = None if self.folder is None else self._path(self.folder, report)
        if path is None or not path.is_file():
            return match
        for line in lines_of(path):
            try:
                known = msgspec.convert(line, Report, strict=False)
            except msgspec.ValidationError:
                continue  # of another version, or half a line
            if known.clock <= report.clock:
                match.add(known)
        return match

    async def brief(self) -> Brief:
        """What is to be said now; worked out once for each version, beside the posts."""
        if self._said is None or self._said[0] != self.version:
            version, work = self.version, self._work()
            self._said = (version, await asyncio.to_thread(work))
        return self._said[1]

    def _work(self) -> Callable[[], Brief]:
        """Its working out, on what is known at this moment."""
        if (file := self.file) is not None:
            return lambda: brief_of_file(file, self.models)
        if (match := self.match) is None:
            return lambda: brief_of_nothing(self.fault)
        context, frozen = match.context(), match.copy()
        return lambda: brief_of(frozen, context, self.live, self.models)


async def _watch(service: LiveService, path: Path, number: int | None) -> None:
    """Read a live file again whenever it has changed."""
    known: Any = None
    while True:
        try:
            found = path.stat()
            if (found.st_size, found.st_mtime_ns) != known:
                read = await asyncio.to_thread(read_live_file, path, number)
                known = (found.st_size, found.st_mtime_ns)
                service.fault = ""
                service.add(read) if isinstance(read, Report) else service.read(read)
        except (OSError, ReportError, InputError) as trouble:
            # It may be half written: what was read before stays, and the next look may be better.
            service.version += service.fault != str(trouble)
            service.fault = str(trouble)
        await asyncio.sleep(EVERY)


def live_app(
    service: LiveService, door: Door, file: Path | None = None, number: int | None = None
) -> FastAPI:
    """The server's addresses; `file` is looked at beside them, `number` says for which match."""

    @contextlib.asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        watching = None if file is None else asyncio.create_task(_watch(service, file, number))
        yield
        if watching is not None:
            watching.cancel()

    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=life)
    web = _Web(service, door)
    app.add_api_route("/gsi", web.gsi, methods=["POST"])
    for path in ("", "version", "live.json", "metrics"):
        app.add_api_route(f"/{path}", web.asked, name=path or "page")
    app.add_api_route("/health", web.health)
    return app


@dataclass(frozen=True)
class _Web:
    service: LiveService
    door: Door

    async def gsi(self, request: Request) -> Response:
        """One post. The client knows no header, so the token stands in the post."""
        began = time.perf_counter()
        if (fault := self.door.stranger(request)) is not None:
            return self._refuse(403, fault)
        if (raw := await body_of(request, LARGEST)) is None:
            return self._refuse(413, f"a post may have {LARGEST:,} bytes")
        self.service.metrics.add("messages")
        try:
            content = msgspec.json.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as failure:
            return self._refuse(400, f"not JSON: {failure}")
        auth = content.get("auth") if isinstance(content, dict) else None
        token = auth.get("token") if isinstance(auth, dict) else None
        if not self.door.is_token(str(token or "")):
            return self._refuse(403, "the token is missing or wrong: auth.token of the post")
        try:
            self.service.take(content)
        except (ReportError, MessageError, InputError) as mistake:
            return self._refuse(400, str(mistake))
        self.service.metrics.took(time.perf_counter() - began)
        return Response(b"{}", media_type=JSON)

    def _refuse(self, status: int, why: str) -> Response:
        self.service.metrics.add("errors")
        return Response(written(refusal(why)), status, media_type=JSON)

    async def asked(self, request: Request) -> Response:
        """What is asked with the token: the page, its version, all as JSON, counts and times."""
        if (fault := self.door.fault(request)) is not None:
            return self._refuse(403, fault)
        service, path = self.service, request.url.path
        if path == "/version":
            return Response(str(service.version))
        if path == "/metrics":
            return Response(service.metrics.text(), media_type="text/plain; version=0.0.4")
        brief = await service.brief()
        if path == "/live.json":
            return Response(written(asdict(brief)), media_type=JSON)
        return Response(live_page(brief), media_type="text/html; charset=utf-8")

    async def health(self) -> Response:
        """That it is there."""
        number = self.service.match.number if self.service.match else None
        return Response(written({"ok": True, "game": "dota", "match": number}), media_type=JSON)
