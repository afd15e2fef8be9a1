"""JSON on disk: written whole and sealed, read by a declared shape.

A shape is a TypedDict, or any other type that msgspec converts to. What does not fit, cannot be
decoded or has a broken seal is one line: the file, the place in it, and the cure.
"""

import contextlib
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from understudy.data.files import read_bytes, write_bytes
from understudy.data.integrity import seals
from understudy.errors import InputError

T = TypeVar("T")
_CRC = "crc"
_LONGEST = 200  # characters of a reason that is not ours


class DamagedError(InputError):
    """A file of ours that is not as it was written."""


def write_json(path: Path, value: Mapping[str, Any], *, indent: int | None = 2) -> None:
    """Write an object whole, sealed."""
    write_bytes(path, seals.sealed(_text({**value, seals.KEY: seals.BLANK}, indent).encode()))


def read_json(path: Path, shape: type[T], cure: str) -> T | None:
    """What a JSON file holds, without its seal; None where there is no file."""
    content = read_bytes(path)
    if content is None:
        return None
    if seals.is_broken(content):
        raise DamagedError(
            f"{path} is damaged (it does not match its seal). {cure}. (If you changed it yourself: "
            f'take its "{seals.KEY}" out.)'
        )
    found = decoded(content, path, cure)
    claims = isinstance(found, dict) and found.pop(seals.KEY, found) is not found
    if claims and not seals.is_sealed(content):
        raise DamagedError(f"{path} is damaged (its seal is none). {cure}")
    return shaped(found, shape, path, cure)


def json_line(value: Mapping[str, Any]) -> str:
    """An object as a line of a file that grows, with a checksum of its own at its end."""
    text = json.dumps(value, separators=(",", ":"))
    return f'{text[:-1]},"{_CRC}":"{zlib.crc32(text.encode()):08x}"}}\n'


def read_lines(path: Path, shape: type[T], cure: str) -> list[T]:
    """All lines of a file, none where there is none.

    A last line that a killed process left unfinished is not among them.
    """
    return [found for _, found in numbered_lines(path, shape, cure)]


def numbered_lines(path: Path, shape: type[T], cure: str) -> Iterator[tuple[int, T]]:
    """The same one by one, each with its number."""
    whole = (read_bytes(path) or b"").split(b"\n")[:-1]  # at \r, a damaged line would be two
    for number, line in enumerate(whole, start=1):
        yield number, parsed_line(line, shape, path, number, cure)


def parsed_line(line: bytes, shape: type[T], path: Path, number: int, cure: str) -> T:
    """One line of a file."""
    place = f"{path}, line {number},"
    found = decoded(line, place, cure)
    if isinstance(found, dict) and _CRC in found:
        known = found.pop(_CRC)
        before = line.rpartition(f',"{_CRC}":'.encode())[0]
        if known != f"{zlib.crc32(before + b'}'):08x}":
            raise DamagedError(f"{place} is damaged (it does not match its checksum). {cure}")
    return shaped(found, shape, place, cure)


def decoded(content: bytes, place: Path | str, cure: str) -> Any:
    """JSON as values."""
    try:
        found = json.loads(content.decode())
        if b"\\u" in content:  # half of a character can be read, and written nowhere
            json.dumps(found, ensure_ascii=False).encode()
        return found
    except RecursionError as failure:
        raise DamagedError(f"{place} is damaged (nested too deeply). {cure}") from failure
    except ValueError as failure:  # not UTF-8, not JSON, or a number of thousands of digits
        raise DamagedError(f"{place} is damaged ({_reason(failure)}). {cure}") from failure


def shaped(found: Any, shape: type[T], place: Path | str, cure: str) -> T:
    """The value itself, once it has proved to be of a shape; keys beyond it are kept."""
    try:
        msgspec.convert(found, shape)
    except msgspec.ValidationError as failure:
        what = _reason(failure).replace("Object", "it").replace("`", "'")
        raise DamagedError(f"{place} is damaged ({what}). {cure}") from failure
    except RecursionError as failure:
        raise DamagedError(f"{place} is damaged (nested too deeply). {cure}") from failure
    return found


@contextlib.contextmanager
def fitting_together(place: Path, cure: str) -> Iterator[None]:
    """What fails in the block is the fault of files whose parts do not fit together."""
    try:
        yield
    except InputError:
        raise
    except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError) as failure:
        what = f"{type(failure).__name__}: {_reason(failure)}"
        raise DamagedError(f"{place}: its parts do not fit together ({what}). {cure}") from failure


def _text(value: Mapping[str, Any], indent: int | None) -> str:
    return json.dumps(value, indent=indent) + "\n"


def _reason(failure: Exception) -> str:
    text = str(failure).split("\n", 1)[0].rstrip(".")
    text = text if text.isprintable() else ascii(text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
