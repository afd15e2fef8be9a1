"""From a timeline to features, in named groups. Live advice and `encode.py` call this.

Every feature of a row at t rests on what had happened by t. Names say what becomes of a feature
when the sides are swapped: those beginning with `rad_` and `dire_` trade places, those in EVEN
stay, all others (Radiant's less Dire's) change their sign.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data.arrays import Floats, Ints
from understudy.games.dota import facts
from understudy.games.dota.features.deaths import level_of, still_dead
from understudy.games.dota.features.timeline import Happenings, Timeline

Features = dict[str, Floats]

EVEN = frozenset(
    {
        "t",
        "t_min",
        "gold_total",
        "roshans_total",
        "kills_total",
        "strength_games",
        "strength_unsure",
    }
)
AEGIS = 5  # minutes it lasts
BUYBACK = 8  # minutes before a hero may buy back again


def lead(teams: Floats) -> Floats:
    """Radiant's less Dire's; [R, 2] to [R]."""
    return teams[:, 0] - teams[:, 1]


def economy(match: Timeline) -> Features:
    """What the seed's first model reads, and how the leads changed of late."""
    columns: Features = {"t": match.t.astype(np.float64), "t_min": match.t / 60.0}
    for name, values in match.players.items():
        sides = values.reshape(-1, 2, 5)
        sums = {f"{name}_sum": sides.sum(axis=2)}
        if name in ("gold", "xp"):
            sums |= {f"{name}_mean": sides.mean(axis=2), f"{name}_max": sides.max(axis=2)}
        for what, teams in sums.items():
            columns |= {f"rad_{what}": teams[:, 0], f"dire_{what}": teams[:, 1]}
            columns[f"{what}_diff"] = lead(teams)
    for name, ahead in match.advantage.items():
        columns[f"radiant_{name}_adv"] = ahead
        for minutes in (1, 3, 5):
            columns[f"{name}_adv_change_{minutes}"] = ahead - match.earlier(ahead, minutes)
    columns["gold_total"] = match.players["gold"].sum(axis=1)
    columns["gold_share"] = columns["gold_sum_diff"] / np.maximum(columns["gold_total"], 1.0)
    return columns


def rank_economy(match: Timeline) -> Features:
    """The richest of one side beside the richest of the other, and so on down; levels."""
    columns: Features = {}
    for name in ("gold", "xp", "lh"):
        ranked = -np.sort(-match.players[name].reshape(-1, 2, 5), axis=2)
        for rank in range(5):
            columns[f"{name}_rank_{rank + 1}"] = lead(ranked[:, :, rank])
    level = level_of(match.players["xp"]).reshape(-1, 2, 5)
    columns["level_sum"] = lead(level.sum(axis=2).astype(np.float64))
    columns["level_max"] = lead(level.max(axis=2).astype(np.float64))
    columns["level_min"] = lead(level.min(axis=2).astype(np.float64))
    gold = match.players["gold"].reshape(-1, 2, 5)
    columns["top_share"] = lead(gold.max(axis=2) / np.maximum(gold.sum(axis=2), 1.0))
    return columns


BUILDINGS = {
    "towers_1": "tower1",
    "towers_2": "tower2",
    "towers_3": "tower3",
    "towers_4": "tower4",
    "barracks_melee": "melee_rax",
    "barracks_range": "range_rax",
}


def objectives(match: Timeline) -> Features:
    """Buildings taken (Radiant's count those of Dire that fell), Roshan, the Aegis, couriers."""
    things = match.events["objective"]
    columns: Features = {}
    loser = np.where(_contains(things.target, "goodguys"), 0, 1)  # Radiant's are "goodguys"
    is_building = _is(things.key, "building_kill")
    every = np.zeros((len(match.t), 2))
    for name, part in BUILDINGS.items():
        chosen = is_building & _contains(things.target, part)
        taken = match.so_far(things.row[chosen], 1 - loser[chosen])
        columns[name] = lead(taken)
        every += taken
    columns["buildings_change_3"] = lead(every - match.earlier(every, 3))
    roshan = _taken(match, things, "CHAT_MESSAGE_ROSHAN_KILL")
    columns["roshans"], columns["roshans_total"] = lead(roshan), roshan.sum(axis=1)
    aegis = _taken(match, things, "CHAT_MESSAGE_AEGIS", "CHAT_MESSAGE_AEGIS_STOLEN")
    columns["aegis"] = lead(aegis - match.earlier(aegis, AEGIS))
    columns["first_blood"] = lead(_taken(match, things, "CHAT_MESSAGE_FIRSTBLOOD"))
    columns["couriers"] = -lead(_taken(match, things, "CHAT_MESSAGE_COURIER_LOST"))
    return columns


