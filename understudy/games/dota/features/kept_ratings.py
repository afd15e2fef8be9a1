"""Ratings that are kept with a model, so that matches of a run that is new begin from them.

They know every result up to `Ratings.until`, so nothing that began before is rated by them: such a
match would see its own future. Teams go by OpenDota's numbers, without names or players.
"""

from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

import pyarrow as pa

from understudy.data import shards
from understudy.data.integrity.json_files import read_json, write_json
from understudy.data.integrity.shapes import TeamRatings
from understudy.errors import InputError
from understudy.games.dota.features.team_rating import (
    STRENGTH,
    Ratings,
    Result,
    Strength,
    as_table,
    results_of,
    strengths,
)
from understudy.games.dota.sources.synthetic import FIRST_MATCH
from understudy.games.dota.sources.tables import MATCHES

FILE = "ratings.json"
SHIPPED = Path(str(files("understudy.games.dota").joinpath("shipped")))
"""Where models that come with the program lie."""
_FORMAT = 2
_SETTINGS = ("noise", "team_variance", "fading")


def rated(results: Sequence[Result], known: Ratings | None = None) -> dict[int, Strength]:
    """The strength before each match; matches later than all that `known` has seen go on from it.

    Where the matches themselves hold as long a history, `known` is not needed, and where they are
    made up, it is about other teams.
    """
    if known is None or any(one.number >= FIRST_MATCH for one in results):
        return strengths(results)
    earlier = [one for one in results if one.start < known.until]
    if len(earlier) >= known.matches:
        return strengths(results)
    later = [one for one in results if one.start >= known.until]
    return strengths(earlier) | strengths(later, known.copy())


def learnt(results: Sequence[Result], known: Ratings | None = None) -> Ratings:
    """Ratings that know all of these results, and by the same rule what `known` knew before."""
    earlier = sum(one.start < known.until for one in results) if known else 0
    made_up = any(one.number >= FIRST_MATCH for one in results)
    alone = known is None or made_up or earlier >= known.matches
    after = Ratings() if known is None or alone else known.copy()
    strengths([one for one in results if alone or one.start >= after.until], after)
    return after


def survey(folder: Path, keys: Sequence[str]) -> dict[str, dict[str, pa.Table]]:
    """The strength before each match of a run's recordings, by shard."""
    own = dict(_results_by_shard(folder, keys))
    before = rated([one for some in own.values() for one in some], shipped())
    return {
        key: {STRENGTH: as_table({one.number: before[one.number] for one in some})}
        for key, some in own.items()
    }


def recorded_results(folder: Path) -> list[Result]:
    """All results in a run's recordings."""
    keys = [shards.shard_key(path) for path in shards.shard_paths(folder, MATCHES)]
    return [one for _, some in _results_by_shard(folder, keys) for one in some]


def _results_by_shard(folder: Path, keys: Sequence[str]) -> Iterator[tuple[str, list[Result]]]:
    for key in keys:
        matches = shards.read_shard(shards.shard_path(folder, MATCHES, key), MATCHES)
        yield key, list(results_of(matches))


def strength_in(known: Ratings, match: Result) -> Strength | None:
    """Of a match by itself; None where it began before all results of `known` were in."""
    if match.number >= FIRST_MATCH or match.start < known.until:
        return None
    return known.before(match)


def save(folder: Path, ratings: Ratings) -> Path:
    """Write what `load` reads; which file."""
    rows = {
        str(who): [
            round(ratings.mean[who], 5),
            round(ratings.variance[who], 5),
            ratings.last_result[who],
            ratings.games[who],
        ]
        for who in sorted(ratings.mean)
    }
    content = {
        "format": _FORMAT,
        "until": ratings.until,
        "matches": ratings.matches,
        "settings": {name: getattr(ratings, name) for name in _SETTINGS},
        "teams": rows,
    }
    write_json(folder / FILE, content)
    return folder / FILE


def load(folder: Path) -> Ratings | None:
    """Those of a model's folder; None where it keeps none."""
    cure = "Train the model again: understudy train dota value --fresh"
    content = read_json(folder / FILE, TeamRatings, cure)
    if content is None:
        return None
    if content["format"] != _FORMAT:
        raise InputError(f"{folder / FILE} is of another version of the program. {cure}")
    try:
        ratings = Ratings(until=content["until"], matches=content["matches"])
        for name in _SETTINGS:
            setattr(ratings, name, float(content["settings"][name]))
        for number, (mean, variance, last, games) in content["teams"].items():
            who = int(number)
            ratings.mean[who], ratings.variance[who] = mean, variance
            ratings.last_result[who], ratings.games[who] = int(last), int(games)
    except (KeyError, ValueError) as failure:
        raise InputError(f"{folder / FILE} holds no ratings ({failure}). {cure}") from failure
    return ratings


def shipped() -> Ratings | None:
    """Those that come with the program."""
    return load(SHIPPED)


def of_model(folder: Path | None) -> Ratings | None:
    """Those of a model's folder, or those that come with the program."""
    found = load(folder) if folder is not None else None
    return found if found is not None else shipped()
