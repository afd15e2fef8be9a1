"""Manifests: how what lies in a folder was made, so that the same work goes on and other does not.

`begin` claims a folder, `finish` notes that it is complete; a manifest holds the command, the
settings, versions, and every input with its hash.
"""

import json
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from understudy.data.files import digest, sweep
from understudy.data.integrity.json_files import read_json, write_json
from understudy.data.integrity.locks import claimed, release
from understudy.data.integrity.shapes import Manifest
from understudy.errors import InputError
from understudy.redaction import redacted, redacted_command
from understudy.versions import hash_seed, versions

MANIFEST = "manifest.json"
PART = "job"
"""The stage of work that is a part of another's, and lies in its folder."""


def begin(
    folder: Path,
    stage: str,
    settings: Mapping[str, Any],
    *,
    inputs: Mapping[str, Path] = MappingProxyType({}),
    resume: bool = True,
    growing: Sequence[str] = (),
) -> None:
    """Claim a folder for one piece of work, or go on with the same work begun earlier.

    Work is the same when stage, settings, and names and content of the inputs are. Other work in
    the folder is an error with `resume`. Without it, what this stage made there earlier is deleted,
    and nothing else: not its inputs, not what another stage made, not what nobody here made. More
    of the same work is not other work: the first setting of `growing` may have become larger, and
    then the rest of them may differ as well.
    """
    with claimed(folder):  # before anything is deleted: it may be another's half-written file
        if not resume:
            _require_outside(folder, inputs.values())
            _delete(folder, stage)
        sweep(folder)
        wanted = {
            "stage": stage,
            "settings": redacted(json.loads(json.dumps(settings))),
            "inputs": {name: digest(path) for name, path in inputs.items()},
        }
        found, command = read_manifest(folder), redacted_command(sys.argv)
        if found is None and folder.is_dir() and any(folder.iterdir()):
            raise InputError(
                f"{folder} holds files but no {MANIFEST} that says how they were made. "
                "Choose another --out, or take them away yourself"
            )
        if found is not None:
            grew = _grown(found, wanted, growing)
            if differs := _difference(grew or found, wanted):
                raise InputError(
                    f"{folder} holds other work: {differs}. "
                    "Choose another --out, or --fresh to delete it and start over"
                )
            if grew is not None:
                _write_manifest(folder, found | wanted | {"command": command, "finished": None})
            return
        _write_manifest(
            folder,
            wanted
            | {"command": command, "versions": versions(), "hash_seed": hash_seed()}
            | {"begun": _now(), "finished": None},
        )


def _grown(
    found: Mapping[str, Any], wanted: Mapping[str, Any], growing: Sequence[str]
) -> dict[str, Any] | None:
    """The manifest as if the work had been so large from the beginning; None: it is not larger."""
    old, new = found.get("settings", {}), wanted["settings"]
    before, now = (settings.get(growing[0], 0) if growing else None for settings in (old, new))
    if not (isinstance(before, int) and isinstance(now, int) and before < now):
        return None
    larger = {name: new[name] for name in growing if name in new}
    return {**found, "settings": old | larger}


def finish(folder: Path, **facts: Any) -> None:
    """Note in the manifest that the work is complete, with what is worth knowing about it."""
    manifest = read_manifest(folder)
    assert manifest is not None, f"{folder} was never begun"
    _write_manifest(folder, manifest | {"finished": manifest["finished"] or _now(), "facts": facts})
    release(folder)


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """A folder's manifest; None where there is none."""
    cure = f"Delete {folder} and run the same command again"
    found = read_json(folder / MANIFEST, Manifest, cure)
    if found is None:
        return None
    for name, time in (("begun", found["begun"]), ("finished", found["finished"])):
        if time is not None and not _is_time(time):
            raise InputError(f"{folder / MANIFEST}: '{name}' is no time ({time[:40]!r}). {cure}")
    return {**found}


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _require_outside(folder: Path, inputs: Iterable[Path]) -> None:
    for path in inputs:
        if path.resolve().is_relative_to(folder.resolve()):
            raise InputError(
                f"--fresh would delete {folder}, and with it {path}, which is to be read. "
                "Copy that elsewhere and name the copy, or leave out --fresh"
            )


def _delete(folder: Path, stage: str) -> None:
    """Delete what lies in a folder that a stage claimed, its manifest last: it marks the rest."""
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    for path in [folder / MANIFEST, *sorted(folder.glob(f"*/**/{MANIFEST}"))]:
        found = read_manifest(path.parent)
        if found is None or found["stage"] not in (stage, PART):
            maker = f"'{found['stage']}' made" if found else "no stage of ours says it made"
            raise InputError(
                f"--fresh deletes only what '{stage}' made, and {maker} {path.parent}. "
                "Choose another --out, or take that away yourself"
            )
    try:
        for path in sorted(folder.iterdir(), key=lambda path: path.name == MANIFEST):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
    except OSError as failure:
        raise InputError(
            f"cannot delete {failure.filename}: {failure.strerror}. The same command goes on"
        ) from failure


def _difference(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """The first thing in which two manifests describe different work, in words; "" if none."""
    if found.get("stage") != wanted["stage"]:
        return f"it was made by '{found.get('stage')}', not '{wanted['stage']}'"
    old, new = found.get("settings", {}), wanted["settings"]
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            return _changed(name, old.get(name), new.get(name))
    if found.get("inputs", {}) != wanted["inputs"]:
        return "its inputs have changed since"
    return ""


def _changed(name: str, old: Any, new: Any) -> str:
    """What a setting was and is; of one with entries the first that differs."""
    while isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        within = next(key for key in sorted(old) if old[key] != new[key])
        name, old, new = f"{name} of {within}", old[within], new[within]
    return f"{name} was {_short(old)}, now {_short(new)}"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    write_json(folder / MANIFEST, manifest)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


# --- how recordings grow -------------------------------------------------------------------------

PARTS = "parts"
"""What was recorded stays as it is. More of it is cut into tasks of its own, so the manifest keeps
at which sizes it was cut, and the same command finds the same tasks again."""


class Size(NamedTuple):
    """How large a recording is to be."""

    total: int
    parts: tuple[int, ...] = ()
    """How large it was before it grew, each time."""


def grown(folder: Path, name: str, asked: int, more: int | None, resume: bool = True) -> Size:
    """The size of a recording by the setting `name`: as asked, or so many more than there are.

    While a recording is not finished, asking for more finishes it: the same command goes on.
    """
    if more is not None and more < 1:
        raise InputError(f"--more must be at least 1, not {more}")
    manifest = read_manifest(folder) if resume else None
    known = {} if manifest is None else manifest["settings"]
    there, parts = known.get(name), tuple(known.get(PARTS, ()))
    if not isinstance(there, int):
        return Size(asked if more is None else more)
    if more is not None:
        asked = there if manifest and manifest["finished"] is None else there + more
    if asked == there:
        return Size(asked, parts)
    return Size(asked, (*parts, there) if asked > there else ())


def cuts(size: Size) -> list[tuple[int, int]]:
    """From which to which number each part goes."""
    ends = [*size.parts, size.total]
    return list(zip([0, *ends[:-1]], ends, strict=True))
