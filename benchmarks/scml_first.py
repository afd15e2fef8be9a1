"""Is a player first of all the league's agents? Everyone takes the same factory, weak ones briefly.

    python benchmarks/scml_first.py --field champions [--block 15000096] [--player HRL]
        [--model HRL=PATH] [--looks 8,40,168] [--keep FILE] [--seconds 3000] [--workers 2]

Statistic, fixed before the run: the mean over worlds of the player's score less another's, in the
same factory of the same hosted world (`scml_strength.py`), with Student's interval over worlds. It
is looked at after each number of --looks, at an equal share of --risk each; who is told apart from
the player then is not played further. "First" is claimed only where the player is above each of
the others: the claim is false with a chance of --risk at most, however many others there are,
because one of them that is not below would have to pass for it (an intersection-union test).
"""

import argparse
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path

from scml_strength import FIELDS, Kept, drawn, score

from understudy.data.players import PlayerRef
from understudy.data.stats import Estimate, student
from understudy.games.scml.players.catalogue import names
from understudy.games.scml.tuning.trials import Layout

OTHERS = "2024,2025,2026,Greedy,SyncRandom,Random"


class Board:
    """Who scored what in which world."""

    def __init__(self, wanted: argparse.Namespace, layouts: Sequence[Layout]) -> None:
        self._kept, self._layouts, self._workers = Kept(wanted.keep), layouts, wanted.workers
        self._played = f"{wanted.field}/{wanted.block}/{wanted.days}"
        self._until = time.monotonic() + wanted.seconds

    def play(self, refs: Iterable[PlayerRef], worlds: int) -> bool:
        """What is missing of the first worlds, until time is up; whether all is there."""
        tasks = [
            (world, ref)
            for world in range(worlds)
            for ref in refs
            if self._key(world, ref.name) not in self._kept
        ]
        done, running = 0, dict[Future[float], str]()
        with ProcessPoolExecutor(self._workers, mp_context=get_context("spawn")) as pool:
            while (done < len(tasks) and time.monotonic() < self._until) or running:
                if done < len(tasks) and len(running) < self._workers:
                    world, ref = tasks[done]
                    job = pool.submit(score, self._layouts[world], ref)
                    running[job] = self._key(world, ref.name)
                    done += 1
                    if len(running) < self._workers and time.monotonic() < self._until:
                        continue
                for job in wait(running, return_when=FIRST_COMPLETED).done:
                    self._kept.add({running.pop(job): job.result()})
        return done == len(tasks)

    def gap(self, player: str, other: str, risk: float) -> Estimate:
        """How far the player is above another, in all worlds that both have played."""
        both = [
            (self._kept[mine], self._kept[theirs])
            for world in range(len(self._layouts))
            if (mine := self._key(world, player)) in self._kept
            and (theirs := self._key(world, other)) in self._kept
        ]
        return student([mine - theirs for mine, theirs in both], risk / 2)

    def _key(self, world: int, name: str) -> str:
        return f"{self._played}/{world}/{name}"


def apart(gap: Estimate) -> bool:
    """Whether the two are told apart."""
    return gap.low > 0 or gap.high < 0


def table(player: str, found: Mapping[str, Estimate], confidence: float) -> list[str]:
    """Everybody, the strongest first."""
    lines = [f"| {player} less | worlds | {confidence:.2%} |", "|---|---|---|"]
    for name, gap in sorted(found.items(), key=lambda one: one[1].value):
        told = "" if apart(gap) else " (not told apart)"
        lines.append(
            f"| {name} | {gap.n} | {gap.value:+.4f} [{gap.low:+.4f}, {gap.high:+.4f}]{told} |"
        )
    return lines


def main() -> None:
    """Play look by look, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--field", choices=FIELDS, default="champions")
    parser.add_argument("--block", type=int, default=15_000_096)
    parser.add_argument("--player", default="HRL")
    parser.add_argument("--model", help="weights that it plays by")
    parser.add_argument("--others", default=OTHERS, help="names, years and built-ins by comma")
    parser.add_argument("--looks", default="8,40,168", help="worlds, by comma")
    parser.add_argument("--risk", type=float, default=0.01)
    parser.add_argument("--days", type=int, default=50)
    parser.add_argument("--keep", type=Path, help="a file of scores, gone on with")
    parser.add_argument("--seconds", type=float, default=3000.0)
    parser.add_argument("--workers", type=int, default=2)
    wanted = parser.parse_args()
    looks = [int(one) for one in wanted.looks.split(",")]
    wanted.worlds, wanted.hosted = looks[-1], True
    player = PlayerRef(wanted.player, None if wanted.model is None else Path(wanted.model))
    board, share = Board(wanted, drawn(wanted.field, wanted)), wanted.risk / len(looks)
    left = [PlayerRef(name) for name in names(wanted.others) if name != player.name]
    everybody = [ref.name for ref in left]
    for worlds in looks:
        complete = board.play([player, *left], worlds)
        if not complete:
            print(f"time was up before {worlds} worlds: go on with the same --keep", flush=True)
            break
        left = [ref for ref in left if not apart(board.gap(player.name, ref.name, share))]
        print(f"after {worlds} worlds {len(left)} are left", flush=True)
        if not left:
            break
    found = {name: board.gap(player.name, name, share) for name in everybody}
    print(f"\n{wanted.field}, hosted, {wanted.days} days at the most, {len(found)} others\n")
    print(*table(player.name, found, 1 - share), sep="\n")
    first = complete and all(gap.low > 0 for gap in found.values())
    print(f"\n{player.name} is {'first' if first else 'not shown to be first'} of them all")


if __name__ == "__main__":
    main()
