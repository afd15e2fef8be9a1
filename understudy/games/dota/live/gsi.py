"""Posts of Dota's Game State Integration as reports, and the file that makes a client send them.

A client that plays tells its own hero, the score, and the buildings of its own side; one that
watches tells all ten heroes and both sides. Neither tells where wards stand, and who plays never
learns the gold of the enemy.
"""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

from understudy.games.dota.live.report import (
    BUILDINGS,
    PLAYER,
    SPECTATOR,
    Event,
    Hero,
    Report,
    ReportError,
)
from understudy.games.dota.sources.opendota import Json

TEAMS = {"radiant": 0, "dire": 1}
GOLD_PARTS = ("hero_kills", "creep_kills", "income", "shared")
"""`gold_from_…`: what gold came of, since the beginning."""
_RUNNING = "DOTA_GAMERULES_STATE_GAME_IN_PROGRESS"
_MOST = 2**31 - 1


def read_post(content: Any, now: Callable[[], float] = time.time) -> Report | None:
    """What a post tells; None where the client shows no match. ReportError where it is no post."""
    if not isinstance(content, dict) or not isinstance(content.get("provider"), dict):
        raise ReportError("no post of Game State Integration: it names no provider")
    shown = content.get("map")
    if not isinstance(shown, dict) or "clock_time" not in shown:
        return None  # in the menu
    try:
        return _report(content, shown, now())
    except (KeyError, TypeError, ValueError, AttributeError) as failure:
        raise ReportError(
            f"not as the client writes it ({type(failure).__name__}: {failure})"
        ) from failure


def _report(content: Json, shown: Json, now: float) -> Report:
    clock = _whole(shown["clock_time"])
    watched = "team2" in (content.get("player") or {})
    heroes = dict(_ten(content) if watched else _own(content))
    score = [shown.get("radiant_score"), shown.get("dire_score")]
    return Report(
        source=SPECTATOR if watched else PLAYER,
        match_id=_whole(shown.get("matchid") or 0),
        clock=clock,
        started_at=int(now) - max(clock, 0),
        own_slot=None if watched else next(iter(heroes), None),
        going_on=shown.get("game_state", _RUNNING) == _RUNNING and clock >= 0,
        paused=bool(shown.get("paused")),
        custom=str(shown.get("customgamename") or "")[-60:],
        winner=TEAMS.get(str(shown.get("win_team"))),
        scores=None if None in score else (_whole(score[0]), _whole(score[1])),
        heroes=heroes,
        standing=_standing(content.get("buildings")),
        events=tuple(_events(content, clock - _whole(shown.get("game_time", clock)))),
    )


def _whole(value: Any) -> int:
    number = int(value)
    if not -_MOST <= number <= 2**53:
        raise ValueError(f"{number} is too large")
    return number


# --- heroes --------------------------------------------------------------------------------------


def _own(content: Json) -> Iterator[tuple[int, Hero]]:
    """The one who plays there."""
    player = content.get("player") or {}
    if (team := TEAMS.get(str(player.get("team_name")))) is None:
        return  # not yet on a side
    place = _whole(player.get("team_slot") or 0)
    if not 0 <= place < 5:
        raise ValueError(f"team_slot is {place}")
    yield 5 * team + place, _hero(player, content.get("hero"), content.get("items"), content)


def _ten(content: Json) -> Iterator[tuple[int, Hero]]:
    """All who are told to one who watches: team2 is Radiant, team3 Dire."""
    for team, name in enumerate(("team2", "team3")):
        for key, player in content["player"].get(name, {}).items():
            slot = _whole(key.removeprefix("player"))
            if slot // 5 != team or not 0 <= slot < 10:
                raise ValueError(f"{name} has no {key}")
            parts = [((content.get(part) or {}).get(name) or {}) for part in ("hero", "items")]
            yield slot, _hero(player, parts[0].get(key), parts[1].get(key), content)


def _hero(player: Json, hero: Json | None, items: Json | None, content: Json) -> Hero:
    hero = hero or {}
    cooldown = hero.get("buyback_cooldown")
    return Hero(
        hero_id=max(_whole(hero.get("id") or 0), 0),
        kills=_told(player, "kills"),
        deaths=_told(player, "deaths"),
        killed={
            _whole(key.removeprefix("victimid_")): _whole(times)
            for key, times in (player.get("kill_list") or {}).items()
        },
        gold=_earned(player, content),
        cash=_told(player, "gold"),
        xp=_told(hero, "xp"),
        last_hits=_told(player, "last_hits"),
        denies=_told(player, "denies"),
        buyback_cooldown=None if cooldown is None else _whole(cooldown),
        items=None if items is None else tuple(sorted(_items(items))),
    )


