"""What one message tells of a running match. None stands for what it does not tell.

Of who plays nothing is kept: no account, no name.
"""

from collections.abc import Mapping

import msgspec

PLAYER, SPECTATOR, LIST = "player", "spectator", "list"
"""Who tells: the client of somebody who plays, that of one who watches, OpenDota's live list."""
SOURCES = (PLAYER, SPECTATOR, LIST)


class ReportError(ValueError):
    """Why a message tells nothing; one line for whoever sent it."""


class Hero(msgspec.Struct, kw_only=True, frozen=True):
    """One of the ten, as far as it is told."""

    hero_id: int = 0
    kills: int | None = None
    deaths: int | None = None
    killed: dict[int, int] = msgspec.field(default_factory=dict)
    """How often each slot was killed by this one."""
    gold: int | None = None
    """Earned since the beginning."""
    cash: int | None = None
    xp: int | None = None
    last_hits: int | None = None
    denies: int | None = None
    buyback_cooldown: int | None = None
    items: tuple[str, ...] | None = None


class Event(msgspec.Struct, kw_only=True, frozen=True):
    """Something that is told by itself."""

    t: int
    kind: str
    """roshan, aegis or courier."""
    team: int
    slot: int | None = None


class Report(msgspec.Struct, kw_only=True, frozen=True):
    """One message."""

    source: str
    match_id: int
    clock: int
    """Seconds since the horn."""
    started_at: int
    """Unix seconds, about."""
    own_slot: int | None = None
    """Of who plays there."""
    going_on: bool = True
    """False before the horn and after the end."""
    paused: bool = False
    custom: str = ""
    """The name of a game that is another than Dota."""
    winner: int | None = None
    scores: tuple[int, int] | None = None
    """Kills of each side."""
    gold_lead: int | None = None
    heroes: Mapping[int, Hero] = msgspec.field(default_factory=dict)
    """By slot."""
    standing: tuple[frozenset[str] | None, frozenset[str] | None] = (None, None)
    """Of each side: the buildings that stand, as OpenDota names them."""
    events: tuple[Event, ...] = ()


def _names(side: str) -> frozenset[str]:
    towers = [f"tower{tier}_{lane}" for tier in (1, 2, 3) for lane in ("top", "mid", "bot")]
    barracks = [
        f"{kind}_rax_{lane}" for kind in ("melee", "range") for lane in ("top", "mid", "bot")
    ]
    return frozenset(
        f"npc_dota_{side}_{name}" for name in (*towers, "tower4_top", "tower4_bot", *barracks)
    )


BUILDINGS = (_names("goodguys"), _names("badguys"))
"""All that can be taken of each side before its Ancient; the two towers there by their places."""