def skirmish(match: Timeline) -> Features:
    """Kills, fights that have ended, buybacks."""
    kills = _by_team(match, match.events["kill"])
    columns: Features = {"kills": lead(kills), "kills_total": kills.sum(axis=1)}
    for minutes in (1, 3, 5):
        columns[f"kills_change_{minutes}"] = lead(kills - match.earlier(kills, minutes))
    for name, shares in match.fight_shares.items():
        teams = shares.reshape(-1, 2, 5).sum(axis=2)
        gain = sum(
            match.so_far(match.fights.row, np.full(len(teams), team), teams[:, team])
            for team in (0, 1)
        )
        assert isinstance(gain, np.ndarray)
        columns[f"fight_{name}"] = lead(gain)
        columns[f"fight_{name}_change_3"] = lead(gain - match.earlier(gain, 3))
    buybacks = _by_team(match, match.events["buyback"])
    columns["buybacks"] = lead(buybacks)
    dead, seconds = still_dead(match)
    columns["dead"], columns["dead_seconds"] = -lead(dead), -lead(seconds)
    columns["buybacks_waiting"] = lead(buybacks - match.earlier(buybacks, BUYBACK))
    return columns


def vision(match: Timeline) -> Features:
    """Wards placed, standing, and taken down early by the other side."""
    columns: Features = {}
    for kind, life in (("obs", 360), ("sen", 420)):
        placed = _by_team(match, match.events[f"ward_{kind}_place"])
        gone = match.events[f"ward_{kind}_left"]
        standing = placed - _by_team(match, gone)
        columns[f"{kind}_placed"] = lead(placed)
        columns[f"{kind}_standing"] = lead(np.clip(standing, 0, 8))
        columns[f"{kind}_placed_change_3"] = lead(placed - match.earlier(placed, 3))
        # Gone more than 15 s before its time: taken down, not run out.
        early = _age_at_end(match.events[f"ward_{kind}_place"], gone) < life - 15
        taken = match.so_far(gone.row[early], 1 - gone.team[early])
        columns[f"{kind}_taken_down"] = lead(taken)
    return columns


def _age_at_end(placed: Happenings, gone: Happenings) -> Ints:
    """Seconds each ward stood, by its handle; a ward never seen placed counts as old."""
    handles = {
        (match, handle): t
        for match, handle, t in zip(
            placed.which.tolist(), placed.value.tolist(), placed.t.tolist(), strict=True
        )
    }
    pairs = zip(gone.which.tolist(), gone.value.tolist(), gone.t.tolist(), strict=True)
    return np.array([t - handles.get((m, h), t - 10**6) for m, h, t in pairs], np.int64)


MIN_COST = 900  # gold; cheaper things come and go
BIG = 2000  # gold; an item that costs this much is a step of its own


def items(match: Timeline) -> Features:
    """What was bought for how much, what may be left over, and how many of each dearer item."""
    bought = match.events["purchase"]
    spent = match.so_far(bought.row, bought.team, _looked_up(bought.key, _costs()))
    earned = match.players["gold"].reshape(-1, 2, 5).sum(axis=2)
    left = np.clip(earned + BEGIN - spent, 0, None)
    columns: Features = {"spent": lead(spent), "unspent": lead(left)}
    big = _looked_up(bought.key, _whole_costs()) >= BIG
    columns["big_items"] = lead(match.so_far(bought.row[big], bought.team[big]))
    columns["neutral_items"] = lead(_by_team(match, match.events["neutral"]))
    for name in ("smoke_of_deceit", "dust", "tpscroll"):
        chosen = _is(bought.key, name)
        columns[f"bought_{name}"] = lead(match.so_far(bought.row[chosen], bought.team[chosen]))
    return columns | _item_counts(match, bought)


BEGIN = 3000  # gold of a team at the start: 600 for each of the five


