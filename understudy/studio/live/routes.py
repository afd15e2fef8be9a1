"""Addresses of runs: all of them, one of them, and events while they change."""

from collections.abc import Callable
from typing import Any

from anyio import to_thread
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from understudy.errors import InputError
from understudy.names import shown
from understudy.report.page import Panel
from understudy.studio.access import POLICY
from understudy.studio.live.catalogue import RunState, typed
from understudy.studio.live.notes import write_notes
from understudy.studio.live.watch import LISTS
from understudy.studio.look.making import game_panels
from understudy.studio.sent import sent
from understudy.studio.studio import Studio

_SANDBOX = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_EVENTS = {"cache-control": "no-store", "x-accel-buffering": "no"}
MOST_SHOWN = 500
"""Runs in a list; a search finds the others."""


def live_routes(studio: Studio) -> APIRouter:
    """All of them."""
    routes, here = APIRouter(), _Runs(studio)
    answers: dict[str, Callable[..., Any]] = {
        "/": here.runs,
        "/runs/list": here.listed,
        "/events/{topic}": here.events,
        "/run/{name}/": here.run,
        "/run/{name}/stages": here.stages,
        "/run/{name}/part": here.part,
    }
    for path, answer in answers.items():
        routes.add_api_route(path, answer)
    routes.post("/run/{name}/notes")(here.notes)
    return routes


def page_routes(studio: Studio) -> APIRouter:
    """Pages that lie in runs; they come last, because any place may be one."""
    routes = APIRouter()
    routes.get("/run/{name}/{place:path}")(_Runs(studio).page)
    return routes


class _Runs:
    def __init__(self, studio: Studio) -> None:
        self._studio, self._pages = studio, studio.pages
        self._catalogue = studio.catalogue

    async def runs(self) -> Response:
        return self._pages.answer("runs.html", **_listed(self._studio, "", ""))

    async def listed(self, q: str = "", tag: str = "") -> Response:
        return self._pages.answer("runs_list.html", **_listed(self._studio, q, tag))

    async def events(self, topic: str) -> Response:
        told = self._studio.watch.listen(topic)
        return StreamingResponse(told, media_type="text/event-stream", headers=_EVENTS)

    async def run(self, name: str) -> Response:
        one = self._catalogue[name]
        keys = await to_thread.run_sync(self._studio.drawings.keys, one)
        return self._pages.answer("run.html", one=one, keys=keys, where=typed(one.run.folder))

    async def stages(self, name: str) -> Response:
        return self._pages.answer("run_stages.html", one=self._catalogue[name])

    async def part(self, name: str, key: str, have: str = "") -> Response:
        return await _part(self._studio, self._catalogue[name], key, have)

    async def notes(self, name: str, request: Request) -> Response:
        told = await sent(request)
        run = self._catalogue[name].run
        await to_thread.run_sync(write_notes, run, told.one("tags"), told.one("note"))
        await to_thread.run_sync(self._catalogue.look)
        self._studio.watch.tell(LISTS, LISTS)
        return self._pages.answer("run_notes.html", one=self._catalogue[name], saved=True)

    async def page(self, name: str, place: str) -> Response:
        return await to_thread.run_sync(_page_of, self._catalogue[name], place)


def _page_of(one: RunState, place: str) -> Response:
    """A page that lies in a run. Who wrote it is not known: it is shown, and may nothing else."""
    folder = one.run.folder.resolve()
    for path in folder.rglob("*.html"):
        is_asked = path.relative_to(folder).as_posix() == place and path.is_file()
        if is_asked and path.resolve().is_relative_to(folder):  # no link leads out of the run
            return HTMLResponse(path.read_bytes(), headers={POLICY.decode(): _SANDBOX})
    raise InputError(f"{one.name} has no page {shown(place)}")


def _listed(studio: Studio, words: str, tag: str) -> dict[str, Any]:
    """The runs that a search finds, those written last first."""
    every = sorted(studio.catalogue.runs.values(), key=lambda one: -one.written)
    found = [one for one in every if _matches(one, words.lower().split(), tag)]
    return {
        "runs": found[:MOST_SHOWN],
        "count": len(found),
        "total": len(every),
        "tags": sorted({tag for one in every for tag in one.notes.tags}),
        "left_out": studio.catalogue.left_out,
        "free": studio.catalogue.free_bytes(),
        "q": words,
        "tag": tag,
    }


def _matches(one: RunState, words: list[str], tag: str) -> bool:
    """Whether a run has the tag and every word, anywhere in what is known of it."""
    if tag and tag not in one.notes.tags:
        return False
    places = (stage.place for stage in one.stages)
    told = " ".join([one.name, one.game, one.state, one.notes.note, *one.notes.tags, *places])
    return all(word in told.lower() for word in words)


async def _part(studio: Studio, one: RunState, key: str, have: str) -> Response:
    drawn = studio.drawings.known(one, key)
    if drawn is None:
        own = list[Panel]()
        if key == one.run.results.name:
            own = await studio.maker.make(game_panels, one.run.folder)
        drawn = await to_thread.run_sync(studio.drawings.draw, one, key, own)
    if have == drawn.stamp:
        return Response(status_code=204)
    studio.reading.begin(one.name, key, studio.drawings.behind(one.run, key))
    return studio.pages.answer(
        "run_part.html",
        one=one,
        key=key,
        stamp=drawn.stamp,
        needs=studio.pages.assets.of_panels(drawn.panels),
        cards=studio.pages.cards(key, drawn.panels),
    )
