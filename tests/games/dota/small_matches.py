"""Real matches where there are any, and small ones made by hand."""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from understudy.games.dota.features import team_rating
from understudy.games.dota.features.encode import encode
from understudy.games.dota.features.samples import ALL_NAMES, Samples, samples_of
from understudy.games.dota.features.timeline import build_timeline
from understudy.games.dota.sources.match_files import tables_of
from understudy.games.dota.sources.opendota import rows_of
from understudy.games.dota.sources.synthetic import World, generate

_BESIDE = Path(__file__).parents[3].parent / "shared/data/dota"
DATA = Path(os.environ.get("UNDERSTUDY_DOTA_DATA", _BESIDE))
"""Real matches; never part of the project."""

needs_data = pytest.mark.skipif(
    not (DATA / "matches.parquet").is_file(),
    reason="no real matches here; set UNDERSTUDY_DOTA_DATA to a folder of them",
)


def small_match(number=7, minutes=12, **changes):
    """A match as OpenDota tells it: Radiant earns 100 a minute and head, Dire 90."""
    times = [60 * k for k in range(minutes + 1)]
    players = []
    for slot in range(10):
        pace = 100 if slot < 5 else 90
        players.append(
            {
                "player_slot": slot if slot < 5 else slot + 123,
                "account_id": 1000 + slot,
                "personaname": f"somebody {slot}",
                "hero_id": slot + 1,
                "leaver_status": 0,
                "times": times,
                "gold_t": [pace * k for k in range(minutes + 1)],
                "xp_t": [2 * pace * k for k in range(minutes + 1)],
                "lh_t": list(range(minutes + 1)),
                "dn_t": [0] * (minutes + 1),
                "gold_per_min": pace,
            }
        )
    players[0]["purchase_log"] = [{"time": -30, "key": "tango", "charges": 3}]
    players[5]["kills_log"] = [{"time": 61, "key": "npc_dota_hero_axe"}]
    lead = [50 * k for k in range(minutes + 1)]
    return {
        "match_id": number,
        "patch": 57,
        "version": 22,
        "start_time": 1_740_000_000 + 10_000 * number,
        "duration": max(300, 60 * minutes + 7),
        "radiant_win": True,
        "radiant_team_id": 1,
        "dire_team_id": 2,
        "radiant_gold_adv": lead,
        "radiant_xp_adv": [2 * x for x in lead],
        "picks_bans": [{"order": 0, "is_pick": True, "team": 1, "hero_id": 6}],
        "objectives": [
            {"time": 300, "type": "building_kill", "key": "npc_dota_badguys_tower1_mid"},
        ],
        "teamfights": [
            {
                "start": 100,
                "end": 150,
                "last_death": 135,
                "deaths": 3,
                "players": [
                    {"deaths": slot % 2, "gold_delta": 10 * slot, "xp_delta": 0, "killed": {}}
                    for slot in range(10)
                ],
            }
        ],
        "players": players,
        **changes,
    }


def small_tables(*matches):
    return tables_of([rows_of(match) for match in matches or (small_match(),)])


def small_timeline(*matches):
    return build_timeline(small_tables(*matches))


def late_match(begin=120, **changes):
    """A small match whose first minutes the parser missed."""
    match = small_match(**changes)
    for player in match["players"]:
        player["times"] = [begin + t for t in player["times"]]
    return match


def made_up(matches, seed=3, **world):
    """Tables of matches that nobody played."""
    (batch,) = generate(World(seed=seed, **world), matches)
    return batch.tables


def known_of(tables):
    """The strength before each match, by the others."""
    return team_rating.strengths(team_rating.results_of(tables["matches"]))


def samples_from(tables, horizon=180):
    rows = encode(tables, known_of(tables), horizon)["value"]
    return samples_of({name: rows[name].to_numpy() for name in rows.column_names})


def blank_samples(match_id, labels=None, **columns):
    """Rows in which all features are 0 but those named."""
    match_id = np.asarray(match_id)
    features = np.zeros((len(match_id), len(ALL_NAMES)), np.float32)
    for name, values in columns.items():
        features[:, ALL_NAMES.index(name)] = values
    return Samples(features, match_id, np.full(len(match_id), 57), match_id * 1000, labels or {})


def write_tables(folder, tables):
    """One Parquet file per table."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        pq.write_table(table, folder / f"{name}.parquet")
    return folder


def put(table, **columns):
    """The same table with other values in some columns."""
    for name, values in columns.items():
        place = table.schema.get_field_index(name)
        table = table.set_column(place, table.field(name), pa.array(values, table.field(name).type))
    return table


def swap_sides(tables):
    """The same matches with Radiant and Dire changing places, in the tables themselves."""
    swapped = dict(tables)
    state = tables["state_team_minute"]
    for name in ("radiant_gold_adv", "radiant_xp_adv"):
        state = put(state, **{name: -state[name].to_numpy()})
    swapped["state_team_minute"] = state
    for name in ("state_player_minute", "players", "teamfight_players"):
        slots = (tables[name]["slot_idx"].to_numpy() + 5) % 10
        order = [("match_id", "ascending"), ("slot_idx", "ascending")]
        if name == "state_player_minute":
            order.append(("t", "ascending"))
        if name == "teamfight_players":
            order.insert(1, ("fight_id", "ascending"))
        swapped[name] = put(tables[name], slot_idx=slots).sort_by(order)
    events = tables["events"]
    team = [None if x is None else 1 - x for x in events["team"].to_pylist()]
    sides = {"goodguys": "badguys", "badguys": "goodguys"}
    target = [
        next((x.replace(a, b) for a, b in sides.items() if x and a in x), x)
        for x in events["target"].to_pylist()
    ]
    slot = [None if x is None else (x + 5) % 10 for x in events["slot_idx"].to_pylist()]
    swapped["events"] = put(events, slot_idx=slot, team=team, target=target)
    matches = tables["matches"]
    teams = {f"{side}_team_id": matches[f"{other}_team_id"].to_pylist() for side, other in SWAPPED}
    won = [not x for x in matches["radiant_win"].to_pylist()]
    swapped["matches"] = put(matches, radiant_win=won, **teams)
    return swapped


SWAPPED = (("radiant", "dire"), ("dire", "radiant"))
