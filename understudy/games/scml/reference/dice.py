"""Agents that roll the compiled world's dice, so that both can be compared to the last bit.

Their modules are loaded anew with two changes: `random` and numpy's `choice` are the dice of
`batch/dice.py`, and sets remember the order in which things were put into them: where an agent
iterates a set, Python's order is anybody's guess, so this one is agreed on.
"""

import ast
import contextlib
import functools
import importlib.util
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from scml.oneshot.agent import OneShotAgent

from understudy.games.scml.batch.dice import DRAWS, key_of, number_of
from understudy.games.scml.engine.hosting.wrapping import own_calls, subclass
from understudy.games.scml.engine.negotiation import NegotiationView


class Dice:
    """Stands in for the module `random`: the numbers of the factory whose turn it is."""

    def __init__(self) -> None:
        self.begin(0, 0)

    def begin(self, seed: int, factories: int) -> None:
        """Another world."""
        self._keys = [int(key_of(seed, factory)) for factory in range(factories)]
        self._rolled = [0] * factories
        self.factory = 0

    def _roll(self) -> int:
        self._rolled[self.factory] += 1
        return int(number_of(self._keys[self.factory], self._rolled[self.factory]))

    def random(self) -> float:
        """In [0, 1)."""
        return self._roll() / 4294967296.0

    def _below(self, count: int) -> int:
        return (self._roll() * count) >> 32

    def _many(self, counts: Sequence[int]) -> Iterator[int]:
        """One below each of these numbers, DRAWS of them from one roll."""
        number = 0
        for index, count in enumerate(counts):
            number = (number % 2**32 if index % DRAWS else self._roll()) * count
            yield number >> 32

    def randint(self, low: int, high: int) -> int:
        """Of the whole numbers low to high."""
        if high < low:
            raise ValueError(f"empty range in randint({low}, {high})")
        return low + self._below(high - low + 1)

    def shuffle(self, items: list[Any]) -> None:
        """From the back, as Python does."""
        lasts = range(len(items) - 1, 0, -1)
        for last, other in zip(lasts, self._many([last + 1 for last in lasts]), strict=True):
            items[last], items[other] = items[other], items[last]

    def sample(self, items: Sequence[Any], count: int) -> list[Any]:
        """So many of the items: each drawn one gives its place to the last one left."""
        left, found = list(items), []
        for _ in range(count):
            place = self._below(len(left))
            found.append(left[place])
            left[place] = left[-1]
            left.pop()
        return found

    def choice(self, items: Any, size: int | None = None) -> Any:
        """Python's of a sequence; numpy's of so many numbers below `items`."""
        if size is None:
            return items[self._below(len(items))]
        return list(self._many([items] * size))

    def uniform(self, low: float, high: float) -> float:
        """As Python's."""
        return low + (high - low) * self.random()


DICE = Dice()
COMMON = "scml.common"


class OrderedSet:
    """A set that is iterated in the order in which things were put into it."""

    def __class_getitem__(cls, item: Any) -> types.GenericAlias:
        """`set[int]`, where it is written."""
        return types.GenericAlias(cls, item)

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._items = dict.fromkeys(items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, item: Any) -> bool:
        return item in self._items

    def difference(self, *others: Iterable[Any]) -> "OrderedSet":
        """What is in none of the others."""
        gone = {item for other in others for item in other}
        return OrderedSet(item for item in self._items if item not in gone)

    def __sub__(self, other: Iterable[Any]) -> "OrderedSet":
        return self.difference(other)

    def __and__(self, other: Iterable[Any]) -> "OrderedSet":
        there = set(other)
        return OrderedSet(item for item in self._items if item in there)

    intersection = __and__

    def __or__(self, other: Iterable[Any]) -> "OrderedSet":
        return OrderedSet([*self._items, *other])

    union = __or__

    def add(self, item: Any) -> None:
        """Put in."""
        self._items[item] = None

    def discard(self, item: Any) -> None:
        """Take out, if it is there."""
        self._items.pop(item, None)


class _OrderSets(ast.NodeTransformer):
    """`{...}` of a module's source becomes an OrderedSet."""

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        self.generic_visit(node)
        return self._called(node, ast.ListComp(node.elt, node.generators))

    def visit_Set(self, node: ast.Set) -> ast.AST:
        self.generic_visit(node)
        return self._called(node, ast.List(node.elts, ast.Load()))

    @staticmethod
    def _called(node: ast.AST, items: ast.expr) -> ast.AST:
        found = ast.Call(ast.Name("set", ast.Load()), [items], [])
        return ast.fix_missing_locations(ast.copy_location(found, node))


@functools.cache
def with_dice(module: str) -> types.ModuleType:
    """A module loaded anew, rolling the dice."""
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin is not None
    tree = _OrderSets().visit(ast.parse(Path(spec.origin).read_text(encoding="utf-8")))
    found = types.ModuleType(module)
    found.__package__ = spec.parent
    found.__file__ = spec.origin
    found.__dict__["set"] = OrderedSet
    # What an agent takes from `scml.common` rolls dice, too.
    common = {} if module == COMMON else {COMMON: with_dice(COMMON)}
    with (
        mock.patch.dict("sys.modules", {"random": DICE, **common}),
        mock.patch("numpy.random.choice", DICE.choice),
    ):
        exec(compile(tree, spec.origin, "exec"), found.__dict__)
    return found


def rolling(
    kinds: Sequence[type[OneShotAgent]], replaced: Mapping[str, Any] | None = None
) -> list[type[OneShotAgent]]:
    """The agent classes of a world's factories, each rolling its own factory's dice."""
    return [_rolling(kind, index) for index, kind in enumerate(kinds)]


def _rolling(kind: type[OneShotAgent], index: int) -> type[OneShotAgent]:
    def turned(method: Any) -> Any:
        @functools.wraps(method)
        def call(*arguments: Any, **named: Any) -> Any:
            before, DICE.factory = DICE.factory, index
            try:
                return method(*arguments, **named)
            finally:
                DICE.factory = before

        return call

    return subclass(kind, {name: turned(getattr(kind, name)) for name in own_calls(kind)})


def _random_outcome(view: NegotiationView) -> tuple[int, ...]:
    return tuple(DICE.randint(int(i.min_value), int(i.max_value)) for i in view.issues)


@contextlib.contextmanager
def dice_thrown(seed: int, factories: int) -> Iterator[None]:
    """A world of these dice is played within the block."""
    DICE.begin(seed, factories)
    with (
        mock.patch.object(NegotiationView, "random_outcome", _random_outcome),
        mock.patch("numpy.random.choice", DICE.choice),  # some import it only when they need it
    ):
        yield
