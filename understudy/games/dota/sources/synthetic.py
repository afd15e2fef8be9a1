"""Matches that nobody played, whose true chances are known: for the demo, and to test learners.

The gold advantage A of Radiant walks: each minute it gains DRIFT times the difference in strength
of the teams, and a normal step of STEP_STD. A match may end after any minute from SHORTEST on, with
the same chance each time, whatever the score; Radiant then wins if A plus a last stroke of luck is
above 0. So the chance of winning, given the minute, A and the teams, is a sum that `true_chance`
works out. Everything else (kills, wards, towers, items) follows from the walk and says nothing
new about its future.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.special import ndtr

from understudy.games.dota import facts
from understudy.games.dota.sources.match_files import MATCHES_PER_BATCH
from understudy.games.dota.sources.tables import RECORDINGS, in_order
from understudy.pipeline.game import Imported

SHORTEST, LONGEST = 18, 75
"""Minutes. At the longest a match ends for certain."""
END = 0.06
"""Chance of the end at each minute from the shortest on."""
DRIFT = 150.0
"""Gold a minute by one unit of strength."""
STEP_STD = 700.0
"""Gold a minute by luck, one standard deviation."""
LUCK = 4000.0
"""The last stroke, in gold, one standard deviation."""
EARNED = 2200.0
"""Gold of a whole team in a minute."""
_SHARES = np.array([0.30, 0.25, 0.20, 0.13, 0.12])
FIRST_MATCH = 9_000_000_000
"""The number of the first; matches that were played have smaller ones."""
_FIRST_START = 1_700_000_000
_GAP = 7200  # seconds between the beginnings of matches: each ends before the next begins

Columns = dict[str, Any]


@dataclass(frozen=True)
class World:
    """Who there is and how strong; the same seed, the same matches."""

    seed: int = 0
    teams: int = 24
    patches: tuple[int, ...] = (55, 56, 57)
    """Matches are spread over these evenly, in order."""

    def strengths(self) -> "np.ndarray[Any, np.dtype[np.float64]]":
        """Of each team, by its number."""
        return np.random.default_rng([self.seed, 0]).normal(size=self.teams)


def true_chance(minute: Any, advantage: Any, difference: Any) -> Any:
    """That Radiant wins, given that the match goes on after `minute`. All arrays alike.

    `difference` is the strength of Radiant's team less that of Dire's.
    """
    minute, advantage, difference = np.broadcast_arrays(minute, advantage, difference)
    chance, reached = np.zeros(minute.shape), np.ones(minute.shape)
    for end in range(SHORTEST, LONGEST + 1):
        possible = minute < end
        # `reached`: the chance that it goes on until this minute; `share`: that it ends there.
        share = np.where(possible, reached * (1.0 if end == LONGEST else END), 0.0)
        left = np.where(possible, end - minute, 0)
        std = np.sqrt(STEP_STD**2 * left + LUCK**2)
        chance += share * ndtr((advantage + DRIFT * difference * left) / std)
        reached = np.where(possible, reached - share, reached)
    return chance


def generate(world: World, matches: int) -> Iterator[Imported]:
    """So many matches, in batches."""
    for start in range(0, matches, MATCHES_PER_BATCH):
        count = min(MATCHES_PER_BATCH, matches - start)
        tables = _Batch(world, start, count, matches).tables()
        yield Imported(f"synthetic {start}", tables, [])


class _Batch:
    """Some consecutive matches: their walks first, then all that follows from them."""

    def __init__(self, world: World, start: int, count: int, total: int) -> None:
        self.rng = rng = np.random.default_rng([world.seed, 1, start])
        self.ids = FIRST_MATCH + np.arange(start, start + count)
        self.began = _FIRST_START + _GAP * np.arange(start, start + count)
        era = np.arange(start, start + count) * len(world.patches) // total
        self.patch = np.array(world.patches)[era]
        radiant = rng.integers(world.teams, size=count)
        dire = (radiant + rng.integers(1, world.teams, size=count)) % world.teams
        self.teams = np.stack([radiant, dire])
        strengths = world.strengths()
        self.difference = strengths[radiant] - strengths[dire]
        over = np.minimum(rng.geometric(END, count) - 1, LONGEST - SHORTEST)
        self.minutes = SHORTEST + over  # the last whole minute; the match ends there
        # Drawn for LONGEST minutes of every match, one rectangle; nothing beyond its end is shown.
        steps = DRIFT * self.difference[:, None] + STEP_STD * rng.normal(size=(count, LONGEST))
        self.walk = np.concatenate([np.zeros((count, 1)), steps.cumsum(axis=1)], axis=1)
        last = self.walk[np.arange(count), self.minutes]
        self.won = last + LUCK * rng.normal(size=count) > 0
        self.heroes = _draws(rng, np.array(list(facts.heroes())), count, 10)

    def tables(self) -> dict[str, pa.Table]:
        """All of a recording."""
        columns = {
            "matches": self._matches(),
            "players": self._players(),
            "drafts": self._drafts(),
            **self._minutes(),
            "events": self._events(),
            **self._fights(),
        }
        tables = {}
        for table in RECORDINGS:
            given = columns[table.name]
            rows = len(given["match_id"])
            missing = {c.name: pa.nulls(rows) for c in table.columns if c.name not in given}
            tables[table.name] = in_order(table, table.build(given | missing))
        return tables

    def _matches(self) -> Columns:
        count = len(self.ids)
        return {
            "match_id": self.ids,
            "patch": self.patch,
            "start_time": self.began,
            "duration": 60 * self.minutes,
            "radiant_win": self.won,
            "game_mode": np.full(count, 2),
            "lobby_type": np.full(count, 1),
            "version": np.full(count, 22),
            "radiant_team_id": 1 + self.teams[0],
            "dire_team_id": 1 + self.teams[1],
            "human_players": np.full(count, 10),
            "n_min": self.minutes + 1,
        }

    def _players(self) -> Columns:
        slot = np.tile(np.arange(10), len(self.ids))
        return {
            "match_id": self.ids.repeat(10),
            "slot_idx": slot,
            "team": slot // 5,
            "hero_id": self.heroes.ravel(),
        }

    def _drafts(self) -> Columns:
        slot = np.tile(np.arange(10), len(self.ids))
        return {
            "match_id": self.ids.repeat(10),
            "order": slot,
            "is_pick": np.ones(len(slot), bool),
            "team": slot // 5,
            "hero_id": self.heroes.ravel(),
        }

    def _minutes(self) -> dict[str, Columns]:
        rows = self.minutes + 1
        which = np.arange(len(self.ids)).repeat(rows)
        minute = np.arange(rows.sum()) - (rows.cumsum() - rows).repeat(rows)
        advantage = self.walk[which, minute]
        sides = EARNED * minute[:, None] + np.stack([advantage, -advantage], axis=1) / 2
        gold = (sides[:, :, None] * _SHARES).reshape(-1, 10).round().clip(0)
        xp = (1.15 * gold).round()
        gold_by_team, xp_by_team = (each.reshape(-1, 2, 5).sum(axis=2) for each in (gold, xp))
        team = {
            "match_id": self.ids[which],
            "t": 60 * minute,
            "radiant_gold_adv": gold_by_team[:, 0] - gold_by_team[:, 1],
            "radiant_xp_adv": xp_by_team[:, 0] - xp_by_team[:, 1],
        }
        player = {
            "match_id": self.ids[which].repeat(10),
            "t": (60 * minute).repeat(10),
            "slot_idx": np.tile(np.arange(10), len(minute)),
            "gold": gold.ravel(),
            "xp": xp.ravel(),
            "lh": (gold / 60).round().ravel(),
            "dn": (gold / 900).round().ravel(),
        }
        whole = {"radiant_gold_adv", "radiant_xp_adv", "gold", "xp", "lh", "dn"}
        for columns in (team, player):
            columns |= {name: columns[name].astype(np.int64) for name in whole & columns.keys()}
        return {"state_team_minute": team, "state_player_minute": player}

    # --- what happens along the way --------------------------------------------------------------

    def _events(self) -> Columns:
        parts = [
            self._happen("kill", 0.9, key="npc_dota_hero_axe"),
            self._happen("rune", 0.7, key="5"),
            self._happen("buyback", 0.03),
            self._happen("objective", 0.05, key="CHAT_MESSAGE_ROSHAN_KILL"),
            self._purchases(),
            *self._wards(),
            self._towers(),
        ]
        names = ("match_id", "t", "slot_idx", "team", "event_type", "key", "x", "y", "target")
        columns: Columns = {
            name: pa.concat_arrays([_array(name, part[name]) for part in parts])
            for name in (*names, "value")
        }
        return columns

    def _times(self, rate: float) -> tuple[Any, Any, Any]:
        """Which match, when, and by whom, for things that happen so often in a minute."""
        counts = self.rng.poisson(rate * self.minutes)
        which = np.arange(len(self.ids)).repeat(counts)
        second = (self.rng.random(len(which)) * 60 * self.minutes[which]).astype(np.int64)
        ahead = self.walk[which, second // 60]  # who leads does more; known at the minute begun
        radiant = self.rng.random(len(which)) < ndtr(ahead / 8000)
        slot = self.rng.integers(5, size=len(which)) + np.where(radiant, 0, 5)
        return which, second, slot

    def _happen(self, kind: str, rate: float, key: str | None = None) -> Columns:
        which, second, slot = self._times(rate)
        return self._rows(which, second, slot, kind, [key] * len(which))

    def _rows(self, which: Any, second: Any, slot: Any, kind: str, key: Any) -> Columns:
        nothing = pa.nulls(len(which))
        return {
            "match_id": self.ids[which],
            "t": second,
            "slot_idx": slot,
            "team": slot // 5,
            "event_type": [kind] * len(which),
            "key": key,
            **dict.fromkeys(("x", "y", "target", "value"), nothing),
        }

    def _purchases(self) -> Columns:
        which, second, slot = self._times(4.0)
        bought = [item.key for item in facts.items().values() if item.cost and not item.neutral]
        return self._rows(which, second, slot, "purchase", self.rng.choice(bought, len(which)))

    def _wards(self) -> tuple[Columns, Columns]:
        which, second, slot = self._times(0.9)
        here = self.rng.uniform(70, 186, size=(2, len(which)))
        handle = np.arange(len(which))
        placed = self._rows(which, second, slot, "ward_obs_place", pa.nulls(len(which)))
        placed |= {"x": here[0], "y": here[1], "value": handle}
        life = np.where(self.rng.random(len(which)) < 0.3, 90, 360)
        kept = np.flatnonzero(second + life <= 60 * self.minutes[which])
        gone = self._rows(
            which[kept], (second + life)[kept], slot[kept], "ward_obs_left", pa.nulls(len(kept))
        )
        gone |= {"x": here[0][kept], "y": here[1][kept], "value": handle[kept]}
        return placed, gone

    def _towers(self) -> Columns:
        """A tower falls when the side that attacks it first leads by so much."""
        falls: list[tuple[Any, Any, int, str]] = []
        for order, (lane, tier) in enumerate((lane, t) for t in (1, 2, 3) for lane in _LANES):
            needed = 2000.0 * (1 + order)
            for team, sign, name in ((0, 1, "badguys"), (1, -1, "goodguys")):
                leads = sign * self.walk >= needed
                minute = leads.argmax(axis=1)
                fell = leads.any(axis=1) & (minute <= self.minutes)
                target = f"npc_dota_{name}_tower{tier}_{lane}"
                falls += [(w, 60 * minute[w], 5 * team, target) for w in np.flatnonzero(fell)]
        which, second, slot = (np.array([row[k] for row in falls], np.int64) for k in range(3))
        rows = self._rows(which, second, slot, "objective", ["building_kill"] * len(which))
        return rows | {"target": [row[3] for row in falls]}

    def _fights(self) -> dict[str, Columns]:
        which, second, _ = self._times(0.2)
        order = np.lexsort((second, which))
        which, second = which[order], second[order]
        first = np.searchsorted(which, which)
        number = np.arange(len(which)) - first
        fight = {
            "match_id": self.ids[which],
            "fight_id": number,
            "start": second,
            "end": second + 40,
            "last_death": second + 25,
            "deaths": np.full(len(which), 4),
        }
        rows = 10 * len(which)
        share = {
            "match_id": self.ids[which].repeat(10),
            "fight_id": number.repeat(10),
            "slot_idx": np.tile(np.arange(10), len(which)),
            "deaths": self.rng.integers(2, size=rows),
            "gold_delta": self.rng.integers(-300, 600, size=rows),
            "xp_delta": self.rng.integers(0, 900, size=rows),
        }
        return {"teamfights": fight, "teamfight_players": share}


_LANES = ("top", "mid", "bot")
_TYPES = {
    **dict.fromkeys(("match_id", "t", "slot_idx", "team", "value"), pa.int64()),
    **dict.fromkeys(("event_type", "key", "target"), pa.string()),
    **dict.fromkeys(("x", "y"), pa.float64()),
}


def _array(name: str, values: Any) -> pa.Array:
    if isinstance(values, pa.Array):
        return values.cast(_TYPES[name])
    return pa.array(values, type=_TYPES[name])


def _draws(rng: np.random.Generator, of: Any, count: int, size: int) -> Any:
    """`size` different ones for each of `count`."""
    return of[rng.random((count, len(of))).argpartition(size, axis=1)[:, :size]]
