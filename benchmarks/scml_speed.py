"""CPU seconds per SCML world: scml as it is, scml with every switch that makes it faster, and ours.

    python benchmarks/scml_speed.py [WORLDS]

Worlds of 100 days and 3 levels of 5 factories, WORLDS of them per field. One, the default, takes
about 3 minutes on a quiet machine, most of it in scml. A row is printed as soon as it is measured.
The floor is the time spent in the agents' own code, which no engine that hosts them can take away.
The compiled world has agents of its own: it plays COMPILED worlds of a field side by side, on one
thread, where it knows all of the field's players.
"""

import functools
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from understudy.games.scml.batch.players.ask import NATIVE
from understudy.games.scml.batch.setup import Seat, record_of
from understudy.games.scml.batch.worlds import Worlds
from understudy.games.scml.engine.config import WorldConfig, draw
from understudy.games.scml.engine.hosting.wrapping import AGENT_CALLS
from understudy.games.scml.engine.world import World
from understudy.games.scml.players import catalogue
from understudy.games.scml.reference.scml_simulator import quiet, scml_world

STEPS, SIZES = 100, (5, 5, 5)
REPEATS = 3  # of our engine, which is quick; the best counts
TOP = ("AS0", "Xeno", "UltraSuperMiracle", "PriceTrend", "Penguin", "Cautious", "QuickDecision")
BACKGROUND_AGENTS = catalogue.BACKGROUND_AGENTS["std"]
DESIGNS: dict[str, tuple[str, ...]] = {
    "Penguin": ("Penguin",),
    "built-ins": BACKGROUND_AGENTS,
    "built-ins and Steward": (*BACKGROUND_AGENTS, "Steward"),
    # As a tournament fills a world: three competitors, the others background agents. Xeno is not
    # among them: its own code takes ten times as long as the rest of such a world together.
    "official": (
        "Penguin",
        *BACKGROUND_AGENTS,
        "AS0",
        *BACKGROUND_AGENTS,
        "Cautious",
        *BACKGROUND_AGENTS,
    ),
    "top 2024/25 mix": TOP,
}
DEFAULTS = {"sync_calls": False, "saved_details_level": 1, "storage_format": None}
COLUMNS = (
    *("field", "scml", "with switches", "ours", "x scml", "x switches", "floor", "of ours"),
    *("compiled", "x scml"),
)
WIDTHS = (22, 8, 14, 8, 8, 11, 8, 8, 10, 8)
COMPILED = 128


@dataclass(frozen=True)
class Seconds:
    """CPU seconds for all worlds of a field."""

    default: float = 0.0
    switched: float = 0.0
    ours: float = 0.0
    floor: float = 0.0

    def __add__(self, other: "Seconds") -> "Seconds":
        return Seconds(
            self.default + other.default,
            self.switched + other.switched,
            self.ours + other.ours,
            self.floor + other.floor,
        )


def seconds_of(play: Callable[[], object]) -> float:
    began = time.process_time()
    play()
    return time.process_time() - began


def play_scml(config: WorldConfig, kinds: Sequence[type], **options: object) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = scml_world(config, kinds, folder, **options)
        if options:
            world.save_negotiations = True
        world.run()


def play_ours(config: WorldConfig, kinds: Sequence[type]) -> None:
    World(config, [(kind, {}) for kind in kinds]).run()


class Clock:
    """Time spent in agents' code, counted once where one call leads to another."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._inside = False

    def timed(self, kinds: Sequence[type]) -> list[type]:
        """The same classes, each made once, with a clock in their calls."""
        made = {kind: self._timed(kind) for kind in kinds}
        return [made[kind] for kind in kinds]

    def _timed(self, kind: type) -> type:
        def wrap(method: Callable[..., object]) -> Callable[..., object]:
            @functools.wraps(method)
            def call(*arguments: object, **named: object) -> object:
                if self._inside:
                    return method(*arguments, **named)
                self._inside = True
                began = time.process_time()
                try:
                    return method(*arguments, **named)
                finally:
                    self.seconds += time.process_time() - began
                    self._inside = False

            return call

        own = {n: wrap(getattr(kind, n)) for n in AGENT_CALLS if _is_agents_own(kind, n)}
        return type(kind.__name__, (kind,), own)


def _is_agents_own(kind: type, name: str) -> bool:
    owner = next((k for k in kind.__mro__ if name in vars(k)), None)
    return owner is not None and not owner.__module__.startswith(("negmas", "scml.oneshot.agent"))


def floor_of(config: WorldConfig, kinds: Sequence[type]) -> float:
    clock = Clock()
    play_ours(config, clock.timed(kinds))
    return clock.seconds


def dealt(names: Sequence[str], seed: int) -> list[str]:
    """Who plays in a world of a field."""
    return [names[(index + seed) % len(names)] for index in range(sum(SIZES))]


def compiled(names: Sequence[str]) -> float | None:
    """CPU seconds of a compiled world; None where somebody has no port."""
    if not set(names) <= set(NATIVE["std"]):
        return None
    worlds = [
        record_of(draw(SIZES, STEPS, seed), [Seat(name) for name in dealt(names, seed)], seed)
        for seed in range(COMPILED)
    ]
    Worlds(worlds[:1]).play()  # compiles
    return min(seconds_of(Worlds(worlds).play) for _ in range(REPEATS)) / COMPILED


def measure(names: Sequence[str], seed: int) -> Seconds:
    """One world, in every way."""
    config = draw(SIZES, STEPS, seed)
    kinds = catalogue.load_for_world(dealt(names, seed))
    with quiet():
        play_ours(config, kinds)  # imports, caches
        return Seconds(
            ours=min(seconds_of(lambda: play_ours(config, kinds)) for _ in range(REPEATS)),
            floor=min(floor_of(config, kinds) for _ in range(REPEATS)),
            switched=seconds_of(lambda: play_scml(config, kinds)),
            default=seconds_of(lambda: play_scml(config, kinds, **DEFAULTS)),
        )


def show(cells: Sequence[str]) -> None:
    aligned = zip(cells, WIDTHS, strict=True)
    line = "".join(f"{c:<{w}}" if i == 0 else f"{c:>{w}}" for i, (c, w) in enumerate(aligned))
    print(line, flush=True)


def main(worlds: int) -> None:
    """A line per field as it is measured; seconds are means per world."""
    print(f"CPU seconds per world of {STEPS} days, 3 x 5 factories; {worlds} per field", flush=True)
    show(COLUMNS)
    for field, names in DESIGNS.items():
        spent = sum((measure(names, seed) for seed in range(worlds)), Seconds())
        alone = compiled(names)
        show(
            (
                field,
                f"{spent.default / worlds:.1f}",
                f"{spent.switched / worlds:.1f}",
                f"{spent.ours / worlds:.3f}",
                f"{spent.default / spent.ours:.1f}",
                f"{spent.switched / spent.ours:.1f}",
                f"{spent.floor / worlds:.3f}",
                f"{spent.floor / spent.ours:.0%}",
                "-" if alone is None else f"{alone:.5f}",
                "-" if alone is None else f"{spent.default / worlds / alone:,.0f}",
            )
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
