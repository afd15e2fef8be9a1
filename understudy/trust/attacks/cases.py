"""The kinds of cases: damaged files, two writers, names."""

import os
import random
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from understudy.data.integrity.seals import is_sealed
from understudy.data.runs import MANIFEST, Run
from understudy.trust.attacks.damage import damages
from understudy.trust.attacks.stages import (
    ARENA,
    COMPETE,
    ENCODE,
    RUNS,
    TRAIN,
    base,
    with_workers,
)
from understudy.trust.campaign import Attack, Fault, Ground, faults_of
from understudy.trust.check import check, check_file
from understudy.trust.command import Done, run, shown
from understudy.trust.sameness import differences

_SHORT = ("record arena", "encode arena", "train arena", "compete arena")
_READS = {
    "recordings": (ENCODE, "report {}"),
    "samples": (f"{TRAIN} --fresh", "report {}"),
    "models": (COMPETE, TRAIN, "report {}"),
    "results": (COMPETE, "report {}"),
}
"""Commands that read what lies in a folder of a run."""


# --- Files ---------------------------------------------------------------------------------------


def damaged_file(ground: Ground, place: Path, dice: random.Random) -> Attack:
    """A file of a run is damaged; commands that read it must say so, and never anything else."""
    whole = base(ground, "arena")
    case = place / "run"
    shutil.copytree(whole, case)
    path, how, sealed = damage_of(case, dice)
    stage = path.relative_to(case).parts[0]
    reads = dice.choice(_READS.get(stage, ("report {}",)))
    command = reads.format(case) if "{}" in reads else f"{reads} --out {case}"
    arguments = command.split() if "{}" in reads else with_workers(command, 0)
    done = run(ground.main, arguments)
    faults = faults_of(done)
    checked = run(ground.main, ["check", str(case)])
    faults += faults_of(checked)
    if sealed and not done.code and not checked.code and path.exists():
        same = (whole / path.relative_to(case)).read_bytes() == path.read_bytes()
        faults += [] if same else [Fault("silent wrong", "nobody noticed")]
    return Attack(f"{how} {path.relative_to(place)}", shown(arguments, place), faults)


def read_files(ground: Ground, place: Path, dice: random.Random) -> Attack:
    """Many damaged files, each read by its reader alone; one process for all of them."""
    whole = base(ground, dice.choice(list(RUNS)))
    case = place / "run"
    shutil.copytree(whole, case)
    found = list[str]()
    done = run(lambda: _read_many(whole, case, dice, found), ["check"], seconds=600)
    faults = [Fault("silent wrong", line) for line in done.out.splitlines() if "unnoticed" in line]
    return Attack("many files", f"understudy check {case.name}", faults + faults_of(done), _MANY)


_MANY = 150


def _read_many(whole: Path, case: Path, dice: random.Random, found: list[str]) -> None:
    for _ in range(_MANY):
        path, how, sealed = damage_of(case, dice)
        original = whole / path.relative_to(case)
        noticed = check_file(path, case)[1] or check(Run(case)).findings
        changed = not path.is_file() or path.read_bytes() != original.read_bytes()
        if sealed and changed and not noticed:
            print(f"unnoticed: {how} {path}")
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        path.unlink(missing_ok=True)
        shutil.copy2(original, path)


def damage_of(case: Path, dice: random.Random) -> tuple[Path, str, bool]:
    """Damage some file; which, how, and whether it had a seal."""
    files = [path for path in sorted(case.rglob("*")) if path.is_file()]
    kinds = sorted({_kind(path) for path in files if _kind(path)})
    chosen = dice.choice(kinds)  # by kind: there are many shards, and one manifest of each stage
    path = dice.choice([path for path in files if _kind(path) == chosen])
    how, damage = dice.choice(list(damages(path).items()))
    sealed = path.suffix == ".jsonl" or is_sealed(path.read_bytes())
    damage(path, dice)
    return path, how, sealed and how not in ("change a value", "drop a key", "swap", "gone")


def _kind(path: Path) -> str:
    """What sort of file it is; "" for what nobody reads again."""
    if "tensorboard" in path.parts or path.suffix == ".html":
        return ""
    return path.name.split("-")[0] if path.suffix == ".parquet" else path.name


# --- Writers ---------------------------------------------------------------------------


def two_writers(ground: Ground, place: Path, dice: random.Random) -> Attack:
    """Two processes run the same command: one of them does, the other says so in one line."""
    whole = base(ground, "arena")
    case = place / "run"
    shutil.copytree(whole, case)
    stage = ARENA[dice.choice(_SHORT)]
    shutil.rmtree(case / stage.makes)
    arguments = [*with_workers(stage.command, 0), "--out", str(case)]
    waits = dice.random() < 0.5
    found: list[Done] = []

    def second() -> None:
        found.append(run(ground.main, [*arguments, *(["--wait"] if waits else [])]))

    thread = threading.Thread(target=second)
    thread.start()
    found.append(run(ground.main, arguments))
    thread.join()
    faults = [fault for done in found for fault in faults_of(done)]
    if all(done.code for done in found) or (waits and found[0].code and found[1].code):
        faults.append(Fault("lost", "neither ended well"))
    elif wrong := differences(whole / stage.makes, case / stage.makes):
        faults.append(Fault("lost", wrong[0]))
    return Attack(
        f"{stage.makes}, {'--wait' if waits else 'refused'}", shown(arguments, place), faults
    )


# --- Names ---------------------------------------------------------------------------------------

NAMES = (
    *("..", ".", "../x", "a/b", "/tmp/x", "a\\b", "", " ", "a\n", "\x1b[2J", "\u202e", "x" * 300),
    *("\ud800", "-", "--fresh", "a" * 256, "NUL", "\u2028", "~", "$HOME", "*", "\x7f", "..\\.."),
)
_NAMED = (
    "league arena --recipe demo --fresh --out {run} --name",
    f"{TRAIN} --fresh --out {{run}} --name",
    "replay -o {run}/page.html",
    "compete arena expert --out {run}",
    "record arena --matches 2 --quiet --workers 0 --out {run} --opponents",
    "train arena --out {run}",
)


def hostile_name(ground: Ground, place: Path, dice: random.Random) -> Attack:
    """A name that is none leaves its folder nowhere, and deletes nothing."""
    case = place / "run"
    shutil.copytree(base(ground, "arena"), case)
    before = _tree(place)
    name, command = dice.choice(NAMES), dice.choice(_NAMED).format(run=case)
    done = run(ground.main, [*command.split(), name.encode(errors="replace").decode()])
    faults = faults_of(done)
    if gone := before - _tree(place):
        faults.append(Fault("lost", f"deleted {sorted(gone)[0]}"))
    outside = {one for one in _tree(place) - before if not one.startswith("run/")}
    if outside:
        faults.append(Fault("silent wrong", f"written outside: {sorted(outside)[0]}"))
    return Attack(f"{name!r} for {command.split()[0]}", f"{command} {name!r}", faults)


def _tree(place: Path) -> set[str]:
    """Names of all files, but those that every command may write anew."""
    skipped = {MANIFEST, "page.html", "report.html"}
    return {
        path.relative_to(place).as_posix()
        for path in place.rglob("*")
        if path.is_file() and path.name not in skipped and "models" not in path.parts
    }


def environment(changes: dict[str, Any]) -> Callable[[], None]:
    """Sets variables in a command's process."""
    return lambda: os.environ.update(changes)
