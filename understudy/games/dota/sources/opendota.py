"""One match as OpenDota's API gives it, as rows of our tables.

Who played is left behind: account ids, names and chat never reach a row.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from understudy.games.dota import facts
from understudy.games.dota.sources.tables import (
    DRAFTS,
    EVENTS,
    MATCHES,
    PLAYERS,
    STATE_PLAYER_MINUTE,
    STATE_TEAM_MINUTE,
    TEAMFIGHT_PLAYERS,
    TEAMFIGHTS,
)

Json = Mapping[str, Any]
Rows = dict[str, list[tuple[Any, ...]]]

SHORTEST = 300  # seconds; what ends sooner was called off
ABANDONED = range(2, 7)  # leaver_status: gone too long, abandoned, idle, never connected …
PERSONAL = frozenset(
    {"account_id", "personaname", "chat", "all_word_counts", "my_word_counts", "last_login"}
    | {"plus", "cosmetics", "is_contributor", "is_subscriber", "party_id", "connection_log"}
    | {"replay_url", "profile"}
)
"""What a downloaded match loses before it is written."""


class MatchError(Exception):
    """Why a match cannot be used, in words."""


def rows_of(match: Json) -> Rows:
    """All rows of one match, by table. Raises MatchError where it cannot be learned from."""
    try:
        _check(match)
        rows = _outline(match)
        if is_parsed(match):
            rows |= _timeline(match)
        return rows
    except _ODD as failure:
        raise MatchError(
            f"not as OpenDota writes it ({type(failure).__name__}: {failure})"
        ) from failure


_ODD = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, OSError)
"""What reading a match may come to that is not written as OpenDota writes it."""


def is_parsed(match: Json) -> bool:
    """Was its replay read? Otherwise only the result and the draft are known."""
    return match.get("version") is not None and bool(match.get("radiant_gold_adv"))


def scrubbed(match: Json) -> Json:
    """The same match without the names of its players, their accounts and their chat."""
    kept = {key: part for key, part in match.items() if key not in PERSONAL}
    players = kept.get("players")
    if isinstance(players, list):
        hidden = {*PERSONAL, "name"}
        kept["players"] = [
            {key: part for key, part in player.items() if key not in hidden}
            for player in players
            if isinstance(player, dict)
        ]
    return kept


def _check(match: Json) -> None:
    if "match_id" not in match or "players" not in match:
        raise MatchError("no match: neither match_id nor players")
    if match.get("radiant_win") is None:
        raise MatchError("nobody won: abandoned, or still being played")
    if not isinstance(match["players"], list) or len(match["players"]) != 10:
        raise MatchError(f"{_count(match['players'])} players; a match has ten")
    if (seconds := match.get("duration") or 0) < SHORTEST:
        raise MatchError(f"called off after {seconds} s; shorter than {SHORTEST} s is no match")
    gone = [p for p in match["players"] if p.get("leaver_status") in ABANDONED]
    if gone:
        raise MatchError(f"abandoned by {len(gone)} of its players; what follows is no real match")


def _count(players: Any) -> str:
    return str(len(players)) if isinstance(players, list) else "no list of"


# --- how it ended --------------------------------------------------------------------------------

_RENAMED: dict[str, Callable[[Json], Any]] = {
    "league": lambda match: (match.get("league") or {}).get("name"),
    "tier": lambda match: (match.get("league") or {}).get("tier"),
    "patch": lambda match: (
        match["patch"] if match.get("patch") is not None else facts.patch_on(match["start_time"])
    ),
    "n_min": lambda match: len(match["radiant_gold_adv"]) if is_parsed(match) else 0,
    "radiant_team_id": lambda match: (
        match.get("radiant_team_id") or (match.get("radiant_team") or {}).get("team_id")
    ),
    "dire_team_id": lambda match: (
        match.get("dire_team_id") or (match.get("dire_team") or {}).get("team_id")
    ),
}
_PLAYER_NAMES = {"gpm": "gold_per_min", "xpm": "xp_per_min"}
_REQUIRED = frozenset(column.name for column in MATCHES.columns if not column.optional)


def _outline(match: Json) -> Rows:
    number = match["match_id"]
    outline = tuple(_field(match, column.name) for column in MATCHES.columns)
    names = [_PLAYER_NAMES.get(column.name, column.name) for column in PLAYERS.columns[3:]]
    slots = sorted(_slot(player["player_slot"]) for player in match["players"])
    if slots != list(range(10)):
        raise ValueError(f"player slots {slots}")
    players = []
    for player in match["players"]:
        slot = _slot(player["player_slot"])
        players.append((number, slot, slot // 5, *map(player.get, names)))
    drafts = [
        (number, step["order"], step["is_pick"], step["team"], step["hero_id"])
        for step in match.get("picks_bans") or ()
    ]
    return {MATCHES.name: [outline], PLAYERS.name: players, DRAFTS.name: drafts}


def _field(match: Json, name: str) -> Any:
    if name in _RENAMED:
        return _RENAMED[name](match)
    return match[name] if name in _REQUIRED else match.get(name)


def _slot(player_slot: int) -> int:
    """0-4 for Radiant, 128-132 for Dire there; 0-9 here."""
    return player_slot if player_slot < 128 else player_slot - 123


# --- how it went ---------------------------------------------------------------------------------


def _timeline(match: Json) -> Rows:
    number = match["match_id"]
    minutes = len(match["radiant_gold_adv"])
    begin = match["players"][0]["times"][0]  # 0; later where the parser missed the beginning
    seconds = range(begin, begin + 60 * minutes, 60)
    teams = zip(seconds, match["radiant_gold_adv"], match["radiant_xp_adv"], strict=True)
    players: list[tuple[Any, ...]] = []
    for player in match["players"]:
        slot = _slot(player["player_slot"])
        times = player["times"]
        if list(times) != list(seconds)[: len(times)] or len(times) < minutes:
            raise ValueError(f"minutes of slot {slot} are not those of the match")
        curves = (player[name][:minutes] for name in ("gold_t", "xp_t", "lh_t", "dn_t"))
        players += ((number, t, slot, *row) for t, *row in zip(seconds, *curves, strict=True))
    return {
        STATE_TEAM_MINUTE.name: [(number, *row) for row in teams],
        STATE_PLAYER_MINUTE.name: players,
        EVENTS.name: [(number, *row) for row in _events(match)],
        **_fights(match),
    }


def _events(match: Json) -> Iterator[tuple[Any, ...]]:
    """(t, slot, team, type, key, x, y, target, value) of everything that has a time."""
    for player in match["players"]:
        slot = _slot(player["player_slot"])
        yield from _doings(player, slot, slot // 5)
    for objective in match.get("objectives") or ():
        yield _objective(objective)
    for fight in match.get("teamfights") or ():
        yield from _places_of_death(fight)


def _places_of_death(fight: Json) -> Iterator[tuple[Any, ...]]:
    """Where heroes died in a fight, known at its end."""
    for slot, share in enumerate(fight["players"]):
        for x, column in (share.get("deaths_pos") or {}).items():
            for y, count in column.items():
                row = (fight["end"], slot, slot // 5, "fight_death", None, float(x), float(y))
                yield (*row, None, count)


def _doings(player: Json, slot: int, team: int) -> Iterator[tuple[Any, ...]]:
    for entry in player.get("purchase_log") or ():
        key, charges = entry["key"], entry.get("charges")
        yield (entry["time"], slot, team, "purchase", key, None, None, None, charges)
    for entry in player.get("kills_log") or ():
        yield (entry["time"], slot, team, "kill", entry["key"], None, None, None, None)
    for entry in player.get("buyback_log") or ():
        yield (entry["time"], slot, team, "buyback", None, None, None, None, None)
    for entry in player.get("runes_log") or ():
        yield (entry["time"], slot, team, "rune", str(entry["key"]), None, None, None, None)
    for entry in player.get("neutral_item_history") or ():
        item, better = entry.get("item_neutral"), entry.get("item_neutral_enhancement")
        yield (entry["time"], slot, team, "neutral", item, None, None, better, None)
    for log, kind in _WARDS.items():
        for entry in player.get(log) or ():
            x, y, handle = entry.get("x"), entry.get("y"), entry.get("ehandle")
            killer = entry.get("attackername")
            yield (entry["time"], slot, team, kind, None, x, y, killer, handle)


_WARDS = {
    "obs_log": "ward_obs_place",
    "sen_log": "ward_sen_place",
    "obs_left_log": "ward_obs_left",
    "sen_left_log": "ward_sen_left",
}


def _objective(entry: Json) -> tuple[Any, ...]:
    slot = _slot(entry["player_slot"]) if entry.get("player_slot") is not None else None
    team = slot // 5 if slot is not None else None
    if team is None and entry.get("team") in (2, 3):
        team = entry["team"] - 2
    target = str(entry["key"]) if entry.get("key") else None  # 0 says no more than nothing does
    value = entry.get("value")
    return (entry["time"], slot, team, "objective", entry["type"], None, None, target, value)


def _fights(match: Json) -> Rows:
    number, fights, shares = match["match_id"], [], []
    for index, fight in enumerate(match.get("teamfights") or ()):
        times = (fight["start"], fight["end"], fight.get("last_death"), fight.get("deaths"))
        fights.append((number, index, *times))
        for slot, share in enumerate(fight["players"]):
            gains = map(share.get, _SHARES)
            shares.append((number, index, slot, *gains, len(share.get("killed") or ())))
    return {TEAMFIGHTS.name: fights, TEAMFIGHT_PLAYERS.name: shares}


_SHARES = tuple(column.name for column in TEAMFIGHT_PLAYERS.columns[3:-1])
