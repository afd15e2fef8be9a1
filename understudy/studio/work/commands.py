"""Command lines: from what a form says, and from what a manifest remembers."""

from collections.abc import Sequence
from pathlib import Path

from understudy.errors import InputError
from understudy.names import shown
from understudy.redaction import GONE
from understudy.studio.sent import Sent
from understudy.studio.work.fields import Field

VERBS = ("record", "encode", "train", "league", "compete")
"""What can be begun here; each works in a run and can be stopped and gone on with."""
MOST_WORDS = 300
_OUT = ("--out", "-o")


def command_of(
    verb: str, game: str, run: Path, fields: Sequence[Field], settings: Sequence[Field], told: Sent
) -> list[str]:
    """The words after `understudy` that a filled-in form stands for."""
    words = [verb, game, *_placed(fields, told), "--out", str(run)]
    for field in fields:
        words += _optional(field, told)
    for field in settings:
        value = field.read(told.one(f"set:{field.name}", field.default))
        if value and value != field.default:
            words += ["--set", f"{field.name}={value}"]
    if told.one("fresh") == "on":
        words.append("--fresh")
    return words


def _placed(fields: Sequence[Field], told: Sent) -> list[str]:
    """Those that have their place, in order."""
    found = list[str]()
    for field in fields:
        if not field.option:
            value = field.read(told.one(field.sent_as, field.default))
            found += value.replace(",", " ").split() if field.kind == "list" else [value]
    for word in found:
        if word.startswith("-"):
            raise InputError(f"{shown(word)} looks like an option; it cannot stand there")
    return [word for word in found if word]


def _optional(field: Field, told: Sent) -> list[str]:
    if not field.option:
        return []
    if field.kind == "switch":
        wanted, usual = told.one(field.sent_as) == "on", field.default == "True"
        asked = f"asked:{field.sent_as}" in told  # a box that is not ticked sends nothing
        return [field.option if wanted else field.off] if asked and wanted != usual else []
    value = field.read(told.one(field.sent_as, field.default))
    return [f"{field.option}={value}"] if value and value != field.default else []


def remembered(command: Sequence[str], run: Path) -> list[str]:
    """The words of a manifest's command, for a run that may lie elsewhere by now."""
    words = list(command[1:])
    if not words or words[0] not in VERBS or len(words) > MOST_WORDS:
        raise InputError(f"{shown(' '.join(command[:3]))} is no command that can be gone on with")
    if any(GONE in word for word in words) or not all(word.isprintable() for word in words):
        raise InputError("its command line held a secret, which is not kept: run it in a shell")
    kept, skip = list[str](), False
    for word in words:
        if skip or word in _OUT:
            skip = not skip
        elif not word.startswith("--out=") and word not in ("--fresh", "--background"):
            kept.append(word)
    return [*kept, "--out", str(run)]


def cores_of(words: Sequence[str], most: int) -> int:
    """How many cores a command keeps busy: those it says, else all."""
    for place, word in enumerate(words):
        name, _, value = word.partition("=")
        if name == "--workers":
            told = value or (words[place + 1] if place + 1 < len(words) else "")
            return min(most, max(1, int(told))) if told.isdecimal() else 1
    return most
