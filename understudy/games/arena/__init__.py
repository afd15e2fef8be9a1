"""The arena: a small, very fast two-player shooter.

`rules` numbers, `world` the compiled rules, `state` what a player knows, `observe` what a network
reads, `actions` the codec, `bots` scripted players, `match` playing, `record` and `encode` the
tables, `recipes` training, `env` the Gymnasium and PettingZoo faces, `viewer` replays.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.data.runs import Run
from understudy.games import Game, Imported, Played
from understudy.games.arena.data.encode import MOVES, encode, summarise
from understudy.games.arena.data.tables import MATCHES, RESULTS, STEPS
from understudy.games.pairs import Fixture

if TYPE_CHECKING:
    from understudy.league.interface import League
    from understudy.learn.recipe import Recipe
    from understudy.report.page import Panel


def _play(fixture: Fixture) -> Played:
    from understudy.games.arena.play.play import play

    return play(fixture)


def _recipes() -> "Mapping[str, Recipe]":
    from understudy.games.arena.recipes import RECIPES

    return RECIPES


def _panels(run: Run) -> "list[Panel]":
    from understudy.games.arena.panels import panels

    return panels(run)


def _replay(run: Run, match: str) -> str:
    from understudy.games.arena.replay import find_replay
    from understudy.games.arena.viewer import replay_page

    return replay_page(find_replay(run, match))


def _read_logs(folder: Path) -> Iterable[Imported]:
    from understudy.games.arena.data.logs import read_logs

    return read_logs(folder)


def _league() -> "League":
    from understudy.games.arena.league import league

    return league()


def _players() -> dict[str, str]:
    from understudy.games.arena.play.bots import BOTS

    return {"expert": BOTS["expert"], **BOTS}


GAME = Game(
    name="arena",
    about="a very fast two-player shooter",
    players=_players(),
    recordings=(MATCHES, STEPS),
    results=RESULTS,
    samples=(MOVES.table,),
    play=_play,
    encode=encode,
    summarise=summarise,
    recipes=_recipes,
    panels=_panels,
    replay=_replay,
    read_logs=_read_logs,
    league=_league,
)
