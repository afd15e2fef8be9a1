"""OpenDota's live files: its list of live matches (`/live`), or a match file that still grows.

An entry of the list tells the lead in gold, kills, heroes and the clock, with the delay of the
broadcast; nothing of experience, items, wards or who killed whom. A match file tells everything.
"""

import gzip
import json
import time
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from understudy.games.dota.advice.match_context import MatchContext
from understudy.games.dota.live.report import LIST, Hero, Report, ReportError
from understudy.games.dota.sources.match_files import tables_of
from understudy.games.dota.sources.opendota import SHORTEST, MatchError, rows_of


def is_entry(content: Any) -> bool:
    """Is it one of that list?"""
    return isinstance(content, dict) and "radiant_lead" in content and "game_time" in content


def read_entry(content: Mapping[str, Any], now: Callable[[], float] = time.time) -> Report:
    """One entry; ReportError where it is not as OpenDota writes it."""
    try:
        clock = int(content["game_time"])
        placed: dict[int, list[int]] = {0: [], 1: []}
        for player in content.get("players") or ():
            if player.get("team") in placed:
                placed[player["team"]].append(int(player.get("hero_id") or 0))
        return Report(
            source=LIST,
            match_id=int(content.get("match_id") or 0),
            clock=clock,
            started_at=int(content.get("activate_time") or now() - clock),
            going_on=clock >= 0 and not content.get("deactivate_time"),
            scores=(int(content.get("radiant_score") or 0), int(content.get("dire_score") or 0)),
            gold_lead=int(content["radiant_lead"]),
            heroes={
                5 * team + place: Hero(hero_id=hero)
                for team, heroes in placed.items()
                for place, hero in enumerate(heroes[:5])
            },
        )
    except (KeyError, TypeError, ValueError, AttributeError) as failure:
        raise ReportError(
            f"not as OpenDota lists live matches ({type(failure).__name__}: {failure})"
        ) from failure


def read_live_file(path: Path, number: int | None = None) -> Report | MatchContext:
    """What a live file tells of a match, the first where no number is given."""
    try:
        raw = path.read_bytes()
        content = json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
    except (ValueError, RecursionError, EOFError, zlib.error) as failure:
        raise ReportError(f"{path} is not JSON, or half written ({failure})") from failure
    matches = content if isinstance(content, list) else [content]
    wanted = [one for one in matches if isinstance(one, dict) and _is(one, number)]
    if not wanted:
        raise ReportError(f"{path} holds no match {'' if number is None else number}".rstrip())
    return read_entry(wanted[0]) if is_entry(wanted[0]) else read_growing(wanted[0])


def _is(content: Mapping[str, Any], number: int | None) -> bool:
    return number is None or str(content.get("match_id")) == str(number)


def read_growing(content: Mapping[str, Any]) -> MatchContext:
    """A match file of OpenDota whose match may still be going on."""
    ended = content.get("radiant_win") is not None
    # Nothing reads who won before it is over; the importer refuses matches without a winner.
    so_far = max(SHORTEST, 60 * len(content.get("radiant_gold_adv") or ()))
    blank = {} if ended else {"radiant_win": False, "duration": so_far}
    try:
        tables = tables_of([rows_of({**content, **blank})])
    except (MatchError, ValueError, TypeError) as failure:
        raise ReportError(f"no match of OpenDota: {failure}") from failure
    if not len(tables["state_team_minute"]):
        raise ReportError("the match has no minutes yet")
    return MatchContext(tables, None)
