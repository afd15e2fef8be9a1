"""Who meets whom: tournaments planned world by world, before anything is played."""

from dataclasses import dataclass
from typing import Literal

from understudy.games import PlayerRef
from understudy.games.scml.engine.rules import Track

Simulator = Literal["engine", "scml"]


@dataclass(frozen=True)
class WorldPlan:
    """A world to be played. Worlds of the same `seed` have the same configuration and fillers."""

    match: str
    field: str
    track: Track
    factories_per_level: tuple[int, ...]
    steps: int
    seed: int
    run: int
    players: tuple[PlayerRef, ...]
    """By factory, the first level first."""
    slots: tuple[int, ...]
    """The factories of those that compete; the others are fillers."""
    conserve_stock: bool = False
    simulator: Simulator = "engine"
    watched: frozenset[str] | None = None
    """Whose decisions are recorded; None: everybody's."""
