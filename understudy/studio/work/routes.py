"""Addresses of work: forms, jobs, their logs, and going on with what was stopped."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from understudy import games
from understudy.errors import InputError
from understudy.names import plain_name, shown
from understudy.studio.live.catalogue import typed
from understudy.studio.sent import Sent, sent
from understudy.studio.studio import Studio
from understudy.studio.work.commands import VERBS, command_of, remembered
from understudy.studio.work.fields import Field, fields_of, setting_fields
from understudy.studio.work.jobs import Job
from understudy.studio.work.recipes import Offer, offer_of, settings_told

A = TypeVar("A")
R = TypeVar("R")
_FAMILY_GAME = re.compile(r"(\w+):[\w.-]{1,80}")
_NEWEST = 100


class _Form(NamedTuple):
    """What is to be filled in."""

    verb: str
    game: str
    run: str
    recipe: str
    offer: Offer
    fields: list[Field]
    settings: list[Field]


def work_routes(studio: Studio) -> APIRouter:
    """All of them."""
    routes, work = APIRouter(), _Work(studio)
    shows: dict[str, Callable[..., Any]] = {
        "/start": work.start,
        "/start/form": work.form,
        "/jobs": work.jobs,
        "/jobs/list": work.listed,
        "/job/{number}": work.job,
        "/job/{number}/state": work.state,
        "/job/{number}/log": work.log,
    }
    does: dict[str, Callable[..., Any]] = {
        "/start": work.begin,
        "/start/preview": work.preview,
        "/job/{number}/stop": work.stop,
        "/job/{number}/again": work.again,
        "/run/{name}/resume": work.resume,
    }
    for path, answer in shows.items():
        routes.add_api_route(path, answer)
    for path, answer in does.items():
        routes.add_api_route(path, answer, methods=["POST"])
    return routes


class _Work:
    def __init__(self, studio: Studio) -> None:
        self._studio, self._pages = studio, studio.pages
        self._queue = studio.queue
        self._known = dict[Any, Any]()

    # --- forms -----------------------------------------------------------------------------------

    async def start(
        self, verb: str = "train", game: str = "arena", run: str = "", recipe: str = ""
    ) -> Response:
        return self._pages.answer(
            "start.html",
            verbs=VERBS,
            games=games.names(),
            families=list(games.families()),
            runs=list(self._studio.catalogue.runs),
            verb=verb if verb in VERBS else "train",
            game=game,
            run=run or game.replace(":", "-"),
            recipe=recipe,
        )

    async def form(self, verb: str, game: str, run: str, recipe: str = "") -> Response:
        form = await self._form(verb, game, run, recipe)
        told = Sent({"recipe": [form.recipe]})
        folder, models = self._folder(run), self._models(run)
        line, trouble = self._line(form, told, folder)
        return self._pages.answer(
            "start_form.html", form=form, models=models, line=line, trouble=trouble
        )

    async def preview(self, request: Request) -> Response:
        told = await sent(request)
        form = await self._form(*(told.one(name) for name in ("verb", "game", "run", "recipe")))
        line, trouble = self._line(form, told, self._folder(form.run))
        return self._pages.answer("start_line.html", line=line, trouble=trouble)

    async def begin(self, request: Request) -> Response:
        told = await sent(request)
        form = await self._form(*(told.one(name) for name in ("verb", "game", "run", "recipe")))
        folder = self._folder(form.run)
        words = command_of(form.verb, form.game, typed(folder), form.fields, form.settings, told)
        return _to(self._queue.ask(words, folder))

    async def _form(self, verb: str, game: str, run: str, recipe: str) -> _Form:
        if verb not in VERBS:
            raise InputError(f"{shown(verb)} cannot be started here; there is {', '.join(VERBS)}")
        offer = await self._told(offer_of, (known_game(game), verb))
        others = [name for name in games.names() if name != game]
        fields = fields_of(self._studio.command(verb, game), game, others)
        recipe = recipe if recipe in offer.recipes else next(iter(offer.recipes), "")
        settings = list[Field]()
        if recipe:
            settings = setting_fields(await self._told(settings_told, (game, verb, recipe)))
        return _Form(verb, game, run, recipe, offer, fields, settings)

    async def _told(self, function: Callable[[A], R], asked: A) -> R:
        """What a game says of itself, which does not change while the studio runs."""
        key = function.__name__, asked
        if key not in self._known:
            self._known[key] = await self._studio.maker.make(function, asked)
        return cast("R", self._known[key])

    def _line(self, form: _Form, told: Sent, folder: Path) -> tuple[str, str]:
        """The command line that a form stands for, or what is wrong with it."""
        try:
            words = command_of(
                form.verb, form.game, typed(folder), form.fields, form.settings, told
            )
        except InputError as mistake:
            return "", str(mistake)
        return Job(0, tuple(words), "", 1, 0.0).line, ""

    def _folder(self, run: str) -> Path:
        return self._studio.catalogue.new(plain_name(run, "the name of a run")).folder

    def _models(self, run: str) -> list[str]:
        """What was trained in a run, as commands name it."""
        known = self._studio.catalogue.runs.get(run)
        stages = () if known is None else known.stages
        return [one.folder.name for one in stages if one.kind in ("train", "league")]

    # --- jobs ------------------------------------------------------------------------------------

    async def jobs(self) -> Response:
        return self._pages.answer("jobs.html", **self._listed())

    async def listed(self) -> Response:
        return self._pages.answer("jobs_list.html", **self._listed())

    def _listed(self) -> dict[str, Any]:
        newest = sorted(self._queue.jobs.known.values(), key=lambda job: -job.number)[:_NEWEST]
        return {"jobs": newest, "cores": self._queue.cores, "name_of": self._name}

    def _name(self, job: Job) -> str | None:
        return self._studio.catalogue.name_of(Path(job.run))

    async def job(self, number: int) -> Response:
        return self._answer("job.html", number)

    async def state(self, number: int) -> Response:
        return self._answer("job_state.html", number)

    async def log(self, number: int) -> Response:
        return self._answer("job_log.html", number)

    def _answer(self, template: str, number: int) -> Response:
        job = self._queue.jobs[number]
        said = self._queue.jobs.said(number)
        return self._pages.answer(template, job=job, name=self._name(job), said=said)

    async def stop(self, number: int) -> Response:
        self._queue.stop(number)
        return self._answer("job_state.html", number)

    async def again(self, number: int) -> Response:
        job = self._queue.jobs[number]
        return _to(self._queue.ask(job.words, Path(job.run)))

    async def resume(self, name: str, request: Request) -> Response:
        """Go on with a stage, by the command that its manifest remembers."""
        one = self._studio.catalogue[name]
        stage = one.stage((await sent(request)).one("place"))
        words = remembered(stage.command, typed(one.run.folder))
        return _to(self._queue.ask(words, one.run.folder))


def known_game(name: str) -> str:
    """A game by name; one of a family is looked for under that name alone."""
    family = _FAMILY_GAME.fullmatch(name)
    if name in games.names() or (family and family[1] in games.families()):
        return name
    raise InputError(f"there is no game {shown(name)}; there is {', '.join(games.names())}")


def _to(job: Job) -> Response:
    """Show a job."""
    address = f"/job/{job.number}"
    return Response(status_code=200, headers={"hx-redirect": address, "location": address})
