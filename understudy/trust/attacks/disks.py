"""Disks that are full or read-only: by limits, and as file systems of their own."""

import ctypes
import os
import random
import shutil
import signal
from functools import partial
from pathlib import Path

from understudy.trust.attacks.machine import ends, started
from understudy.trust.attacks.stages import with_workers
from understudy.trust.campaign import Attack, Fault, Ground, faults_of
from understudy.trust.command import run, shown
from understudy.trust.sameness import differences

_NEW_MOUNTS = 0x20000  # CLONE_NEWNS
_NEW_USER = 0x10000000  # CLONE_NEWUSER
_BIND = 0x1000
_READ_ONLY = 0x1
_AGAIN = 0x20  # MS_REMOUNT
_PRIVATE = 0x40000 | 0x4000  # MS_PRIVATE | MS_REC


def full(ground: Ground, place: Path, dice: random.Random) -> Attack:
    """Files cannot grow beyond some size; afterwards the same command goes on."""
    whole, case, stage = started(ground, place, dice)
    size = int(10 ** dice.uniform(0, 5))

    def prepare() -> None:
        import resource  # POSIX only

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    arguments = [*with_workers(stage.command, 0), "--out", str(case)]
    faults = faults_of(run(ground.main, arguments, prepare=prepare))
    last = run(ground.main, arguments, seconds=600)
    faults += faults_of(last)
    if last.code or (wrong := differences(whole / stage.makes, case / stage.makes)):
        faults.append(Fault("lost", last.err.strip()[-200:] if last.code else wrong[0]))
    return Attack(f"{stage.makes}, files up to {size} bytes", shown(arguments, place), faults)


def mounted(ground: Ground, place: Path, dice: random.Random) -> Attack:
    """The run lies on a file system that is read-only, or that is full a little later."""
    whole, case, stage = started(ground, place, dice)
    if run(_own_mounts, []).code != 0:
        return Attack("no file systems of one's own here", "", [], 0)
    if dice.random() < 0.5:
        return ends(
            *(ground, place, stage, whole, partial(_read_only, case), lambda: None, "read-only")
        )
    left, under = int(10 ** dice.uniform(0, 5)), place / "under"
    under.mkdir()
    return ends(
        *(ground, place, stage, whole, partial(_filled, case, under, left), lambda: None),
        f"a disk with {left} bytes left",
        ended=partial(_kept, case, under),
    )


def _own_mounts() -> None:
    """What this process mounts is seen by nobody else, and gone when it ends."""
    user, group = os.geteuid(), os.getegid()
    _called("unshare", _NEW_MOUNTS | (_NEW_USER if user else 0))
    if user:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    _called("mount", None, b"/", None, _PRIVATE, None)


def _read_only(case: Path) -> None:
    _own_mounts()
    here = str(case).encode()
    _called("mount", here, here, None, _BIND, None)
    _called("mount", here, here, None, _BIND | _AGAIN | _READ_ONLY, None)


def _filled(case: Path, under: Path, left: int) -> None:
    """A file system in memory that holds the run, and little more."""
    _own_mounts()
    here = str(case).encode()
    _called("mount", here, str(under).encode(), None, _BIND, None)
    _called("mount", b"none", here, b"tmpfs", 0, b"size=1g")
    shutil.copytree(under, case, dirs_exist_ok=True, symlinks=True)
    used = os.statvfs(case)
    size = (used.f_blocks - used.f_bfree) * used.f_frsize + left
    _called("mount", b"none", here, b"tmpfs", _AGAIN, f"size={size}".encode())


def _kept(case: Path, under: Path) -> None:
    """What lies on it now is kept where it came from."""
    for old in under.iterdir():
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    shutil.copytree(case, under, dirs_exist_ok=True, symlinks=True)


def _called(name: str, *told: object) -> None:
    """A call of the system that must succeed."""
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*told):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)
