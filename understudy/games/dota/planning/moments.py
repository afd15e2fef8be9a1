"""Moments of recorded matches with what came after: what the world model learns from.

A plan is what a side can do within five minutes whatever the other does: smoke, wards. Whether it
comes to a fight or a tower falls is no side's choice alone, and nobody wrote down what was meant;
those are scenarios, which count whoever came out ahead.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.data.arrays import Bools, Floats, Ints
from understudy.games.dota.features import team_rating
from understudy.games.dota.features.encode import all_features
from understudy.games.dota.features.samples import Samples, samples_of
from understudy.games.dota.features.timeline import Timeline, build_timeline

WINDOW = 5
"""Minutes within which a plan is carried out."""
PLANS = {
    "smoke": "the side buys smoke",
    "ward": "the side places three or more observers",
    "sentries": "the side places four or more sentries",
}
"""What is meant by each: within five minutes."""
SCENARIOS = {
    "a fight": "six or more heroes die",
    "farming": "at most one hero dies",
    "a tower falls": "or barracks, of either side",
    "Roshan dies": "by either side",
}
"""The same for what is not up to one side."""
_MANY_KILLS, _FEW_KILLS, _OBSERVERS, _SENTRIES = 6, 1, 3, 4
_BUILDINGS = (
    *(f"towers_{tier}" for tier in (1, 2, 3, 4)),
    *("barracks_melee", "barracks_range"),
)


@dataclass(frozen=True)
class Moments:
    """Some minutes of some matches."""

    every: Samples
    """All minutes."""
    rows: Ints
    """[N]: which of them these are."""
    last: Ints
    """[N]: the last minute of each one's match."""
    did: Mapping[str, Bools]
    """[N, 2]: by plan, whether each side carried it out."""

    @property
    def samples(self) -> Samples:
        """The moments themselves."""
        return self.every.where(self.rows)

    @property
    def left(self) -> Ints:
        """Minutes until the last."""
        return self.last - self.rows

    def later(self, step: int) -> Samples:
        """So many minutes after; where the match is over by then, its last."""
        return self.every.where(np.minimum(self.rows + step, self.last))

    def where(self, chosen: Bools) -> "Moments":
        """Some of them."""
        did = {name: values[chosen] for name, values in self.did.items()}
        return Moments(self.every, self.rows[chosen], self.last[chosen], did)


def moments(
    tables: Mapping[str, pa.Table], known: Mapping[int, team_rating.Strength], every: int
) -> Moments:
    """Each `every`th minute after the horn, with results as labels."""
    match = build_timeline(tables)
    columns: dict[str, Any] = dict(all_features(match, known))
    outline = {n: tables["matches"][n].to_numpy(zero_copy_only=False) for n in _OUTLINE}
    order = np.argsort(outline["match_id"])
    place = order[np.searchsorted(outline["match_id"][order], match.match_id)][match.which]
    for name in _OUTLINE[:3]:
        columns[name] = outline[name][place]
    samples = samples_of(columns)
    won = outline["radiant_win"][place].astype(np.float64)
    whole = Samples(
        samples.features, samples.match_id, samples.patch, samples.start_time, {"y_win": won}
    )
    last = (match.first + match.minutes - 1)[match.which]
    rows = np.flatnonzero((match.t > 0) & (match.t // 60 % every == 0))
    then = np.minimum(rows + WINDOW, last[rows])
    return Moments(whole, rows, last[rows], _done(match, whole, rows, then))


_OUTLINE = ("match_id", "patch", "start_time", "radiant_win")


def _done(match: Timeline, whole: Samples, rows: Ints, then: Ints) -> dict[str, Bools]:
    def grown(values: Floats) -> Floats:
        return values[then] - values[rows]

    deaths = grown(whole.column("kills_total"))
    fallen = np.zeros(len(whole))
    for name in _BUILDINGS:
        lead = whole.column(name)
        fallen += np.abs(lead - match.earlier(lead, 1))
    bought = match.events["purchase"]
    is_smoke = np.array([key == "smoke_of_deceit" for key in bought.key.to_pylist()], bool)

    def placed(kind: str) -> Floats:
        wards = match.events[f"ward_{kind}_place"]
        return grown(match.so_far(wards.row, wards.team))

    smokes = match.so_far(bought.row[is_smoke], bought.slot[is_smoke] // 5)
    return {
        "smoke": grown(smokes) > 0,
        "ward": placed("obs") >= _OBSERVERS,
        "sentries": placed("sen") >= _SENTRIES,
        "a fight": _both(deaths >= _MANY_KILLS),
        "farming": _both(deaths <= _FEW_KILLS),
        "a tower falls": _both(grown(match.running(fallen)) > 0),
        "Roshan dies": _both(grown(whole.column("roshans_total")) > 0),
    }


def _both(happened: Bools) -> Bools:
    return np.stack([happened, happened], axis=1)
