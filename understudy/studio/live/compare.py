"""Addresses of comparisons: what is compared stands in the address, so a link shows the same."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from starlette.responses import Response

from understudy.data.integrity.shapes import MetricsLine
from understudy.errors import InputError
from understudy.pipeline.report import compared, subjects_of
from understudy.report.page import Panel
from understudy.studio.live.catalogue import typed
from understudy.studio.live.curves import Curves
from understudy.studio.studio import Studio

MOST = 12
"""Runs and models on one page."""

Chosen = Annotated[list[str], Query(alias="run", max_length=200)]


def compare_routes(studio: Studio) -> APIRouter:
    """All of them."""
    routes, here = APIRouter(), _Compare(studio)
    routes.add_api_route("/compare", here.page)
    routes.add_api_route("/compare/panels", here.panels)
    return routes


class _Compare:
    def __init__(self, studio: Studio) -> None:
        self._studio = studio

    async def page(self, run: Chosen = []) -> Response:  # noqa: B006  FastAPI copies it
        runs = self._studio.catalogue.runs.values()
        models = {
            f"{one.name}/{stage.place.partition('/')[2]}": None
            for one in runs
            for stage in one.stages
            if stage.kind == "train"
        }
        every = [one.name for one in runs]
        chosen = [name for name in dict.fromkeys(run) if name in every or name in models]
        rest = {name: _address([one for one in chosen if one != name]) for name in chosen}
        return self._studio.pages.answer(
            "compare.html",
            chosen=rest,
            unknown=[name for name in run if name not in chosen],
            names=[name for name in (*every, *models) if name not in chosen],
            places=[typed(self._place(name)) for name in chosen],
            query=urlencode([("run", name) for name in chosen]),
        )

    async def panels(self, run: Chosen = []) -> Response:  # noqa: B006
        if len(run) > MOST:
            raise InputError(f"{len(run)} are too many to compare at once; {MOST} may be")
        places = tuple(self._place(name) for name in dict.fromkeys(run))
        panels = await self._studio.maker.make(compared_panels, places)
        return self._studio.pages.answer(
            "cards.html", cards=self._studio.pages.cards("compare", panels)
        )

    def _place(self, name: str) -> Path:
        """The folder of a run, or of a model given as RUN/NAME."""
        run, slash, model = name.partition("/")
        one = self._studio.catalogue[run]
        return one.stage(f"{one.run.models.name}/{model}").folder if slash else one.run.folder


def _address(names: Sequence[str]) -> str:
    return f"/compare?{urlencode([('run', name) for name in names])}"


def compared_panels(places: tuple[Path, ...]) -> list[Panel]:
    """Made in the process beside the studio."""
    return compared(subjects_of(places), _lines)


def _lines(folder: Path) -> list[MetricsLine]:
    curves = Curves(folder)
    curves.read()
    return curves.lines()
