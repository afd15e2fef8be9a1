"""Who is stronger in the same factory: one factory changes hands, on worlds that chose nothing.

    python benchmarks/scml_strength.py [--model online=PATH ...] [--worlds 2048] [--workers 2]
    python benchmarks/scml_strength.py --hosted [--field champions] [--days 60] [--seconds 600]
        [--keep FILE]

Statistic, fixed before the run: the mean over worlds of a player's score less that of --base, in
the same factory of the same world with the same dice, with Student's 95 % interval over worlds; of
all places in the chain, and of each.

Worlds are compiled, in two fields: official draws, whose competitors are Penguin, AS0 and Steward,
one of whom gives its factory away; and worlds of these three alone. With --hosted, champions as
they were written compete in the hosting engine, which takes seconds a world: worlds of at most
--days days, begun until --seconds have passed. There all agents draw from one stream of random
numbers, so that luck is the same only until the first difference. No search and no training has
drawn from these blocks of worlds. With --keep each score is written down as soon as it is there: a
run that was stopped goes on, and another player can be added.
"""

import argparse
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from understudy.data.arrays import Floats
from understudy.data.players import PlayerRef
from understudy.games.scml.agent.policy import packaged, policy_of
from understudy.games.scml.batch.learnt.policy import ManyDecisions
from understudy.games.scml.batch.players.ask import NATIVE
from understudy.games.scml.batch.setup import Seat
from understudy.games.scml.domain import RULES
from understudy.games.scml.tournament.design import WorldPlan
from understudy.games.scml.tournament.play import play
from understudy.games.scml.tuning.report import comparison_lines
from understudy.games.scml.tuning.trials import Field, Layout, layout, scores_in_hands

PLAYERS = ("Steward", "TunedSteward", "Penguin", "AS0", "HRL", "L1")
HOSTED = ("Steward", "TunedSteward", "HRL", "HorizonAware", "SBD", "Hi", "AS0")
CHAMPIONS = ("HorizonAware", "SBD", "Hi", "AS0", "Penguin", "ShimijimiShijimi")
"""Around the factory, where agents are hosted."""
AT_ONCE = 64
FIELDS: tuple[Field, ...] = ("official", "champions")


def compiled(layouts: Sequence[Layout], refs: Sequence[PlayerRef]) -> Floats:
    """Scores in compiled worlds, [players, worlds]."""
    learners, hands = [], list[Seat]()
    for ref in refs:
        if ref.weights is None and ref.name in NATIVE["std"]:
            hands.append(Seat(ref.name))
        elif path := ref.weights or packaged(ref.name, RULES["std"].horizon):
            hands.append(Seat(None, policy=len(learners)))
            learners.append(ManyDecisions(policy_of(path)))
        else:
            raise SystemExit(f"{ref.name} cannot play compiled worlds: add --hosted")
    return scores_in_hands(layouts, hands, learners)


def hosted(layouts: Sequence[Layout], refs: Sequence[PlayerRef]) -> Floats:
    """The same in the hosting engine."""
    return np.array([[score(one, ref) for one in layouts] for ref in refs])


def score(one: Layout, ref: PlayerRef) -> float:
    """What a player makes of the factory in one world."""
    around = [PlayerRef(name) for name in one.players]
    around[one.mine] = ref
    plan = WorldPlan(
        match="0",
        field="champions",
        track="std",
        factories_per_level=one.sizes,
        steps=one.days,
        seed=one.seed,
        run=0,
        players=tuple(around),
        slots=(one.mine,),
        recorded=False,
    )
    rows = play([plan]).results.to_pylist()
    return float(next(row["score"] for row in rows if row["competes"]))


