"""Addresses of what can be looked into: lists, pages made on demand, files that people send."""

import hashlib
import re
from pathlib import Path
from urllib.parse import urlencode

from anyio import fail_after, to_thread
from fastapi import APIRouter
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from understudy import games
from understudy.data.files import write_bytes
from understudy.errors import InputError
from understudy.names import plain_name
from understudy.studio.access import LARGEST_BODY
from understudy.studio.look.making import REPORT, Uploaded, Wanted, listed, make_page, take_in
from understudy.studio.studio import Studio

ENDINGS = (".jsonl", ".json")
"""Of files that may be sent. None that is packed: a small one could become any size."""
_SEND_SECONDS = 120.0
_SENDABLE = ("arena", "dota", "scml")


def look_routes(studio: Studio) -> APIRouter:
    """All of them."""
    routes, here = APIRouter(), _Look(studio)
    routes.add_api_route("/run/{name}/look", here.index)
    routes.add_api_route("/run/{name}/look/list", here.listed)
    routes.add_api_route("/run/{name}/look/page", here.page)
    routes.add_api_route("/upload", here.upload)
    routes.add_api_route("/upload/{game}", here.take, methods=["POST"])
    return routes


class _Look:
    def __init__(self, studio: Studio) -> None:
        self._studio, self._pages = studio, studio.pages

    async def index(self, name: str, q: str = "") -> Response:
        return self._pages.answer("look.html", one=self._studio.catalogue[name], q=q)

    async def listed(self, name: str, q: str = "") -> Response:
        one = self._studio.catalogue[name]
        found = await self._studio.maker.make(listed, (one.run.folder, q[:200]))
        return self._pages.answer("look_list.html", one=one, found=found, link=page_link)

    async def page(self, name: str, kind: str, key: str) -> Response:
        one, kept = self._studio.catalogue[name], self._studio.kept
        place = await to_thread.run_sync(kept.place, one.run, kind, key)
        grows = kind == REPORT and one.state != "done"
        if grows or not place.is_file():
            wanted = Wanted(one.run.folder, kind, key, place)
            await self._studio.maker.make(make_page, wanted)
            await to_thread.run_sync(kept.make_room)
        return await to_thread.run_sync(kept.answer, place)

    async def upload(self) -> Response:
        known = [name for name in _SENDABLE if name in games.names()]
        return self._pages.answer("upload.html", games=known, most=LARGEST_BODY, endings=ENDINGS)

    async def take(self, game: str, name: str, request: Request) -> Response:
        """A file as it is, in the body; it becomes recordings of a run of its own."""
        if game not in games.names():
            raise InputError("there is no such game")
        plain_name(name, "the name of a file")
        if not name.lower().endswith(ENDINGS):
            raise InputError(f"send a file that ends in {' or '.join(ENDINGS)}, not packed")
        content = await _body(request)
        where, run = self._places(game, name, content)
        await to_thread.run_sync(write_bytes, where / name, content)
        kind, key = await self._studio.maker.make(take_in, Uploaded(game, where, run))
        await to_thread.run_sync(self._studio.catalogue.look)
        made = self._studio.catalogue.name_of(run)
        if made is None:
            raise InputError(f"{run} is not below the folders this studio looks at")
        return Response(headers={"hx-redirect": page_link(made, kind, key)})

    def _places(self, game: str, name: str, content: bytes) -> tuple[Path, Path]:
        """Where a file is put, and the run that it becomes: the same file, the same run."""
        mark = hashlib.blake2b(content, digest_size=5).hexdigest()
        stem = re.sub(r"[^\w.-]+", "-", name.rpartition(".")[0]).strip("-.")[:60] or "match"
        run = self._studio.catalogue.new(f"sent-{game}-{stem}-{mark}").folder
        return self._studio.uploads / mark, run


async def _body(request: Request) -> bytes:
    try:
        with fail_after(_SEND_SECONDS):
            content = await request.body()
    except (TimeoutError, ClientDisconnect) as failure:
        raise InputError("the file did not arrive whole") from failure
    if not content:
        raise InputError("that file is empty")
    return content


def page_link(name: str, kind: str, key: str, mark: str = "") -> str:
    """The address of a page."""
    place = urlencode({"kind": kind, "key": key})
    return f"/run/{_quoted(name)}/look/page?{place}" + (f"#{mark}" if mark else "")


def _quoted(name: str) -> str:
    return urlencode({"": name})[1:].replace("+", "%20")
