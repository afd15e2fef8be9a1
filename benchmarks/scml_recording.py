"""What recording an SCML world costs: CPU time over not recording, rows and bytes.

    PYTHONHASHSEED=0 python benchmarks/scml_recording.py [WORLDS] [REPEATS]

Worlds as a tournament fills them: 100 days, 3 levels of 5 factories, two or three champions among
background agents. Each is played in turn without and with recording, and the middle one of the
ratios counts.
"""

import random
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from understudy.data.players import PlayerRef
from understudy.data.shards import write_shard
from understudy.games.scml.players import catalogue
from understudy.games.scml.tournament.design import WorldPlan
from understudy.games.scml.tournament.play import play

STEPS, SIZES = 100, (5, 5, 5)
CHAMPIONS = ("Penguin", "AS0", "PriceTrend")


def official(seed: int) -> WorldPlan:
    rng = random.Random(seed)
    players = rng.choices(catalogue.BACKGROUND_AGENTS["std"], k=sum(SIZES))
    slots = tuple(rng.sample(range(len(players)), rng.randint(2, 3)))
    for slot, champion in zip(slots, CHAMPIONS, strict=False):
        players[slot] = champion
    refs = tuple(PlayerRef(name) for name in players)
    return WorldPlan(f"m{seed}", "official", "std", SIZES, STEPS, seed, 0, refs, slots)


def seconds(plan: WorldPlan, recorded: bool) -> float:
    plan = replace(plan, recorded=recorded)
    began = time.process_time()
    play([plan])
    return time.process_time() - began


def main() -> None:
    worlds, repeats = (int(given) for given in (sys.argv[1:] + ["4", "3"][len(sys.argv) - 1 :]))
    play([official(0)])  # imports and caches
    ratios: list[float] = []
    size: dict[str, int] = {}
    rows: dict[str, int] = {}
    for seed in range(1, worlds + 1):
        plan = official(seed)
        pairs = [(seconds(plan, False), seconds(plan, True)) for _ in range(repeats)]
        ratios += [recorded / without for without, recorded in pairs]
        print(f"world {seed}: {min(pair[0] for pair in pairs):.2f} s", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            for name, table in play([plan]).recordings.items():
                path = Path(folder) / f"{name}.parquet"
                write_shard(path, table)
                size[name] = size.get(name, 0) + path.stat().st_size
                rows[name] = rows.get(name, 0) + table.num_rows
    print(f"recording costs {statistics.median(ratios) - 1:.1%}, {len(ratios)} pairs")
    for name in size:
        print(f"{name:10} {rows[name] / worlds:8,.0f} rows {size[name] / worlds / 1000:6.0f} kB")
    print(f"{'in all':10} {'':13} {sum(size.values()) / worlds / 1000:6.0f} kB per world")


if __name__ == "__main__":
    main()
