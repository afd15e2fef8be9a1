"""What seals and locks cost: CPU seconds of record, encode and compete with and without them.

    python benchmarks/trust_cost.py [--rounds 5]

Each stage runs in forked processes, the two ways in turn, so that a busy machine hits both alike.
"""

import argparse
import contextlib
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from understudy import cli, games
from understudy.data import manifests, shards
from understudy.data.integrity import seals

STAGES = {
    "record": "record arena --matches 400 --quiet --workers 0",
    "encode": "encode arena --quiet --workers 0",
    "compete": "compete arena expert rusher kiter --matches 200 --quiet --workers 0",
}
MADE = {"record": "recordings", "encode": "samples", "compete": "results"}


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
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    games.load("arena")
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder, "run")
        for stage, command in STAGES.items():
            cpu_seconds(f"{command} --out {run}", True)  # compiled; read by the next
            ratios, seconds = [], []
            for turn in range(rounds):
                found = {}
                for proofs in (True, False) if turn % 2 else (False, True):
                    shutil.rmtree(run / MADE[stage])
                    found[proofs] = cpu_seconds(f"{command} --out {run}", proofs)
                ratios.append(found[True] / found[False])
                seconds.append(found[True])
            print(
                f"{stage}: {statistics.median(ratios) - 1:+.1%} "
                f"({min(ratios) - 1:+.1%} to {max(ratios) - 1:+.1%}), "
                f"{statistics.median(seconds):.2f} CPU s"
            )


if __name__ == "__main__":
    main()
