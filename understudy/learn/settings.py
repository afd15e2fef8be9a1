"""The settings of a recipe by name: what each means, and others as a person types them.

A recipe is a frozen dataclass. Its settings are its fields, and those of what stands in them, by
dots: `objective.temperature`, `l3.steps`, `online.stages.l3.iterations`. Needs no torch.
"""

import ast
import inspect
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from textwrap import dedent
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from understudy.errors import InputError, did_you_mean

R = TypeVar("R")
_ABOUT = ("description", "name", "decisions", "make", "statistic", "opponents")
"""Fields that say what a recipe is for, or have an option of their own."""
_ASIDE = ("start", "init", "log_every", "checkpoint_every", "keep_every")
"""Settings that are no part of what decides the outcome, but do something."""
_NOTHING = object()
_TRUTH = {"true": True, "yes": True, "on": True, "1": True}
_TRUTH |= {"false": False, "no": False, "off": False, "0": False}


@dataclass(frozen=True)
class Setting:
    """One number or word that decides how training goes."""

    name: str
    """With dots where it stands in others."""
    value: Any
    kind: Any
    """Its type."""
    meaning: str

    @property
    def words(self) -> str:
        """Its type in words."""
        return _in_words(self.kind)

    @property
    def written(self) -> str:
        """Its value as it could be typed; of a long list only how long it is."""
        if not isinstance(self.value, tuple):
            return str(self.value)
        few = len(self.value) <= 8
        return ",".join(map(str, self.value)) if few else f"{len(self.value)} of them"


def settings_of(recipe: Any) -> list[Setting]:
    """All settings of a recipe, in the order they are written in."""
    return list(_leaves("", recipe, None, ""))


def changed(recipe: R, told: Iterable[str], called: str) -> R:
    """The recipe with other settings, each NAME=VALUE; InputError where one cannot be.

    `called` is the game and the name of the recipe, for the messages. A setting that would change
    nothing, because others leave it idle, is refused as well.
    """
    known = {one.name: one for one in settings_of(recipe)}
    values = dict(told_value(text, known, called) for text in told)
    found = _applied(recipe, values, called)
    for name, value in values.items():
        rest = {other: values[other] for other in values if other != name}
        aside = name.rpartition(".")[2] in _ASIDE or value == known[name].value
        if not aside and _idle(recipe, rest, found):
            raise InputError(f"'{called}' takes no notice of {name} as it is; leave it out")
    return found


def as_recorded(recipe: R, settings: Mapping[str, Any], called: str) -> R:
    """The recipe as it was when a manifest wrote down its settings, as far as these tell."""
    values = dict[str, Any]()
    for one in settings_of(recipe):
        found: Any = settings
        for part in one.name.split("."):
            found = found.get(part, _NOTHING) if isinstance(found, Mapping) else _NOTHING
        if isinstance(one.value, tuple) and not isinstance(found, list | None):
            continue  # only summed up there
        if found is not _NOTHING:
            values[one.name] = tuple(found) if isinstance(found, list) else found
    return _applied(recipe, values, called)


