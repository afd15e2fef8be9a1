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
    STAGES,
    TRAIN,
    base,
    called,
    here,
    with_workers,
)
from understudy.trust.campaign import Attack, Fault, Ground, faults_of
from understudy.trust.check import check, check_file
from understudy.trust.command import Done, run, shown
from understudy.trust.sameness import differences

_SHORT = ("record arena", "encode arena", "train arena", "compete arena")
_READ_BY = {
    "recordings": ("encode arena", "encode scml", "encode dota", "encode import", "encode kuhn"),
    "samples": (
        *("train arena", "awr arena", "train scml", "train dota", "items dota"),
        *("train by files", "split dota", "calibrate dota", "train kuhn"),
    ),
    "splits": ("train by files",),
    "models": (
        *("awr arena", "refine arena", "compete arena", "online scml", "join scml"),
        *("train arena", "train scml", "train dota", "calibrate dota"),
    ),
    "results": ("compete arena", "compete scml"),
    "leagues": ("league arena", "league kuhn"),
    "tuning": ("tune arena",),
}
"""Stages that read what lies in a folder of a run, or go on there."""


# --- Files ---------------------------------------------------------------------------------------


def damaged_file(ground: Ground, place: Path, dice: random.Random) -> Attack:
    """A file of a run is damaged; a stage that reads it says so, or makes what it always made."""
    kind = dice.choice(list(_READ_BY))
    name = dice.choice([one for one in _READ_BY[kind] if STAGES[one][0] in here()])
    game, stage = STAGES[name]
    whole, case = base(ground, game), place / "run"
    shutil.copytree(whole, case, symlinks=True)
    path, how, sealed = damage_of(case, dice, kind)
    damaged = _state(path)
    if not path.is_relative_to(case / stage.makes) and dice.random() < 0.7:
        shutil.rmtree(case / stage.makes)
    arguments = called(ground, stage, 0, case)
    done = run(ground.main, arguments)
    checked = run(ground.main, ["check", str(case)])
    faults = [*faults_of(done), *faults_of(checked)]
    original = whole / path.relative_to(case)
    stays = _state(path) == damaged and damaged[1] != original.read_bytes()
    if sealed and not done.code and not checked.code and stays:
        faults.append(Fault("silent wrong", "nobody noticed"))
    mend(path, original)
    if sealed and not done.code and (made := differences(whole / stage.makes, case / stage.makes)):
        faults.append(Fault("silent wrong", f"not as ever: {made[0]}"))
    return Attack(f"{how} {path.relative_to(place)}, {name}", shown(arguments, place), faults)


def _state(path: Path) -> tuple[int | None, bytes | None]:
    """Tells whether it is the very same file, and what is in it."""
    if not path.is_file():
        return None, None
    return path.stat().st_mtime_ns, path.read_bytes()


def mend(path: Path, original: Path) -> None:
    """Put the file as it was in place of what stands there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(original, path)


def read_files(ground: Ground, place: Path, dice: random.Random) -> Attack:
    """Many damaged files, each read by its reader alone; one process for all of them."""
    whole = base(ground, dice.choice(here()))
    case = place / "run"
    shutil.copytree(whole, case, symlinks=True)
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
        mend(path, original)


def damage_of(case: Path, dice: random.Random, below: str = "") -> tuple[Path, str, bool]:
    """Damage some file below a folder; which, how, and whether it had a seal."""
    files = [path for path in sorted((case / below).rglob("*")) if path.is_file()]
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
    shutil.copytree(whole, case, symlinks=True)
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
    shutil.copytree(base(ground, "arena"), case, symlinks=True)
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