def _told(part: Json, name: str) -> int | None:
    value = part.get(name)
    return None if value is None else _whole(value)


def _earned(player: Json, content: Json) -> int | None:
    """By what gold came of; where that is not told, by gold per minute, to half a minute's unit."""
    parts = [player.get(f"gold_from_{name}") for name in GOLD_PARTS]
    if None not in parts:
        return sum(map(_whole, parts))
    if (pace := player.get("gpm")) is None:
        return None
    return round(_whole(pace) * max(_whole(content["map"]["clock_time"]), 0) / 60)


def _items(items: Json) -> Iterator[str]:
    for place, item in items.items():
        name = str(item.get("name", "empty")) if isinstance(item, dict) else "empty"
        if name != "empty" and not place.startswith(("neutral", "teleport", "preserved")):
            yield name.removeprefix("item_")[:60]


# --- buildings and events ------------------------------------------------------------------------


def _standing(buildings: Any) -> tuple[frozenset[str] | None, frozenset[str] | None]:
    """What stands of each side; what is not told of a side is None."""
    told = buildings if isinstance(buildings, dict) else {}
    radiant, dire = (
        _of_side(told[name], team) if isinstance(told.get(name), dict) and told[name] else None
        for name, team in TEAMS.items()
    )
    return radiant, dire


def _of_side(told: Json, team: int) -> frozenset[str]:
    """Those with health left, by OpenDota's names."""
    found = {
        _NAMES[team].get(name, "")
        for name, one in told.items()
        if isinstance(one, dict) and _whole(one.get("health", 0)) > 0
    }
    return frozenset(found - {""})


def _client_name(name: str, team: int) -> str:
    """npc_dota_goodguys_melee_rax_top is good_rax_melee_top there, towers dota_goodguys_…"""
    bare = name.removeprefix("npc_dota_")
    for kind in ("melee", "range"):
        if f"{kind}_rax_" in bare:
            return f"{('good', 'bad')[team]}_rax_{kind}_{bare.rsplit('_', 1)[1]}"
    return f"dota_{bare}"


CLIENT_NAMES = tuple({name: _client_name(name, t) for name in BUILDINGS[t]} for t in (0, 1))
_NAMES = tuple({there: ours for ours, there in names.items()} for names in CLIENT_NAMES)


def _events(content: Json, offset: int) -> Iterator[Event]:
    """Roshan, the Aegis, couriers; their time there counts from the loading of the match."""
    for told in content.get("events") or ():
        t, kind = _whole(told["game_time"]) + offset, told.get("event_type")
        if kind == "roshan_killed" and told.get("killed_by_team") in TEAMS:
            yield Event(t=t, kind="roshan", team=TEAMS[told["killed_by_team"]])
        elif kind == "aegis_picked_up" and 0 <= (slot := _whole(told["player_id"])) < 10:
            yield Event(t=t, kind="aegis", team=slot // 5, slot=slot)
        elif kind == "courier_killed" and told.get("courier_team") in TEAMS:
            yield Event(t=t, kind="courier", team=TEAMS[told["courier_team"]])


CONFIGURATION = "gamestate_integration_understudy.cfg"
"""Its place: the folder `game/dota/cfg/gamestate_integration` of the installed game."""


def configuration(address: str, token: str) -> str:
    """What to write there; the client reads it when it starts with -gamestateintegration."""
    told = ("buildings", "provider", "map", "player", "hero", "items", "events")
    data = "".join(f'    {json.dumps(name)} "1"\n' for name in told)
    return (
        f'"Understudy"\n{{\n  "uri" {json.dumps(address)}\n  "timeout" "5.0"\n  "buffer" "0.5"\n'
        f'  "throttle" "0.5"\n  "heartbeat" "10.0"\n  "auth"\n  {{\n    "token" '
        f'{json.dumps(token)}\n  }}\n  "data"\n  {{\n{data}  }}\n}}\n'
    )
