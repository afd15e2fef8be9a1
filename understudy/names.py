"""Names of runs, models, leagues, matches and players: one rule for all.

A name becomes a folder or a file, a line of a table and a word on a page. So it is one word of a
path and nothing else, and it looks like what it is.
"""

import hashlib
import unicodedata
from collections.abc import Sequence

from understudy.errors import InputError

LONGEST = 200
"""Bytes of a name; file systems allow 255, and we add suffixes."""


def fault_of(name: str) -> str | None:
    """What is wrong with a name, to stand after it; None where nothing is."""
    if not name.strip() or name != name.strip():
        return "is empty or begins or ends with a space"
    if name.strip(".") == "":
        return "means a folder, not a name"
    if "/" in name or "\\" in name:
        return "holds a / or \\"
    # C*: control characters, marks that turn the direction of text, halves of characters.
    if any(unicodedata.category(sign)[0] == "C" or sign in "\u2028\u2029" for sign in name):
        return "holds a character that cannot be seen"
    if len(name.encode()) > LONGEST:
        return f"is longer than {LONGEST} bytes"
    return None


def fault_of_place(name: str) -> str | None:
    """The same for a match that is called by the place of its log: plain names joined by /."""
    return next((fault for part in name.split("/") if (fault := fault_of(part))), None)


def plain_name(name: str, what: str) -> str:
    """The name itself; one that is no plain name of `what` is refused."""
    if fault := fault_of(name):
        raise InputError(f"{what} must be a plain name, and {shown(name)} {fault}")
    return name


def joined(words: Sequence[object], most: int = 100) -> str:
    """One name of several words; where that is too long its beginning, and a stamp of the whole."""
    whole = "-".join(map(str, words))
    if len(whole.encode()) <= most:
        return whole
    stamp = hashlib.sha256(whole.encode()).hexdigest()[:8]
    return f"{whole.encode()[:most].decode(errors='ignore').rstrip('-. ')}-{stamp}"


def shown(name: str) -> str:
    """A name as a message may show it: short, and nothing in it that a terminal obeys."""
    text = ascii(name) if not name.isprintable() else f"'{name}'"
    return text if len(text) <= 60 else f"{text[:57]}..."
