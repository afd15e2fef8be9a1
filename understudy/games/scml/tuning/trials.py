"""One factory changes hands: what it scores in them, world by world, all else equal.

A layout is drawn from its number, so that worlds of a block are the same for everybody, and blocks
of other numbers share nothing.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np

from understudy.data.arrays import Array, Floats
from understudy.errors import InputError
from understudy.games.scml.batch.learnt.policy import Learner, play
from understudy.games.scml.batch.sampler import sample
from understudy.games.scml.batch.setup import Seat, set_seat, set_seats
from understudy.games.scml.batch.worlds import Worlds
from understudy.games.scml.domain import Track
from understudy.games.scml.players.catalogue import BACKGROUND_AGENTS
from understudy.games.scml.players.steward_numbers import PLACES, place_in_chain, plans_of
from understudy.games.scml.tournament.design import NUM_COMPETITORS, WORLD_DAYS, league_sizes

Field = Literal["official", "champions", "both"]
FIELDS: Final = ("official", "champions", "both")
RIVALS: Final = ("Penguin", "AS0", "Steward")
"""Champions that the compiled world has."""
AT_ONCE: Final = 32
"""Worlds in memory together."""


def field_named(name: str) -> Field:
    """A field by its name on the command line."""
    for field in get_args(Field):
        if field == name:
            found: Field = field
            return found
    raise InputError(f"there is no field '{name}'; there is {', '.join(FIELDS)}")


@dataclass(frozen=True)
class Trial:
    """A plan in some worlds of a block."""

    field: Field
    place: str
    block: int
    first: int
    last: int
    told: Mapping[str, float]
    """What the plan changes; see `steward_numbers.Plan.told`."""


@dataclass(frozen=True)
class Layout:
    """A world, who plays in it, and the factory that changes hands."""

    sizes: tuple[int, ...]
    days: int
    seed: int
    players: tuple[str, ...]
    mine: int
    track: Track = "std"

    @property
    def place(self) -> str:
        """Where in the chain that factory lies."""
        return _places(self.sizes)[self.mine]


def layout(
    field: Field,
    place: str | None,
    block: int,
    number: int,
    rivals: Sequence[str] = RIVALS,
    track: Track = "std",
) -> Layout:
    """The layout of a number, with the factory in a place, None: as the league seats competitors.

    A field of `both` takes turns.
    """
    if field == "both":
        field = FIELDS[number % 2]
    rng = random.Random(f"{field}/{place}/{block}/{number}")
    seated = _official if field == "official" else _champions
    while True:
        sizes, players, slots = seated(rng, rivals, track)
        mine = [slot for slot in slots if place in (None, _places(sizes)[slot])]
        if mine:  # not every world has a competitor in this place
            seed = block * 10**6 + number
            return Layout(sizes, rng.randint(*WORLD_DAYS), seed, players, rng.choice(mine), track)


def _places(sizes: Sequence[int]) -> list[str]:
    """Of all factories."""
    return [
        place_in_chain(level, len(sizes)) for level, size in enumerate(sizes) for _ in range(size)
    ]


Seating = tuple[tuple[int, ...], tuple[str, ...], list[int]]


def _official(rng: random.Random, rivals: Sequence[str], track: Track) -> Seating:
    sizes, slots = league_sizes(track, rng.randint(*NUM_COMPETITORS), rng)
    players = [rng.choice(BACKGROUND_AGENTS[track]) for _ in range(sum(sizes))]
    for slot in slots:
        players[slot] = rng.choice(rivals)
    return sizes, tuple(players), slots


def _champions(rng: random.Random, rivals: Sequence[str], track: Track) -> Seating:
    levels = 2 if track == "oneshot" else rng.randint(2, 4)
    sizes = tuple(rng.randint(3, 5) for _ in range(levels))
    return sizes, tuple(rng.choice(rivals) for _ in range(sum(sizes))), list(range(sum(sizes)))


def worlds_of(layouts: Sequence[Layout]) -> Array:
    """The worlds with everybody in their places, [layouts] of dtype FIXED; all of one track."""
    (track,) = {one.track for one in layouts}
    fixed = sample(
        [one.sizes for one in layouts],
        [one.days for one in layouts],
        [one.seed for one in layouts],
        track,
    )
    for row, one in zip(fixed, layouts, strict=True):
        set_seats(row, [Seat(player) for player in one.players])
    return fixed


def scores(trial: Trial) -> list[float]:
    """What the plan scores in each of the trial's worlds."""
    if trial.place not in PLACES:
        raise InputError(f"there is no place '{trial.place}'; there is {', '.join(PLACES)}")
    found = list[float]()
    for start in range(trial.first, trial.last, AT_ONCE):
        numbers = range(start, min(start + AT_ONCE, trial.last))
        found += _play([layout(trial.field, trial.place, trial.block, n) for n in numbers], trial)
    return found


def _play(layouts: Sequence[Layout], trial: Trial) -> list[float]:
    changed = Seat("Steward", plans=plans_of({trial.place: trial.told}))
    return [float(score) for score in scores_in_hands(layouts, [changed])[0]]


def scores_in_hands(
    layouts: Sequence[Layout], hands: Sequence[Seat], learners: Sequence[Learner] = ()
) -> Floats:
    """What the factory of each world scores in the hands of each, [hands, layouts]."""
    fixed = worlds_of(layouts)
    mine = [one.mine for one in layouts]
    found = np.empty((len(hands), len(layouts)))
    for index, seat in enumerate(hands):
        for row, factory in zip(fixed, mine, strict=True):
            set_seat(row, factory, seat)
        worlds = Worlds(fixed)
        play(worlds, learners)
        found[index] = worlds.scores[np.arange(len(layouts)), mine]
    return found
