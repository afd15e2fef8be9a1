"""Fields of a form, from the signature of a command and the settings of a recipe."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from understudy.errors import InputError
from understudy.names import shown

Kind = Literal["whole", "number", "switch", "choice", "text", "list"]
_NOTHING = (None, Parameter.empty, False)
LONGEST_VALUE = 500
_NOT_ASKED = ("out", "wait", "quiet", "json", "background", "resume", "settings", "game", "look")
"""Parameters that a form does not ask for: it knows, or a browser has no use for them."""
_WORDS: dict[Kind, str] = {"whole": "a whole number", "number": "a number"}


@dataclass(frozen=True)
class Field:
    """One thing to be filled in."""

    name: str
    """Of the parameter, or of the recipe's setting."""
    kind: Kind
    default: str
    about: str
    option: str = ""
    """What stands before it on the command line; "" for what has its place."""
    off: str = ""
    """Of a switch that is on by default: what turns it off."""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    required: bool = False

    @property
    def label(self) -> str:
        """As it is called on the command line."""
        return (self.option if self.option not in ("", "--set") else self.name).removeprefix("--")

    @property
    def sent_as(self) -> str:
        """Its name in a form. A plain one could hide what a form can do: `matches` is a method."""
        return self.name if self.name == "recipe" else f"of:{self.name}"

    def read(self, text: str) -> str:
        """What was filled in, as it stands on the command line; InputError where it cannot."""
        text = text.strip()
        if not text:
            if self.required:
                raise InputError(f"{self.name} is missing: {self.about}")
            return ""
        if len(text) > LONGEST_VALUE or not text.isprintable():
            raise InputError(f"{self.name} cannot be {shown(text)}")
        if self.choices and text not in self.choices:
            raise InputError(f"{self.name} is one of {', '.join(self.choices)}, not {shown(text)}")
        if self.kind in ("whole", "number"):
            self._check(text)
        return text

    def _check(self, text: str) -> None:
        try:
            value = int(text) if self.kind == "whole" else float(text)
        except ValueError as mistake:
            raise InputError(f"{self.name} is {_WORDS[self.kind]}, not {shown(text)}") from mistake
        if self.low is not None and value < self.low:
            raise InputError(f"{self.name} is at least {self.low:g}, not {text}")
        if self.high is not None and value > self.high:
            raise InputError(f"{self.name} is at most {self.high:g}, not {text}")


def fields_of(command: Callable[..., Any], game: str, others: Sequence[str]) -> list[Field]:
    """What a command asks for, of those options that concern a game and not the `others`."""
    found = (_field(one) for one in signature(command).parameters.values())
    strange = tuple(f"{name}:" for name in others) + tuple(f"{name}," for name in others)
    return [
        one
        for one in found
        if one is not None and not one.about.lower().startswith(strange) and game
    ]


def _field(parameter: Parameter) -> Field | None:
    """None for one that is not asked for, or names a file."""
    kind, info = _parts(parameter.annotation)
    if parameter.name in _NOT_ASKED or kind is None:
        return None
    given = getattr(info, "default", None)  # where typer keeps the first name of an option
    names = [
        *([given] if isinstance(given, str) else []),
        *(getattr(info, "param_decls", ()) or ()),
    ]
    has_place = type(info).__name__ == "ArgumentInfo"
    option, _, off = (names[0] if names else f"--{parameter.name.replace('_', '-')}").partition("/")
    default = parameter.default
    about = " ".join(str(getattr(info, "help", None) or "").split())
    return Field(
        name=parameter.name,
        kind=kind,
        default="" if any(default is one for one in _NOTHING) else str(default),
        about=about,
        option="" if has_place else option,
        off=off or f"--no-{option.removeprefix('--')}",
        low=getattr(info, "min", None),
        high=getattr(info, "max", None),
        required=default is Parameter.empty,
    )


def _parts(annotation: Any) -> tuple[Kind | None, Any]:
    """The kind of a parameter, None where it is a path, and what typer knows of it."""
    info = None
    if get_origin(annotation) is Annotated:
        annotation, info = get_args(annotation)[:2]
    if get_origin(annotation) in (Union, UnionType):
        annotation = next(one for one in get_args(annotation) if one is not NoneType)
    if annotation is Path:
        return None, info
    if get_origin(annotation) is list:
        return "list", info
    kinds: Mapping[Any, Kind] = {int: "whole", float: "number", bool: "switch", str: "text"}
    return kinds.get(annotation), info


class ToldSetting(NamedTuple):
    """A setting of a recipe as a process that knows the game tells of it."""

    name: str
    default: str
    kind: Kind
    choices: tuple[str, ...]
    about: str


def setting_fields(told: Sequence[ToldSetting]) -> list[Field]:
    """The settings of a recipe, each a `--set`."""
    return [
        Field(one.name, one.kind, one.default, one.about, option="--set", choices=one.choices)
        for one in told
    ]