def _item_counts(match: Timeline, bought: Happenings) -> Features:
    """Bought so far of each item, Radiant's less Dire's; one sum over all items at once."""
    names = item_names()
    keys = pa.array([name.removeprefix("has_") for name in names], pa.string())
    code = pc.fill_null(pc.index_in(bought.key, value_set=keys), -1).to_numpy()
    chosen = (code >= 0) & (bought.row >= 0)
    sign = 1.0 - 2.0 * bought.team[chosen]
    cell = bought.row[chosen] * len(names) + code[chosen]
    new = np.bincount(cell, sign, len(match.t) * len(names)).astype(np.float64)
    total = match.running(new.reshape(len(match.t), len(names)))
    return {name: total[:, k] for k, name in enumerate(names)}


@cache
def item_names() -> tuple[str, ...]:
    """Features that count an item: everything sold that costs enough, but recipes."""
    sold = (item for item in facts.items().values() if item.cost >= MIN_COST and not item.neutral)
    return tuple(f"has_{item.key}" for item in sold if not item.key.startswith("recipe_"))


@cache
def _costs() -> dict[str, float]:
    """What a purchase costs by itself: things built from parts only cost their parts."""
    known = facts.items()
    return {key: 0.0 if item.components else float(item.cost) for key, item in known.items()}


@cache
def _whole_costs() -> dict[str, float]:
    return {key: float(item.cost) for key, item in facts.items().items()}


def heroes(match: Timeline) -> Features:
    """Which heroes play: 1 where Radiant has one, -1 where Dire has; an unknown hero is nobody."""
    names = hero_names()
    numbers = list(facts.heroes())
    place = np.full(max(numbers) + 1, len(numbers))
    place[numbers] = np.arange(len(numbers))
    known = np.where(match.heroes < len(place), match.heroes, 0)
    sides = np.zeros((len(known), len(numbers) + 1))
    sign = np.array([1.0] * 5 + [-1.0] * 5)
    np.add.at(sides, (np.arange(len(known))[:, None], place[known]), sign)
    return {name: sides[match.which, k] for k, name in enumerate(names)}


@cache
def hero_names() -> tuple[str, ...]:
    """Features that say which heroes play."""
    known = facts.heroes().values()
    return tuple(hero.key.removeprefix("npc_dota_") for hero in known)


GROUPS: Mapping[str, Callable[[Timeline], Features]] = {
    "economy": economy,
    "rank_economy": rank_economy,
    "objectives": objectives,
    "skirmish": skirmish,
    "vision": vision,
    "items": items,
    "heroes": heroes,
}
"""All but the strength of the teams, which rests on other matches (`team_rating.py`)."""


def features(match: Timeline) -> Features:
    """All groups of one or more matches."""
    return {name: values for group in GROUPS.values() for name, values in group(match).items()}


@cache
def names_of(group: str) -> tuple[str, ...]:
    """The features of a group, in order."""
    return tuple(GROUPS[group](nothing()))


def nothing() -> Timeline:
    """A timeline without any match: it shows which features there are."""
    from understudy.games.dota.features.timeline import build_timeline
    from understudy.games.dota.sources.match_files import tables_of

    return build_timeline(tables_of([]))


def _by_team(match: Timeline, things: Happenings) -> Floats:
    return match.so_far(things.row, things.team)


def _taken(match: Timeline, things: Happenings, *keys: str) -> Floats:
    chosen = _is(things.key, *keys) & (things.team >= 0)
    return match.so_far(things.row[chosen], things.team[chosen])


def _is(column: pa.ChunkedArray, *names: str) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    same = pc.is_in(column, value_set=pa.array(names, pa.string()))
    return np.asarray(same.to_numpy()).astype(bool)


def _contains(column: pa.ChunkedArray, part: str) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    within = pc.fill_null(pc.match_substring(column, part), False)
    return np.asarray(within.to_numpy()).astype(bool)


def _looked_up(column: pa.ChunkedArray, table: Mapping[str, float]) -> Floats:
    """A number for each name; 0 for one the table does not know."""
    row = pc.index_in(column, value_set=pa.array(list(table), pa.string()))
    numbers = np.array([*table.values(), 0.0])
    return numbers[pc.fill_null(row, len(table)).to_numpy()]
