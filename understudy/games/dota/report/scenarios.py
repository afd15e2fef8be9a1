"""How often the side that did something first went on to win, by the minute it was done."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from understudy.data.stats import Estimate, wilson

BAND = 10
"""Minutes."""
SCENARIOS = ("first blood", "first tower", "first Roshan", "first barracks")


@dataclass(frozen=True)
class Rate:
    """Of one scenario in one span of minutes."""

    scenario: str
    minutes: str
    won: Estimate


def firsts(recordings: Mapping[str, pa.Table]) -> list[tuple[str, int, bool]]:
    """(scenario, minute, did its side win) for every match that has it."""
    matches = recordings["matches"]
    winner = dict(
        zip(matches["match_id"].to_pylist(), matches["radiant_win"].to_pylist(), strict=True)
    )
    events = recordings["events"]
    things = events.filter(pc.equal(events["event_type"], "objective")).sort_by(
        [("match_id", "ascending"), ("t", "ascending")]
    )
    columns = (things[name].to_pylist() for name in ("match_id", "t", "team", "key", "target"))
    done: set[tuple[int, str]] = set()
    rows = []
    for number, t, team, key, target in zip(*columns, strict=True):
        scenario, side = _named(key, team, target)
        if scenario is None or side is None or (number, scenario) in done:
            continue
        done.add((number, scenario))
        rows.append((scenario, max(t, 0) // 60, winner[number] == (side == 0)))
    return rows


def _named(key: str, team: int | None, target: str | None) -> tuple[str | None, int | None]:
    """What happened and which side did it."""
    if key == "building_kill" and target:
        side = 1 if "goodguys" in target else 0
        kind = "first tower" if "tower" in target else "first barracks" if "rax" in target else None
        return kind, side
    names = {"CHAT_MESSAGE_FIRSTBLOOD": "first blood", "CHAT_MESSAGE_ROSHAN_KILL": "first Roshan"}
    return names.get(key), team


def rates(results: list[tuple[str, int, bool]]) -> list[Rate]:
    """How often the side of `firsts` won, by scenario and span, with 95 % intervals."""
    table: dict[tuple[str, int], list[bool]] = {}
    for scenario, minute, won in results:
        table.setdefault((scenario, minute // BAND), []).append(won)
    rows = []
    for (scenario, band), wins in sorted(table.items(), key=_order):
        span = f"{band * BAND}-{band * BAND + BAND - 1}"
        rows.append(Rate(scenario, span, wilson(float(sum(wins)), len(wins))))
    return rows


def _order(entry: tuple[tuple[str, int], Any]) -> tuple[int, int]:
    return SCENARIOS.index(entry[0][0]), entry[0][1]
