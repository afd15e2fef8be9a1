"""The arena's variants by name: `arena:loadouts`."""

from functools import cache

from understudy.errors import InputError
from understudy.pipeline.game import Game, lazy

VARIANTS = ("loadouts",)


@cache
def load(name: str) -> Game:
    """A variant as a game of its own: its recordings, weights and leagues are of no other."""
    from understudy.games.arena.loadouts.matches import MOVES, PLAYERS, LoadoutArena
    from understudy.games.two_player.plain import plain_game

    if name not in VARIANTS:
        raise InputError(f"the arena has no variant '{name}'; there is {', '.join(VARIANTS)}")
    return plain_game(
        name=f"arena:{name}",
        about="the arena with hidden loadouts that beat each other in a circle",
        players=PLAYERS,
        decisions=MOVES,
        make=LoadoutArena,
        recipes=lazy("understudy.games.arena.loadouts.recipes:RECIPES"),
        league=lazy("understudy.games.arena.loadouts.recipes:league"),
    )
