"""What a game has to offer, told by the process beside the studio: recipes, settings, players."""

from types import NoneType
from typing import Any, Literal, NamedTuple, get_args, get_origin

from understudy.pipeline.game import Game, load
from understudy.studio.work.fields import Kind, ToldSetting


class Offer(NamedTuple):
    """What can be done with a game."""

    about: str
    players: dict[str, str]
    recipes: dict[str, str]
    """Of that verb; none where it has no recipes."""


def offer_of(asked: tuple[str, str]) -> Offer:
    """What a game has for a verb, everything by name with a line on each."""
    game, verb = asked
    found = load(game)
    recipes: Any = found.recipes() if verb == "train" else {}
    if verb == "league":
        recipes = _leagues(found)
    about = {name: one.description for name, one in recipes.items()}
    return Offer(found.about, dict(found.players), about)


def settings_told(asked: tuple[str, str, str]) -> list[ToldSetting]:
    """The settings of a recipe, by game, verb and its name."""
    from understudy.learn.settings import settings_of

    game, verb, name = asked
    found = load(game)
    recipe: Any = _leagues(found)[name] if verb == "league" else found.recipe(name)
    return [
        ToldSetting(one.name, one.written, *_kind(one.kind), f"{one.meaning} ({one.words})")
        for one in settings_of(recipe)
    ]


def _leagues(game: Game) -> Any:
    return {} if game.league is None else game.league().recipes


def _kind(kind: Any) -> tuple[Kind, tuple[str, ...]]:
    """How a setting is asked for, and among which; what may be none is text."""
    if get_origin(kind) is Literal:
        return "choice", tuple(map(str, get_args(kind)))
    if kind is bool:
        return "choice", ("True", "False")
    if NoneType in get_args(kind):
        return "text", ()
    kinds: dict[Any, Kind] = {int: "whole", float: "number"}
    return kinds.get(kind, "text"), ()
