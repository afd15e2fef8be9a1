"""Logs of other origin that are damaged: what is wrong costs its lines, and nothing else."""

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from understudy.data.runs import Run
from understudy.trust.attacks import damage
from understudy.trust.campaign import Attack, Fault, Ground, faults_of
from understudy.trust.command import run, shown

_COMMANDS = ("record arena --quiet --logs {place}/logs", "follow {place}/logs --game arena --once")
_STEPS = 6


def damaged_logs(ground: Ground, place: Path, dice: random.Random) -> Attack:
    """One log of a folder is damaged; the match in another one is recorded whatever it is."""
    logs = place / "logs"
    logs.mkdir()
    good, path = (
        logs / "z.jsonl",
        logs / dice.choice(("a.jsonl", "a.jsonl.gz", "feedback_stream.jsonl")),
    )
    packed = path.suffix == ".gz"
    content = "".join(
        json.dumps(_line(step, slot)) + "\n" for step in range(_STEPS) for slot in (0, 1)
    )
    good.write_text(content)
    path.write_bytes(gzip.compress(content.encode()) if packed else content.encode())
    ways = damage.ANY | damage.IN_ITS_PLACE | ({} if packed else damage.OF_JSON)
    how, spoil = dice.choice(list(ways.items()))
    spoil(path, dice)
    arguments = [*dice.choice(_COMMANDS).format(place=place).split(), "--out", str(place / "run")]
    done = run(ground.main, arguments, seconds=60)
    faults = faults_of(done)
    if not faults and done.code == 0 and f"{good.name}/m" not in _recorded(place / "run"):
        faults.append(Fault("lost", f"a match beside it: {done.err.strip()[-200:]}"))
    return Attack(f"{how} {path.name}, {arguments[0]}", shown(arguments, place), faults)


def _line(step: int, slot: int) -> dict[str, Any]:
    return {
        "match": "m",
        "step": step,
        "slot": slot,
        "player": ("alice", "bob")[slot],
        "observation": {"position": [-8.0 + step, 1.5], "health": 100 - step, "magazine": 3},
        "action": {"move": [1, 0], "aim": [0, 1], "fire": bool(step % 2), "ability": "dash"},
        "reward": 0.0,
        "terminated": step == _STEPS - 1,
        "outcome": ("win", "loss")[slot],
    }


def _recorded(folder: Path) -> set[str]:
    shards = Run(folder).recordings.glob("matches-*.parquet")
    return {name for path in shards for name in pq.read_table(path)["match"].to_pylist()}
