"""Files that appear whole or not at all: written aside, then renamed."""

import contextlib
import errno
import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from understudy.data.integrity.flock import lock
from understudy.errors import InputError

ASIDE = ".part"  # suffix of a file still being written


@contextlib.contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Yield a path to write to; `path` itself appears, complete, when the block ends well."""
    if not path.name:  # "." or "/"
        raise cannot_write(path, IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)))
    aside = path.with_name(f"{path.name}.{os.getpid()}{ASIDE}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield aside
        with aside.open("r+b") as written:  # Windows flushes only what may be written
            os.fsync(written.fileno())
        aside.replace(path)
    except OSError as failure:
        raise cannot_write(path, failure) from failure
    finally:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)


def append_line(path: Path, line: str) -> None:
    """Add a line in one piece, or nothing: those of several processes do not mix."""
    told = line.encode() + b"\n"
    try:
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            lock(file, wait=True)
            before = os.fstat(file).st_size
            if os.write(file, told) < len(told):
                os.ftruncate(file, before)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        finally:
            os.close(file)
    except OSError as failure:
        raise cannot_write(path, failure) from failure


def cannot_write(path: Path, failure: OSError) -> InputError:
    """What to say of a file that could not be written."""
    return InputError(
        f"cannot write {path}: {failure.strerror or failure}. Nothing half-written was kept; "
        "free some space or choose another --out, then run the same command again"
    )


def write_text(path: Path, text: str) -> None:
    """Write a small text file whole."""
    write_bytes(path, text.encode())  # the same bytes on every system


def write_bytes(path: Path, content: bytes) -> None:
    """Write a small file whole."""
    with writing(path) as aside:
        aside.write_bytes(content)


def read_bytes(path: Path) -> bytes | None:
    """What a file holds; None where there is none. What is no file is refused, not waited for."""
    if not require_file(path):
        return None
    return path.read_bytes()


def require_file(path: Path) -> bool:
    """Whether there is a file; InputError for what else may stand there: a pipe would never end."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        if path.is_symlink():
            raise InputError(f"{path} is a link that leads nowhere. Mend it or delete it") from None
        return False
    if stat.S_ISREG(mode):
        return True
    what = "a folder" if stat.S_ISDIR(mode) else "a pipe or device"
    raise InputError(f"{path} is {what}, not a file. Take it away, then run the same command again")


def read_text(path: Path, cure: str) -> str | None:
    """The text of a file; None where there is none. What is not UTF-8 is refused with a cure."""
    content = read_bytes(path)
    try:
        return None if content is None else content.decode()
    except UnicodeDecodeError as failure:
        raise InputError(f"{path} is not a text in UTF-8 ({failure}). {cure}") from failure


def sweep(folder: Path) -> None:
    """Remove what a killed process left half-written."""
    for leftover in folder.glob(f"**/*{ASIDE}"):
        with contextlib.suppress(FileNotFoundError):
            leftover.unlink()


def digest(path: Path) -> str:
    """A short hash of a file's content."""
    require_file(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def link_folder(link: Path, target: Path, *, within: Path) -> None:
    """A link to a folder, unless there is one; to one within a folder relative to it, so that this
    may be moved."""
    if link.exists():
        return
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    there = target.resolve()
    if there.is_relative_to(within.resolve()):
        there = Path(os.path.relpath(there, link.parent.resolve()))
    try:
        link.symlink_to(there, target_is_directory=True)
    except OSError:  # Windows asks for a right that few have
        shutil.copytree(target, link)
