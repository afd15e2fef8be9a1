"""Every address of the studio."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from anyio import to_thread
from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response

from understudy.errors import InputError
from understudy.studio.access import Access, Guard
from understudy.studio.live.compare import compare_routes
from understudy.studio.live.routes import live_routes, page_routes
from understudy.studio.studio import Studio


def studio_app(studio: Studio, access: Access) -> Guard:
    """The studio as a server runs it."""

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await to_thread.run_sync(studio.catalogue.look)
        watching = asyncio.create_task(studio.watch.run())
        try:
            yield
        finally:
            studio.watch.stop()
            await asyncio.gather(watching, return_exceptions=True)
            await to_thread.run_sync(studio.maker.close)

    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    for routes in (live_routes, compare_routes, page_routes):
        app.include_router(routes(studio))

    @app.get("/assets/{name}")
    async def assets(name: str) -> Response:
        return studio.pages.assets.get(name) or PlainTextResponse("there is no such file", 404)

    def trouble(request: Request, words: str, status: int) -> Response:
        if request.headers.get("hx-request"):
            return studio.pages.answer("trouble_part.html", status, words=words)
        return studio.pages.answer("trouble.html", status, words=words)

    @app.exception_handler(InputError)
    async def refused(request: Request, mistake: Exception) -> Response:
        return trouble(request, str(mistake), 404 if request.method == "GET" else 422)

    @app.exception_handler(HTTPException)
    async def unknown(request: Request, failure: Any) -> Response:
        words = "There is no such page." if failure.status_code == 404 else str(failure.detail)
        return trouble(request, words, failure.status_code)

    return Guard(app, access)
