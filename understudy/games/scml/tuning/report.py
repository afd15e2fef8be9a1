"""A search, in lines to read; and the files it leaves."""

from pathlib import Path

from understudy.data.files import read_json
from understudy.data.stats import Estimate
from understudy.errors import InputError
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


def told_of(path: Path, place: str) -> dict[str, float]:
    """The numbers of a place in a file that a search has left."""
    found = read_json(path, "It should be a numbers.json of `understudy tune`.")
    if not isinstance(found, dict) or "numbers" not in found:
        raise InputError(f"{path} is no numbers.json of `understudy tune`")
    return {str(name): float(value) for name, value in found["numbers"].get(place, {}).items()}
