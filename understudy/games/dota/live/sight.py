"""Which columns each source tells, and the chance to win by these alone.

A client that watches, and OpenDota's live list, see both sides: their columns change sign when the
sides swap, and the chance is Radiant's. A client that plays sees its own side: columns are its own
point of view, and so is the chance. No column reads what is not told (`UNTOLD`), so a blank cannot
be taken for a number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypedDict

import numpy as np
import pyarrow.compute as pc

from understudy.data.arrays import Floats
from understudy.data.integrity.json_files import read_json, write_json
from understudy.errors import InputError
from understudy.games.dota.advice.match_context import SHIPPED, MatchContext
from understudy.games.dota.features.samples import Samples
from understudy.games.dota.features.timeline import Timeline
from understudy.games.dota.live.report import LIST, PLAYER, SPECTATOR
from understudy.games.dota.value.checkpoint import ValueModel
from understudy.games.dota.value.linear import Linear
from understudy.games.dota.value.symmetric import sum_of

LIVE_FILE = "live.json"
FORMAT = 1
_CURE = "Train one: understudy train dota live"

UNTOLD: Mapping[str, tuple[str, ...]] = {
    PLAYER: (
        "gold, experience and items of everybody else",
        "which enemy buildings have fallen",
        "who is dead and who bought back",
        "where wards stand",
        "how strong the teams are",
    ),
    SPECTATOR: ("where wards stand", "what fights brought", "how strong the teams are"),
    LIST: (
        "experience",
        "buildings",
        "items",
        "wards",
        "who is dead",
        "how strong the teams are; and gold is net worth there",
    ),
}
"""What each does not tell, for people."""

_SCORE = ("kills", "kills_change_1", "kills_change_3", "kills_change_5")
_SEEN = (
    *("gold_adv_change_1", "gold_adv_change_5", "xp_adv_change_1", "xp_adv_change_5"),
    *("roshans", "aegis", "first_blood", "couriers", *_SCORE),
    *("buybacks", "dead", "dead_seconds", "buybacks_waiting"),
)
TOLD: Mapping[str, tuple[str, ...]] = {
    SPECTATOR: ("gold", "xp", "towers", "barracks", *_SEEN),
    LIST: ("gold", "gold_adv_change_1", "gold_adv_change_5", *_SCORE),
}
"""Parts of the columns of each that sees both sides; gold and xp are five columns each."""
OWN = (
    *("time", "Radiant", "kills", "kills x time", "kills / root of time", "kills change"),
    *("roshans", "aegis", "towers lost", "towers lost x time", "barracks lost"),
    *("gold pace", "gold pace x time", "xp pace", "xp pace x time"),
)
"""Columns of a client that plays."""


def columns_of(source: str, samples: Samples) -> Floats:
    """[R, C] of a source that sees both sides, as `names_of` names them."""
    minute = samples.column("t_min")
    safe = np.maximum(minute, 1.0)
    parts: list[Floats] = []
    for name in TOLD[source]:
        if name in ("gold", "xp"):
            lead = samples.column(f"radiant_{name}_adv") / 1000
            parts += [lead, lead * minute / 30, lead / safe, lead / np.sqrt(safe)]
            parts.append(samples.column(f"{name}_adv_change_3") / 1000)
        elif name == "towers":
            parts.append(sum_of(samples, ("towers_1", "towers_2", "towers_3", "towers_4")))
        elif name == "barracks":
            parts.append(sum_of(samples, ("barracks_melee", "barracks_range")))
        else:
            parts.append(samples.column(name))
    return np.stack(parts, axis=1)


def names_of(source: str) -> tuple[str, ...]:
    """What the columns of a source are called."""
    if source == PLAYER:
        return OWN
    of_lead = ("", " x time", " / time", " / root of time", " change")
    return tuple(
        f"{name}{how}"
        for name in TOLD[source]
        for how in (of_lead if name in ("gold", "xp") else ("",))
    )


def own_columns(match: Timeline, samples: Samples, slot: int) -> Floats:
    """[R, C] of a client that plays in a slot; only its own side, and what both sides hear of."""
    team = slot // 5
    sign = 1 - 2 * team
    minute = match.t / 60.0
    late, safe = minute / 30, np.maximum(minute, 1.0)
    kills = sign * samples.column("kills")
    towers, barracks = (_lost(match, team, part) for part in ("tower", "_rax"))
    gold, xp = (match.players[name][:, slot] / 1000 / safe for name in ("gold", "xp"))
    parts = [late, np.full(len(late), float(sign))]
    parts += [kills, kills * late, kills / np.sqrt(safe), sign * samples.column("kills_change_3")]
    parts += [sign * samples.column(name) for name in ("roshans", "aegis")]
    parts += [towers, towers * late, barracks, gold, gold * late, xp, xp * late]
    return np.stack(parts, axis=1)


def _lost(match: Timeline, team: int, part: str) -> Floats:
    """[R]: buildings of a side that have fallen."""
    things = match.events["objective"]
    side = ("goodguys", "badguys")[team]
    named = pc.and_(
        pc.match_substring(things.target, side), pc.match_substring(things.target, part)
    )
    of_side = np.asarray(pc.fill_null(named, False).to_numpy()).astype(bool)
    rows = things.row[of_side]
    return match.so_far(rows, np.zeros(len(rows), np.int64))[:, 0]


# --- models --------------------------------------------------------------------------------------


class Weights(TypedDict):
    """Of one source."""

    columns: list[str]
    weights: list[float]
    spread: list[float]


class LiveWeights(TypedDict):
    """All live models in one file."""

    format: int
    sources: dict[str, Weights]
    patches: list[str]
    matches: int
    seen: dict[str, tuple[float, float]]


@dataclass(frozen=True)
class LiveModels:
    """One for each source."""

    weights: Mapping[str, Floats]
    spread: Mapping[str, Floats]
    patches: tuple[str, ...]
    seen: Mapping[str, tuple[float, float]]

    def value(self, source: str) -> ValueModel:
        """Of a source that sees both sides, as advice takes it."""
        told = [name for name in self.seen if name != "radiant_xp_adv" or source == SPECTATOR]
        linear = Linear(
            partial(columns_of, source), {"y_win": self.weights[source]}, self.spread[source]
        )
        return ValueModel(linear, self.patches, {name: self.seen[name] for name in told})

    def chance(self, source: str, context: MatchContext, slot: int | None) -> Floats:
        """That Radiant wins, at every minute; `slot` is whose a playing client is."""
        if source != PLAYER:
            return np.asarray(self.value(source).chance(context.samples))
        own = Linear(lambda _: _own_of(context, slot or 0), {"y_win": self.weights[PLAYER]})
        chance = own.predict("y_win", context.samples)
        return chance if (slot or 0) < 5 else 1 - chance


def _own_of(context: MatchContext, slot: int) -> Floats:
    return own_columns(context.timeline, context.samples, slot)


def save_live(
    folder: Path,
    fitted: Mapping[str, tuple[Floats, Floats]],
    patches: Sequence[str],
    matches: int,
    seen: Mapping[str, tuple[float, float]],
) -> None:
    """Write models that `load_live` reads; of each source its weights and their errors."""
    sources = {
        source: {
            "columns": [*names_of(source), "constant"],
            "weights": _rounded(weights),
            "spread": _rounded(errors),
        }
        for source, (weights, errors) in fitted.items()
    }
    content = {"format": FORMAT, "sources": sources, "patches": [*patches], "matches": matches}
    write_json(folder / LIVE_FILE, {**content, "seen": dict(seen)}, indent=1)


def _rounded(values: Floats) -> list[float]:
    return [float(f"{value:.9g}") for value in values.tolist()]


def load_live(folder: Path | None = None) -> LiveModels:
    """Those of a model's folder, or those that come with the program."""
    path = (folder or SHIPPED) / LIVE_FILE
    content = read_json(path, LiveWeights, _CURE)
    if content is None:
        raise InputError(f"{path}: there are no live models. {_CURE}")
    for source in (PLAYER, *TOLD):
        one = content["sources"].get(source)
        columns = [*names_of(source), "constant"]
        if one is None or one["columns"] != columns or content["format"] != FORMAT:
            raise InputError(f"{path} was made for other columns. {_CURE}")
        if {len(one["weights"]), len(one["spread"])} != {len(columns)}:
            raise InputError(f"{path}: not a weight for every column of {source}. {_CURE}")
    told = content["sources"]
    return LiveModels(
        {source: np.array(one["weights"]) for source, one in told.items()},
        {source: np.array(one["spread"]) for source, one in told.items()},
        tuple(content["patches"]),
        {name: (low, high) for name, (low, high) in content["seen"].items()},
    )
