"""How far one learner and many actors go, and what recording costs as it grows.

    python benchmarks/scaling.py actors
    python benchmarks/scaling.py record [arena | scml] [SIZE ..]

`actors` measures one iteration's play and learning, the bytes of a job and of a rollout, and agent-
steps per second with 0, 1, 2 and 4 worker processes in turn; from the first of these a model says
how many workers help: an iteration lasts as long as the slowest of play (its rounds on W workers,
each with a message there and back), the learner (it learns, and takes in what workers send), and
its network. It is checked against the processes measured. `record` measures recording, compacting,
encoding and checking from 10^2 matches on: rows, bytes, files and memory.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import pickle
import resource
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import torch

from understudy import cli
from understudy.games.arena import recipes
from understudy.games.arena.data.encode import MOVES
from understudy.learn.policy import FactoredPolicy, PolicyShape
from understudy.learn.rl.acting.actors import Actors
from understudy.learn.rl.acting.job import Job
from understudy.learn.rl.acting.opponents import Opponent
from understudy.learn.rl.acting.rollout import collect
from understudy.learn.rl.env import SELF
from understudy.learn.rl.learner import Learner
from understudy.pipeline.game import load
from understudy.trust.command import run

ITERATIONS = 6
REPEATS = int(os.environ.get("REPEATS", "3"))
ROLLOUTS = 4
LATENCY, NETWORK = 1e-3, 1.25e9  # seconds a message; bytes per second of 10 Gbit/s


def learner() -> Learner:
    """Of the arena's PPO, with the shipped size."""
    recipe = replace(recipes.refine_ppo, matches=256, rollouts=ROLLOUTS, uses=1.0, updates=8)
    policy = FactoredPolicy(PolicyShape(MOVES.features, MOVES.heads, (64, 64)), 0)
    return Learner(recipe, policy, [Opponent(SELF, 1.0)], 0, teacher=policy)


def parts() -> dict[str, float]:
    """CPU seconds of one rollout and of learning from it; bytes of the job and of what came."""
    one = learner()
    one.run(1, Actors(0))
    job = one._jobs(1)[0]
    collect(job)
    play, learn = [], []
    for _ in range(5):
        began = time.process_time()
        rollout = collect(job)
        play.append(time.process_time() - began)
        began = time.process_time()
        one.iterate(Actors(0))
        learn.append((time.process_time() - began - ROLLOUTS * play[-1]) / ROLLOUTS)
    return {
        "play": min(play),
        "learn": max(min(learn), 1e-4),
        "take in": taken_in(job),
        "down": float(len(pickle.dumps(job))),
        "up": float(len(pickle.dumps(rollout))),
        "steps": 2.0 * job.matches * job.steps,
    }


def taken_in(job: Job) -> float:
    """CPU seconds of the learner's process for a job that goes out and a rollout that comes."""
    with Actors(1) as where:
        times = []
        for _ in range(ITERATIONS):
            began = time.process_time()
            where.start([job])
            where.finish()
            times.append(time.process_time() - began)
        return min(times)


def modelled(told: dict[str, float], workers: int, latency: float, network: float) -> float:
    """Agent-steps per second where every worker plays one rollout an iteration, one core each."""
    message = latency + (told["down"] + told["up"]) / network
    play = told["play"] + message
    learn = workers * (told["learn"] + told["take in"])
    line = workers * (told["down"] + told["up"]) / network
    return workers * told["steps"] / max(play, learn, line)


