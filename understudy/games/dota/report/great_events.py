"""What decides matches, in words and as a strip of signs: fights, Roshan, towers and barracks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

import numpy as np

from understudy.games.dota.advice.match_context import MatchContext
from understudy.games.dota.advice.spots import SIDES

APART = 0.09
"""Of the strip's width, between two signs: what is nearer becomes one sign with a count."""
NAMED = {"CHAT_MESSAGE_ROSHAN_KILL": "Roshan", "CHAT_MESSAGE_FIRSTBLOOD": "first blood"}
LANES = {"fights": "F", "Roshan": "R", "buildings": "T"}


@dataclass(frozen=True)
class Great:
    """Something that happened."""

    t: int
    team: int
    """Whose gain it was; -1: nobody's."""
    lane: str
    """Which strip it is on; nothing: none."""
    words: str


def great_events(context: MatchContext) -> list[Great]:
    """All within the minutes of a match, in order."""
    last = int(context.timeline.t[-1])
    found = [*_objectives(context), *_fights(context)]
    return sorted((e for e in found if 0 <= e.t <= last), key=lambda e: (e.t, e.words))


def _objectives(context: MatchContext) -> Iterator[Great]:
    things = context.timeline.events["objective"]
    rows = (things.t.tolist(), things.team.tolist(), things.key.to_pylist())
    for t, team, key, target in zip(*rows, things.target.to_pylist(), strict=True):
        if key == "building_kill" and target:
            loser = int("badguys" in target)
            lane = "buildings" if "tower" in target or "rax" in target else ""
            yield Great(t, 1 - loser, lane, f"{SIDES[loser]}'s {_building(target)} falls")
        elif key in NAMED and team >= 0:
            lane = "Roshan" if NAMED[key] == "Roshan" else ""
            yield Great(t, team, lane, f"{NAMED[key]}, {SIDES[team]}")


_KINDS = {"melee_rax": "melee barracks", "range_rax": "ranged barracks", "fort": "Ancient"}


def _building(target: str) -> str:
    """tier 2 tower mid, for npc_dota_badguys_tower2_mid."""
    name = target.split("guys_", 1)[-1]
    for key, words in _KINDS.items():
        name = name.replace(key, words)
    if name.startswith("tower"):
        tier, _, lane = name.removeprefix("tower").partition("_")
        return f"tier {tier} tower {lane}".strip()
    return name.replace("_", " ")


def _fights(context: MatchContext) -> Iterator[Great]:
    fights, shares = context.timeline.fights, context.timeline.fight_shares
    for k, (t, deaths) in enumerate(zip(fights.t.tolist(), fights.value.tolist(), strict=True)):
        sides = shares["deaths"][k].reshape(2, 5).sum(axis=1)
        gold = shares["gold_delta"][k].reshape(2, 5).sum(axis=1)
        team = int(gold[1] > gold[0]) if gold[0] != gold[1] else -1
        lost = f"Radiant loses {sides[0]:.0f}, Dire {sides[1]:.0f}"
        words = f"a fight of {max(deaths, int(sides.sum()))} deaths ({lost})"
        yield Great(t, team, "fights", words)


# --- the strip -----------------------------------------------------------------------------------


def strip(context: MatchContext) -> str:
    """A lane for each kind of event under the chart, in the chart's own time."""
    first, last = int(context.timeline.t[0]), int(context.timeline.t[-1])
    events = great_events(context)
    lanes = []
    for lane, letter in LANES.items():
        some = [e for e in events if e.lane == lane]
        signs = "".join(_sign(group, letter, first, last) for group in gathered(some, first, last))
        lanes.append(f'<span title="{lane}">{letter}</span><div class="lane">{signs}</div>')
    return f'<div class="strip">{"".join(lanes)}</div>'


def gathered(events: Sequence[Great], first: int, last: int) -> list[list[Great]]:
    """Events in groups whose signs lie at least APART from each other."""
    groups: list[list[Great]] = []
    for event in events:
        if groups and _share(event, first, last) - _share(groups[-1][0], first, last) < APART:
            groups[-1].append(event)
        else:
            groups.append([event])
    return groups


def _share(event: Great, first: int, last: int) -> float:
    """Where a sign stands; at the borders it stays within the strip."""
    share = (event.t - first) / max(last - first, 1)
    return min(max(share, APART / 2), 1 - APART / 2)


def _sign(group: Sequence[Great], letter: str, first: int, last: int) -> str:
    gains = [sum(e.team == team for e in group) for team in (0, 1)]
    color = "--s8" if gains[0] == gains[1] else "--s1" if gains[0] > gains[1] else "--s2"
    words = "; ".join(f"{e.t // 60}:{e.t % 60:02d} {e.words}" for e in group)
    text = letter if len(group) == 1 else str(len(group))
    return (
        f'<span class="sign" role="img" style="left:{_share(group[0], first, last):.2%};'
        f'--color:var({color})" title="{escape(words)}" aria-label="{escape(words)}">{text}</span>'
    )


# --- in words ------------------------------------------------------------------------------------

SPAN, MOST = 3, 4
"""Minutes that a swing may take, and how many are told."""


def swings(context: MatchContext, chance: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> str:
    """The spans in which the chance moved most, none within another, as sentences."""
    span = min(SPAN, len(chance) - 1)
    if span < 1:
        return ""
    moved = chance[span:] - chance[:-span]
    chosen: list[int] = []
    for row in np.argsort(-np.abs(moved), kind="stable").tolist():
        if len(chosen) < MOST and all(abs(row - other) >= span for other in chosen):
            chosen.append(row)
    lines = (
        f'<p class="swing">{escape(_sentence(context, chance, row, span))}</p>'
        for row in sorted(chosen)
    )
    return "".join(lines)


def _sentence(
    context: MatchContext,
    chance: "np.ndarray[tuple[int], np.dtype[np.float64]]",
    row: int,
    span: int,
) -> str:
    """Minutes 31 to 34: Dire from 40 % to 71 %. What happened."""
    begin, end = (int(context.timeline.t[r]) for r in (row, row + span))
    team = int(chance[row + span] < chance[row])
    before, after = (abs(team - float(chance[r])) for r in (row, row + span))
    gold = context.timeline.advantage["gold"]
    gained = int((1 - 2 * team) * (gold[row + span] - gold[row]))
    happened = words_between(context, begin, end)
    told = ", ".join(happened) if happened else "nothing but farm"
    return (
        f"Minutes {begin // 60} to {end // 60}: {SIDES[team]} from {before:.0%} to {after:.0%}. "
        f"{told[0].upper()}{told[1:]}; gold {gained:+,} for {SIDES[team]}."
    )


def words_between(context: MatchContext, begin: int, end: int) -> list[str]:
    """Kills, fights, buildings and Roshan within (begin, end]; what repeats is counted."""
    words = []
    kills = context.timeline.events["kill"]
    within = (kills.t > begin) & (kills.t <= end)
    counts = [int((within & (kills.team == team)).sum()) for team in (0, 1)]
    if any(counts):
        words.append(f"kills {counts[0]}:{counts[1]}")
    told = [e.words for e in great_events(context) if begin < e.t <= end]
    for word, same in groupby(told):
        count = len(list(same))
        words.append(word if count == 1 else f"{word} ({count} times)")
    return words
