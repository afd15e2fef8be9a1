"""A machine that does not do what a program hopes for: permissions, clocks, limits."""

import ctypes
import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from understudy.trust.attacks.stages import ARENA, Stage, base, with_workers
from understudy.trust.campaign import Attack, Fault, Ground, faults_of
from understudy.trust.command import run, shown
from understudy.trust.sameness import differences

_SHORT = ("record arena", "encode arena", "train arena", "compete arena")
_CAPABILITIES = 0x20080522  # of capset: the version of what is handed over


def started(ground: Ground, place: Path, dice: random.Random) -> tuple[Path, Path, Stage]:
    """A whole run, and a copy of it of which a stage is still to be done."""
    whole, case = base(ground, "arena"), place / "run"
    shutil.copytree(whole, case, symlinks=True)
    stage = ARENA[dice.choice(_SHORT)]
    shutil.rmtree(case / stage.makes)
    return whole, case, stage


def ends(
    ground: Ground,
    place: Path,
    stage: Stage,
    whole: Path,
    prepare: Callable[[], None],
    mended: Callable[[], None],
    title: str,
    ended: Callable[[], None] = lambda: None,
) -> Attack:
    """The stage ends in order on such a machine, and as ever when it is a good one again.

    `prepare` and `ended` are called in the command's process, before it and after it.
    """
    case = place / "run"
    arguments = [*with_workers(stage.command, 0), "--out", str(case)]

    def main() -> None:
        try:
            ground.main()
        finally:
            ended()

    done = run(main, arguments, prepare=prepare, seconds=300)
    faults = faults_of(done)
    mended()
    last = run(ground.main, arguments, seconds=300)
    faults += faults_of(last)
    if last.code:
        faults.append(Fault("lost", f"cannot go on: {last.err.strip()[-200:]}"))
    elif wrong := differences(whole / stage.makes, case / stage.makes):
        column = "lost" if done.code else "silent wrong"
        faults.append(Fault(column, f"not as ever: {wrong[0]}"))
    return Attack(f"{stage.makes}: {title}", shown(arguments, place), faults)


def permission(ground: Ground, place: Path, dice: random.Random) -> Attack:
    """Something may not be read, written or entered."""
    whole, case, stage = started(ground, place, dice)
    found = [case, *sorted(case.rglob("*"))]
    shut = dice.choice([path for path in found if path.is_dir()] if dice.random() < 0.5 else found)
    mode, before = dice.choice((0o000, 0o400, 0o500, 0o200)), shut.stat().st_mode
    shut.chmod(mode)
    title = f"{shut.relative_to(place)} is {mode:03o}"
    return ends(
        *(ground, place, stage, whole, without_privileges, lambda: shut.chmod(before), title)
    )


def without_privileges() -> None:
    """Root is refused what others are refused."""
    if os.geteuid() == 0:
        header = (ctypes.c_uint32 * 2)(_CAPABILITIES, 0)
        ctypes.CDLL(None).capset(header, (ctypes.c_uint32 * 6)())


def clock(ground: Ground, place: Path, dice: random.Random) -> Attack:
    """The clock jumps back and forth, and files are of the future or of long ago."""
    whole, case, stage = started(ground, place, dice)
    for path in case.rglob("*"):
        if path.is_file():
            when = dice.choice((0.0, 86_400.0, time.time(), 4e9))
            os.utime(path, (when, when))
    seed = dice.random()

    def prepare() -> None:
        jumps, real = random.Random(seed), time.time
        time.time = lambda: real() + jumps.choice((-1.5e9, -3600.0, 0.0, 3600.0, 2e9))

    return ends(ground, place, stage, whole, prepare, lambda: None, "a clock that jumps")


def limit(ground: Ground, place: Path, dice: random.Random) -> Attack:
    """Few files may be open, little memory is left, or no process may be begun."""
    import resource  # POSIX only

    whole, _, stage = started(ground, place, dice)
    kind = dice.choice(("files", "memory", "processes"))
    amount = {
        "files": dice.randint(3, 40),
        "memory": int(10 ** dice.uniform(5, 8.5)),
        "processes": 1,
    }[kind]

    def prepare() -> None:
        if kind == "memory":
            with Path("/proc/self/statm").open() as file:
                used = int(file.read().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + amount, used + amount))
            return
        which = resource.RLIMIT_NOFILE if kind == "files" else resource.RLIMIT_NPROC
        resource.setrlimit(which, (amount, amount))

    return ends(ground, place, stage, whole, prepare, lambda: None, f"{amount} {kind}")
