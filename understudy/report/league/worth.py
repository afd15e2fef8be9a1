"""Was it worth a league? Beside leagues of the same run that did without: plain self-play."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from understudy.data.integrity.json_files import read_json
from understudy.data.integrity.shapes import LeagueSummary
from understudy.data.runs import LeagueFolder
from understudy.data.stats import Z

Summary = Mapping[str, Any]
WITHOUT = ("SelfPlay", "FictitiousSelfPlay")
"""Ways to choose opponents that need no exploiters and no win rates."""
_ALIKE = 0.15
"""Budgets that differ by less are told and compared: steps come in batches, which in a small league
are a good part of a round."""


def worth(folder: Path, summary: Summary) -> str:
    """A sentence; nothing of those ways themselves, nor where nothing was measured."""
    way, mine = summary.get("way", ""), _strongest(summary)
    if not way or way in WITHOUT or mine is None:
        return ""
    steps = summary["agent_steps"]
    told = [
        _beside(f"{name} ({other['agent_steps']:,} agent-steps to {steps:,})", mine, theirs)
        if (exact := _exactly(summary, other)) is None
        else f"Beside {name} the exact best answer wins {exact:+.1f} points less against it."
        for name, other in _others(folder)
        if other.get("way") in WITHOUT
        and _alike(steps, other["agent_steps"])
        and (theirs := _strongest(other)) is not None
        and _alike(mine["agent_steps"], theirs["agent_steps"])
    ]
    if not told:
        return (
            "Was it worth a league? That is not known before the recipe's -self-play has been run "
            "beside it."
        )
    return " ".join([*told, "One run of each: runs of one way differ by some 5 points."])


def _others(folder: Path) -> list[tuple[str, Summary]]:
    found = list[tuple[str, Summary]]()
    for other in sorted(folder.parent.glob("*/")):
        if other != folder:
            cure = "Run the same understudy league again"
            if known := read_json(LeagueFolder(other).summary, LeagueSummary, cure):
                found.append((other.name, known))
    return found


def _exactly(mine: Summary, theirs: Summary) -> float | None:
    """How many points less the best answer wins against the one's main agent; None: not known."""
    one, other = ((each.get("exact") or {}).get("main agent") for each in (mine, theirs))
    return None if one is None or other is None else 100 * (float(other) - float(one))


def _strongest(summary: Summary) -> Summary | None:
    return max(summary["best_response"].values(), key=lambda one: one["mean"], default=None)


def _alike(one: float, other: float) -> bool:
    return abs(one - other) <= _ALIKE * max(one, other)


def _beside(name: str, mine: Summary, theirs: Summary) -> str:
    """How much less a league is exploited than one that did without."""
    gap = theirs["mean"] - mine["mean"]
    reach = Z * math.hypot(*((one["high"] - one["low"]) / (2 * Z) for one in (mine, theirs)))
    low, high = 100 * (gap - reach), 100 * (gap + reach)
    word = "worth it" if low > 0 else "not worth it" if high < 0 else "not told apart"
    points = f"{100 * gap:+.0f} points [{low:+.0f}, {high:+.0f}]"
    return f"Beside {name} it is exploited less by {points}: {word}."
