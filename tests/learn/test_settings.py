"""Settings by name: all have a meaning, what is typed becomes the right type, mistakes are told."""

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import pytest

from understudy.errors import InputError
from understudy.learn.settings import changed, settings_of
from understudy.pipeline.game import load

RECIPES = {
    f"{game} {name}": recipe
    for game in ("arena", "scml", "dota")
    for name, recipe in load(game).recipes().items()
}
RECIPES |= {f"arena {name}": recipe for name, recipe in load("arena").league().recipes.items()}


@dataclass(frozen=True)
class Part:
    """Stands in a whole."""

    name: str
    rate: float = 0.5
    """How fast."""

    def __post_init__(self):
        if self.rate <= 0:
            raise ValueError(f"rate must be above 0, got {self.rate}")


@dataclass(frozen=True, kw_only=True)
class Whole:
    """A recipe of every type."""

    description: str = "about it"
    steps: int = 10
    """How long: down to
    nothing."""
    least: int = 1
    """No more than `steps`."""
    is_on: bool = True
    """Whether."""
    widths: tuple[int, ...] = (4, 4)
    """Wide."""
    pair: tuple[float, float] = (0.9, 0.99)
    """Two."""
    kind: Literal["plain", "odd", 3] = "plain"
    """Which."""
    patience: int | None = None
    """None: never."""
    label: str | None = None
    """Words."""
    place: Path | None = None
    """Where."""
    part: Part = Part("one")
    """Nested."""
    parts: tuple[Part, ...] = (Part("a"), Part("b"))
    """Many."""
    by_name: dict[str, float]
    """By name."""
    call: object = len
    """Cannot be typed."""
    idle: int = 0
    """Decides nothing while `is_on`."""

    def __post_init__(self):
        if self.least > self.steps:
            raise ValueError(f"least must be at most {self.steps}, got {self.least}")

    def settings(self):
        told = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: told[name] for name in told if not (name == "idle" and self.is_on)}


WHOLE = Whole(by_name={"x y": 1.0})


def with_(*told):
    return changed(WHOLE, told, "toy whole")


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("steps=8_000", {"steps": 8000}),
        (" steps = 12 ", {"steps": 12}),
        ("is_on=no", {"is_on": False}),
        ("is_on=False", {"is_on": False}),
        ("widths=64,64,8", {"widths": (64, 64, 8)}),
        ("widths=(64,)", {"widths": (64,)}),
        ("widths=", {"widths": ()}),
        ("pair=0.5, 1e-3", {"pair": (0.5, 1e-3)}),
        ("kind=odd", {"kind": "odd"}),
        ("kind=3", {"kind": 3}),
        ("patience=4", {"patience": 4}),
        ("label=none", {}),
        ("label=a=b", {"label": "a=b"}),
        ("place=x/y", {"place": Path("x/y")}),
        ("part.rate=2", {"part": Part("one", 2.0)}),
        ("parts.b.rate=3", {"parts": (Part("a"), Part("b", 3.0))}),
        ("by_name.x y=7", {"by_name": {"x y": 7.0}}),
    ],
)
def test_what_is_typed_becomes_a_value_of_the_settings_type(told, expected):
    found = with_(told)
    assert found == replace(WHOLE, **expected)
    for name, value in expected.items():
        assert type(getattr(found, name)) is type(value)


def test_changes_are_checked_together():
    found = with_("least=40", "steps=50")
    assert (found.least, found.steps) == (40, 50)
    assert with_() == WHOLE


MISTAKES = {
    "steps": "--set steps: give NAME=VALUE",
    "steps=many": "--set steps=many: steps is a whole number, not 'many'",
    "steps=1.5": "steps is a whole number, not '1.5'",
    "steps=none": "steps is a whole number",
    "is_on=2": "is_on is true or false, not '2'",
    "widths=4,x": "widths is a list of whole numbers, not '4,x'",
    "pair=1": "pair is 2 numbers by comma, not '1'",
    "part.rate=nan": "part.rate is a number, not 'nan'",
    "kind=even": "kind is plain or odd or 3, not 'even'",
    "patience=x": "patience is a whole number or none",
    "stpes=4": "'toy whole' has no setting 'stpes' (did you mean steps?); see them all: understudy "
    "recipes toy whole",
    "part.rat=4": "(did you mean part.rate?)",
    "rate=4": "it has part.rate, parts.a.rate, parts.b.rate",
    "part=4": "set what stands in it: part.rate",
    "description=x": "no setting 'description'",
    "call=x": "no setting 'call'",
    "part.rate=0": "'toy whole' cannot be changed like that: rate must be above 0, got 0.0",
    "least=11": "cannot be changed like that: least must be at most 10, got 11",
    "idle=3": "'toy whole' takes no notice of idle as it is; leave it out",
}


@pytest.mark.parametrize("told", MISTAKES)
def test_a_mistake_says_what_is_wrong(told):
    with pytest.raises(InputError) as error:
        with_(told)
    assert MISTAKES[told] in str(error.value)


def test_an_idle_setting_may_be_told_where_it_decides_or_stays_as_it_is():
    assert with_("idle=3", "is_on=no").idle == 3
    assert with_("idle=0") == WHOLE


def test_settings_are_listed_with_what_they_mean():
    found = {one.name: (one.written, one.words, one.meaning) for one in settings_of(WHOLE)}
    assert found["steps"] == ("10", "a whole number", "How long: down to nothing.")
    assert found["widths"] == ("4,4", "a list of whole numbers", "Wide.")
    assert found["parts.b.rate"] == ("0.5", "a number", "How fast.")
    assert found["by_name.x y"] == ("1.0", "a number", "By name.")
    assert not {"description", "call", "part.name", "part"} & found.keys()


@pytest.mark.parametrize("called", RECIPES)
def test_every_setting_of_a_recipe_has_a_meaning_and_takes_its_own_value(called):
    recipe = RECIPES[called]
    found = settings_of(recipe)
    assert found
    assert not [one.name for one in found if not one.meaning]
    told = [f"{one.name}={one.written}" for one in found if "of them" not in one.written]
    assert changed(recipe, told, called) == recipe


@pytest.mark.parametrize(
    ("called", "told", "place", "value"),
    [
        ("arena awr", "objective.temperature=0.25", "objective.temperature", 0.25),
        ("arena refine", "critic=none critic_first=0", "critic", None),
        ("scml hrl-xf", "l3.steps=9 l3.scheme=direct", "l3.steps", 9),
        ("scml online", "online.stages.l3.rates.kl_weight=0.1", "", None),
        ("scml dagger", "rounds=3", "rounds", 3),
        ("dota value", "turns=2 models.best.trees.depth=2", "turns", 2),
    ],
)
def test_another_setting_is_in_what_the_manifest_holds(called, told, place, value):
    recipe = RECIPES[called]
    found = changed(recipe, shlex.split(told), called)
    assert found.settings() != recipe.settings()
    here = found.settings()
    for part in filter(None, place.split(".")):
        here = here[part]
    assert here == value or not place


def test_hidden_layers_of_a_model_to_go_on_from_cannot_be_set():
    with pytest.raises(InputError, match="takes no notice of hidden"):
        changed(RECIPES["arena awr"], ["hidden=8"], "arena awr")
