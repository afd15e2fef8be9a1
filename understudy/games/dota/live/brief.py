"""What is to be said of a running match: the chance, advice, and why there is none.

Where something that a model reads was not told, it is silent, and says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from understudy.games.dota import facts
from understudy.games.dota.advice.buying import item_lines, with_cash
from understudy.games.dota.advice.match_context import MatchContext, Models
from understudy.games.dota.advice.recommend import VIEW, advise
from understudy.games.dota.live.match import LiveMatch
from understudy.games.dota.live.report import LIST, PLAYER, SPECTATOR
from understudy.games.dota.live.sight import UNTOLD, LiveModels

FILE = "file"
"""A match file that is still being written: it tells what a finished one does."""
LATE = 60  # seconds into a match; who comes later has not seen when things happened
SETTLED = 5  # minutes after that, until changes of the last minutes are known
_NOT_TOLD = "not told"


@dataclass(frozen=True)
class Brief:
    """All that is said, as plain values."""

    source: str = ""
    match_id: int = 0
    clock: int = 0
    minute: int | None = None
    """The last whole one, of which chance and advice are."""
    chance: float | None = None
    """That Radiant wins."""
    curve: list[tuple[int, float | None]] = field(default_factory=list)
    """The chance by minute; None where it would rest on what was missed."""
    silent: list[str] = field(default_factory=list)
    """Why something is not said."""
    unknown: tuple[str, ...] = ()
    """What this source does not tell."""
    known: list[tuple[str, str]] = field(default_factory=list)
    items: list[dict[str, Any]] = field(default_factory=list)
    wards: list[dict[str, Any]] = field(default_factory=list)
    objectives: list[dict[str, Any]] = field(default_factory=list)
    view: str = VIEW
    winner: int | None = None


def brief_of_nothing(fault: str = "") -> Brief:
    """Before anything was told."""
    waiting = "no match yet: the client has sent no post that shows one"
    return Brief(silent=[fault or waiting])


def brief_of_file(context: MatchContext, models: Models) -> Brief:
    """Of a match file: what `replay` and `recommend` say of it."""
    minutes = (context.timeline.t // 60).tolist()
    chance = models.value.chance(context.samples).tolist()
    advice = advise(context, models, minutes[-1])
    return Brief(
        source=FILE,
        match_id=context.outline["match_id"],
        clock=60 * minutes[-1],
        minute=minutes[-1],
        chance=advice.chance,
        curve=list(zip(minutes, chance, strict=True)),
        silent=advice.reasons,
        known=_leads(context),
        items=advice.items,
        wards=advice.wards,
        objectives=advice.objectives,
    )


def brief_of(
    match: LiveMatch, context: MatchContext | None, live: LiveModels, models: Models
) -> Brief:
    """Of a running match; `context` is `match.context()`, taken when nothing was being added."""
    brief = Brief(
        source=match.source,
        match_id=match.number,
        clock=match.clock,
        silent=_about(match),
        unknown=UNTOLD[match.source],
        known=_known(match),
        winner=match.last.winner if match.last else None,
    )
    custom = match.last.custom if match.last else ""
    if context is None or custom:
        why = f"'{custom}' is another game than the models know" if custom else _too_early(match)
        return replace(brief, silent=[*brief.silent, why])
    return _with_advice(_with_chance(brief, match, context, live), match, context, live, models)


def _about(match: LiveMatch) -> list[str]:
    """Why to be careful, whatever is asked."""
    words = []
    if match.last is not None and match.last.paused:
        words.append("the match is paused")
    if match.joined is not None and match.joined > LATE:
        words.append(
            f"told of only from {_time(match.joined)} on: what rose in the minutes before is not "
            f"known, so there is no chance until minute {_settled(match)}"
        )
    if match.old_minutes:
        numbers = ", ".join(map(str, sorted(match.old_minutes)[-5:]))
        words.append(f"no report came near minute {numbers}: nothing is said of them")
    return words


def _too_early(match: LiveMatch) -> str:
    if match.last is not None and not match.last.going_on:
        return "the match is not being played: before the horn, or after its end"
    return "no whole minute has passed yet"


def _time(seconds: int) -> str:
    return f"{seconds // 60}:{seconds % 60:02d}"


def _settled(match: LiveMatch) -> int:
    """The first minute at which all changes are known."""
    joined = match.joined or 0
    return 0 if joined <= LATE else -(-joined // 60) + SETTLED


def _with_chance(brief: Brief, match: LiveMatch, context: MatchContext, live: LiveModels) -> Brief:
    chances = live.chance(match.source, context, match.own_slot).tolist()
    sure = [
        None if minute in match.old_minutes or minute < _settled(match) else chance
        for minute, chance in zip(match.minutes, chances, strict=True)
    ]
    silent = list(brief.silent)
    if strange := _beyond(match, context, live):
        silent += [f"no chance: {word}" for word in strange]
        sure[-1] = None
    if context.patch not in live.patches:
        trained = f"{live.patches[0]} to {live.patches[-1]}"
        silent.append(f"trained on {trained}; this is {context.patch}, so be careful")
    return replace(
        brief,
        minute=match.minutes[-1],
        chance=sure[-1],
        curve=list(zip(match.minutes, sure, strict=True)),
        silent=silent,
    )


def _beyond(match: LiveMatch, context: MatchContext, live: LiveModels) -> list[str]:
    """What lies beyond training now, of what this source tells."""
    now = context.samples.where(np.array([len(context.samples) - 1]))
    ranged = live.value(SPECTATOR)
    told = {PLAYER: ("t_min",), LIST: ("t_min", "radiant_gold_adv")}
    names = told.get(match.source, tuple(ranged.feature_ranges))
    kept = {name: ranged.feature_ranges[name] for name in names}
    return replace(ranged, feature_ranges=kept).out_of_range(now)


def _with_advice(
    brief: Brief, match: LiveMatch, context: MatchContext, live: LiveModels, models: Models
) -> Brief:
    if brief.chance is None or match.source == LIST:
        why = "no advice: items, wards and buildings are not told"
        return replace(brief, silent=[*brief.silent, *[why] * (match.source == LIST)])
    seen = replace(models, value=live.value(SPECTATOR))
    if match.source == PLAYER:
        silent = [
            *brief.silent,
            "no advice on objectives: which enemy buildings stand is not told",
            "no advice on wards: the lead in gold, by which spots are chosen, is not told",
        ]
        lines = item_lines(context, seen, len(context.samples) - 1, match.own_slot or 0)
        return replace(brief, silent=silent, items=_unscored(lines, match))
    advice = advise(context, seen, match.minutes[-1])
    standing = "wards that stand are not told: a spot may be taken already"
    return replace(
        brief,
        silent=[*brief.silent, standing],
        items=_unscored(advice.items, match),
        wards=_unscored(advice.wards, match),
        objectives=advice.objectives,
    )


def _unscored(lines: list[dict[str, Any]], match: LiveMatch) -> list[dict[str, Any]]:
    """These models read neither items nor wards, so they have no opinion of them."""
    blank = {"model": _NOT_TOLD, "gain": None, "error": None}
    found = []
    for line in lines:
        hero = match.heroes.get(line.get("slot", -1))
        cash = hero.cash if hero is not None and "cash" in line else None
        found.append({**(line if cash is None else with_cash(line, cash)), **blank})
    return found


# --- what is known -------------------------------------------------------------------------------


def _known(match: LiveMatch) -> list[tuple[str, str]]:
    """The state in words; what is not told is said to be unknown."""
    last = match.last
    score = "unknown" if last is None or last.scores is None else "{}:{}".format(*last.scores)
    known = [("clock", _time(match.clock)), ("kills", score)]
    if match.own_slot is not None and (own := match.heroes.get(match.own_slot)):
        hero = facts.heroes().get(own.hero_id)
        side = ("Radiant", "Dire")[match.own_slot // 5]
        known += [("hero", f"{hero.name if hero else 'unknown'}, {side}")]
        known += [("gold earned", _number(own.gold)), ("gold at hand", _number(own.cash))]
        known += [("experience", _number(own.xp))]
    for name, words in (("gold", "lead in gold"), ("xp", "lead in experience")):
        known.append((words, _lead_in_words(match, name)))
    return known


def _number(value: int | None) -> str:
    return "unknown" if value is None else f"{value:,}"


def _lead_in_words(match: LiveMatch, name: str) -> str:
    if match.source == LIST and name == "gold" and match.last is not None:
        lead = match.last.gold_lead
        return "unknown" if lead is None else f"{lead:+,}"
    if match.source != SPECTATOR:
        return "unknown"
    signs = {slot: 1 if slot < 5 else -1 for slot in match.heroes}
    values = {slot: getattr(hero, name) for slot, hero in match.heroes.items()}
    if len(values) < 10 or None in values.values():
        return "unknown"
    return f"{sum(signs[slot] * value for slot, value in values.items()):+,}"


def _leads(context: MatchContext) -> list[tuple[str, str]]:
    last: Mapping[str, Any] = {name: lead[-1] for name, lead in context.timeline.advantage.items()}
    return [
        ("clock", _time(int(context.timeline.t[-1]))),
        ("lead in gold", f"{last['gold']:+,.0f}"),
        ("lead in experience", f"{last['xp']:+,.0f}"),
    ]
