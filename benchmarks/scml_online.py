"""What learning by play is worth, on worlds that trained nothing: one factory changes hands.

    python benchmarks/scml_online.py --model NAME=PATH ... [--players Steward,HRL] [--worlds 640]
        [--purpose report --seed 7] [--fields official,champions,clones,conserved] [--habits]
        [--places first,middle,last]

Statistic, fixed before the run: the mean over worlds of a player's score less that of --base (or
of several in turn), in the same factory of the same compiled world with the same dice, with
Student's interval over worlds (99 %, or --confidence); of all places in the chain, and of each.
Blocks of worlds are numbered by purpose (`fields.block_of`): those that choose weights and those
that are reported share none. A NAME with several models is a recipe trained from as many seeds: its
score in a world is their mean, and what each seed is worth stands below the table, because the
interval is over worlds alone.

Fields: `official` draws, competitors Penguin, AS0, Steward and TunedSteward; `champions`, these
four alone; `clones`, the same with every other rival a clone of HorizonAware; `conserved`, official
draws in which stock is used up.
"""

import argparse
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Final, get_args

import numpy as np

from understudy.data.arrays import Floats
from understudy.data.stats import student
from understudy.games.scml.agent.policy import packaged
from understudy.games.scml.batch.players.ask import NATIVE
from understudy.games.scml.domain import RULES
from understudy.games.scml.learning.online.fields import Company, Purpose, block_of
from understudy.games.scml.learning.online.measure import HABITS, Candidate, Seats, Taken, take
from understudy.games.scml.players.steward_numbers import PLACES
from understudy.games.scml.tuning.report import comparison_lines

FIELDS: Final = {
    "official": Company(official=1.0),
    "champions": Company(official=0.0),
    "clones": Company(official=0.0, cloned=0.5),
    "conserved": Company(official=1.0, conserved=1.0),
}
AT_ONCE: Final = 64


def candidate(name: str) -> Candidate:
    """A native player, or one whose weights come with the package."""
    if name in NATIVE["std"]:
        return Candidate(name)
    if path := packaged(name, RULES["std"].horizon):
        return Candidate.read(name, path)
    raise SystemExit(f"{name} cannot play compiled worlds")


def taken(
    pool: ProcessPoolExecutor, one: Candidate, company: Company, wanted: argparse.Namespace
) -> Taken:
    """All worlds of a field, dealt out."""
    block = block_of(wanted.purpose, wanted.seed)
    parts = [
        Seats(company, block, first, min(AT_ONCE, wanted.worlds - first))
        for first in range(0, wanted.worlds, AT_ONCE)
    ]
    found = [*pool.map(take, [one] * len(parts), parts)]
    scores, levels, bankrupt, habits = zip(*found, strict=True)
    return Taken(
        np.concatenate(scores),
        np.concatenate(levels),
        float(np.average(bankrupt, weights=[part.worlds for part in parts])),
        np.concatenate(habits),
    )


def seed_lines(
    names: Sequence[str], found: Sequence[Taken], base: Floats, confidence: float
) -> list[str]:
    """What each of a recipe's seeds is worth, over all places."""
    lines = []
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        seeds = [one.scores for own, one in zip(names, found, strict=True) if own == name]
        gaps = [student((own - base).tolist(), (1 - confidence) / 2) for own in seeds]
        each = ", ".join(f"{gap.value:+.4f} [{gap.low:+.4f}, {gap.high:+.4f}]" for gap in gaps)
        lines.append(f"{name}, by seed: {each}")
    return lines


def habit_lines(names: Sequence[str], found: Sequence[Taken]) -> list[str]:
    """How they played, by place."""
    lines = ["| | " + " | ".join(["bankrupt", *HABITS]) + " |", "|---" * (len(HABITS) + 2) + "|"]
    for place, where in enumerate(PLACES):
        for name, one in zip(names, found, strict=True):
            some = one.habits[one.levels == place]
            cells = [f"{value:.2f}" for value in some.mean(0)]
            lines.append(f"| {where}: {name} | {one.bankrupt:.1%} | " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    """Print a table for each field."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", type=int, default=640)
    parser.add_argument("--purpose", choices=get_args(Purpose)[1:], default="choose")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--model", action="append", default=[], help="NAME=PATH of weights, often")
    parser.add_argument("--players", default="Steward,HRL", help="names with commas between")
    parser.add_argument("--base", default="Steward", help="whose scores are compared with")
    parser.add_argument("--fields", default=",".join(FIELDS))
    parser.add_argument(
        "--places", default=",".join(PLACES), help="where the factory lies, in turn"
    )
    parser.add_argument("--confidence", type=float, default=0.99)
    parser.add_argument("--habits", action="store_true", help="how they played, too")
    parser.add_argument("--workers", type=int, default=1)
    wanted = parser.parse_args()
    players = [candidate(name) for name in wanted.players.split(",") if name]
    models = [model.partition("=") for model in wanted.model]
    players += [Candidate.read(name, Path(path)) for name, _, path in models]
    names, begun = [one.name for one in players], time.perf_counter()
    with ProcessPoolExecutor(wanted.workers, mp_context=get_context("spawn")) as pool:
        for field in wanted.fields.split(","):
            company = replace(FIELDS[field], places=tuple(wanted.places.split(",")))
            found = [taken(pool, one, company, wanted) for one in players]
            print(f"\n{field}, {wanted.purpose} {wanted.seed}, {wanted.worlds} worlds\n")
            scores = {
                name: np.mean(
                    [one.scores for own, one in zip(names, found, strict=True) if own == name], 0
                )
                for name in names
            }
            places = [PLACES[level] for level in found[0].levels]
            for base in wanted.base.split(","):
                print(*comparison_lines(scores, base, places, wanted.confidence), "", sep="\n")
                print(*seed_lines(names, found, scores[base], wanted.confidence), sep="\n")
            if wanted.habits:
                print("", *habit_lines(names, found), sep="\n")
            print(f"\n{time.perf_counter() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
