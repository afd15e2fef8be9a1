"""Joint decisions of HRL-XF per CPU second: hosted agents, one at a time, and 256 worlds at once.

    python benchmarks/scml_batch.py [--worlds 256] [--days 20] [--threads 16] [--device cuda]
    python benchmarks/scml_batch.py --processes 16 --worlds 1024 --device cuda

Worlds of 3 levels of 5 factories, all played by HRL-XF, or 4 of 15 drawn at random and the others
by built-ins. Everything counts: the world, the built-ins, features and networks. On one thread;
hosted worlds are measured before and after, because other processes slow both down. With threads or
a device, another column has decisions per second of the clock: each thread plays `--worlds` worlds.
With processes that column alone: each plays `--worlds` worlds, all begin together once they are
ready, and the clock runs until the last is done.
"""

import argparse
import random
import time
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier

from understudy.games.scml.agent.hrl import HRLAgent
from understudy.games.scml.agent.policy import SHIPPED, policy_of
from understudy.games.scml.batch.learnt.policy import ManyDecisions, play, play_in_threads
from understudy.games.scml.batch.sampler import sample
from understudy.games.scml.batch.setup import Seat, set_seats
from understudy.games.scml.batch.worlds import Worlds
from understudy.games.scml.engine.config import draw
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


def drawn_players(seed: int, learnt: int) -> list[str | None]:
    """Who plays in a world; None: HRL-XF."""
    rng = random.Random(seed)
    chosen = set(rng.sample(range(sum(SIZES)), learnt))
    return [None if index in chosen else rng.choice(BUILT_INS) for index in range(sum(SIZES))]


def hosted(days: int, learnt: int) -> int:
    """Play a hosted world; its joint decisions."""
    config, players = draw(SIZES, days, 0), drawn_players(0, learnt)
    kinds = [Counted if name is None else catalogue.load(name) for name in players]
    Counted.decisions = 0
    World(config, [(kind, {}) for kind in kinds]).run()
    return Counted.decisions


def founded(worlds: int, days: int, learnt: int) -> Worlds:
    """Worlds that are ready to be played."""
    fixed = sample([SIZES] * worlds, [days] * worlds, range(worlds))
    for seed, row in enumerate(fixed):
        set_seats(row, [Seat(name) for name in drawn_players(seed, learnt)])
    return Worlds(fixed)


def per_second(decide: Callable[[], int], clock: Callable[[], float] = time.process_time) -> float:
    """Joint decisions per CPU second, or by another clock."""
    start = clock()
    decisions = decide()
    return decisions / (clock() - start)


def row(field: str, learnt: int, wanted: argparse.Namespace) -> str:
    """What is measured of a field."""
    policy = policy_of(SHIPPED)
    play(founded(2, 5, learnt), [ManyDecisions(policy)])  # compile
    hosted(5, learnt)
    live = [per_second(lambda: hosted(wanted.days, learnt))]
    worlds, many = founded(wanted.worlds, wanted.days, learnt), ManyDecisions(policy)
    at_once = per_second(lambda: play(worlds, [many]))
    live.append(per_second(lambda: hosted(wanted.days, learnt)))
    alone = sum(live) / len(live)
    found = f"{field:20}{alone:10,.0f}{at_once:10,.0f}{at_once / alone:7.1f}"
    if wanted.threads > 1 or wanted.device:

        def learners() -> list[ManyDecisions]:
            return [ManyDecisions(policy, device=wanted.device)]

        play(founded(2, 5, learnt), learners())
        more = founded(wanted.worlds * wanted.threads, wanted.days, learnt)
        rate = per_second(lambda: play_in_threads(more, learners, wanted.threads), time.monotonic)
        found += f"{rate:12,.0f}"
    return found


_together: Barrier
"""All processes wait for each other at it."""


def _meet(barrier: Barrier) -> None:
    global _together
    _together = barrier


def timed(learnt: int, wanted: argparse.Namespace) -> tuple[int, float, float]:
    """One process's part: its joint decisions, when it began and when it was done."""
    many = ManyDecisions(policy_of(SHIPPED), device=wanted.device)
    play(founded(2, 5, learnt), [many])
    worlds = founded(wanted.worlds, wanted.days, learnt)
    _together.wait()
    start = time.monotonic()
    decisions = play(worlds, [many])
    return decisions, start, time.monotonic()


def in_processes(learnt: int, wanted: argparse.Namespace) -> float:
    """Joint decisions per second of the clock of all processes together."""
    play(founded(2, 5, learnt), [ManyDecisions(policy_of(SHIPPED))])  # compile, once
    context = get_context("spawn")
    meeting = context.Barrier(wanted.processes)
    with context.Pool(wanted.processes, _meet, (meeting,)) as pool:
        parts = pool.starmap(timed, [(learnt, wanted)] * wanted.processes, chunksize=1)
    decisions, starts, stops = zip(*parts, strict=True)
    return float(sum(decisions) / (max(stops) - min(starts)))


def main() -> None:
    """Print a row for each field."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", type=int, default=256)
    parser.add_argument("--days", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--processes", type=int, default=0)
    parser.add_argument("--device")
    wanted = parser.parse_args()
    if wanted.processes:
        print(f"{'field':20}{'a second':>12}")
        for field, learnt in FIELDS.items():
            print(f"{field:20}{in_processes(learnt, wanted):12,.0f}", flush=True)
        return
    print(f"{'field':20}{'hosted':>10}{'at once':>10}{'x':>7}")
    for field, learnt in FIELDS.items():
        print(row(field, learnt, wanted), flush=True)


if __name__ == "__main__":
    main()
