"""Tasks for machines that share no folder with us: files travel with them, and come back.

A task that writes files says where (`Shipment.makes`), and which it reads from a folder of ours
(`reads`). Elsewhere both are a folder of the task's own, which is gone when it ends; what it left
there comes back with its value, in the order in which it was written. Paths of models and of single
files in its argument stand for their content, which every worker is told once.
"""

import hashlib
import io
import os
import pickle
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

Put = Callable[[Path, bytes], None]
"""Writes a file whole."""
_MOST = 256 << 20
"""Bytes of one model or file; what is larger is no part of a task."""
_LEFT_OUT = ("checkpoint.pt", ".part")
_STORE = f"understudy-{getattr(os, 'getuid', lambda: 'files')()}"  # Windows has no numbers


class Shipment(NamedTuple):
    """The files of one task."""

    makes: Path
    """The folder it writes into."""
    source: Path | None = None
    """The folder it reads from."""
    reads: tuple[Path, ...] = ()
    """Files of that folder."""


@dataclass(frozen=True)
class Parcel:
    """A task's argument and files, as they travel."""

    argument: bytes
    reads: Mapping[str, bytes]
    """By place in the source."""


class Returned(NamedTuple):
    """What comes back."""

    value: Any
    made: list[tuple[str, bytes]]


Bundle = Mapping[str, bytes]
"""Files by name: those of a model, or one."""


def packed(argument: Any, shipment: Shipment) -> tuple[Parcel, dict[str, Bundle]]:
    """The argument as it travels, and the bundles that it names by their digests."""
    out = io.BytesIO()
    packer = _Packer(out, shipment)
    packer.dump(argument)
    source = shipment.source or shipment.makes
    reads = {
        path.relative_to(source).as_posix(): path.read_bytes()
        for path in shipment.reads
        if path.is_file()
    }
    return Parcel(out.getvalue(), reads), packer.bundles


class _Packer(pickle.Pickler):
    def __init__(self, out: io.BytesIO, shipment: Shipment) -> None:
        super().__init__(out)
        self.bundles: dict[str, Bundle] = {}
        self._digests: dict[Path, str] = {}
        self._places = {shipment.source or shipment.makes: "source", shipment.makes: "made"}

    def reducer_override(self, found: Any) -> Any:
        if not isinstance(found, Path):
            return NotImplemented
        if found in self._places:
            return _place, (self._places[found],)
        if not (found.is_file() or any(found.glob("weights.*"))):
            return NotImplemented
        if found not in self._digests:
            files = dict(_content(found))
            self._digests[found] = _digest(files)
            self.bundles[self._digests[found]] = files
        return _bundle, (self._digests[found], found.name, found.is_file())


def _content(path: Path) -> Iterator[tuple[str, bytes]]:
    files = [path] if path.is_file() else sorted(one for one in path.iterdir() if one.is_file())
    for file in files:
        if not file.name.endswith(_LEFT_OUT) and file.stat().st_size <= _MOST:
            yield file.name, file.read_bytes()


def _digest(files: Bundle) -> str:
    total = hashlib.blake2b(digest_size=16)
    for name, content in files.items():
        total.update(f"{name} {len(content)} ".encode() + content)
    return total.hexdigest()


def store(digest: str, files: Bundle) -> None:
    """Keep a bundle on this machine; whoever else keeps it here as well writes the same."""
    folder = _stored(digest)
    if folder.is_dir():
        return
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(dir=folder.parent))
    for name, content in files.items():
        (aside / name).write_bytes(content)
    try:
        aside.rename(folder)
    except OSError:  # somebody else was quicker
        for path in aside.iterdir():
            path.unlink()
        aside.rmdir()


def _stored(digest: str) -> Path:
    return Path(tempfile.gettempdir()) / _STORE / digest


# --- On the worker -------------------------------------------------------------------------------

_HERE: dict[str, Path] = {}
"""Where the task that runs in this process finds and leaves its files."""


def _place(which: str) -> Path:
    return _HERE[which]


def _bundle(digest: str, name: str, is_file: bool) -> Path:
    folder = _stored(digest)
    return folder / name if is_file else folder


def call(function: Callable[[Any], Any], parcel: Parcel) -> Returned:
    """Run a task in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="understudy-task-") as folder:
        made, source = Path(folder) / "made", Path(folder) / "source"
        for place in (made, source):
            place.mkdir()
        for name, content in parcel.reads.items():
            path = source / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        _HERE.update(made=made, source=source)
        value = function(pickle.loads(parcel.argument))
        files = [path for path in made.rglob("*") if path.is_file()]
        files.sort(key=lambda path: (path.stat().st_mtime_ns, path.name))
        return Returned(value, [(p.relative_to(made).as_posix(), p.read_bytes()) for p in files])


def unpacked(returned: Returned, shipment: Shipment, put: Put) -> Any:
    """Put down what came back, in the order in which it was written; the task's value."""
    for name, content in returned.made:
        path = shipment.makes / name
        if not path.resolve().is_relative_to(shipment.makes.resolve()):
            raise ValueError(f"a task left {name}, which is outside of its folder")
        put(path, content)
    return returned.value
