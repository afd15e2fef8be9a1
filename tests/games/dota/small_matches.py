"""Real matches where there are any, and small ones made by hand."""

import os
from pathlib import Path

import pytest

from understudy.games.dota.sources.match_files import tables_of
from understudy.games.dota.sources.opendota import rows_of

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
        "duration": 60 * minutes + 7,
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
