"""The learnt layers of HRL-XF as values, and what they were made for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from understudy.data.arrays import Array
from understudy.errors import InputError
from understudy.games.scml.domain import DAYS

THRIFTY: Final = "thrifty-"
"""Before the names of those layers that play at the first level while buyers are thrifty."""


@dataclass(frozen=True)
class About:
    """What the layers were made for."""

    features: str = ""
    """Stands for the names and order of all features."""
    scheme: str = "residual"
    goals: bool = False
    """L3 was trained with L2's goals; otherwise it saw none, and must see none in play."""
    horizons: tuple[int, ...] = (DAYS - 1,)
    """Of the worlds that were learnt from: Standard has 10, OneShot 0."""
    response_temperature: float = 0.0
    """How freely L3's responses are drawn: 0, the likeliest; 1, as likely as it thinks."""
    offer_temperature: float = 1.0
    """Likewise the day, units and price of an offer."""
    risk: float = 0.0
    """That L1 took with supplies to come while the layers learnt, and takes when they play."""


@dataclass(frozen=True)
class Checkpoint:
    """Weights by layer and name."""

    layers: Mapping[str, Mapping[str, Array]]
    about: About

    def needs(self, *names: str) -> "Checkpoint":
        """Itself, if it has these layers."""
        for name in names:
            if name not in self.layers:
                there = ", ".join(self.layers) or "none"
                raise InputError(f"the weights lack layer {name}; they have {there}")
        return self

    @property
    def thrifty(self) -> "Checkpoint | None":
        """The layers for thrifty buyers by their usual names; None: there are none."""
        found = {
            name.removeprefix(THRIFTY): layer
            for name, layer in self.layers.items()
            if name.startswith(THRIFTY)
        }
        return Checkpoint(found, self.about) if found else None

    def with_thrifty(self, other: "Checkpoint | None") -> "Checkpoint":
        """The same with the layers of another for thrifty buyers; None: with none."""
        own, theirs = _usual(self.layers), _usual({} if other is None else other.layers)
        if other is not None and other.about != self.about:
            raise InputError("the weights for thrifty buyers were made for something else")
        added = {f"{THRIFTY}{name}": one for name, one in theirs.items()}
        return Checkpoint({**own, **added}, self.about)


def _usual(layers: Mapping[str, Mapping[str, Array]]) -> dict[str, Mapping[str, Array]]:
    """Without those for thrifty buyers."""
    return {name: one for name, one in layers.items() if not name.startswith(THRIFTY)}
