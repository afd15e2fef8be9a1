"""What a person says of a run: tags and a note, kept beside it and read by anybody."""

from typing import NamedTuple, TypedDict

from understudy.data.integrity.json_files import read_json, write_json
from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.names import fault_of

LONGEST_NOTE = 20_000
MOST_TAGS = 20
LONGEST_TAG = 40


class _Shape(TypedDict):
    tags: list[str]
    note: str


class Notes(NamedTuple):
    """What was said of a run."""

    tags: tuple[str, ...] = ()
    note: str = ""


def read_notes(run: Run) -> Notes:
    """What was said; nothing where nobody said anything, or it cannot be read."""
    try:
        found = read_json(run.notes, _Shape, "Delete it")
    except (InputError, OSError):
        return Notes()
    return Notes() if found is None else Notes(tuple(found["tags"]), found["note"])


def write_notes(run: Run, tags: str, note: str) -> Notes:
    """Write down tags, given by comma, and a note."""
    words = tuple(dict.fromkeys(tag.strip() for tag in tags.split(",") if tag.strip()))
    for tag in words:
        if (fault := fault_of(tag)) or len(tag) > LONGEST_TAG:
            raise InputError(f"a tag {fault or f'is longer than {LONGEST_TAG} characters'}")
    if len(words) > MOST_TAGS:
        raise InputError(f"{len(words)} tags are too many; {MOST_TAGS} may be given")
    text = note.replace("\r\n", "\n").strip()
    if len(text) > LONGEST_NOTE:
        raise InputError(f"the note is longer than {LONGEST_NOTE:,} characters")
    told = Notes(words, text)
    if told == Notes() and not run.notes.is_file():
        return told
    write_json(run.notes, {"tags": list(words), "note": text})
    return told
