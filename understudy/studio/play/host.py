"""The process in which a match goes on: lines of JSON in, lines of JSON out.

    {"open": {...}}   begin a match: {"scene", "now"}
    {"do": ...}       one decision: {"now", "over"}
    {"keep": true}    write down a match that is over: what it is called, nothing if none was played

Whoever sits at the other end is the studio, which has looked at everything that came from a
browser. The process ends when nobody is there any more.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any, TypedDict

from understudy.data.integrity.locks import release_all
from understudy.data.players import Contender
from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.pipeline.game import Game, Imported, LiveMatch, Seats, load
from understudy.pipeline.import_matches import take_in
from understudy.pipeline.players import contender
from understudy.workers.attempt import line_of

TRIES, PAUSE = 40, 0.25
"""To write a recording while another match's is being written."""


class Chair(TypedDict):
    """A player by name, and the run it comes from."""

    name: str
    run: str


class Asked(TypedDict):
    """A match that somebody wants."""

    game: str
    chairs: list[Chair | None]
    """None: a person."""
    person: str
    seed: int
    out: str
    """The run that recordings with a person go to."""


class _Table:
    """The match of this process."""

    def __init__(self, asked: Asked) -> None:
        self.game = load(asked["game"])
        self.game.require()
        self.out = Run(Path(asked["out"]))
        chairs = asked["chairs"]
        self.has_person = any(chair is None for chair in chairs)
        players = tuple(
            None if one is None else _player(self.game, one).drawn(asked["seed"], slot)
            for slot, one in enumerate(chairs)
        )
        if self.game.live is None:
            raise InputError(f"{self.game.name} cannot be played here")
        begin = self.game.live().begin
        self.match: LiveMatch = begin(Seats(players, asked["person"], asked["seed"]))

    def opened(self) -> dict[str, Any]:
        return {"scene": self.match.scene(), "now": self.match.now(), "over": self.match.over}

    def do(self, done: Any) -> dict[str, Any]:
        if not self.match.over:
            self.match.step(done)
        return {"now": self.match.now(), "over": self.match.over}

    def keep(self) -> dict[str, Any]:
        """Write down a match of a person that is over, once; what went wrong with that is said."""
        if not (self.match.over and self.has_person):
            return {}
        self.has_person = False
        try:
            name = kept(self.game, self.out, self.match.recorded())
            look = next(iter(self.game.looks()), None)
            return {"kept": name, "game": self.game.name, "look": look}
        except (InputError, OSError) as failure:
            return {"lost": f"it could not be recorded: {line_of(failure)}"}


def _player(game: Game, chair: Chair) -> Contender:
    return contender(game, Run(Path(chair["run"])), chair["name"])


def kept(game: Game, out: Run, tables: dict[str, Any]) -> str:
    """Add a match to the recordings of a run, and say what it is called there."""
    outline = tables[game.recordings[0].name]
    name = str(outline[game.recordings[0].columns[0].name][0].as_py())
    for attempt in range(TRIES):
        try:
            take_in(game, out, [Imported(name, tables, [])], {"by": "a person", "match": name})
            return name
        except InputError as mistake:
            if "is being written by" not in str(mistake) or attempt == TRIES - 1:
                raise
            time.sleep(PAUSE)
        finally:
            release_all()
    raise AssertionError


def main() -> None:
    """Answer lines until there are no more."""
    said = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    table: _Table | None = None
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            if "open" in asked:
                table = _Table(asked["open"])
                answer = table.opened()
            elif table is None:
                raise InputError("no match was begun")
            elif "keep" in asked:
                answer = table.keep()
            else:
                answer = table.do(asked["do"])
        except Exception as failure:  # a player brought along may raise anything
            answer = {"error": line_of(failure)}
        print(json.dumps(answer, separators=(",", ":"), allow_nan=False), file=said, flush=True)


if __name__ == "__main__":
    main()
