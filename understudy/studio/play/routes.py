"""Addresses of play: a form that seats two, and the socket over which a match goes on."""

import asyncio
import json
import secrets
from collections.abc import Mapping
from typing import Any, NamedTuple

from fastapi import APIRouter, WebSocket
from starlette.responses import Response
from starlette.websockets import WebSocketDisconnect

from understudy import games
from understudy.errors import InputError
from understudy.names import plain_name, shown
from understudy.pipeline.game import load
from understudy.pipeline.players import MIXTURE
from understudy.report.page import Panel
from understudy.studio.look.routes import page_link
from understudy.studio.play.host import Asked, Chair
from understudy.studio.play.table import Table
from understudy.studio.server import STUCK_SECONDS
from understudy.studio.studio import Studio
from understudy.studio.work.routes import known_game

YOU = "@you"
"""Stands for the person in a seat."""
SEATS = ("west", "east")
SILENT_SECONDS = 900.0
"""After which a table is cleared."""
LONGEST_PERSON = 40
SEED_BITS = 53
"""So that a seed is a whole number in a browser, too."""


class Told(NamedTuple):
    """What a game says of itself to those who want to play it."""

    about: str
    players: dict[str, str]
    head: str
    watched: bool


class Choice(NamedTuple):
    """Somebody who may sit at the table."""

    value: str
    words: str
    chair: Chair | None


def play_routes(studio: Studio) -> APIRouter:
    """All of them."""
    routes, here = APIRouter(), _Play(studio)
    routes.add_api_route("/play", here.page)
    routes.add_api_route("/play/form", here.form)
    routes.add_api_websocket_route("/play/table", here.table)
    return routes


def told_of(game: str) -> Told:
    """Made in the process beside the studio."""
    found = load(game)
    if found.live is None:
        raise InputError(f"{game} cannot be played here")
    live = found.live()
    return Told(live.about, dict(found.players), live.head(), live.watched)


class _Play:
    def __init__(self, studio: Studio) -> None:
        self._studio, self._pages = studio, studio.pages
        self._known = dict[str, Told]()

    async def page(self, game: str = "arena", east: str = "") -> Response:
        return self._pages.answer(
            "play.html",
            games=games.names(),
            families=list(games.families()),
            game=game,
            east=east,
            script=self._pages.assets.file("play.js"),
        )

    async def form(self, game: str, east: str = "") -> Response:
        told = await self._told(game)
        choices = self._choices(game, told)
        usual = next((one.value for one in reversed(choices) if one.value == east), None)
        return self._pages.answer(
            "play_form.html",
            game=game,
            told=told,
            choices=choices,
            seats=SEATS,
            east=usual or next(iter(told.players), YOU),
            needs=self._pages.assets.of_panels([Panel("", "", head=told.head)]),
            longest=LONGEST_PERSON,
        )

    async def _told(self, game: str) -> Told:
        if known_game(game) not in self._known:
            self._known[game] = await self._studio.maker.make(told_of, game)
        return self._known[game]

    def _choices(self, game: str, told: Told) -> list[Choice]:
        """Everybody who can play: the person, those scripted, models and leagues of runs.

        Of a league, its main agent and its mixture.
        """
        found = [Choice(YOU, "you", None)]
        home = str(self._studio.catalogue.home)
        for name, about in told.players.items():
            found.append(Choice(name, f"{name}: {about}", Chair(name=name, run=home)))
        for one in self._studio.catalogue.runs.values():
            for stage in one.stages:
                if stage.kind in ("train", "league") and stage.game == game:
                    for more in ("", f"/{MIXTURE}") if stage.kind == "league" else ("",):
                        name = f"{stage.folder.name}{more}"
                        value, words = f"{one.name}/{stage.place}{more}", f"{name} of {one.name}"
                        chair = Chair(name=name, run=str(one.run.folder))
                        found.append(Choice(value, words, chair))
        return found

    # --- a match ---------------------------------------------------------------------------------

    async def table(self, socket: WebSocket) -> None:
        """One person's table, for as many matches as they like."""
        await socket.accept()
        try:
            async with self._studio.tables.taken() as table:
                while True:
                    async with asyncio.timeout(SILENT_SECONDS):
                        message = _read(await socket.receive_text())
                    answer = await self._answer(table, message)
                    await _send(socket, answer)
                    if answer.get("over") and (kept := await self._kept(table)):
                        await _send(socket, kept)
        except InputError as mistake:
            await self._end(socket, str(mistake))
        except TimeoutError:
            await self._end(socket, "nobody has played for a long time: the table was cleared")
        except (WebSocketDisconnect, RuntimeError):
            pass  # the browser has gone

    @staticmethod
    async def _end(socket: WebSocket, words: str) -> None:
        try:
            await _send(socket, {"error": words})
            await socket.close(1008)
        except (WebSocketDisconnect, RuntimeError, TimeoutError):
            pass

    async def _answer(self, table: Table, message: Mapping[str, Any]) -> dict[str, Any]:
        if "open" in message:
            return await table.open(await self._asked(message["open"]))
        return await table.do(message.get("do"))

    async def _kept(self, table: Table) -> dict[str, Any]:
        """Where a match of a person was written to, and its replay where there are such."""
        answer = await table.keep()
        if "kept" in answer:
            await self._studio.watch.look()
            run = self._studio.catalogue.name_of(self._out(answer.pop("game")))
            if run is not None:
                answer["run"] = run
            if run is not None and (look := answer.pop("look")):
                answer["replay"] = page_link(run, look, answer["kept"])
        return answer

    async def _asked(self, told: Any) -> Asked:
        """A match as a form asked for it; every player is one of those that were offered."""
        if not isinstance(told, dict) or not all(isinstance(one, str) for one in told.values()):
            raise InputError("that is no match")
        game = told.get("game", "")
        offered = await self._told(game)
        by_value = {one.value: one for one in self._choices(game, offered)}
        chosen = [told.get(seat, "") for seat in SEATS]
        for value in chosen:
            if value not in by_value:
                raise InputError(f"nobody here is called {shown(value)}; choose another player")
        if chosen.count(YOU) > 1:
            raise InputError("you cannot sit in both seats")
        if YOU not in chosen and not offered.watched:
            raise InputError(f"{game} is played, not watched: take a seat")
        person = plain_name(told.get("person", "").strip() or "human", "your name")
        if len(person) > LONGEST_PERSON or person in by_value:
            raise InputError("take another name: a shorter one that no player has")
        return Asked(
            game=game,
            chairs=[by_value[value].chair for value in chosen],
            person=person,
            seed=secrets.randbits(SEED_BITS),
            out=str(self._out(game)),
        )

    def _out(self, game: str) -> Any:
        """The run that matches with a person go to."""
        plain = "".join(sign if sign.isalnum() or sign in "_." else "-" for sign in game)
        return self._studio.catalogue.new(f"played-{plain}").folder


async def _send(socket: WebSocket, answer: Mapping[str, Any]) -> None:
    async with asyncio.timeout(STUCK_SECONDS):
        await socket.send_text(json.dumps(answer))


def _read(text: str) -> Mapping[str, Any]:
    """A message; InputError where it is none."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as mistake:
        raise InputError("that is no message") from mistake
    if not isinstance(message, dict) or not ({"open", "do"} & message.keys()):
        raise InputError("that is no message")
    return message
