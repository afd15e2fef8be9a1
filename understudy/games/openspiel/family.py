"""OpenSpiel's games by name, with its own words for settings: `liars_dice(dice_sides=4)`."""

from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple

from understudy import extras
from understudy.errors import InputError
from understudy.games.openspiel.matches import SpielMatch
from understudy.games.openspiel.tree import is_small, written_out
from understudy.games.openspiel.tree_env import TreeEnv
from understudy.games.two_player.hosted import HostedEnv
from understudy.games.two_player.hosted_game import hosted_game
from understudy.pipeline.game import Game, lazy

ENTROPY = 0.2
"""Where something is hidden, a player must not be predictable: of 0.05, 0.1, 0.2 and 0.4 it left
leduc_poker least exploitable."""

_EXACT = lazy("understudy.games.openspiel.exploitability:exact")


@cache
def load(name: str) -> Game:
    """An OpenSpiel game of two players, as a game of ours."""
    looks = _looked_at(name)
    about = f"{looks.about}, a game of OpenSpiel"
    host = OpenSpiel(name)
    hidden = {"entropy": ENTROPY} if looks.shows_past else {}
    return hosted_game(host, about, **hidden, graded=True, exact=partial(_EXACT, host))


class Looks(NamedTuple):
    """What is to know of a game before it is played."""

    game: Any
    about: str
    shows_past: bool
    features: int


@dataclass(frozen=True)
class OpenSpiel:
    """A game by the name that comes after `openspiel:`."""

    game: str

    @property
    def name(self) -> str:
        """The game's name."""
        return f"openspiel:{self.game}"

    @property
    def features(self) -> int:
        """The size of the tensor that players are shown."""
        return _looked_at(self.game).features

    @property
    def heads(self) -> tuple[int, ...]:
        """One: the actions."""
        return (int(_looked_at(self.game).game.num_distinct_actions()),)

    def match(self) -> SpielMatch:
        """Room for one match."""
        return SpielMatch(self.spiel, self.shows_past)

    def __call__(self, num_matches: int, pseudo_reward: float) -> HostedEnv | TreeEnv:
        """So many matches; returns on the way are the pseudo-reward."""
        if pseudo_reward or not is_small(self):
            return HostedEnv(self, num_matches, pseudo_reward)
        return TreeEnv(written_out(self), num_matches)

    @property
    def spiel(self) -> Any:
        """OpenSpiel's own object."""
        return _looked_at(self.game).game

    @property
    def shows_past(self) -> bool:
        """Whether players are shown information states rather than positions."""
        return _looked_at(self.game).shows_past


@cache
def _looked_at(name: str) -> Looks:
    """A game of OpenSpiel; InputError where it cannot be one of ours."""
    game = _loaded(name)
    kind = game.get_type()
    if game.num_players() != 2:
        raise InputError(
            f"openspiel:{name} is for {game.num_players()} players; games here are for two"
        )
    open_to_see = kind.information.name == "PERFECT_INFORMATION"
    in_turn = kind.dynamics.name == "SEQUENTIAL"
    position = kind.provides_observation_tensor
    past = kind.provides_information_state_tensor and not (position and open_to_see and in_turn)
    if not past and not (position and open_to_see):
        raise InputError(f"openspiel:{name} tells players what they know in no tensor")
    size = game.information_state_tensor_size() if past else game.observation_tensor_size()
    return Looks(game, kind.long_name, past, int(size))


def _loaded(name: str) -> Any:
    extras.require(["pyspiel"], f"openspiel:{name}")
    import pyspiel

    if name.partition("(")[0] not in (known := pyspiel.registered_names()):
        some = ", ".join(one for one in known if one[0] == name[:1])
        raise InputError(
            f"OpenSpiel has no game '{name}'. With that letter it has {some or 'none'}"
        )
    try:
        return pyspiel.load_game(name)
    except pyspiel.SpielError as failure:
        raise InputError(f"openspiel:{name} cannot be made: {failure}") from failure