def actors() -> None:
    told = parts()
    print({name: round(value, 5) for name, value in told.items()})
    print("measured, agent-steps per wall second (CPU seconds of all processes per million):")
    cores = len(os.sched_getaffinity(0))
    found: dict[int, list[float]] = {workers: [] for workers in (0, 1, 2, 4)}
    costs: dict[int, list[float]] = {workers: [] for workers in found}
    for _ in range(REPEATS):
        for workers in found:
            before = sum(os.times()[:4])
            one = learner()
            with Actors(workers) as where:
                one.iterate(where)
                began = time.perf_counter()
                for _ in range(ITERATIONS):
                    one.iterate(where)
                took = time.perf_counter() - began
            steps = ITERATIONS * ROLLOUTS * told["steps"]
            found[workers].append(steps / took)
            costs[workers].append((sum(os.times()[:4]) - before) / steps * 1e6)
    for workers, rates in found.items():
        busy = min(cores, max(workers, 1))
        share = (
            ROLLOUTS
            * told["steps"]
            / (
                max(ROLLOUTS / busy * told["play"], ROLLOUTS * (told["learn"] + told["take in"]))
                if workers
                else ROLLOUTS * (told["play"] + told["learn"])
            )
        )
        print(
            f"  {workers}: {statistics.median(rates):,.0f} (best {max(rates):,.0f}), "
            f"{statistics.median(costs[workers]):.1f} CPU s; the model, idle cores: {share:,.0f}"
        )
    print("modelled, agent-steps per second, one core a worker, 10 Gbit/s and 1 ms:")
    for workers in (1, 2, 4, 8, 16, 64, 256, 1000):
        rate = modelled(told, workers, LATENCY, NETWORK)
        alone = modelled(told, 1, LATENCY, NETWORK)
        slow = modelled(told, workers, 20e-3, 1.25e8)
        print(
            f"  {workers:5d}: {rate:14,.0f} ({rate / alone / workers:.0%} each), "
            f"1 Gbit/s and 20 ms: {slow:14,.0f}"
        )
    line = NETWORK / (told["down"] + told["up"])
    print(
        f"the learner is full with {told['play'] / (told['learn'] + told['take in']):.1f} workers, "
        f"the network with {line * told['play']:,.0f}"
    )


RECORD = {
    "arena": "record arena --matches {size}",
    "scml": "record scml --simulator batch --agents Steward,Penguin --competitors-per-world 2 "
    "--configs {half}",
}
"""So many matches of a game, or worlds of the supply chain in its compiled simulator."""


def record(game: str = "arena", *told: str) -> None:
    """What depends on how many there are: recording, fewer files of it, samples, a look at all."""
    load(game)  # compiled once, for all
    with tempfile.TemporaryDirectory() as folder:
        for size in [int(one) for one in told] or [100, 1_000, 10_000]:
            place, few = Path(folder, str(size)), Path(folder, f"{size}-few")
            begin = RECORD[game].format(size=size, half=-(-size // 2))
            for command, run_of in (
                (f"{begin} --quiet --workers 0 --out {place}", place),
                (f"compact {place} --out {few}", few),
                (f"encode {game} --quiet --workers 0 --out {place}", place),
                (f"encode {game} --quiet --workers 0 --out {few}", few),
                (f"check {place}", place),
            ):
                seconds, peak = _measured(command, Path(folder, "peak"))
                of = [path for path in run_of.rglob("*") if path.is_file()]
                tables = [path for path in of if path.suffix == ".parquet"]
                bytes_ = sum(path.stat().st_size for path in of)
                rows = sum(pq.read_metadata(path).num_rows for path in tables)
                print(
                    f"{size:7,d} {command.split()[0]:7s} {seconds:7.2f} CPU s "
                    f"({1e3 * seconds / size:.3f} ms each), {len(of):5d} files, {rows:,} rows, "
                    f"{bytes_ / 1e6:8.1f} MB, peak {peak:,.0f} MiB",
                    flush=True,
                )


def _measured(command: str, note: Path) -> tuple[float, float]:
    """CPU seconds and the most memory, in MiB, of a command in a forked process."""

    def watched() -> None:
        leave = os._exit

        def noted(code: int) -> None:
            note.write_text(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))
            leave(code)

        os._exit = noted  # type: ignore[assignment]

    before = os.times()
    done = run(cli.main, command.split(), seconds=3600, prepare=watched)
    after = os.times()
    assert done.code == 0, done.err
    return sum(after[2:4]) - sum(before[2:4]), int(note.read_text()) / 1024


if __name__ == "__main__":
    torch.set_num_threads(1)
    command, *told = sys.argv[1:] or ["actors"]
    {"actors": actors, "record": record}[command](*told)
