"""Which matches are trained on, which tune, which are kept aside: by patch or by time, or by files.

Files are as the seed has them: `train.txt`, `val.txt`, `test.txt`, and for few-shot calibration
`test_calib_N.txt` and `test_eval_N.txt`, a match number a line.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from understudy.data.arrays import Ints
from understudy.data.files import read_text, sweep, write_text
from understudy.errors import InputError
from understudy.games.dota import facts
from understudy.games.dota.features.samples import Outline
from understudy.learn.recipe import TrainOptions

SIZES = (25, 50, 100, 200, 500, 1000)
"""Matches of a new patch to calibrate on."""
LEFT = 100
"""Matches that must be left to judge a calibration on."""
SINCE = 54
"""7.35: older matches are another game, and too few; they only show how strong teams were."""


@dataclass(frozen=True)
class Split:
    """Match numbers."""

    train: Ints
    val: Ints
    test: Ints

    def __post_init__(self) -> None:
        parts = {"train": self.train, "val": self.val, "test": self.test}
        for name, numbers in parts.items():
            if not len(numbers):
                raise InputError(f"no match to {name} on; more matches or another split is needed")
        joined = np.concatenate(list(parts.values()))
        if len(np.unique(joined)) < len(joined):
            raise InputError("a match is in two of train, val and test")


def by_patch(
    matches: Outline, test: int | None = None, since: int = SINCE, val_share: float = 0.1
) -> Split:
    """Train on the patches before, test on the newest (or on `test`); val is the last of before."""
    newest = int(matches.patch.max()) if test is None else test
    if newest not in matches.patch:
        known = ", ".join(facts.patch_name(patch) for patch in np.unique(matches.patch).tolist())
        raise InputError(f"no match of {facts.patch_name(newest)} to test on; there are {known}")
    earlier = matches.match_id[(matches.patch < newest) & (matches.patch >= since)]
    if not len(earlier):
        name = facts.patch_name(newest)
        raise InputError(
            f"no match of {facts.patch_name(since)} or later before {name}: nothing to train on"
        )
    tuned = max(1, round(val_share * len(earlier)))  # matches lie by time: the last of earlier
    return Split(earlier[:-tuned], earlier[-tuned:], matches.match_id[matches.patch == newest])


def by_time(matches: Outline, since: int = SINCE) -> Split:
    """The first 70 % of matches to train on, the next 10 % to tune, the last 20 % to test."""
    kept = matches.match_id[matches.patch >= since]
    first, second = int(0.7 * len(kept)), int(0.8 * len(kept))
    return Split(kept[:first], kept[first:second], kept[second:])


def read_split(folder: Path) -> Split:
    """From files."""
    return Split(*(np.array(list(numbers_in(path)), np.int64) for path in _files(folder)))


def read_few_shot(folder: Path) -> dict[int, tuple[Ints, Ints]]:
    """By size: the matches to calibrate on, and those to score on, as `write_split` wrote them."""
    found = {}
    for size in SIZES:
        paths = _few_shot_files(folder, size)
        if all(path.is_file() for path in paths):
            calibrate, evaluate = (np.array(list(numbers_in(path)), np.int64) for path in paths)
            if np.isin(calibrate, evaluate).any():
                raise InputError(f"{paths[0]} and {paths[1].name} share a match")
            found[size] = calibrate, evaluate
    return found


def _few_shot_files(folder: Path, size: int) -> list[Path]:
    return [folder / f"test_{part}_{size}.txt" for part in ("calib", "eval")]


_NAMES = ("train", "val", "test")
_MOST_DIGITS = 18  # of a match number; more would not fit into 64 bits


def split_files(folder: Path) -> list[Path]:
    """The files that `read_split` reads; InputError where one cannot be used."""
    read_split(folder)
    few = [path for size in read_few_shot(folder) for path in _few_shot_files(folder, size)]
    return _files(folder) + few


def _files(folder: Path) -> list[Path]:
    return [folder / f"{name}.txt" for name in _NAMES]


def asked_patch(recipe: str, options: TrainOptions) -> int | None:
    """The patch a person wants to test on, by OpenDota's number; all that Dota's recipes take."""
    return options.taken_by(recipe, "test").get("test")


def numbers_in(path: Path) -> Iterator[int]:
    """The match numbers of a file."""
    cure = "Make it: understudy split dota"
    text = read_text(path, cure)
    if text is None:
        raise InputError(f"{path} is missing. {cure}")
    for word in text.split():
        if not (word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS):
            raise InputError(f"{path}: '{word[:40]}' is no match number")
        yield int(word)


def write_split(folder: Path, split: Split, seed: int) -> list[Path]:
    """Files for a split and for few-shot calibration; which were written.

    Those of an earlier split go first, and `train.txt` comes last: whoever is stopped in between
    leaves no split, not parts of two.
    """
    files = {name: getattr(split, name) for name in _NAMES}
    for size in SIZES:
        if size + LEFT <= len(split.test):
            calibrate, evaluate = draw(split.test, size, seed, 0)
            files |= {f"test_calib_{size}": calibrate, f"test_eval_{size}": evaluate}
    sweep(folder)
    few = (path for size in SIZES for path in _few_shot_files(folder, size))
    for path in (*_files(folder), *few):
        path.unlink(missing_ok=True)
    paths = {name: folder / f"{name}.txt" for name in files}
    for name in reversed(paths):
        write_text(paths[name], "".join(f"{number}\n" for number in files[name].tolist()))
    return [*paths.values()]


def draw(matches: Ints, size: int, seed: int, turn: int) -> tuple[Ints, Ints]:
    """Some matches at random, and the others; another turn, another draw."""
    # A stream of its own for each size and turn: another list of sizes changes no draw.
    chosen = np.random.default_rng([seed, size, turn]).permutation(len(matches))
    return matches[np.sort(chosen[:size])], matches[np.sort(chosen[size:])]
