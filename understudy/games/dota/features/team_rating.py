"""How strong teams were before each match, by the results of matches that had ended.

A Kalman filter: every team has a mean and a variance; the result of a match (+1 Radiant, -1 Dire)
is the difference of the teams plus noise.
A team's variance grows with the days it has not been seen, so that old results fade.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from understudy.games.dota.features.timeline import Timeline

DAY = 86_400


class Strength(NamedTuple):
    """What earlier results say of a match before it begins."""

    teams: float
    """Of Radiant's team less that of Dire's; 0 where either is unknown."""
    unsure: float
    """Variance of the difference between the teams; small after many matches."""
    games: float
    """Matches seen of the team that was seen less."""
    experience: float = 0.0
    """log(1 + matches seen) of Radiant's team less that of Dire's; 0 where either is unknown."""


NAMES = {
    "strength_teams": "teams",
    "strength_unsure": "unsure",
    "strength_games": "games",
    "strength_experience": "experience",
}
"""Features, and what they are called here."""


class Result(NamedTuple):
    """A match as far as strength is concerned."""

    number: int
    start: int
    end: int
    won: bool
    teams: tuple[int | None, int | None]


@dataclass
class Ratings:
    """Means and variances so far."""

    noise: float = 4.0
    """Of one result. Up: slower to believe."""
    team_variance: float = 1.0
    """Of a team never seen."""
    fading: float = 0.01
    """Variance a team regains by a day. Up: older results count less."""
    mean: dict[int, float] = field(default_factory=dict)
    """By a team's number, as all that follow."""
    variance: dict[int, float] = field(default_factory=dict)
    last_result: dict[int, int] = field(default_factory=dict)
    """When it was, Unix seconds."""
    games: dict[int, int] = field(default_factory=dict)
    until: int = 0
    """When the last match that was learnt from ended, Unix seconds."""
    matches: int = 0
    """How many were learnt from."""

    def copy(self) -> "Ratings":
        """Ratings that learn on by themselves."""
        return replace(
            self,
            mean=dict(self.mean),
            variance=dict(self.variance),
            last_result=dict(self.last_result),
            games=dict(self.games),
        )

    def before(self, match: Result) -> Strength:
        """What is known of a match that has yet to begin."""
        teams = _known(match)
        if teams is None:
            return Strength(0.0, 2 * self.team_variance, 0.0)
        mean, seen = ([of.get(who, 0) for who in teams] for of in (self.mean, self.games))
        variance = sum(self.variance.get(who, self.team_variance) for who in teams)
        experience = float(np.log1p(seen[0]) - np.log1p(seen[1]))
        return Strength(float(mean[0] - mean[1]), variance, float(min(seen)), experience)

    def learn(self, match: Result) -> None:
        """Take in a result."""
        self.until, self.matches = max(self.until, match.end), self.matches + 1
        teams = _known(match)
        if teams is None:
            return
        for who in teams:
            self._age(who, match.end)
        variance = [self.variance[who] for who in teams]
        total = sum(variance) + self.noise
        surprise = (1.0 if match.won else -1.0) - (self.mean[teams[0]] - self.mean[teams[1]])
        # Kalman's update with the covariance kept diagonal; own / total is the gain.
        for who, sign, own in zip(teams, (1, -1), variance, strict=True):
            self.mean[who] += sign * own / total * surprise
            self.variance[who] -= own * own / total
            self.games[who] = self.games.get(who, 0) + 1

    def _age(self, who: int, now: int) -> None:
        prior = self.team_variance
        self.mean.setdefault(who, 0.0)
        days = (now - self.last_result.get(who, now)) / DAY
        # A random walk of the true strength, but never less certain than 1.5 priors.
        self.variance[who] = min(1.5 * prior, self.variance.get(who, prior) + self.fading * days)
        self.last_result[who] = now


def _known(match: Result) -> tuple[int, int] | None:
    """The teams of a match between two that are known."""
    radiant, dire = match.teams
    return (radiant, dire) if radiant and dire and radiant != dire else None


def strengths(results: Iterable[Result], ratings: Ratings | None = None) -> dict[int, Strength]:
    """The strength before each match, by what had ended when it began; results in any order."""
    known = ratings or Ratings()
    playing: list[tuple[int, int, Result]] = []  # a heap by end: begun, its result not yet known
    before = {}
    for match in sorted(results, key=lambda match: (match.start, match.number)):
        while playing and playing[0][0] <= match.start:  # a match still on teaches nothing yet
            known.learn(heapq.heappop(playing)[2])
        before[match.number] = known.before(match)
        heapq.heappush(playing, (match.end, match.number, match))
    while playing:  # so that `ratings` knows everything afterwards
        known.learn(heapq.heappop(playing)[2])
    return before


def results_of(matches: pa.Table) -> Iterator[Result]:
    """The results in a table of matches."""
    names = ["match_id", "start_time", "duration", "radiant_win"]
    columns = matches.select([*names, "radiant_team_id", "dire_team_id"])
    for row in zip(*columns.to_pydict().values(), strict=True):
        number, start, seconds, won, radiant, dire = row
        yield Result(number, start, start + seconds, won, (radiant, dire))


STRENGTH = "strength"
"""What the survey's table is called beside those of a recording."""


def as_table(known: Mapping[int, Strength]) -> pa.Table:
    """A row per match."""
    columns = zip(*known.values(), strict=True) if known else [()] * len(Strength._fields)
    named = {
        name: pa.array(column, pa.float64())
        for name, column in zip(Strength._fields, columns, strict=True)
    }
    return pa.table({"match_id": pa.array(list(known), pa.int64()), **named})


def from_table(rows: pa.Table) -> dict[int, Strength]:
    """The inverse of `as_table`."""
    columns = rows.to_pydict()
    numbers = columns.pop("match_id")
    return dict(zip(numbers, map(Strength, *columns.values()), strict=True))


def features(match: Timeline, known: Mapping[int, Strength]) -> dict[str, Any]:
    """The same at every minute of a match: it is all from before."""
    nothing = Strength(0.0, 2 * Ratings.team_variance, 0.0)
    rows = [known.get(number, nothing) for number in match.match_id.tolist()]
    values = np.array(rows, np.float64).reshape(-1, len(Strength._fields))[match.which]
    order = [Strength._fields.index(name) for name in NAMES.values()]
    return {name: values[:, column] for name, column in zip(NAMES, order, strict=True)}
