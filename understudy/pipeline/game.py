"""What the stages know of a game, and where games are found.

`Game` is all of it; `docs/adding.md` says how to write one. The stages lie below the games and
import none: one is found by its name, here and in processes that were only told that name.
"""

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from understudy import extras
from understudy.errors import InputError, did_you_mean

if TYPE_CHECKING:  # these take seconds to import; `--help` should not
    import pyarrow as pa

    from understudy.data.players import PlayerRef
    from understudy.data.runs import Run
    from understudy.data.schema import Table
    from understudy.league.interface import League
    from understudy.learn.recipe import Recipe
    from understudy.report.page import Panel


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """Matches planned before any is played."""

    name: str
    """What to call their results."""
    settings: Mapping[str, Any]
    """All that it was made from, fit for JSON: the same settings give the same schedule."""
    matches: int
    fixtures: Mapping[str, Any]
    """Matches for one worker, by task; what they look like is the game's own affair."""
    growing: tuple[str, ...] = ()
    """The setting that can be raised later to add matches, and those that follow from it."""


class Played(NamedTuple):
    """What came of playing."""

    results: "pa.Table"
    recordings: "dict[str, pa.Table]"


class Imported(NamedTuple):
    """What one log of other origin held."""

    source: str
    tables: "dict[str, pa.Table]"
    """Recordings."""
    rejected: list[str]
    """FILE:LINE: what is wrong, for every line left out."""
    missing: Mapping[str, int] = MappingProxyType({})
    """Counts of what it does not say, by what that is."""


class Shown(NamedTuple):
    """Something recorded that can be looked into, and what to say of it in a list."""

    key: str
    players: str
    said: str
    """How it ended, how long it was."""
    mark: str = ""
    """Where on its page to begin: what follows a # in an address."""


@dataclass(frozen=True)
class Look:
    """A kind of thing to look into."""

    about: str
    """One line for people."""
    find: "Callable[[Run], Iterable[Shown]]"
    """All there are in a run."""
    page: "Callable[[Run, str], str]"
    """One by its key, as a page of its own."""


class Seats(NamedTuple):
    """Who sits where in a match that somebody watches."""

    players: "tuple[PlayerRef | None, ...]"
    """None: a person."""
    person: str
    """What the person is called."""
    seed: int


class LiveMatch(Protocol):
    """A match that goes on one decision at a time, before somebody's eyes.

    What it shows a person is what that person's seat may know, no more.
    """

    over: bool

    def scene(self) -> dict[str, Any]:
        """What the page is told once, fit for JSON."""
        ...

    def now(self) -> dict[str, Any]:
        """How it stands."""
        ...

    def step(self, done: Any) -> None:
        """One decision of everybody; the person's as its page sent it, InputError if it is none."""
        ...

    def recorded(self) -> "dict[str, pa.Table]":
        """The recording of a match that is over."""
        ...


@dataclass(frozen=True)
class Live:
    """How a person plays a game in the browser, or looks on."""

    about: str
    """How it is played, a line or two."""
    head: "Callable[[], str]"
    """Style and script of the page, which sets `window.understudyLive`."""
    begin: Callable[[Seats], LiveMatch]
    watched: bool = True
    """Whether a match without a person can be watched."""


class Awaited:
    """A part of logs of other origin that is read only if it must be.

    `stamp` changes with the part's content; where it is the same as that of recordings made
    earlier, nothing is read, and `remember` is told which matches they hold.
    """

    def __init__(
        self,
        source: str,
        stamp: str,
        load: "Callable[[], Imported]",
        remember: "Callable[[pa.Table], None]" = lambda outline: None,
    ) -> None:
        self.source, self.stamp, self.remember = source, stamp, remember
        self._load = load

    @cached_property
    def _found(self) -> Imported:
        return self._load()

    @property
    def tables(self) -> "dict[str, pa.Table]":
        """Recordings."""
        return self._found.tables

    @property
    def rejected(self) -> list[str]:
        """FILE:LINE: what is wrong, for every line left out."""
        return self._found.rejected

    @property
    def missing(self) -> "Mapping[str, int]":
        """Counts of what it does not say, by what that is."""
        return self._found.missing


