"""A search, in lines to read; and the files it leaves."""

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path

import numpy as np

from understudy.data.arrays import Floats
from understudy.data.integrity.json_files import read_json
from understudy.data.integrity.shapes import TunedNumbers
from understudy.data.stats import Estimate, student
from understudy.errors import InputError
from understudy.games.scml.players.steward_numbers import PLACES
from understudy.games.scml.tuning.search import Generation


def generation_line(generation: Generation) -> str:
    """What a generation tried, and what it was worth."""
    tried = ", ".join(f"{name} {value:g}" for name, value in sorted(generation.tried.items()))
    verdict = "better" if generation.accepted else "not surely better"
    return (
        f"{generation.number}: {generation.gain:+.4f} (se {generation.error:.4f}) {verdict}: "
        f"{tried or 'nothing new'}"
    )


def confirmed_line(place: str, gain: Estimate) -> str:
    """What the plan found is worth."""
    return (
        f"{place}: {gain.value:+.4f} [{gain.low:+.4f}, {gain.high:+.4f}] above the original "
        f"in {gain.n:,} worlds that chose nothing"
    )


def comparison_lines(
    scores: Mapping[str, Floats], base: str, places: Sequence[str], confidence: float = 0.95
) -> list[str]:
    """A table in Markdown: what others score in the same factories beside one of them.

    `scores` by name, world by world; `places` of the factory that changes hands.
    """
    rows = {"all": np.ones(len(places), bool)}
    rows |= {place: np.array(places) == place for place in PLACES}
    rows = {name: chosen for name, chosen in rows.items() if chosen.any()}
    heads = [f"{name}, {chosen.sum():,} worlds" for name, chosen in rows.items()]
    found = ["| | " + " | ".join(heads) + " |", "|---" * (len(rows) + 1) + "|"]
    own = [f"{scores[base][chosen].mean():.3f}" for chosen in rows.values()]
    found.append(f"| {base} | " + " | ".join(own) + " |")
    for name, values in scores.items():
        if name != base:
            apart, tail = values - scores[base], (1 - confidence) / 2
            gaps = [student(apart[chosen].tolist(), tail) for chosen in rows.values()]
            cells = [f"{gap.value:+.4f} [{gap.low:+.4f}, {gap.high:+.4f}]" for gap in gaps]
            found.append(f"| {name} | " + " | ".join(cells) + " |")
    return found


def told_of(path: Path, place: str) -> dict[str, float]:
    """The numbers of a place in a file that a search has left."""
    found = read_json(path, TunedNumbers, "It should be a numbers.json of `understudy tune`")
    if found is None:
        raise InputError(f"{path} is no numbers.json of `understudy tune`")
    told = {name: float(value) for name, value in found["numbers"].get(place, {}).items()}
    if wrong := [name for name, value in told.items() if not isfinite(value)]:
        raise InputError(f"{path}: '{wrong[0]}' is no number. Make it again: understudy tune")
    return told
