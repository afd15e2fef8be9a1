"""Joint decisions of HRL-XF per CPU second: hosted agents, one at a time, and 256 worlds at once.

    python benchmarks/scml_batch.py [WORLDS [DAYS]]

Worlds of 3 levels of 5 factories, all played by HRL-XF, or 4 of 15 drawn at random and the others
by built-ins. Everything counts: the world, the built-ins, features and networks. On one thread;
hosted worlds are measured before and after, because other processes slow both down.
"""

import random
import sys
import time
from collections.abc import Callable

from understudy.games.scml.agent.hrl import HRLAgent
from understudy.games.scml.agent.policy import SHIPPED, policy_of
from understudy.games.scml.batch.learnt.policy import ManyDecisions, play
from understudy.games.scml.batch.setup import Seat, record_of
from understudy.games.scml.batch.worlds import Worlds
from understudy.games.scml.engine.config import WorldConfig, draw
from understudy.games.scml.engine.world import World
from understudy.games.scml.players import catalogue

SIZES, BUILT_INS = (5, 5, 5), ("Greedy", "Random", "SyncRandom")
FIELDS: dict[str, int] = {"HRL-XF everywhere": 15, "4 of 15": 4}
"""How many factories HRL-XF plays."""


class Counted(HRLAgent):
    """HRL-XF that counts its joint decisions."""

    decisions = 0

    def _decide(self, *arguments, **named):  # type: ignore[no-untyped-def]
        Counted.decisions += 1
        return super()._decide(*arguments, **named)


def drawn(seed: int, days: int, learnt: int) -> tuple[WorldConfig, list[str | None]]:
    """A world and who plays; None: HRL-XF."""
    rng = random.Random(seed)
    chosen = set(rng.sample(range(sum(SIZES)), learnt))
    players = [None if index in chosen else rng.choice(BUILT_INS) for index in range(sum(SIZES))]
    return draw(SIZES, days, seed), players


def hosted(days: int, learnt: int) -> int:
    """Play a hosted world; its joint decisions."""
    config, players = drawn(0, days, learnt)
    kinds = [Counted if name is None else catalogue.load(name) for name in players]
    Counted.decisions = 0
    World(config, [(kind, {}) for kind in kinds]).run()
    return Counted.decisions


def compiled(worlds: int, days: int, learnt: int) -> Callable[[], int]:
    """Worlds that are ready to be played; then their joint decisions."""
    records, policy = [], ManyDecisions(policy_of(SHIPPED))
    for seed in range(worlds):
        config, players = drawn(seed, days, learnt)
        records.append(record_of(config, [Seat(name) for name in players], seed))
    founded = Worlds(records)
    return lambda: play(founded, [policy])


def per_second(decide: Callable[[], int]) -> float:
    """Joint decisions per CPU second."""
    start = time.process_time()
    decisions = decide()
    return decisions / (time.process_time() - start)


def main() -> None:
    """Print a row for each field."""
    worlds, days = [*map(int, sys.argv[1:]), *(256, 20)[len(sys.argv) - 1 :]]
    print(f"{'field':20}{'hosted':>10}{'at once':>10}{'x':>7}")
    for field, learnt in FIELDS.items():
        compiled(2, 5, learnt)()  # compile
        hosted(5, learnt)
        live = [per_second(lambda learnt=learnt: hosted(days, learnt))]  # type: ignore[misc]
        many = per_second(compiled(worlds, days, learnt))
        live.append(per_second(lambda learnt=learnt: hosted(days, learnt)))  # type: ignore[misc]
        alone = sum(live) / len(live)
        print(f"{field:20}{alone:10,.0f}{many:10,.0f}{many / alone:7.1f}", flush=True)


if __name__ == "__main__":
    main()
