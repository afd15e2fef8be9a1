"""Reports of one match, in order, become the tables of a recording: features, advice and pages read
these and cannot tell them from a match file's, but for what was not told, which is blank.

A row at a whole minute holds what was told by then: values of the last report not after it. What
rose between two reports (kills, fallen buildings, items) happened at the later one. Nothing that
comes later changes a row, but an event that the client itself dates back.
"""

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from understudy.games.dota import facts
from understudy.games.dota.advice.match_context import MatchContext
from understudy.games.dota.features.timeline import MINUTE
from understudy.games.dota.live.report import BUILDINGS, LIST, PLAYER, SPECTATOR, Hero, Report
from understudy.games.dota.sources.match_files import tables_of
from understudy.games.dota.sources.opendota import Rows
from understudy.games.dota.sources.tables import (
    EVENTS,
    MATCHES,
    PLAYERS,
    STATE_PLAYER_MINUTE,
    STATE_TEAM_MINUTE,
)

OLD = 30  # seconds; a minute that is told by an older report is marked
BACK = 5  # seconds the clock may go back; more is another match
EARLIEST = 1_546_300_800  # 2019; a clock that says less is wrong
_KINDS = {
    "roshan": "CHAT_MESSAGE_ROSHAN_KILL",
    "aegis": "CHAT_MESSAGE_AEGIS",
    "courier": "CHAT_MESSAGE_COURIER_LOST",
}
_EventRow = tuple[Any, ...]


