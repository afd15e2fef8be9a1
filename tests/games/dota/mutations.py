"""Match files with something wrong in them: whatever may stand in a JSON file, anywhere in it."""

import copy
import math

import numpy as np

from tests.games.dota.small_matches import small_match

ODD = (
    *(None, "", "soon", "1800", "\ud800", "<b>x</b>", True, False, 0, -1, 7, 77, 255, 0.5, 1e300),
    *(10**6, -(10**6), 10**9, 2**31, 2**63, 10**30, math.nan, math.inf, -math.inf),
    *([], {}, [None], [[]], {"a": None}, [1, 2, 3], {"time": "late"}),
)


def rich_match(number, minutes=14, seed=0):
    """A small match with something of every kind in it."""
    rng = np.random.default_rng([seed, number])
    won = bool(rng.random() < 0.5)
    match = small_match(number, minutes=minutes, radiant_win=won)
    lead = [int(x) for x in np.cumsum(rng.normal(60 if won else -60, 150, minutes + 1))]
    match |= {"radiant_gold_adv": lead, "radiant_xp_adv": lead}
    match |= {"league": {"name": "A league", "tier": "premium"}, "first_blood_time": 61}
    for slot, player in enumerate(match["players"]):
        player["hero_id"] = int(rng.integers(1, 120))
        times = sorted(int(t) for t in rng.integers(30, 60 * minutes, 3))
        dear = rng.choice(["ogre_axe", "blink", "black_king_bar", "mithril_hammer"], 3)
        player["purchase_log"] = [
            {"time": t, "key": str(key)} for t, key in zip(times, dear, strict=True)
        ]
        player["kills_log"] = [{"time": times[0], "key": "npc_dota_hero_axe"}]
        player["buyback_log"] = [{"time": times[2]}]
        player["runes_log"] = [{"time": times[1], "key": 5}]
        player["neutral_item_history"] = [{"time": times[1], "item_neutral": "occult_bracelet"}]
        place = {"x": float(rng.uniform(70, 180)), "y": float(rng.uniform(70, 180))}
        place["ehandle"] = 100 + slot
        for kind in ("obs", "sen"):
            player[f"{kind}_log"] = [{**place, "time": times[0]}]
            gone = {**place, "time": times[0] + 200, "attackername": "npc_dota_hero_axe"}
            player[f"{kind}_left_log"] = [gone]
    match["objectives"] += [
        {"time": 400, "type": "CHAT_MESSAGE_ROSHAN_KILL", "team": 3},
        {"time": 401, "type": "CHAT_MESSAGE_AEGIS", "player_slot": 129},
        {"time": 90, "type": "CHAT_MESSAGE_FIRSTBLOOD", "player_slot": 1},
        {"time": 500, "type": "building_kill", "key": "npc_dota_goodguys_tower1_top"},
        {"time": 510, "type": "CHAT_MESSAGE_COURIER_LOST", "team": 2, "value": 30},
    ]
    return match


def mutated(match, rng):
    """The same match with one to three things in it replaced, lost, doubled or in other order."""
    match = copy.deepcopy(match)
    for _ in range(int(rng.integers(1, 4))):
        _mutate(match, rng)
    return match


def _mutate(match, rng):
    within, key = match, str(rng.choice([key for key in match if key != "match_id"]))
    while isinstance(within[key], (dict, list)) and within[key] and rng.random() < 0.75:
        within = within[key]
        keys = list(within) if isinstance(within, dict) else range(len(within))
        key = keys[int(rng.integers(len(keys)))]
    value, kind = within[key], rng.random()
    if kind < 0.12:
        del within[key]
    elif kind < 0.2 and isinstance(value, list):
        within[key] = value[: len(value) // 2]
    elif kind < 0.28 and isinstance(value, list):
        within[key] = value + value
    elif kind < 0.34 and isinstance(value, list):
        within[key] = value[::-1]
    elif kind < 0.5 and type(value) in (int, float):
        within[key] = value * float(rng.choice([-1, 10, 1000, 0.5]))
    else:
        within[key] = copy.deepcopy(ODD[int(rng.integers(len(ODD)))])


def _with(number, path, value):
    match = rich_match(number)
    within = match
    for key in path[:-1]:
        within = within[key]
    within[path[-1]] = value
    return match


def named(first):
    """One of each kind that was met, by what is wrong with it; numbers from `first` on."""
    wrong = {
        "duration as text": (("duration",), "long"),
        "duration of years": (("duration",), 10**8),
        "a null player": (("players", 3), None),
        "a fight without players": (("teamfights", 0, "players"), []),
        "a fight of eleven": (("teamfights", 0, "players"), [{}] * 11),
        "slot 77": (("objectives", 1), {"time": 1, "type": "x", "player_slot": 200}),
        "a player in slot 77": (("players", 0, "player_slot"), 77),
        "NaN coordinates": (("players", 0, "obs_log", 0, "x"), math.nan),
        "beyond the map": (("players", 0, "obs_log", 0, "y"), 9999.0),
        "patch 100,000": (("patch",), 100_000),
        "patch below 0": (("patch",), -3),
        "begun in the year 5000": (("start_time",), 95_617_584_000),
        "gold of billions": (("players", 2, "gold_t", 5), 2 * 10**9),
        "a hero below 0": (("players", 2, "hero_id"), -7),
        "bought in a thousand years": (("players", 2, "purchase_log", 0, "time"), 2**30),
        "a number below 0": (("match_id",), -5),
    }
    return {word: _with(first + k, *change) for k, (word, change) in enumerate(wrong.items())}
