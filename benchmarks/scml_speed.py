"""CPU seconds per SCML world: scml as it is, scml with every switch that makes it faster, and ours.

    python benchmarks/scml_speed.py [WORLDS]

Worlds of 100 days and 3 levels of 5 factories. The last column is how much of our time is spent in
the agents' own code, which no engine can take away: the floor.
"""

import functools
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.table import Table

from understudy.games.scml.engine import agents
from understudy.games.scml.engine.config import WorldConfig, draw
from understudy.games.scml.engine.world import World
from understudy.games.scml.stock import quiet, scml_world
from understudy.games.scml.wrapping import CALLS

STEPS, SIZES = 100, (5, 5, 5)
TOP = ("AS0", "Xeno", "UltraSuperMiracle", "PriceTrend", "Penguin", "Cautious", "QuickDecision")
FILLERS = agents.FILLERS["std"]
FIELDS: dict[str, tuple[str, ...]] = {
    "Penguin": ("Penguin",),
    "top 2024/25 mix": TOP,
    "built-ins": FILLERS,
    # As a tournament fills a world: three competitors, the others fillers.
    "official": ("Penguin", *FILLERS, "AS0", *FILLERS, "Xeno", *FILLERS),
}
DEFAULTS = {"sync_calls": False, "saved_details_level": 1, "storage_format": None}


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

    def timed(self, kind: type) -> type:
        def wrap(method: Callable[..., object]) -> Callable[..., object]:
            @functools.wraps(method)
            def call(*arguments: object, **named: object) -> object:
                if self._inside:
                    return method(*arguments, **named)
                self._inside = True
                began = time.perf_counter()
                try:
                    return method(*arguments, **named)
                finally:
                    self.seconds += time.perf_counter() - began
                    self._inside = False

            return call

        own = {n: wrap(getattr(kind, n)) for n in CALLS if _is_agents_own(kind, n)}
        return type(kind.__name__, (kind,), own)


def _is_agents_own(kind: type, name: str) -> bool:
    owner = next((k for k in kind.__mro__ if name in vars(k)), None)
    return owner is not None and not owner.__module__.startswith(("negmas", "scml.oneshot.agent"))


def measure(names: Sequence[str], worlds: int) -> tuple[float, float, float, float]:
    default = switched = ours = own = 0.0
    for seed in range(worlds):
        config = draw(SIZES, STEPS, seed)
        kinds = agents.load_for_world([names[(i + seed) % len(names)] for i in range(sum(SIZES))])
        with quiet():
            play_ours(config, kinds)  # imports, caches
            ours += seconds_of(lambda c=config, k=kinds: play_ours(c, k))
            clock = Clock()
            began = time.perf_counter()
            play_ours(config, [clock.timed(kind) for kind in kinds])
            own += clock.seconds / (time.perf_counter() - began)
            switched += seconds_of(lambda c=config, k=kinds: play_scml(c, k))
            default += seconds_of(lambda c=config, k=kinds: play_scml(c, k, **DEFAULTS))
    return default / worlds, switched / worlds, ours / worlds, own / worlds


def main(worlds: int) -> None:
    table = Table(title=f"CPU seconds per world of {STEPS} days, 3 x 5 factories")
    for name in ("field", "scml", "with switches", "ours", "x scml", "x switches", "agents' own"):
        table.add_column(name, justify="left" if name == "field" else "right")
    for field, names in FIELDS.items():
        default, switched, ours, own = measure(names, worlds)
        table.add_row(
            field,
            f"{default:.1f}",
            f"{switched:.1f}",
            f"{ours:.3f}",
            f"{default / ours:.1f}",
            f"{switched / ours:.1f}",
            f"{own:.0%}",
        )
    Console().print(table)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
