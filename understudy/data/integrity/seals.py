"""Seals: a file carries the hash of all its other bytes, so that a flipped bit is found.

The seal stands where the format has room for text: in JSON under the last key, in safetensors and
Parquet in the metadata, after the end of a torch checkpoint. It is the hash of the file with the
digits of the seal as zeros. A file without a seal was made before there were any, or by others: it
is read as it is.
"""

import hashlib
import mmap
from functools import lru_cache
from pathlib import Path

KEY = "seal"
_MARK = b"understudy-blake2b:"
_HALVES = _MARK[:13], _MARK[13:]
_DIGITS = 32
BLANK = (_MARK + b"0" * _DIGITS).decode()
"""What a writer puts where the seal will stand."""

Bytes = bytes | bytearray | mmap.mmap


def sealed(content: bytes) -> bytes:
    """The content with its last blank seal filled in."""
    place = content.rfind(BLANK.encode())
    if place < 0:
        raise ValueError("there is no place for a seal")
    digits = place + len(_MARK)
    filled = bytearray(content)
    filled[digits : digits + _DIGITS] = _hash(content, digits)
    return bytes(filled)


def seal_file(path: Path) -> None:
    """Fill in the seal of a file that is not in use yet."""
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as content:
        place = content.rfind(BLANK.encode())
        if place < 0:
            raise ValueError(f"{path}: there is no place for a seal")
        digits = place + len(_MARK)
        content[digits : digits + _DIGITS] = _hash(content, digits)


def is_sealed(content: Bytes) -> bool:
    """Whether it carries a seal, right or wrong."""
    return _place(content) is not None


def is_broken(content: Bytes) -> bool:
    """Whether it carries a seal that is not its own."""
    place = _place(content)
    if place is None:  # half of a mark: the other half was hit
        return any(content.rfind(half) >= 0 for half in _HALVES)
    found = content[place : place + _DIGITS]
    # A blank one was copied by another program, which knows nothing of seals.
    return found != b"0" * _DIGITS and found != _hash(content, place)


def is_unmarked(note: bytes | None) -> bool:
    """Whether what a format's metadata keeps as the seal is none: its mark was hit."""
    return note is not None and not note.startswith(_MARK)


def is_broken_file(path: Path) -> bool:
    """The same for a file, read once as long as it does not change."""
    stat = path.stat()
    return _is_broken(path, stat.st_mtime_ns, stat.st_size, stat.st_ino)


@lru_cache(maxsize=65_536)
def _is_broken(path: Path, _changed: int, size: int, _inode: int) -> bool:
    if size == 0:
        return False
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return is_broken(content)


def _place(content: Bytes) -> int | None:
    """Where the digits of the last seal begin."""
    place = content.rfind(_MARK)
    return None if place < 0 else place + len(_MARK)


def _hash(content: Bytes, digits: int) -> bytes:
    """Of all bytes, those of the seal as zeros."""
    found = hashlib.blake2b(digest_size=_DIGITS // 2)
    with memoryview(content) as view:
        found.update(view[:digits])
        found.update(b"0" * _DIGITS)
        found.update(view[digits + _DIGITS :])
    return found.hexdigest().encode()
