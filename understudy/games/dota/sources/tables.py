"""The tables of a recording of Dota 2: what OpenDota knows of a match, without who played it.

Times are seconds from the horn; slots 0-4 are Radiant (team 0), 5-9 Dire (team 1). Minute tables
have a row at 0, 60, 120 … (a few begin later, none has gaps). Gold is gold *earned* so far, not
cash and not net worth.
"""

import pyarrow as pa

from understudy.data.results import pair_results
from understudy.data.schema import Column, Table

MADE_BY = "understudy record dota"
RESULTS = pair_results("dota")
"""No match of Dota is played here, so nothing is written into it."""

_MATCH = Column("match_id", pa.int64(), "which match, by its public number")
_SLOT = Column("slot_idx", pa.int8(), "which of the ten players: 0-4 Radiant, 5-9 Dire")
_SECOND = Column("t", pa.int32(), "seconds since the horn")


def _whole(name: str, meaning: str, *, optional: bool = True) -> Column:
    return Column(name, pa.int64(), meaning, optional=optional)


MATCHES = Table(
    "dota",
    "matches",
    1,
    MADE_BY,
    (
        _MATCH,
        _whole("patch", "patch by OpenDota's number, see facts/patches.csv", optional=False),
        _whole("start_time", "when it began, Unix seconds", optional=False),
        _whole("duration", "seconds from the horn to the end", optional=False),
        Column("radiant_win", pa.bool_(), "did Radiant win"),
        _whole("game_mode", "OpenDota's number of the mode, 2: captains mode"),
        _whole("lobby_type", "OpenDota's number of the lobby, 1: practice and tournaments"),
        _whole("region", "where the server stood"),
        _whole("version", "of the parser; missing where the replay was never parsed"),
        _whole("leagueid", "which league"),
        Column("league", pa.string(), "its name", optional=True),
        Column("tier", pa.string(), "of the league", optional=True),
        _whole("series_id", "matches of one series share it"),
        _whole("series_type", "0: one match, 1: best of three, 2: best of five, 3: best of two"),
        _whole("radiant_team_id", "which team played Radiant"),
        _whole("dire_team_id", "which team played Dire"),
        _whole("radiant_score", "kills of Radiant at the end"),
        _whole("dire_score", "kills of Dire at the end"),
        _whole("first_blood_time", "when the first hero died"),
        _whole("tower_status_radiant", "bits of towers standing at the end"),
        _whole("tower_status_dire", "bits of towers standing at the end"),
        _whole("barracks_status_radiant", "bits of barracks standing at the end"),
        _whole("barracks_status_dire", "bits of barracks standing at the end"),
        _whole("human_players", "how many people played"),
        _whole("n_min", "rows of the minute tables, 0 where the replay was never parsed"),
    ),
)
PLAYERS = Table(
    "dota",
    "players",
    1,
    MADE_BY,
    (
        _MATCH,
        _SLOT,
        Column("team", pa.int8(), "0 Radiant, 1 Dire"),
        _whole("hero_id", "which hero, see facts/heroes.csv"),
        _whole("hero_variant", "its facet"),
        _whole("lane", "where it stood in the first ten minutes; from the end, never a feature"),
        _whole("lane_role", "lane as its own team sees it; from the end"),
        Column("is_roaming", pa.bool_(), "in no lane; from the end", optional=True),
        _whole("rank_tier", "public rank of the player"),
        *(
            _whole(name, "at the end, never a feature")
            for name in (
                *("kills", "deaths", "assists", "level", "net_worth", "gpm", "xpm"),
                *("hero_damage", "tower_damage", "hero_healing", "obs_placed", "sen_placed"),
                *(f"item_{place}" for place in range(6)),
                "item_neutral",
            )
        ),
    ),
)
DRAFTS = Table(
    "dota",
    "drafts",
    1,
    MADE_BY,
    (
        _MATCH,
        _whole("order", "which step of the draft", optional=False),
        Column("is_pick", pa.bool_(), "picked, not banned"),
        _whole("team", "0 Radiant, 1 Dire", optional=False),
        _whole("hero_id", "which hero", optional=False),
    ),
)
STATE_TEAM_MINUTE = Table(
    "dota",
    "state_team_minute",
    1,
    MADE_BY,
    (
        _MATCH,
        _SECOND,
        Column("radiant_gold_adv", pa.int32(), "gold earned by Radiant minus that of Dire"),
        Column("radiant_xp_adv", pa.int32(), "experience of Radiant minus that of Dire"),
    ),
)
STATE_PLAYER_MINUTE = Table(
    "dota",
    "state_player_minute",
    1,
    MADE_BY,
    (
        _MATCH,
        _SECOND,
        _SLOT,
        Column("gold", pa.int32(), "earned so far, whatever became of it"),
        Column("xp", pa.int32(), "experience so far"),
        Column("lh", pa.int16(), "last hits so far"),
        Column("dn", pa.int16(), "denies so far"),
    ),
)
EVENTS = Table(
    "dota",
    "events",
    1,
    MADE_BY,
    (
        _MATCH,
        _SECOND,
        Column("slot_idx", pa.int8(), "who did it; missing: nobody of the ten", optional=True),
        Column("team", pa.int8(), "of whom; missing: see target", optional=True),
        Column("event_type", pa.string(), "purchase, kill, buyback, rune, neutral, objective …"),
        Column("key", pa.string(), "item, victim, rune or kind of objective", optional=True),
        Column("x", pa.float32(), "where, in cells of the map", optional=True),
        Column("y", pa.float32(), "where, in cells of the map", optional=True),
        Column("target", pa.string(), "building, killer of a ward, enhancement", optional=True),
        _whole("value", "charges bought, handle of a ward, worth of a courier"),
    ),
)
TEAMFIGHTS = Table(
    "dota",
    "teamfights",
    1,
    MADE_BY,
    (
        _MATCH,
        _whole("fight_id", "which fight of the match", optional=False),
        _whole("start", "seconds; known to be a fight only at its end", optional=False),
        _whole("end", "seconds; from here on it may be known", optional=False),
        _whole("last_death", "seconds"),
        _whole("deaths", "of heroes, both sides"),
    ),
)
TEAMFIGHT_PLAYERS = Table(
    "dota",
    "teamfight_players",
    1,
    MADE_BY,
    (
        _MATCH,
        _whole("fight_id", "which fight of the match", optional=False),
        _whole("slot_idx", "which of the ten players", optional=False),
        *(
            _whole(name, "of this player in this fight")
            for name in ("deaths", "buybacks", "damage", "healing", "gold_delta", "xp_delta")
        ),
        _whole("n_killed", "how many different heroes this player killed in it"),
    ),
)
RECORDINGS = (
    MATCHES,
    PLAYERS,
    DRAFTS,
    STATE_TEAM_MINUTE,
    STATE_PLAYER_MINUTE,
    EVENTS,
    TEAMFIGHTS,
    TEAMFIGHT_PLAYERS,
)

KINDS = (
    *("purchase", "kill", "buyback", "rune", "neutral", "objective"),
    *("ward_obs_place", "ward_obs_left", "ward_sen_place", "ward_sen_left"),
)
"""Types of events that are read; a later program may record others."""

ORDER = {
    "matches": ("match_id",),
    "players": ("match_id", "slot_idx"),
    "drafts": ("match_id", "order"),
    "state_team_minute": ("match_id", "t"),
    "state_player_minute": ("match_id", "slot_idx", "t"),
    "events": ("match_id", "t", "event_type", "slot_idx", "key", "target", "value", "x", "y"),
    "teamfights": ("match_id", "fight_id"),
    "teamfight_players": ("match_id", "fight_id", "slot_idx"),
}
"""How the rows of each table lie, whatever they were read from."""


def in_order(table: Table, rows: pa.Table) -> pa.Table:
    """Rows as every recording has them: by match, then by time or slot."""
    return rows.sort_by([(name, "ascending") for name in ORDER[table.name]])
