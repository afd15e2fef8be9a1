"""What to try: settings of a recipe with a range or a list of values each, as a person types them.

    learning_rate=1e-4..1e-2     between two numbers, by factors if they lie ten times apart
    hidden=64,64|128,128         one of these

What was typed is checked by the recipe itself before anything is tried. Needs neither torch nor
Optuna.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from understudy.errors import InputError
from understudy.learn.settings import Setting, changed, settings_of, told_value

FACTORS = 10
"""A range this many times as high as low is searched by factors, not by differences."""
AROUND = 10.0
"""Unless told what to try: learning rates up to so many times smaller and larger than they are."""


@dataclass(frozen=True)
class Tried:
    """One setting, and what it may be: between `low` and `high`, or one of `values`."""

    name: str
    low: float = 0.0
    high: float = 0.0
    whole: bool = False
    values: tuple[str, ...] = ()

    @property
    def by_factors(self) -> bool:
        """Whether a range is searched by factors."""
        return self.low > 0 and self.high >= FACTORS * self.low

    @property
    def written(self) -> str:
        """As it could be typed."""
        return f"{self.name}={'|'.join(self.values) or f'{self.low:g}..{self.high:g}'}"

    def ends(self) -> Sequence[str]:
        """Values by which the recipe can say whether it may be tried, NAME=VALUE."""
        found = self.values or (_number(self.low, self.whole), _number(self.high, self.whole))
        return [f"{self.name}={value}" for value in found]

    def rounded(self, value: Any) -> Any:
        """A value drawn of it, with as many digits as a person cares to type."""
        if not isinstance(value, float):
            return value
        return min(max(float(f"{value:.4g}"), self.low), self.high)

    def holds(self, value: Any) -> bool:
        """Whether a value as typed is among those to try."""
        if self.values:
            return str(value) in self.values
        return isinstance(value, int | float) and self.low <= value <= self.high


def space(recipe: Any, told: Iterable[str], called: str) -> tuple[Tried, ...]:
    """What to try of a recipe; InputError where that cannot be. Nothing told: its learning rates.

    `called` is the game and the name of the recipe, for the messages.
    """
    known = {one.name: one for one in settings_of(recipe)}
    found = [_read(text, known, called) for text in told] or _rates(known.values())
    if not found:
        raise InputError(f"'{called}' has no learning rate; say what to try: --try NAME=LOW..HIGH")
    names = [one.name for one in found]
    if twice := {name for name in names if names.count(name) > 1}:
        raise InputError(f"--try {twice.pop()} is there twice; give a setting one range")
    for one in found:
        for end in one.ends():
            changed(recipe, [end], called)
    return tuple(found)


def _rates(known: Iterable[Setting]) -> list[Tried]:
    rates = [one for one in known if one.name.rpartition(".")[2] == "learning_rate"]
    return [Tried(one.name, one.value / AROUND, one.value * AROUND) for one in rates]


def _read(text: str, known: Mapping[str, Setting], called: str) -> Tried:
    name, equals, values = (part.strip() for part in text.partition("="))
    if not equals or not values:
        raise InputError(f"--try {text}: give NAME=LOW..HIGH or NAME=ONE|OTHER")
    low, dots, high = (part.strip() for part in values.partition(".."))
    if not dots:
        options = tuple(part.strip() for part in values.split("|"))
        if len(set(options)) < max(2, len(options)):
            raise InputError(f"--try {text}: give at least two different values, {name}=ONE|OTHER")
        for option in options:
            told_value(f"{name}={option}", known, called, "--try")
        return Tried(name, values=options)
    ends = [told_value(f"{name}={end}", known, called, "--try")[1] for end in (low, high)]
    if not all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends):
        raise InputError(f"--try {text}: {name} is no number; give {name}=ONE|OTHER")
    if not ends[0] < ends[1]:
        raise InputError(f"--try {text}: {low} is not below {high}")
    return Tried(name, float(ends[0]), float(ends[1]), all(isinstance(end, int) for end in ends))


def _number(value: float, whole: bool) -> str:
    return str(int(value)) if whole else repr(value)


def as_settings(values: Mapping[str, Any]) -> list[str]:
    """What was drawn, as `--set` takes it."""
    return [f"{name}={value}" for name, value in values.items()]
