"""A hosted environment as a whole game: its tables, the ways to train for it, its leagues."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from understudy.data.samples import Decisions, decisions
from understudy.games.two_player.hosted import RANDOM, Host
from understudy.games.two_player.plain import plain_game
from understudy.games.two_player.usual import Usual
from understudy.pipeline.game import Game

if TYPE_CHECKING:
    from understudy.league.interface import Exact

PLAYERS = {RANDOM: "chooses any legal option"}


def hosted_game(
    host: Host,
    about: str,
    *,
    entropy: float = 0.01,
    graded: bool = False,
    exact: "Callable[[], Exact | None]" = lambda: None,
) -> Game:
    """All that the pipeline needs of it; the options as in `usual.Usual`."""
    moves = moves_of(host)
    usual = Usual(moves, host, (RANDOM,), entropy, graded, exact)
    return plain_game(
        name=host.name,
        about=about,
        players=PLAYERS,
        decisions=moves,
        make=host,
        recipes=usual.recipes,
        league=usual.league,
    )


def moves_of(host: Host) -> Decisions:
    """The decisions of a host's players."""
    seen = {"turn": "1 if it is mine", "second": "1 for the second player"}
    seen |= {f"seen_{k}": f"number {k} of what the environment shows" for k in range(host.features)}
    names = ["action"] if len(host.heads) == 1 else [f"action_{k}" for k in range(len(host.heads))]
    return decisions(host.name, "moves", 1, seen, dict(zip(names, host.heads, strict=True)))
