"""What seals and locks cost: CPU seconds of record, encode and compete with and without them.

    python benchmarks/trust_cost.py [--rounds 25] [--only record]

Each stage runs in forked processes, the two ways in turn, so that a busy machine hits both alike.
Of user CPU seconds; the interval is a bootstrap of the mean of the logarithms of the ratios. What
isolation costs, worlds of an agent that somebody brought in a process each, is a stage by itself.
"""

import argparse
import contextlib
import math
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np

from understudy import cli, games
from understudy.data import manifests, shards
from understudy.data.integrity import seals

_OWN = "compete scml {mine}:Mine SyncRandom --configs 2 --steps 20 --max-worlds-per-config 2"
STAGES = {
    "record": "record arena --matches 400 --quiet --workers 0",
    "encode": "encode arena --quiet --workers 0",
    "compete": "compete arena expert rusher kiter --matches 200 --quiet --workers 0",
    "isolate": f"{_OWN} --quiet --workers 0",
}
MADE = {"record": "recordings", "encode": "samples", "compete": "results", "isolate": "results"}
MINE = "from scml.std.agents import GreedyStdAgent\n\nclass Mine(GreedyStdAgent):\n    pass\n"


def without_proofs() -> None:
    """Neither seals nor locks in this process."""
    shards.seal_file = lambda path: None
    shards.is_broken_file = lambda path: False
    seals.is_broken = lambda content: False
    manifests.claimed = lambda folder: contextlib.nullcontext()


def cpu_seconds(command: str, proofs: bool) -> float:
    child = os.fork()
    if child == 0:
        if not proofs:
            without_proofs()
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


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--only", default="")
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
