"""What takes long, in small: the stages that are killed, and the runs their work is copied from.

All are forked from one process in which every command was run once, so that a kill costs what the
work costs and not what its imports do.
"""

import contextlib
import io
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from understudy.trust.campaign import Ground


@dataclass(frozen=True)
class Stage:
    """One command and the folder of a run that it makes."""

    command: str
    """With the runs of other games that it reads by their name in braces."""
    makes: str
    renames: int
    """About so many files it puts in place."""
    run: str = "--out"
    """The option that names the run."""
    once: bool = False
    """Whether it is refused where it has been done."""


RECORD = "record arena --opponents rusher --matches 24 --seed 9 --quiet"
ENCODE = "encode arena --quiet"
_IMITATE = "--set steps=60 --set evaluate_every=20 --set checkpoint_every=15 --set hidden=16"
TRAIN = f"train arena imitate-quick {_IMITATE}"
COMPETE = "compete arena imitate-quick expert --matches 8 --quiet"
_REFINE = "--set iterations=12 --set matches=16 --set steps=8 --set log_every=3 --set critic=16"
_REFINE += " --set critic_first=2 --set checkpoint_every=3"
_LEAGUE = "--set rounds=2 --set agent_steps=40000 --set matches=4"
_LEAGUE += " --set exploiter_steps=40000 --set exploiter_matches=20"
_TUNE = f"--trials 3 --try learning_rate=1e-4..1e-2 {_IMITATE}"
_HRL = [f"{layer}.steps=20" for layer in ("l2", "l3", "l4")]
_HRL += [f"{layer}.checkpoint_every=5" for layer in ("l2", "l3", "l4")]
_HRL += [f"{layer}.evaluate_every=5" for layer in ("l2", "l3", "l4")]
_KUHN = "openspiel:kuhn_poker"
_FEW = "--set rounds=2 --set agent_steps=4000 --set matches=4 --set exploiter_steps=4000"
_FEW += " --set exploiter_matches=8"
_ONLINE = "--set online.worlds=6 --set online.choosing=6 --set online.learner.batch_size=256"
_ONLINE += " --set online.learner.epochs=1 --set online.learner.critic_hidden=16"
_ONLINE += " --set online.company.most_days=10"
_SCML = "--configs 8 --steps 6 --max-worlds-per-config 2 --seed 4 --quiet"

