"""Ways to damage a file: any file, and JSON by its fields."""

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from understudy.data.integrity.seals import KEY

Damage = Callable[[Path, random.Random], None]
_PROOFS = (KEY, "crc")
_VALUES: tuple[str, ...] = (
    *("null", "true", '""', "-1", "1e999", "-Infinity", "NaN", "[]", "{}", "0.5", '"../../x"'),
    *(
        "[[[[]]]]",
        '{"a": {"b": null}}',
        "9" * 5000,
        '"' + "x" * 5000 + '"',
        "[" * 3000 + "]" * 3000,
    ),
    *('"\\ud800"', '"\\u0000"', "18446744073709551616", '["a", 1, null]'),
)
"""What may stand in place of a value, as text."""


def flip_a_bit(path: Path, dice: random.Random) -> None:
    """One bit is another."""
    content = bytearray(path.read_bytes())
    if content:
        content[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
    path.write_bytes(content)


def flip_many(path: Path, dice: random.Random) -> None:
    """A few bytes in a row are others."""
    content = bytearray(path.read_bytes())
    first = dice.randrange(max(1, len(content)))
    content[first : first + 16] = dice.randbytes(len(content[first : first + 16]))
    path.write_bytes(content)


def zero_a_block(path: Path, dice: random.Random) -> None:
    """As after a lost block of a disk."""
    content = bytearray(path.read_bytes())
    first = dice.randrange(max(1, len(content)))
    content[first : first + 512] = bytes(len(content[first : first + 512]))
    path.write_bytes(content)


def cut(path: Path, dice: random.Random) -> None:
    """Its end is missing."""
    content = path.read_bytes()
    path.write_bytes(content[: dice.randrange(len(content) + 1)])


def empty(path: Path, dice: random.Random) -> None:
    """Nothing is left."""
    path.write_bytes(b"")


def lengthen(path: Path, dice: random.Random) -> None:
    """Something follows its end."""
    path.write_bytes(path.read_bytes() + dice.randbytes(dice.randint(1, 300)))


def scramble(path: Path, dice: random.Random) -> None:
    """Something else altogether."""
    path.write_bytes(dice.randbytes(dice.randint(1, 3000)))


def swap(path: Path, dice: random.Random) -> None:
    """Another file of the same kind stands there."""
    others = [other for other in path.parent.glob(f"*{path.suffix}") if other != path]
    if others:
        shutil.copyfile(dice.choice(others), path)
    else:
        empty(path, dice)


def pipe(path: Path, dice: random.Random) -> None:
    """Whoever reads it waits for ever."""
    path.unlink()
    os.mkfifo(path)


def folder(path: Path, dice: random.Random) -> None:
    """A folder stands there."""
    path.unlink()
    path.mkdir()


def dangle(path: Path, dice: random.Random) -> None:
    """A link that leads nowhere."""
    path.unlink()
    path.symlink_to(path.with_name("nothing"))


def remove(path: Path, dice: random.Random) -> None:
    """It is gone."""
    path.unlink()


def change_a_value(path: Path, dice: random.Random) -> None:
    """A value of JSON is another, and nothing proves that it was not so from the beginning."""
    _change(path, dice, dice.choice(_VALUES), sealed=False)


def change_a_sealed_value(path: Path, dice: random.Random) -> None:
    """The same, the seal left as it was."""
    _change(path, dice, dice.choice(_VALUES), sealed=True)


def drop_a_key(path: Path, dice: random.Random) -> None:
    """A value of JSON is missing."""
    _change(path, dice, None, sealed=False)


ANY: dict[str, Damage] = {
    one.__name__.replace("_", " "): one
    for one in (flip_a_bit, flip_many, zero_a_block, cut, empty, lengthen, scramble, swap)
}
IN_ITS_PLACE: dict[str, Damage] = {"pipe": pipe, "folder": folder, "link": dangle, "gone": remove}
OF_JSON: dict[str, Damage] = {
    one.__name__.replace("_", " "): one
    for one in (change_a_value, change_a_sealed_value, drop_a_key)
}


def damages(path: Path) -> dict[str, Damage]:
    """All ways for a file."""
    return ANY | IN_ITS_PLACE | (OF_JSON if path.suffix in (".json", ".jsonl") else {})


def _change(path: Path, dice: random.Random, text: str | None, sealed: bool) -> None:
    """Put a text in place of some value of a JSON file, or of a line of one; None: drop it."""
    *before, last = path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]
    value = json.loads(last)
    if not sealed and isinstance(value, dict):
        value = {name: one for name, one in value.items() if name not in _PROOFS}
    places = list(_places(value))
    place = dice.choice(places) if places else ()
    changed = json.dumps(_put(value, place, text))
    if text is not None:
        changed = changed.replace(f'"{_HERE}"', text)
    path.write_text("\n".join([*before, changed]) + "\n", errors="surrogatepass")


_HERE = "the changed value"


def _places(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if not isinstance(value, dict | list):
        return
    for name, one in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*before, name)
        yield from _places(one, (*before, name))


def _put(value: Any, place: tuple[Any, ...], text: str | None) -> Any:
    if not place:
        return _HERE
    head, *rest = place
    if text is None and not rest:
        if isinstance(value, dict):
            return {name: one for name, one in value.items() if name != head}
        return [one for number, one in enumerate(value) if number != head]
    changed = dict(value) if isinstance(value, dict) else list(value)
    changed[head] = _put(value[head], tuple(rest), text)
    return changed
