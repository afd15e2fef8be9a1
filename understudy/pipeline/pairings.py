"""Schedules for games of two: who meets whom, each seed twice with sides swapped."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pyarrow as pa

from understudy.data.manifests import PARTS, Size, cuts
from understudy.data.players import Contender, PlayerRef, code_stamps, weights_digest
from understudy.data.runs import COMPETE, RECORD
from understudy.errors import InputError
from understudy.names import joined
from understudy.pipeline.game import Game, Schedule
from understudy.pipeline.players import scripted

MATCHES_PER_TASK = 50
_SEEDS_PER_PURPOSE = 10**8
_TO_CHOOSE = 4 * 10**17
"""Beyond all seeds that matches to record or to compete are drawn from."""

Pair = tuple[Contender, Contender]


@dataclass(frozen=True)
class Fixture:
    """Matches to be played between the same two players, one per seed."""

    players: tuple[PlayerRef, ...]
    seeds: tuple[int, ...]
    keep: int | None = None
    """How many of them are recorded in full, the others in outline; None: all."""
    names: tuple[str, ...] = ()
    """Of those in whose stead the players were drawn: their results count as theirs."""

    def booked(self, results: pa.Table) -> pa.Table:
        """What came of it, under these names; recordings go on telling who played."""
        if not self.names:
            return results
        names, slot = np.array(self.names, object), results["slot"].to_numpy()
        for column, seat in (("player", slot), ("opponent", 1 - slot)):
            place = results.schema.get_field_index(column)
            field = results.schema.field(place)
            results = results.set_column(place, field, pa.array(names[seat], field.type))
        return results


def to_record(
    game: Game,
    *,
    players: Sequence[str],
    opponents: Sequence[str],
    matches: int,
    seed: int = 0,
    parts: Sequence[int] = (),
) -> Schedule:
    """`players` meet `opponents`; everything is recorded. `parts`: see `manifests.py`."""
    if matches < 1:
        raise InputError(f"--matches must be at least 1, not {matches}")
    ours, others = ([scripted(game, name) for name in names] for names in (players, opponents))
    stamps, pairs = code_stamps([*ours, *others]), [(a, b) for a in ours for b in others]
    found = dict[str, Fixture]()
    for before, end in cuts(Size(matches, tuple(parts))):
        for fixture in fixtures(pairs, end - before, seed, RECORD, before).values():
            found[f"{len(found):05d}"] = fixture
    return Schedule(
        name="recordings",
        settings={
            "game": game.name,
            "players": [ref.name for ref in ours],
            "opponents": [ref.name for ref in others],
            **({"code": stamps} if stamps else {}),
            "matches": matches,
            "seed": seed,
            **({PARTS: list(parts)} if parts else {}),
        },
        matches=matches,
        fixtures=found,
        growing=("matches", PARTS),
    )


def to_compete(
    game: Game, refs: Sequence[Contender], *, matches: int, seed: int = 0, keep: int = 3
) -> Schedule:
    """Every pair meets; `keep` matches per pair and side are recorded in full, for replays."""
    names = [ref.name for ref in refs]
    if len(names) < 2 or len(set(names)) < len(names):
        raise InputError(
            "compete needs at least two different players: understudy compete "
            f"{game.name} imitate {' '.join(list(game.players)[:2])}"
        )
    if matches < 2:
        raise InputError(f"--matches must be at least 2 (a match and its rematch), not {matches}")
    pairs = list(combinations(refs, 2))
    found, left = dict[str, Fixture](), dict[tuple[object, ...], int]()
    for key, fixture in fixtures(pairs, matches * len(pairs), seed, COMPETE).items():
        side = fixture.names or fixture.players
        found[key] = replace(fixture, keep=left.setdefault(side, keep))
        left[side] = max(left[side] - len(fixture.seeds), 0)
    return Schedule(
        name=joined([*names, matches, seed]),
        settings={
            "game": game.name,
            "players": {ref.name: weights_digest(ref) for ref in refs} | code_stamps(refs),
            "matches": matches,
            "seed": seed,
            "keep": keep,
        },
        matches=matches * len(pairs),
        fixtures=found,
    )


def to_tune(
    game: Game, ref: PlayerRef, field: Sequence[Contender], *, matches: int, seed: int = 0
) -> Schedule:
    """One player meets each of a field so often, in matches that serve to choose and nothing else.

    Everybody who is tried meets the same matches.
    """
    found = dict[str, Fixture]()
    for number, other in enumerate(field):
        first = _TO_CHOOSE + seed * _SEEDS_PER_PURPOSE + number * matches
        for fixture in _both_sides((ref, other), matches, first):
            found[f"{len(found):05d}"] = replace(fixture, keep=0)
    stamps = {one.name: weights_digest(one) for one in field} | code_stamps(field)
    told = {"field": stamps, "player": weights_digest(ref), "matches": matches, "seed": seed}
    return Schedule(
        name="chosen-by",
        settings={"game": game.name, **told},
        matches=matches * len(field),
        fixtures=found,
    )


def fixtures(
    pairs: Sequence[Pair], matches: int, seed: int, purpose: int, before: int = 0
) -> dict[str, Fixture]:
    """Spread matches evenly over pairs; each seed is played twice, sides swapped.

    So many matches were planned `before`, whose seeds are not used again.
    Against itself a player meets each seed once: the rematch would be the same match again.
    """
    if len(pairs) * (before + matches) > _SEEDS_PER_PURPOSE:
        raise InputError(
            f"too many matches: {len(pairs)} pairs can play {_SEEDS_PER_PURPOSE // len(pairs):,}"
        )
    first = (2 * seed + purpose) * _SEEDS_PER_PURPOSE + len(pairs) * before
    found: dict[str, Fixture] = {}
    for number, pair in enumerate(pairs):
        share = matches // len(pairs) + (number < matches % len(pairs))
        for fixture in _both_sides(pair, share, first + number * matches):
            found[f"{len(found):05d}"] = fixture
    return found


def _both_sides(pair: Pair, matches: int, start: int) -> Iterator[Fixture]:
    rematches = matches // 2 if pair[0] != pair[1] else 0
    for both, count in ((pair, matches - rematches), (pair[::-1], rematches)):
        drawn = defaultdict[tuple[PlayerRef, ...], list[int]](list)
        for seed in range(start, start + count):
            drawn[tuple(one.drawn(seed, slot) for slot, one in enumerate(both))].append(seed)
        names = () if both in drawn else tuple(one.name for one in both)
        for players, seeds in drawn.items():
            for at in range(0, len(seeds), MATCHES_PER_TASK):
                yield Fixture(players, tuple(seeds[at : at + MATCHES_PER_TASK]), names=names)
