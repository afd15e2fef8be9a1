"""Who is dead right now, and for how long yet: from kills, levels and buybacks up to t."""

from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data.arrays import Floats, Ints
from understudy.games.dota import facts
from understudy.games.dota.features.timeline import Timeline

LEVELS = np.array(
    (
        *(0, 240, 640, 1160, 1760, 2440, 3200, 4000, 4900, 5900, 7000, 8200, 9500, 10900, 12400),
        *(14000, 15700, 17500, 19400, 21400, 23600, 26000, 28600, 31400, 34400, 38400, 43400),
        *(49400, 56400, 63900),
    )
)  # experience needed for each level; dotaconstants 10.8.0
RESPAWN = np.array(
    (
        *(12, 15, 18, 21, 24, 26, 28, 30, 32, 34, 36, 44, 46, 48, 50, 52, 54, 65, 70, 75, 80, 85),
        *(90, 95, 100, 100, 100, 100, 100, 100),
    )
)  # seconds a hero of each level stays dead, about; patches change it a little
_LONGEST = 2  # rows a death may reach


def level_of(xp: Floats) -> Ints:
    """1 to 30."""
    return np.searchsorted(LEVELS, xp, side="right")


def still_dead(match: Timeline) -> tuple[Floats, Floats]:
    """[R, 2] each: how many of each team are dead, and the seconds until they are back, added up.

    A kill counts for the rows from its own on while the respawn time, by the victim's level at
    the minute before, has not run out and no buyback was seen.
    """
    kills = match.events["kill"]
    slot = victims(match)
    known = np.flatnonzero((slot >= 0) & (kills.row >= 0))
    row, slot, t = kills.row[known], slot[known], kills.t[known]
    before = np.maximum(row - 1, match.first[kills.which[known]])
    back = t + RESPAWN[level_of(match.players["xp"][before, slot]) - 1]
    bought = _next_buyback(match, kills.which[known], slot, t)
    count, seconds = np.zeros(10 * len(match.t)), np.zeros(10 * len(match.t))
    last = match.first + match.minutes - 1
    for step in range(_LONGEST):
        here = row + step
        inside = here <= last[kills.which[known]]
        now = match.t[np.minimum(here, len(match.t) - 1)]
        dead = inside & (back > now) & (bought > now)
        cell = 10 * here[dead] + slot[dead]
        # The maximum, not a sum: a hero killed twice by the same row is dead once.
        np.maximum.at(count, cell, 1.0)
        np.maximum.at(seconds, cell, (back - now)[dead].astype(np.float64))
    shape = (len(match.t), 2, 5)
    return count.reshape(shape).sum(axis=2), seconds.reshape(shape).sum(axis=2)


def victims(match: Timeline) -> Ints:
    """The slot of each kill's victim; -1 where its hero is not on the other side."""
    kills = match.events["kill"]
    names = pa.array(list(_hero_numbers()), pa.string())
    name = pc.fill_null(pc.index_in(kills.key, value_set=names), -1).to_numpy()
    hero = np.array([*_hero_numbers().values(), -1])[name]  # an unknown name takes the last, -1
    same = match.heroes[kills.which] == hero[:, None]
    return np.where(same.any(axis=1), same.argmax(axis=1), -1)


@cache
def _hero_numbers() -> dict[str, int]:
    return {hero.key: hero.number for hero in facts.heroes().values()}


def _next_buyback(match: Timeline, which: Ints, slot: Ints, t: Ints) -> Ints:
    """When each of these heroes bought back after t; far in the future where it did not."""
    things = match.events["buyback"]
    far = 10**7
    # One sorted number for match, slot and second: the next of the same hero is one search away.
    key = (10 * things.which + things.slot) * far + np.maximum(things.t, 0)
    key = np.sort(key)
    wanted = (10 * which + slot) * far + np.maximum(t, 0)
    following = np.append(key, np.iinfo(np.int64).max)[np.searchsorted(key, wanted, side="left")]
    return np.where(following // far == wanted // far, following % far, far)
