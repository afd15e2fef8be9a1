"""A round's matches: who must meet, the rows that came of it, and `matches.jsonl` beside them."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.data import shards
from understudy.data.files import writing
from understudy.data.integrity.json_files import json_line
from understudy.data.players import PlayerRef
from understudy.data.schema import Table
from understudy.errors import InputError
from understudy.league.interface import Pairing, Play
from understudy.league.payoff import Payoff, Tally

MATCHES = "matches.jsonl"
_FIRST_SEED = 10**18  # above all seeds of recorded matches and competitions (`games/pairs.py`)
_SEEDS_PER_LEAGUE = 10**8


def due(
    names: Sequence[str], payoff: Payoff, matches: int, players: Mapping[str, PlayerRef]
) -> list[tuple[PlayerRef, PlayerRef]]:
    """All pairs that have not met yet, or not often enough."""
    return [
        (players[one], players[other])
        for one, other in combinations(names, 2)
        if round(payoff.played(one, other).games) < matches
    ]


def pairings(
    pairs: Iterable[tuple[PlayerRef, PlayerRef]], matches: int, seed: int, used: int
) -> list[Pairing]:
    """Matches for each pair, with seeds nobody has used; `used` have been by this league."""
    found = []
    first = _FIRST_SEED + seed * _SEEDS_PER_LEAGUE + used
    for number, pair in enumerate(pairs):
        start = first + number * (matches // 2)
        found.append(Pairing(pair, tuple(range(start, start + matches // 2))))
    return found


def play_round(
    folder: Path, number: int, table: Table, play: Play, planned: Sequence[Pairing]
) -> pa.Table:
    """The rows of a round, played unless they lie there already."""
    path = shards.shard_path(folder, table, f"{number:05d}")
    plan = _plan(planned)
    if shards.shard_note(path, "plan") == plan:
        return shards.read_shard(path, table)
    rows = play(planned)
    table.check(rows.schema, f"what was played in round {number}")
    expected = sum(4 * len(pairing.seeds) for pairing in planned)
    if len(rows) != expected:
        raise ValueError(f"round {number}: {expected} rows were due, {len(rows)} came")
    shards.write_shard(path, rows.replace_schema_metadata(table.arrow({"plan": plan}).metadata))
    return rows


def tallies(rows: pa.Table, graded: bool = False) -> dict[tuple[str, str], Tally]:
    """How each pair fared; a score above 0 is a win, below 0 a loss.

    Where they are `graded`, a score of .3 is three tenths of a win and a draw for the rest.
    """
    found: dict[tuple[str, str], Tally] = {}
    for row in _first_sides(rows):
        pair = row["player"], row["opponent"]
        score = row["score"] if graded else float(np.sign(row["score"]))
        one = Tally(max(score, 0.0), 1 - abs(score), max(-score, 0.0))
        found[pair] = found.get(pair, Tally()).plus(one)
    return found


def append_lines(path: Path, number: int, rows: pa.Table) -> None:
    """Tell of a round's matches at the end of `matches.jsonl`."""
    try:
        with path.open("a") as file:
            file.writelines(map(json_line, told(number, rows)))
    except OSError as failure:
        raise InputError(
            f"cannot write {path}: {failure.strerror or failure}. Free some space, then run the "
            "same command again: nothing is lost"
        ) from failure


def rewrite_lines(folder: Path, rounds: int, table: Table) -> None:
    """Make `matches.jsonl` anew from the rows of all finished rounds."""
    with writing(folder / MATCHES) as aside, aside.open("w") as file:
        for number in range(1, rounds + 1):
            file.writelines(map(json_line, told(number, read_round(folder, number, table))))


def read_round(folder: Path, number: int, table: Table) -> pa.Table:
    """The rows of a finished round."""
    path = shards.shard_path(folder, table, f"{number:05d}")
    if not path.is_file():
        raise InputError(
            f"{path}: the results of round {number} are missing. Put them back, or start this "
            "league over with --fresh"
        )
    return shards.read_shard(path, table)


def told(number: int, rows: pa.Table) -> Iterable[dict[str, Any]]:
    """A round's matches as `matches.jsonl` tells of them, players in the order of their slots."""
    for row in _first_sides(rows):
        players = [row.pop("player"), row.pop("opponent")]
        row.pop("slot")
        yield {"round": number, "match": row.pop("match"), "players": players, **row}


def _first_sides(rows: pa.Table) -> list[dict[str, Any]]:
    """One row per match, that of whoever began in slot 0."""
    found: list[dict[str, Any]] = rows.filter(pa.compute.equal(rows["slot"], 0)).to_pylist()
    return found


def _plan(planned: Sequence[Pairing]) -> str:
    """Stands for who meets whom with which seeds."""
    text = json.dumps([[*(one.name for one in p.players), *p.seeds] for p in planned])
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
