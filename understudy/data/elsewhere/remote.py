"""Runs that lie at an address, such as s3://bucket/run: a command works on a copy of them here.

Before it begins what is newer there is fetched; while it runs, and when it ends in whatever way,
what is new here is sent, in the order in which it was written. A copy knows what it fetched and
sent last, so nothing travels twice, and what has changed at both places is refused.
"""

import contextlib
import hashlib
import os
import re
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypedDict

from understudy.data.files import ASIDE, digest, write_bytes
from understudy.data.integrity.json_files import read_json, write_json
from understudy.data.integrity.locks import LOCK
from understudy.errors import InputError
from understudy.redaction import redacted_text

ADDRESS = re.compile(r"(s3|gs|gcs|abfs|abfss|az|hdfs)://[^,]+")
COPIES = "UNDERSTUDY_COPIES"
"""Of the environment: where copies lie, ~/.cache/understudy/copies unless told otherwise."""
_EVERY = 30.0  # seconds between two looks for what is to be sent
_INDEX = ".index.json"


class Index(TypedDict):
    """What was the same at both places when we last looked."""

    files: dict[str, list[str]]
    """By name: the digest here, and what stands for the content there."""


class Copy:
    """The copy of a folder at an address."""

    def __init__(self, address: str) -> None:
        from pyarrow import fs

        self.title = redacted_text(address)
        try:
            self._there, self._root = fs.FileSystem.from_uri(address.rstrip("/"))
        except (OSError, ValueError, ImportError) as failure:
            raise self._cannot("be used", failure) from failure
        root = os.environ.get(COPIES) or Path.home() / ".cache" / "understudy" / "copies"
        name = hashlib.blake2b(address.rstrip("/").encode(), digest_size=6).hexdigest()
        last = re.sub(r"[^\w.-]", "_", address.partition("?")[0].rstrip("/").rpartition("/")[2])
        self.folder = Path(root).expanduser() / f"{last}-{name}"
        self._index_path = self.folder.with_name(self.folder.name + _INDEX)
        found = read_json(self._index_path, Index, f"Delete it, and {self.folder}")
        self._index = {} if found is None else dict(found["files"])
        self._sending = threading.Lock()

    def fetch(self) -> None:
        """Take over what has changed there."""
        there = self._listed()
        for name, stamp in there.items():
            known, path = self._index.get(name), self.folder / name
            if known is not None and known[1] == stamp:
                continue
            if known is not None and path.is_file() and digest(path) != known[0]:
                raise InputError(
                    f"{name} has changed both at {self.title} and in its copy here. Delete the "
                    f"copy, {self.folder}, or what lies there, then run the same command again"
                )
            write_bytes(path, self._read(name))
            self._index[name] = [digest(path), stamp]
        for name in [name for name in self._index if name not in there]:
            (self.folder / name).unlink(missing_ok=True)
            del self._index[name]
        self._note()

    def send(self) -> int:
        """Send what has changed here; how many files."""
        with self._sending:
            here = self._here()
            changed = [
                (path, name, known)
                for path, name, known in here
                if self._index.get(name, [""])[0] != known
            ]
            for path, name, known in changed:
                with contextlib.suppress(FileNotFoundError):  # deleted just now
                    self._write(name, path.read_bytes())
                    self._index[name] = [known, ""]
            gone = self._index.keys() - {name for _, name, _ in here}
            for name in gone:
                self._delete(name)
                del self._index[name]
            if changed or gone:
                there = self._listed()
                for _, name, _ in changed:
                    if name in self._index:
                        self._index[name][1] = there.get(name, "")
                self._note()
            return len(changed)

    def _here(self) -> list[tuple[Path, str, str]]:
        """All whole files, those written first before others, and what stands for each."""
        found = list[tuple[int, Path]]()
        for path in self.folder.rglob("*"):
            with contextlib.suppress(FileNotFoundError):
                if path.is_file() and not _is_passing(path.name):
                    found.append((path.stat().st_mtime_ns, path))
        files = list[tuple[Path, str, str]]()
        for _, path in sorted(found):
            with contextlib.suppress(FileNotFoundError):
                files.append((path, path.relative_to(self.folder).as_posix(), digest(path)))
        return files

    def _note(self) -> None:
        write_json(self._index_path, {"files": self._index})

    # What fails is told in one line, whatever the store says of it.

    def _listed(self) -> dict[str, str]:
        from pyarrow import fs

        look = fs.FileSelector(self._root, allow_not_found=True, recursive=True)
        try:
            found = self._there.get_file_info(look)
        except OSError as failure:
            raise self._cannot("be read", failure) from failure
        return {
            info.path.removeprefix(self._root).lstrip("/"): f"{info.size} {info.mtime_ns}"
            for info in found
            if info.type == fs.FileType.File
        }

    def _read(self, name: str) -> bytes:
        try:
            with self._there.open_input_stream(f"{self._root}/{name}") as file:
                return bytes(file.read())
        except OSError as failure:
            raise self._cannot("be read", failure) from failure

    def _write(self, name: str, content: bytes) -> None:
        try:
            with self._there.open_output_stream(f"{self._root}/{name}") as file:
                file.write(content)
        except OSError as failure:
            raise self._cannot("be written", failure) from failure

    def _delete(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._there.delete_file(f"{self._root}/{name}")

    def _cannot(self, what: str, failure: Any) -> InputError:
        reason = redacted_text(" ".join(str(failure).split()))[:200]
        return InputError(
            f"{self.title} cannot {what} ({reason}). Look at the address and at what lets you in "
            "(AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL, …), then run the same command again; what was "
            "done is kept here"
        )


def _is_passing(name: str) -> bool:
    """Whether a file is of no use to others."""
    return name.endswith(ASIDE) or name.startswith(LOCK.partition("{")[0])


@contextlib.contextmanager
def copied(arguments: Sequence[str]) -> Iterator[list[str]]:
    """The arguments of a command, with copies in place of addresses, for as long as it runs."""
    copies = dict[str, Copy]()

    def local(found: re.Match[str]) -> str:
        if found[0] not in copies:
            copies[found[0]] = Copy(found[0])
            copies[found[0]].fetch()
        return str(copies[found[0]].folder)

    told = [_local(argument, local) for argument in arguments]
    if not copies:
        yield told
        return
    ended = threading.Event()
    sender = threading.Thread(target=_send_now_and_then, args=(copies, ended), daemon=True)
    sender.start()
    try:
        yield told
    finally:
        ended.set()
        sender.join()
        for copy in copies.values():
            if count := copy.send():
                print(f"{count} files sent to {copy.title}", file=sys.stderr)


def _local(argument: str, local: Any) -> str:
    """An address stands alone, in a list by comma, or after --option=."""
    before, is_option, value = (
        argument.partition("=") if argument.startswith("--") else ("", "", argument)
    )
    parts = [
        ADDRESS.sub(local, part) if ADDRESS.fullmatch(part) else part for part in value.split(",")
    ]
    return f"{before}{is_option}{','.join(parts)}"


def _send_now_and_then(copies: dict[str, Copy], ended: threading.Event) -> None:
    while not ended.wait(_EVERY):
        for copy in copies.values():
            with contextlib.suppress(InputError):  # it is told at the end
                copy.send()