@dataclass
class LiveMatch:
    """What is known of one match so far."""

    source: str
    number: int
    last: Report | None = None
    own_slot: int | None = None
    joined: int | None = None
    """The clock when it was first told of while it was being played."""
    old_minutes: set[int] = field(default_factory=set)
    """Minutes told by a report that was older than OLD."""
    heroes: dict[int, Hero] = field(default_factory=dict)
    """By slot: the latest that was told of each number."""
    _minutes: list[tuple[int, int, dict[int, Hero]]] = field(default_factory=list)
    """Minute, lead in gold, the ten."""
    _events: list[_EventRow] = field(default_factory=list)
    _fallen: set[str] = field(default_factory=set)
    _seen: set[Any] = field(default_factory=set)
    _held: dict[int, Counter[str]] = field(default_factory=dict)
    """By slot: the most of each item that was ever held at once."""
    _kills: list[int] = field(default_factory=lambda: [0, 0])

    def continues(self, report: Report) -> bool:
        """Does a report tell of this match, by the same source?"""
        same = report.match_id == self.number and report.source == self.source
        return same and (self.last is None or report.clock >= self.last.clock - BACK)

    @property
    def minutes(self) -> list[int]:
        """Those of which there is a row."""
        return [minute for minute, _, _ in self._minutes]

    @property
    def clock(self) -> int:
        """Of the last report."""
        return self.last.clock if self.last else 0

    def add(self, report: Report) -> None:
        """The next report; one of an earlier second is let be."""
        if self.last is not None and report.clock < self.last.clock:
            return
        if not report.going_on and report.winner is None:
            self.last = report
            return
        if self.joined is None:
            self.joined = report.clock
        self._fill(before=report.clock)
        self.own_slot = report.own_slot if report.own_slot is not None else self.own_slot
        self._take_kills(report)
        for slot, told in report.heroes.items():
            self._take_hero(slot, told, report.clock)
        self._take_buildings(report)
        for event in report.events:
            if event not in self._seen:
                self._seen.add(event)
                self._objective(event.t, _KINDS[event.kind], event.team, slot=event.slot)
        self.last = report
        self._fill(before=report.clock + 1)

    def _fill(self, before: int) -> None:
        """Rows of the whole minutes that have passed, by what was told last."""
        if self.last is None or self.joined is None or not self.last.going_on:
            return
        first = self._minutes[-1][0] + 1 if self._minutes else -(-self.joined // MINUTE)
        for minute in range(max(first, 0), -(-before // MINUTE)):
            if MINUTE * minute - self.last.clock > OLD:
                self.old_minutes.add(minute)
            self._minutes.append((minute, self._lead("gold"), dict(self.heroes)))

    def _lead(self, name: str) -> int:
        """Of Radiant; 0 where it is not told."""
        if self.source == LIST:
            known = self.last.gold_lead if self.last and name == "gold" else None
            return known or 0
        return _lead_of(self.heroes, name) if self.source == SPECTATOR else 0

    def copy(self) -> "LiveMatch":
        """As it is now: what is added later does not change it."""
        return replace(
            self, old_minutes={*self.old_minutes}, heroes={**self.heroes}, _minutes=[*self._minutes]
        )

    # --- what has changed ------------------------------------------------------------------------

    def _take_kills(self, report: Report) -> None:
        if self.source == SPECTATOR:
            for slot, told in sorted(report.heroes.items()):
                before = self.heroes.get(slot, Hero())
                rise = (told.kills or 0) - (before.kills or 0)
                victims = Counter(told.killed) - Counter(before.killed)
                known = [*victims.elements()][: max(rise, 0)]
                unknown: list[int | None] = [None] * (rise - len(known))
                for victim in [*known, *unknown]:
                    self._kill(report, slot // 5, slot, victim)
            return
        for team, score in enumerate(report.scores or ()):
            for _ in range(score - self._kills[team]):
                self._kill(report, team, None, None)

    def _kill(self, report: Report, team: int, slot: int | None, victim: int | None) -> None:
        if not any(self._kills):
            self._objective(report.clock, "CHAT_MESSAGE_FIRSTBLOOD", team, slot=slot)
        self._kills[team] += 1
        hero = None if victim is None else report.heroes.get(victim, self.heroes.get(victim))
        known = None if hero is None else facts.heroes().get(hero.hero_id)
        self._event(report.clock, slot, team, "kill", None if known is None else known.key)

    def _take_hero(self, slot: int, told: Hero, clock: int) -> None:
        before = self.heroes.get(slot)
        if before is not None and None not in (before.buyback_cooldown, told.buyback_cooldown):
            assert before.buyback_cooldown is not None and told.buyback_cooldown is not None
            if told.buyback_cooldown > before.buyback_cooldown + 1:
                self._event(clock, slot, slot // 5, "buyback")
        held = self._held.setdefault(slot, Counter())
        for key, count in Counter(told.items or ()).items():
            for _ in range(count - held[key]):
                self._event(clock, slot, slot // 5, "purchase", key)
            held[key] = max(held[key], count)
        self.heroes[slot] = told

    def _take_buildings(self, report: Report) -> None:
        for team, standing in enumerate(report.standing):
            if standing is None:
                continue
            for name in sorted(BUILDINGS[team] - standing - self._fallen):
                self._fallen.add(name)
                # OpenDota has one name for both towers before an Ancient.
                target = name.rsplit("_", 1)[0] if "tower4" in name else name
                self._objective(report.clock, "building_kill", None, target=target)

    def _objective(
        self,
        t: int,
        kind: str,
        team: int | None,
        *,
        slot: int | None = None,
        target: str | None = None,
    ) -> None:
        self._event(t, slot, team, "objective", kind, target)

    def _event(
        self,
        t: int,
        slot: int | None,
        team: int | None,
        kind: str,
        key: str | None = None,
        target: str | None = None,
    ) -> None:
        self._events.append((t, slot, team, kind, key, None, None, target, None))

    # --- as a recording --------------------------------------------------------------------------

    def context(self) -> MatchContext | None:
        """As recorded matches are read; None before the first whole minute."""
        return MatchContext(tables_of([self._rows()]), None) if self._minutes else None

    def _rows(self) -> Rows:
        assert self.last is not None
        outline: dict[str, Any] = {
            "match_id": self.number,
            "patch": facts.patch_on(max(self.last.started_at, EARLIEST)),
            "start_time": self.last.started_at,
            "duration": self.clock,
            "radiant_win": self.last.winner == 0,  # not known before the end; nothing reads it
            "n_min": len(self._minutes),
        }
        blank = [None] * (len(PLAYERS.columns) - 4)
        return {
            MATCHES.name: [tuple(outline.get(column.name) for column in MATCHES.columns)],
            PLAYERS.name: [
                (self.number, slot, slot // 5, self.heroes.get(slot, Hero()).hero_id, *blank)
                for slot in range(10)
            ],
            STATE_TEAM_MINUTE.name: [
                (
                    self.number,
                    MINUTE * minute,
                    lead,
                    _lead_of(heroes, "xp") if self.source != PLAYER else 0,
                )
                for minute, lead, heroes in self._minutes
            ],
            STATE_PLAYER_MINUTE.name: [
                (self.number, MINUTE * minute, slot, *_numbers(heroes.get(slot, Hero())))
                for slot in range(10)
                for minute, _, heroes in self._minutes
            ],
            EVENTS.name: [(self.number, *row) for row in sorted(self._events, key=lambda e: e[0])],
        }


def _numbers(hero: Hero) -> tuple[int, int, int, int]:
    return (hero.gold or 0, hero.xp or 0, hero.last_hits or 0, hero.denies or 0)


def _lead_of(heroes: dict[int, Hero], name: str) -> int:
    """Radiant's sum less Dire's."""
    return sum(
        (1 if slot < 5 else -1) * (getattr(hero, name) or 0) for slot, hero in heroes.items()
    )
