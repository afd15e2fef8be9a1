"""Whom a learner meets: worlds drawn as the league draws them, and by whom its rivals are played.

Blocks of worlds are numbered by what they are for. Training, choosing and reporting never share a
block, so no world serves two of them.
"""

import hashlib
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from understudy.games.scml.agent.policy import CLONES
from understudy.games.scml.domain import Track
from understudy.games.scml.players.steward_numbers import PLACES, place_in_chain
from understudy.games.scml.tuning.trials import Field, Layout, layout

Purpose = Literal["train", "choose", "report"]
_NUMBER: Final[Mapping[Purpose, int]] = {"train": 1, "choose": 2, "report": 3}
_BLOCKS: Final = 2**38
"""Of each purpose: with a million worlds each, seeds stay below 2**63."""


@dataclass(frozen=True)
class Company:
    """Who plays around the learner, and in what worlds."""

    rivals: tuple[str, ...] = ("Penguin", "AS0", "Steward", "TunedSteward")
    """Native players; competitors are drawn from them."""
    official: float = 0.5
    """Share of worlds with background agents; the others are full of rivals."""
    past: float = 0.0
    """Share of rivals that are played by earlier selves, where there are any."""
    clones: tuple[str, ...] = tuple(CLONES)
    """Champions that no native player is; see `CLONES`."""
    cloned: float = 0.0
    """Share of the other rivals that are played by them."""
    conserved: float = 0.0
    """Share of worlds that conserve stock."""
    places: tuple[str, ...] = PLACES
    """Where in the chain the learner sits, in turn."""
    most_days: int | None = None
    """Of a world; None: as the league has them."""
    track: Track = "std"
    """Whose worlds: std or oneshot."""

    def __post_init__(self) -> None:
        if unknown := set(self.clones) - set(CLONES):
            raise ValueError(f"no clones: {', '.join(unknown)}; there is {', '.join(CLONES)}")
        if self.cloned and self.track != "std":
            raise ValueError("clones play Standard worlds only: leave `cloned` at 0")


@dataclass(frozen=True)
class Planned:
    """A world and who in it learns."""

    layout: Layout
    learners: Mapping[int, int]
    """By factory: 0 the learner, from 1 on its earlier selves, then the clones."""
    level: int
    field: Field
    conserves: bool


def block_of(purpose: Purpose, seed: int, iteration: int = 0) -> int:
    """The number of a block of worlds; those of two purposes are never the same."""
    named = hashlib.blake2b(f"{seed}/{iteration}".encode(), digest_size=8).digest()
    return _NUMBER[purpose] * _BLOCKS + int.from_bytes(named) % _BLOCKS


def layouts(company: Company, block: int, first: int, count: int, selves: int) -> list[Planned]:
    """Some worlds of a block."""
    return [_planned(company, block, first + number, selves) for number in range(count)]


def _planned(company: Company, block: int, number: int, selves: int) -> Planned:
    rng = random.Random(f"company/{block}/{number}")
    field: Field = "official" if rng.random() < company.official else "champions"
    place = company.places[number % len(company.places)]
    found = layout(field, place, block, number, company.rivals, company.track)
    if company.most_days is not None:
        found = replace(found, days=min(found.days, company.most_days))
    seats = {found.mine: 0}
    for seat, player in enumerate(found.players):
        is_rival = seat != found.mine and player in company.rivals
        if is_rival and selves and rng.random() < company.past:
            seats[seat] = 1 + rng.randrange(selves)
        elif is_rival and company.clones and company.cloned and rng.random() < company.cloned:
            seats[seat] = 1 + selves + rng.randrange(len(company.clones))
    levels = [level for level, size in enumerate(found.sizes) for _ in range(size)]
    level = PLACES.index(place_in_chain(levels[found.mine], len(found.sizes)))
    return Planned(found, seats, level, field, rng.random() < company.conserved)
