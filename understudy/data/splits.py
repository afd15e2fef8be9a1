"""Which matches are trained on, which tune, which are kept aside. By match, never by row."""

import zlib
from collections.abc import Iterable

SPLITS = ("train", "val", "test")
_SHARES = (80, 90, 100)  # per cent, cumulative


def split_of(group: str) -> str:
    """The split of a group of matches that belong together (same seed, same world).

    It depends on the group's name alone, so it does not change when more matches are added.
    """
    position = zlib.crc32(group.encode()) % 100
    return SPLITS[sum(position >= share for share in _SHARES)]


def splits_of(groups: Iterable[str]) -> list[str]:
    """`split_of` for many."""
    known: dict[str, str] = {}
    return [known.setdefault(group, split_of(group)) for group in groups]