@dataclass(frozen=True, kw_only=True)
class Game:
    """All that the rest of the program knows of a game."""

    name: str
    """That of its folder."""
    about: str
    """One line for people."""
    players: Mapping[str, str]
    """Scripted players and what each is like; the first is the expert to learn from."""
    recordings: "tuple[Table, ...]"
    """The tables a recording consists of, the one with a row per match first."""
    results: "Table"
    """How matches ended: a row per player per match."""
    samples: "tuple[Table, ...]"
    """The tables that recordings are encoded into."""
    play: "Callable[[Any], Played] | None"
    """Play a fixture of a schedule."""
    alone: "Callable[[Any, float | None], Any] | None" = None
    """A fixture to be played again because it ended its process, and seconds it may take: so that
    whoever is to blame is found out and loses alone. None: such a fixture is not played."""
    encode: "Callable[..., dict[str, pa.Table]] | None"
    """Recordings to samples of these players' decisions (None: everybody's), with its options."""
    summarise: "Callable[[Mapping[str, pa.Table], Mapping[str, pa.Table]], dict[str, float]]"
    """Counts over recordings and their samples that add up over shards."""
    recipes: "Callable[[], Mapping[str, Recipe]]"
    """The ways to train; called only when needed, because it imports torch."""
    panels: "Callable[[Run], list[Panel]]"
    """What a report shows of this game besides the tables every game has."""
    replay: "Callable[[Run, str], str] | None" = None
    """A page that shows one recorded match of a run."""
    replay_file: "Callable[[Path], str] | None" = None
    """The same of a match file of other origin, without any run."""
    looks: "Callable[[], Mapping[str, Look]]" = dict
    """What of a run can be looked into, by name."""
    live: "Callable[[], Live] | None" = None
    """How a person plays it; None: nobody does."""
    fill: "Callable[[Path, Path], None] | None" = None
    """Fill what a trained model predicts into the samples of a folder, for other models."""
    read_logs: "Callable[[Path], Iterable[Imported | Awaited]] | None" = None
    """Turn logs of other origin in a folder into recordings, file by file."""
    survey: "Callable[[Path, Sequence[str]], Mapping[str, Mapping[str, pa.Table]]] | None" = None
    """What encoding one shard must know of all the others: tables to add to its own, by shard."""
    league: "Callable[[], League] | None" = None
    """How its players improve against each other, and the recipes for that; None: no leagues."""
    needs: tuple[str, ...] = ()
    """Modules beyond the core's without which it is neither played nor learnt."""

    def recipe(self, name: str) -> "Recipe":
        """A recipe by its name in `recipes.py`."""
        recipes = self.recipes()
        if name not in recipes:
            near = did_you_mean(name, recipes)
            raise InputError(
                f"{self.name} has no recipe '{name}'{near}; it has {', '.join(recipes)}"
            )
        return recipes[name]

    def require(self) -> None:
        """InputError where a package is missing that it needs; before anything is written."""
        extras.require(self.needs, f"the game {self.name}")

    def table(self, name: str) -> "Table":
        """A declared table by name."""
        return next(table for table in (*self.recordings, *self.samples) if table.name == name)


_HOME = "understudy.games"
"""The package of our own games, and the entry point group of everybody else's."""
_ONE_FILE = re.compile(r"^GAME\b", re.MULTILINE)
_HAS_LEAGUE = re.compile(r"\bleague=|\bplain_game\(")


def modules() -> dict[str, str]:
    """The games there are, by name, each with the module that has its GAME.

    A game is a folder of `games/` with a game.py, one file there that defines GAME, or what an
    installed package names in the entry point group `understudy.games`. Ours come first.
    """
    return dict(sorted((_installed(tuple(sys.path)) | _own()).items()))


def _own() -> dict[str, str]:
    found = dict[str, str]()
    for place in map(Path, import_module(_HOME).__path__):
        for path in place.glob("*/game.py"):
            found[path.parent.name] = f"{_HOME}.{path.parent.name}.game"
        for path in place.glob("*.py"):
            if _ONE_FILE.search(path.read_text()):
                found[path.stem] = f"{_HOME}.{path.stem}"
    return found


@cache
def _installed(path: tuple[str, ...]) -> dict[str, str]:
    """The games of packages on this path; looking through them all takes a while."""
    return {one.name: one.module for one in entry_points(group=_HOME)}


def families() -> dict[str, str]:
    """Kinds of games named FAMILY:NAME, each with the module whose `load` makes one of a name.

    They are folders of `games/` with a family.py.
    """
    places = map(Path, import_module(_HOME).__path__)
    found = sorted(path.parent.name for place in places for path in place.glob("*/family.py"))
    return {family: f"{_HOME}.{family}.family" for family in found}


def load(name: str) -> Game:
    """Import one game, and with it only that game's dependencies."""
    family, colon, rest = name.partition(":")
    if colon and family in families():
        made: Game = import_module(families()[family]).load(rest)
        return made
    known = modules()
    if name not in known:
        others = "".join(f", {family}:NAME" for family in families())
        raise InputError(f"there is no game '{name}'; there is {', '.join(known)}{others}")
    if name not in _own():
        return _foreign(name, known[name])
    game: Game = import_module(known[name]).GAME
    return game


def with_leagues() -> list[str]:
    """The games that have leagues, by name; an installed package's may have one.

    Nothing is imported for this, because every `--help` asks: a game without says nothing of it.
    """
    without = {
        path.parent.name
        for place in map(Path, import_module(_HOME).__path__)
        for path in place.glob("*/game.py")
        if not _HAS_LEAGUE.search(path.read_text())
    }
    return [name for name in modules() if name not in without]


def _foreign(name: str, module: str) -> Game:
    """A game that an installed package brings, which may be anything."""
    where = f"the installed game '{name}' ({module})"
    try:
        game = import_module(module).GAME
    except Exception as failure:
        raise InputError(f"{where} cannot be imported: {failure!r}") from failure
    if not isinstance(game, Game) or game.name != name:
        is_what = f"named '{game.name}'" if isinstance(game, Game) else f"a {type(game).__name__}"
        raise InputError(f"{where} has a GAME that is {is_what}, not a Game of that name")
    return game


@dataclass(frozen=True)
class Lazy:
    """Stands for a function of a module that takes long to import."""

    place: str

    def target(self) -> Any:
        """What lies there, imported now."""
        module, name = self.place.split(":")
        return getattr(import_module(module), name)

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Call the function; what is none is handed out as it is."""
        found = self.target()
        return found(*given, **named) if callable(found) else found


def lazy(place: str) -> Callable[..., Any]:
    """The function at `module:name`, imported when it is called; also for a table of recipes."""
    return Lazy(place)