ARENA = {
    "record arena": Stage(RECORD, "recordings", 8),
    "encode arena": Stage(ENCODE, "samples", 6),
    "train arena": Stage(TRAIN, "models/imitate-quick", 14),
    "compete arena": Stage(COMPETE, "results", 8),
    "awr arena": Stage(
        f"train arena awr-quick {_IMITATE.rpartition(' --set')[0]}", "models/awr-quick", 14
    ),
    "refine arena": Stage(f"train arena refine-quick {_REFINE}", "models/refine-quick", 14),
    "league arena": Stage(
        f"league arena --recipe demo --from imitate-quick --quiet {_LEAGUE}", "leagues/demo", 60
    ),
    "tune arena": Stage(f"tune arena imitate-quick --quiet {_TUNE}", "tuning/imitate-quick", 50),
}
SCML = {
    "record scml": Stage(f"record scml --agents Penguin,SyncRandom {_SCML}", "recordings", 24),
    "encode scml": Stage("encode scml --quiet", "samples", 12),
    "train scml": Stage(
        f"train scml hrl-xf-quick {' '.join(f'--set {one}' for one in _HRL)}",
        "models/hrl-xf-quick",
        40,
    ),
    "compete scml": Stage(f"compete scml Steward SyncRandom {_SCML}", "results", 12),
    "online scml": Stage(
        f"train scml online-quick --from hrl-xf-quick --iterations 4 {_ONLINE}",
        "models/online-quick",
        14,
    ),
    "join scml": Stage("join scml hrl-xf-quick hrl-xf-quick online-quick", "models/joined", 3),
}
DOTA = {
    "record dota": Stage("record dota --synthetic 120 --seed 4 --quiet", "recordings", 20),
    "encode dota": Stage("encode dota --quiet", "samples", 4),
    "train dota": Stage("train dota value-quick", "models/value-quick", 6),
    "items dota": Stage("train dota items", "models/items", 6),
}
NEWER = {
    "import dota": Stage("record dota --tables {dota}/recordings --quiet", "recordings", 20),
    "encode import": Stage("encode dota --quiet", "samples", 4),
    "split dota": Stage("split dota", "splits", 6),
    "train by files": Stage("train dota value-files", "models/value-files", 6),
    "calibrate dota": Stage(
        "calibrate dota {dota}/models/value-quick",
        "models/value",
        renames=3,
        run="--matches",
        once=True,
    ),
}
"""Dota's matches once more, taken in from tables."""
KUHN = {
    "record kuhn": Stage(f"record {_KUHN} --matches 60 --seed 9 --quiet", "recordings", 8),
    "encode kuhn": Stage(f"encode {_KUHN} --quiet", "samples", 6),
    "train kuhn": Stage(f"train {_KUHN} imitate-quick {_IMITATE}", "models/imitate-quick", 14),
    "league kuhn": Stage(
        f"league {_KUHN} --recipe quick --from imitate-quick --quiet {_FEW}", "leagues/quick", 60
    ),
}
"""A small game of OpenSpiel: what all plain games share."""
FEW = {"compact arena": Stage("compact {arena}", "recordings", 5)}
"""A run of few large files."""
_SMALL = "--configs 3 --steps 6 --max-worlds-per-config 2 --seed 4 --quiet"
TRACED = {"record traced": Stage(f"record scml --agents L1 --trace {_SMALL}", ".", 12)}
"""A run of which every decision is told as well."""
RUNS = {"arena": ARENA, "scml": SCML, "traced": TRACED, "dota": DOTA, "newer": NEWER}
RUNS |= {"few": FEW, "kuhn": KUHN}
STAGES = {name: (run, stage) for run, stages in RUNS.items() for name, stage in stages.items()}
_NEEDS = {"kuhn": "pyspiel", "scml": "negmas", "traced": "negmas"}
_ALONE = ("record dota", "split", "calibrate", "compact", "join")
"""What one process does anyway."""


def with_workers(command: str, count: int) -> list[str]:
    """The words of a command, on so many processes; matches are made up in this one anyway."""
    words = command.split()
    return words if command.startswith(_ALONE) else [*words, "--workers", str(count)]


def here() -> list[str]:
    """Of the runs, those whose packages are installed."""
    return [name for name in RUNS if name not in _NEEDS or find_spec(_NEEDS[name])]


def called(ground: Ground, stage: Stage, workers: int, folder: Path) -> list[str]:
    """A stage's command with all its words, working in that run."""
    others = {name: base(ground, name) for name in RUNS if f"{{{name}}}" in stage.command}
    return [*with_workers(stage.command.format(**others), workers), stage.run, str(folder)]


def base(ground: Ground, name: str) -> Path:
    """A small run that has been through every stage of its game, in processes of their own."""
    if name not in ground.bases:
        folder = ground.folder / f"base-{name}"
        warm(ground, ground.folder / f"warm-{name}", name)
        for title, stage in RUNS[name].items():
            begun = time.monotonic()
            ground.succeed(called(ground, stage, 0, folder))
            ground.seconds[title] = time.monotonic() - begun
        ground.bases[name] = folder
    return ground.bases[name]


_warmed = set[str]()


def warm(ground: Ground, folder: Path, name: str) -> None:
    """Run every command once in this process: what is imported and compiled is there for all."""
    import torch

    if name in _warmed:
        return
    _warmed.add(name)
    torch.set_num_threads(1)
    for stage in RUNS[name].values():
        arguments = called(ground, stage, 0, folder)
        with _as_command(arguments):
            ground.main()


@contextlib.contextmanager
def _as_command(arguments: list[str]) -> Iterator[None]:
    said = io.StringIO()
    before, environment = sys.argv, dict(os.environ)
    sys.argv = ["understudy", *arguments]
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            yield
    except SystemExit as end:
        if end.code:
            told = " ".join(arguments)
            raise RuntimeError(f"understudy {told} failed: {said.getvalue()[-300:]}") from None
    finally:
        sys.argv = before
        os.environ.clear()
        os.environ.update(environment)