class Kept:
    """Scores that are there, by what was played."""

    def __init__(self, path: Path | None) -> None:
        self._path, self._scores = path, dict[str, float]()
        if path is not None and path.is_file():
            for line in path.read_text().splitlines():
                name, value = json.loads(line)
                self._scores[name] = value

    def __contains__(self, name: str) -> bool:
        return name in self._scores

    def __getitem__(self, name: str) -> float:
        return self._scores[name]

    def add(self, found: Mapping[str, float]) -> None:
        """Lines are written whole."""
        self._scores.update(found)
        if self._path is not None:
            with self._path.open("a") as file:
                file.write("".join(json.dumps(one) + "\n" for one in found.items()))


def drawn(field: Field, wanted: argparse.Namespace) -> list[Layout]:
    """The worlds of a field."""
    numbers = range(wanted.worlds)
    if not wanted.hosted:
        return [layout(field, None, wanted.block, number) for number in numbers]
    found = [layout(field, None, wanted.block, number, CHAMPIONS) for number in numbers]
    return [replace(one, days=min(one.days, wanted.days)) for one in found]


def in_parts(
    pool: ProcessPoolExecutor,
    field: Field,
    layouts: Sequence[Layout],
    refs: Sequence[PlayerRef],
    wanted: argparse.Namespace,
) -> Iterator[Floats]:
    """Scores of some worlds after the other, until time is up."""
    size, begun = 1 if wanted.hosted else AT_ONCE, time.monotonic()
    kept, work = Kept(wanted.keep), hosted if wanted.hosted else compiled
    played = f"{field}/{wanted.block}/{wanted.days if wanted.hosted else 'compiled'}"

    def named(ref: PlayerRef, world: int) -> str:
        return f"{played}/{world}/{ref.name}"

    parts = [range(len(layouts))[at : at + size] for at in range(0, len(layouts), size)]
    for at in range(0, len(parts), wanted.workers):
        if time.monotonic() - begun > wanted.seconds:
            return
        some = parts[at : at + wanted.workers]
        missing = [
            [ref for ref in refs if any(named(ref, k) not in kept for k in part)] for part in some
        ]
        jobs = [
            pool.submit(work, [layouts[k] for k in part], lacking)
            for part, lacking in zip(some, missing, strict=True)
        ]
        for part, lacking, job in zip(some, missing, jobs, strict=True):
            for ref, scores in zip(lacking, job.result(), strict=True):
                kept.add(dict(zip((named(ref, k) for k in part), map(float, scores), strict=True)))
            yield np.array([[kept[named(ref, k)] for k in part] for ref in refs])


def main() -> None:
    """Print a table for each field."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", type=int, default=2048)
    parser.add_argument("--block", type=int, default=15_000_002)
    parser.add_argument("--model", action="append", default=[], help="NAME=PATH of weights")
    parser.add_argument("--players", help="names with commas between; default: the usual ones")
    parser.add_argument("--base", default="Steward")
    parser.add_argument("--field", choices=FIELDS)
    parser.add_argument("--hosted", action="store_true")
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--keep", type=Path, help="a file of scores, gone on with")
    parser.add_argument("--workers", type=int, default=2)
    wanted = parser.parse_args()
    names = wanted.players.split(",") if wanted.players else HOSTED if wanted.hosted else PLAYERS
    refs = [PlayerRef(name) for name in names]
    for model in wanted.model:
        name, _, path = model.partition("=")
        refs.append(PlayerRef(name, Path(path)))
    with ProcessPoolExecutor(wanted.workers, mp_context=get_context("spawn")) as pool:
        for field in [wanted.field] if wanted.field else FIELDS:
            layouts = drawn(field, wanted)
            scores = np.concatenate([*in_parts(pool, field, layouts, refs, wanted)], axis=1)
            print(f"\n{field}, {'hosted' if wanted.hosted else 'compiled'}\n")
            named = dict(zip((ref.name for ref in refs), scores, strict=True))
            places = [one.place for one in layouts[: scores.shape[1]]]
            for line in comparison_lines(named, wanted.base, places):
                print(line, flush=True)


if __name__ == "__main__":
    main()
