"""Recorded matches as the posts that a client would have sent, to try a server without a game.

A post for each whole minute and each second in which something happened. Gold and experience are
those of the last whole minute: a recording knows no more.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from understudy.games.dota import facts
from understudy.games.dota.advice.match_context import MatchContext
from understudy.games.dota.features.deaths import victims
from understudy.games.dota.features.inventory import Inventory, depth
from understudy.games.dota.live.gsi import CLIENT_NAMES, GOLD_PARTS
from understudy.games.dota.live.report import BUILDINGS

LOADING = 90
"""Seconds a client's `game_time` is ahead of the clock."""
COOLDOWN = 480  # seconds between two buybacks
_SIDES = ("radiant", "dire")
_FULL = {"health": 1000, "max_health": 1000}


def posts_of(context: MatchContext, player: int | None = None) -> Iterator[dict[str, Any]]:
    """What a client that watches sent; or, with `player`, that of who plays in this slot."""
    told = _Told(context)
    last = int(context.timeline.t[-1])
    seconds = {int(t) for t in context.timeline.t} | {
        t for t, _, _, kind, *_ in told.events if 0 < t <= last and kind in _TOLD
    }
    for clock in sorted(seconds):
        told.until(clock)
        yield told.post(player)


_TOLD = ("kill", "buyback", "purchase", "objective")


class _Told:
    """A recorded match at one second, as clients show it."""

    def __init__(self, context: MatchContext) -> None:
        self.context = context
        table = context.tables["events"].to_pylist()
        names = ("t", "slot_idx", "team", "event_type", "key", "target")
        self.events = [tuple(row[name] for name in names) for row in table]
        self.events.sort(
            key=lambda e: (e[0], depth(e[4], context.earlier) if e[3] == "purchase" else 0)
        )
        self._next, self.clock = 0, 0
        kills = context.timeline.events["kill"]
        slots = victims(context.timeline).tolist()
        # Several kills of one hero in a second share a key, and so their victim's slot.
        self._victims = {
            (t, by, key): slot
            for t, by, key, slot in zip(
                kills.t.tolist(), kills.slot.tolist(), kills.key.to_pylist(), slots, strict=True
            )
        }
        self._kills = [Counter[int]() for _ in range(10)]
        self._score, self._count = [0, 0], [0] * 10
        self._deaths, self._bought_back = [0] * 10, dict[int, int]()
        self._held = [Inventory(context.earlier) for _ in range(10)]
        self._fallen, self._news = set[str](), list[dict[str, Any]]()

    def until(self, clock: int) -> None:
        """Take in all that had happened by a second."""
        self.clock, self._news = clock, []
        while self._next < len(self.events) and self.events[self._next][0] <= clock:
            t, slot, team, kind, key, target = self.events[self._next]
            self._next += 1
            if kind == "kill" and slot is not None:
                self._count[slot] += 1
                self._score[slot // 5] += 1
                victim = self._victims.get((t, slot, key), -1)
                if victim >= 0:
                    self._kills[slot][victim] += 1
                    self._deaths[victim] += 1
            elif kind == "buyback" and slot is not None:
                self._bought_back[slot] = t
            elif kind == "purchase" and slot is not None:
                self._held[slot].add(key)
            elif kind == "objective":
                self._objective(t, slot, team, key, target)

    def _objective(
        self, t: int, slot: int | None, team: int | None, kind: str, target: str | None
    ) -> None:
        if kind == "building_kill" and target:
            side = 0 if "goodguys" in target else 1
            # Two towers share a name there; they fall in the order of theirs here.
            same = sorted(n for n in BUILDINGS[side] - self._fallen if n.startswith(target))
            self._fallen.update(same[:1])
        about: dict[str, Any] = {"game_time": t + LOADING}
        if kind == "CHAT_MESSAGE_ROSHAN_KILL" and team is not None:
            about |= {"event_type": "roshan_killed", "killed_by_team": _SIDES[team]}
        elif kind.startswith("CHAT_MESSAGE_AEGIS") and slot is not None:
            about |= {"event_type": "aegis_picked_up", "player_id": slot, "snatched": False}
        elif kind == "CHAT_MESSAGE_COURIER_LOST" and team is not None:
            about |= {"event_type": "courier_killed", "courier_team": _SIDES[team]}
        if "event_type" in about:
            self._news.append(about)

    # --- as JSON ---------------------------------------------------------------------------------

    def post(self, player: int | None) -> dict[str, Any]:
        """One post."""
        sides = (0, 1) if player is None else (player // 5,)
        content = {
            "provider": {"name": "Dota 2", "appid": 570, "version": 48},
            "map": self._map(),
            "buildings": {_SIDES[side]: self._buildings(side) for side in sides},
            "events": self._news,
        }
        if player is not None:
            parts = self._hero(player)
            about = {"team_name": _SIDES[player // 5], "team_slot": player % 5}
            return {**content, **parts, "player": {**parts["player"], **about}}
        ten = {slot: self._hero(slot) for slot in range(10)}
        for part in ("player", "hero", "items"):
            content[part] = {
                f"team{2 + side}": {f"player{s}": ten[s][part] for s in ten if s // 5 == side}
                for side in (0, 1)
            }
        return content

    def _map(self) -> dict[str, Any]:
        return {
            "name": "start",
            "matchid": str(self.context.outline["match_id"]),
            "game_time": self.clock + LOADING,
            "clock_time": self.clock,
            "radiant_score": self._score[0],
            "dire_score": self._score[1],
            "game_state": "DOTA_GAMERULES_STATE_GAME_IN_PROGRESS",
            "paused": False,
            "win_team": "none",
            "customgamename": "",
        }

    def _buildings(self, side: int) -> dict[str, dict[str, int]]:
        standing = sorted(BUILDINGS[side] - self._fallen)
        ancient = f"dota_{('good', 'bad')[side]}guys_fort"
        return {ancient: _FULL, **{CLIENT_NAMES[side][name]: _FULL for name in standing}}

    def _hero(self, slot: int) -> dict[str, dict[str, Any]]:
        match = self.context.timeline
        row = max(int(match.t.searchsorted(self.clock, side="right")) - 1, 0)
        gold, xp, lh, dn = (
            int(match.players[name][row, slot]) for name in ("gold", "xp", "lh", "dn")
        )
        number = int(match.heroes[0, slot])
        known = facts.heroes().get(number)
        since = self.clock - self._bought_back.get(slot, -COOLDOWN)
        held = sorted(Counter(self._held[slot].loose).elements())
        return {
            "player": {
                "kills": self._count[slot],
                "deaths": self._deaths[slot],
                "last_hits": lh,
                "denies": dn,
                "kill_list": {f"victimid_{k}": n for k, n in sorted(self._kills[slot].items())},
                **{f"gold_from_{name}": gold if name == "income" else 0 for name in GOLD_PARTS},
                "gold": max(gold + 600 - int(self._held[slot].spent), 0),
            },
            "hero": {
                "id": number,
                "name": known.key if known else "",
                "xp": xp,
                "buyback_cooldown": max(COOLDOWN - since, 0),
            },
            "items": {f"slot{k}": {"name": f"item_{key}"} for k, key in enumerate(held)},
        }
