"""What seals and locks cost: CPU seconds of record, encode and compete with and without them.

    python benchmarks/trust_cost.py [--rounds 25] [--only record] [--inside]

Each stage runs in forked processes, the two ways in turn, so that a busy machine hits both alike.
Of user CPU seconds; the interval is a bootstrap of the mean of the logarithms of the ratios. What
isolation costs, worlds of an agent that somebody brought in a process each, is a stage by itself.
`--inside` compares no two runs: the CPU seconds spent inside seals and locks, user and system, over
all others of the same run; and what checksums of pages add to writing and reading one shard.
"""

import argparse
import contextlib
import json
import math
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from understudy import cli, games
from understudy.data import manifests, shards
from understudy.data.integrity import locks, seals

_OWN = "compete scml {mine}:Mine SyncRandom --configs 2 --steps 20 --max-worlds-per-config 2"
STAGES = {
    "record": "record arena --matches 400 --quiet --workers 0",
    "encode": "encode arena --quiet --workers 0",
    "compete": "compete arena expert rusher kiter --matches 200 --quiet --workers 0",
    "isolate": f"{_OWN} --quiet --workers 0",
}
MADE = {"record": "recordings", "encode": "samples", "compete": "results", "isolate": "results"}
MINE = "from scml.std.agents import GreedyStdAgent\n\nclass Mine(GreedyStdAgent):\n    pass\n"


PROOFS = (
    *((shards, "seal_file"), (shards, "is_broken_file"), (seals, "sealed"), (seals, "is_broken")),
    *((seals, "is_sealed"), (locks, "hold"), (manifests, "release")),
)


def without_proofs() -> None:
    """Neither seals, checksums of pages nor locks in this process."""
    write, read = pq.write_table, pq.ParquetFile
    pq.write_table = lambda *told, **named: write(*told, **{**named, "write_page_checksum": False})
    pq.ParquetFile = lambda path, **named: read(path)
    shards.seal_file = lambda path: None
    shards.is_broken_file = lambda path: False
    seals.is_broken = lambda content: False
    manifests.claimed = lambda folder: contextlib.nullcontext()


def noted_proofs(note: Path) -> None:
    """In this process: how long all of them take is written down at its end."""
    spent = {"inside": 0.0}

    def timed(owner: Any, name: str) -> None:
        call = getattr(owner, name)

        def timed_call(*told: Any, **named: Any) -> Any:
            began = time.process_time()
            try:
                return call(*told, **named)
            finally:
                spent["inside"] += time.process_time() - began

        setattr(owner, name, timed_call)

    for owner, name in PROOFS:
        timed(owner, name)
    leave = os._exit

    def noted(code: int) -> None:
        note.write_text(json.dumps(spent | {"all": time.process_time()}))
        leave(code)

    os._exit = noted


def cpu_seconds(command: str, proofs: bool, note: Path | None = None) -> float:
    child = os.fork()
    if child == 0:
        if not proofs:
            without_proofs()
        if note is not None:
            noted_proofs(note)
        sys.argv = ["understudy", *command.split()]
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123
        code = 1
        try:
            cli.main()
            code = 0
        finally:
            os._exit(code)
    _, status, used = os.wait4(child, 0)
    assert status == 0, command
    return used.ru_utime


def ways(stage: str, command: str) -> dict[bool, tuple[str, bool]]:
    """With what is measured, and without: the command, and whether there are proofs."""
    if stage == "isolate":
        return {True: (f"{command} --isolate", True), False: (command, True)}
    return {True: (command, True), False: (command, False)}


def interval(logs: list[float]) -> tuple[float, float, float]:
    """Mean and 95 % of the mean, as shares."""
    rng, values = np.random.default_rng(0), np.array(logs)
    means = rng.choice(values, (4_000, len(values))).mean(1)
    low, high = np.quantile(means, (0.025, 0.975))
    return tuple(float(np.expm1(x)) for x in (values.mean(), low, high))


def inside(command: str, made: Path, rounds: int) -> str:
    """In words: the share of what proofs take over what everything else does."""
    note, shares = made.with_name("note.json"), []
    for _ in range(rounds):
        shutil.rmtree(made)
        cpu_seconds(command, True, note)
        spent = json.loads(note.read_text())
        shares.append(spent["inside"] / (spent["all"] - spent["inside"]))
    note.unlink()
    middle = statistics.median(shares)
    return f"{middle:.2%} inside proofs ({min(shares):.2%} to {max(shares):.2%}), {rounds} rounds"


def pages(path: Path, rounds: int) -> str:
    """In words: what checksums of pages add to writing and reading a shard, in turn."""
    rows, logs = pq.read_table(path), {"writing": list[float](), "reading": list[float]()}
    for turn in range(rounds):
        found = {}
        for proofs in (True, False) if turn % 2 else (False, True):
            aside = path.with_name("aside.parquet")
            began = time.process_time()
            pq.write_table(rows, aside, compression="zstd", write_page_checksum=proofs)
            found["writing", proofs] = time.process_time() - began
            began = time.process_time()
            pq.ParquetFile(aside, page_checksum_verification=proofs).read()
            found["reading", proofs] = time.process_time() - began
            aside.unlink()
        for verb, some in logs.items():
            some.append(math.log(found[verb, True] / found[verb, False]))
    return ", ".join(
        f"{verb} {{:+.1%}} [{{:+.1%}}, {{:+.1%}}]".format(*interval(some))
        for verb, some in logs.items()
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--only", default="")
    parser.add_argument("--inside", action="store_true")
    told = parser.parse_args()
    games.load("arena")
    with tempfile.TemporaryDirectory() as folder:
        run, mine = Path(folder, "run"), Path(folder, "mine.py")
        mine.write_text(MINE)
        for stage, command in STAGES.items():
            chosen = ways(stage, f"{command.format(mine=mine)} --out {run}")
            if stage == "isolate":
                shutil.rmtree(run, ignore_errors=True)
            cpu_seconds(*chosen[True])  # compiled; read by the next
            if not stage.startswith(told.only):
                continue
            if told.inside and stage != "isolate":
                print(f"{stage}: {inside(chosen[True][0], run / MADE[stage], told.rounds)}")
                largest = max(
                    (run / MADE[stage]).glob("*.parquet"), key=lambda one: one.stat().st_size
                )
                print(f"{stage}, pages of {largest.name}: {pages(largest, 10 * told.rounds)}")
                continue
            logs, seconds = [], []
            for turn in range(told.rounds):
                found = {}
                for proofs in (True, False) if turn % 2 else (False, True):
                    shutil.rmtree(run / MADE[stage])
                    found[proofs] = cpu_seconds(*chosen[proofs])
                logs.append(math.log(found[True] / found[False]))
                seconds.append(found[True])
            mean, low, high = interval(logs)
            print(
                f"{stage}: {mean:+.1%} [{low:+.1%}, {high:+.1%}] of {told.rounds} rounds, "
                f"{statistics.median(seconds):.2f} user CPU s",
                flush=True,
            )


if __name__ == "__main__":
    main()
