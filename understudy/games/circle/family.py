"""Games of the circle by name: in `circle:0.6` styles decide six tenths of the odds."""

from dataclasses import dataclass
from functools import cache, partial

from understudy.errors import InputError
from understudy.games.circle.matches import PLAYERS, Circle, moves_of
from understudy.games.two_player.plain import plain_game
from understudy.games.two_player.usual import Usual
from understudy.pipeline.game import Game, lazy

ENTROPY = 0.02
_EXACT = lazy("understudy.games.circle.exact:exact")


@cache
def load(name: str) -> Game:
    """A game with that share of the circle."""
    host = CircleGame(_share(name))
    moves = moves_of(host.name)
    usual = Usual(moves, host, entropy=ENTROPY, exact=partial(_EXACT, host.share))
    return plain_game(
        name=host.name,
        about=f"styles in a circle, {host.share:.0%} of the odds; skill the rest",
        players=PLAYERS,
        decisions=moves,
        make=host,
        recipes=usual.recipes,
        league=usual.league,
    )


@dataclass(frozen=True)
class CircleGame:
    """Makes matches; a value that other processes can be sent."""

    share: float

    @property
    def name(self) -> str:
        """As it is typed."""
        return f"circle:{self.share:g}"

    def __call__(self, num_matches: int, pseudo_reward: float) -> Circle:
        """So many; there is no pseudo-reward."""
        return Circle(self.share, num_matches)


def _share(name: str) -> float:
    try:
        share = float(name)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1 or f"{share:g}" != name:
        raise InputError(
            f"there is no game 'circle:{name}': after the colon comes the share of the odds that "
            "styles decide, from 0 to 1 and in its shortest form, such as circle:0.6"
        )
    return share