def told_value(
    text: str, known: Mapping[str, Setting], called: str, option: str = "--set"
) -> tuple[str, Any]:
    """NAME=VALUE as the setting's name and its value; InputError where there is none such."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise InputError(f"{option} {text}: give NAME=VALUE, as {option} {next(iter(known))}=…")
    if name not in known:
        raise InputError(_unknown(name, list(known), called))
    try:
        return name, _read(value, known[name].kind)
    except ValueError as mistake:
        words = known[name].words
        raise InputError(f"{option} {text}: {name} is {words}, not '{value}'") from mistake


def _unknown(name: str, known: list[str], called: str) -> str:
    below = [one for one in known if one.startswith(f"{name}.")]
    ending = [one for one in known if one.endswith(f".{name}")]
    if below:
        hint = f"set what stands in it: {', '.join(below)}"
    elif ending:
        hint = f"it has {', '.join(ending)}"
    else:
        hint = f"see them all: understudy recipes {called}"
    return f"'{called}' has no setting '{name}'{did_you_mean(name, known)}; {hint}"


def _applied(recipe: R, values: Mapping[str, Any], called: str) -> R:
    tree = dict[str, Any]()
    for name, value in values.items():
        *outer, last = name.split(".")
        place = tree
        for part in outer:
            place = place.setdefault(part, {})
        place[last] = _Leaf(value)
    try:
        found: R = _rebuilt(recipe, tree)
    except ValueError as mistake:
        raise InputError(f"'{called}' cannot be changed like that: {mistake}") from mistake
    return found


@dataclass(frozen=True)
class _Leaf:
    value: Any


def _rebuilt(owner: Any, tree: Mapping[str, Any]) -> Any:
    """`owner` with the changes of a tree; all those of one dataclass at once, as it checks them."""
    within = {name: part for name, part, _, _ in _parts(owner, None)}
    changes = {
        name: change.value if isinstance(change, _Leaf) else _rebuilt(within[name], change)
        for name, change in tree.items()
    }
    if isinstance(owner, Mapping):
        return {**owner, **changes}
    if isinstance(owner, tuple):
        return tuple(changes.get(name, part) for name, part in within.items())
    return replace(owner, **changes)


def _idle(recipe: Any, rest: Mapping[str, Any], found: Any) -> bool:
    """Whether the same comes out with the rest of the changes alone."""
    try:
        without = _applied(recipe, rest, "")
    except InputError:
        return False
    return bool(without.settings() == found.settings())


# --- What stands in what -------------------------------------------------------------------------


def _leaves(before: str, owner: Any, kind: Any, about: str) -> Iterable[Setting]:
    for name, value, hint, meaning in _parts(owner, kind):
        if _has_parts(value):
            yield from _leaves(f"{before}{name}.", value, hint, meaning)
        elif _can_be_set(hint):
            yield Setting(f"{before}{name}", value, hint, meaning or about)


def _parts(owner: Any, kind: Any) -> list[tuple[str, Any, Any, str]]:
    """Of a value that holds others: each with its name, type and meaning."""
    if isinstance(owner, Mapping):
        inner = (get_args(kind) or (None, None))[1]
        return [(str(name), value, inner, "") for name, value in owner.items()]
    if isinstance(owner, tuple):
        return [(getattr(one, "name", str(at)), one, None, "") for at, one in enumerate(owner)]
    made: Any = type(owner)
    hints, meanings = get_type_hints(made), _meanings(made)
    names = [field.name for field in fields(owner) if field.name not in _ABOUT]
    return [(name, getattr(owner, name), hints[name], meanings.get(name, "")) for name in names]


def _has_parts(value: Any) -> bool:
    if isinstance(value, tuple):
        return bool(value) and all(_has_parts(one) for one in value)
    return isinstance(value, Mapping) or (is_dataclass(value) and not isinstance(value, type))


@cache
def _meanings(kind: Any) -> dict[str, str]:
    """The texts below the fields of a class and of those it comes from."""
    found = dict[str, str]()
    for one in reversed(kind.__mro__):
        if not is_dataclass(one):
            continue
        source = inspect.getsource(cast("type[Any]", one))
        (body,) = ast.parse(dedent(source)).body
        assert isinstance(body, ast.ClassDef)
        for field, text in zip(body.body, body.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                name, said = ast.unparse(field.target), ast.literal_eval(text.value)
                found[name] = " ".join(str(said).split())
    return found


# --- Types ---------------------------------------------------------------------------------------

_PLAIN = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    Path: "a path",
}


def _can_be_set(kind: Any) -> bool:
    if get_origin(kind) is Literal:
        return True
    if get_origin(kind) in (Union, UnionType):
        return all(_can_be_set(one) for one in get_args(kind) if one is not NoneType)
    if get_origin(kind) is tuple:
        return all(one in _PLAIN or one is Ellipsis for one in get_args(kind))
    return kind in _PLAIN


def _in_words(kind: Any) -> str:
    inner = get_args(kind)
    if get_origin(kind) is Literal:
        return " or ".join(map(str, inner))
    if get_origin(kind) is tuple:
        each = _in_words(inner[0]).removeprefix("a ")
        return f"a list of {each}s" if inner[-1] is Ellipsis else f"{len(inner)} {each}s by comma"
    if inner:
        words = [_in_words(one) for one in inner if one is not NoneType]
        return " or ".join([*words, "none"] if NoneType in inner else words)
    return _PLAIN[kind]


def _read(text: str, kind: Any) -> Any:
    """What was typed, as a value of this type; ValueError where it is none."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {str(one): one for one in inner}[_one_of(text, map(str, inner))]
    if origin is tuple:
        return _read_tuple(text, inner)
    if inner:
        return _read_union(text, inner)
    if kind is bool:
        return _TRUTH[_one_of(text.lower(), _TRUTH)]
    value = kind(text)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError
    return value


def _one_of(text: str, known: Iterable[str]) -> str:
    if text not in set(known):
        raise ValueError
    return text


def _read_tuple(text: str, inner: tuple[Any, ...]) -> tuple[Any, ...]:
    parts = [part.strip().strip("'\"") for part in text.strip("()[] ").split(",")]
    parts = [part for part in parts if part]
    kinds = [inner[0]] * len(parts) if inner[-1] is Ellipsis else list(inner)
    if len(kinds) != len(parts):
        raise ValueError
    return tuple(_read(part, one) for part, one in zip(parts, kinds, strict=True))


def _read_union(text: str, inner: tuple[Any, ...]) -> Any:
    if NoneType in inner and text.lower() == "none":
        return None
    for one in (int, float, *inner):
        if one in inner and one is not NoneType:
            try:
                return _read(text, one)
            except ValueError:
                continue
    raise ValueError
