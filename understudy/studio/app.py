"""Every address of the studio."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

from anyio import to_thread
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response

from understudy.errors import InputError
from understudy.studio.access import Access, Guard
from understudy.studio.live.compare import compare_routes
from understudy.studio.live.routes import live_routes, page_routes
from understudy.studio.look.routes import look_routes
from understudy.studio.play.routes import play_routes
from understudy.studio.studio import Studio
from understudy.studio.work.routes import work_routes


def studio_app(studio: Studio, access: Access) -> Guard:
    """The studio as a server runs it."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=partial(_life, studio))

    @app.get("/assets/{name}")
    async def assets(name: str) -> Response:
        return studio.pages.assets.get(name) or PlainTextResponse("there is no such file", 404)

    for routes in (live_routes, compare_routes, work_routes, look_routes, play_routes, page_routes):
        app.include_router(routes(studio))
    _tell_of_trouble(app, studio)
    return Guard(app, access)


@contextlib.asynccontextmanager
async def _life(studio: Studio, _: FastAPI) -> AsyncIterator[None]:
    """What goes on beside the answers, from the first to the last."""
    await to_thread.run_sync(studio.catalogue.look)
    await to_thread.run_sync(studio.queue.jobs.load)
    tasks = [asyncio.create_task(one.run()) for one in (studio.watch, studio.queue)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await to_thread.run_sync(studio.maker.close)


def _tell_of_trouble(app: FastAPI, studio: Studio) -> None:
    """What went wrong is one line, on a page or in the part that asked."""

    def trouble(request: Request, words: str, status: int) -> Response:
        is_part = request.headers.get("hx-request") is not None
        template = "trouble_part.html" if is_part else "trouble.html"
        return studio.pages.answer(template, status, words=words)

    @app.exception_handler(InputError)
    async def refused(request: Request, mistake: Exception) -> Response:
        return trouble(request, str(mistake), 404 if request.method == "GET" else 422)

    @app.exception_handler(RequestValidationError)
    async def misunderstood(request: Request, _: Exception) -> Response:
        return trouble(request, "That address is not complete.", 422)

    @app.exception_handler(HTTPException)
    async def unknown(request: Request, failure: Any) -> Response:
        words = "There is no such page." if failure.status_code == 404 else str(failure.detail)
        return trouble(request, words, failure.status_code)
