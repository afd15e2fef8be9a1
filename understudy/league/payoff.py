"""Who beats whom: results of every pair, and what they let us believe about its win rate.

A win rate is a Beta posterior: wins, and half the draws, beside losses, on top of a prior. So it is
defined for no games, only wins and only losses alike, and has a lower bound.

What counts are matches of these very versions; what their predecessors played, or what happened
while they were trained, does not. Everybody who asks for a win rate (matchmaking, snapshots,
reports) gets the same one, with the number of matches behind it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from understudy.data.stats import Estimate, beta_posterior

PRIOR = 1.0  # imagined wins and imagined losses of every pair: any win rate is as likely
Pair = tuple[str, str]


class Tally(NamedTuple):
    """How matches ended, from one side."""

    wins: float = 0.0
    draws: float = 0.0
    losses: float = 0.0

    @property
    def games(self) -> float:
        """All of them."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """Wins plus half the draws."""
        return self.wins + self.draws / 2

    def plus(self, other: "Tally") -> "Tally":
        """Both together."""
        return Tally(*(mine + more for mine, more in zip(self, other, strict=True)))

    def turned(self) -> "Tally":
        """The same matches from the other side."""
        return Tally(self.losses, self.draws, self.wins)


def belief(tally: Tally, confidence: float = 0.95) -> Estimate:
    """The posterior of a win rate; with `confidence` it lies above `low`, and so below `high`."""
    won = PRIOR + tally.points
    lost = PRIOR + tally.games - tally.points
    return beta_posterior(won, lost, confidence)


class Payoff:
    """Results of every pair of players. A player's matches against itself tell nothing."""

    def __init__(self) -> None:
        self._played: dict[Pair, Tally] = {}

    def add(self, player: str, opponent: str, tally: Tally) -> None:
        """Count matches; each pair is stored once, the first in the alphabet first."""
        if player == opponent or not tally.games:
            return
        if player > opponent:
            player, opponent, tally = opponent, player, tally.turned()
        self._played[player, opponent] = self.played(player, opponent).plus(tally)

    def played(self, player: str, opponent: str) -> Tally:
        """How their matches ended."""
        if player > opponent:
            return self._played.get((opponent, player), Tally()).turned()
        return self._played.get((player, opponent), Tally())

    def belief(self, player: str, opponent: str, confidence: float = 0.95) -> Estimate:
        """The win rate of one against another; `n` are the matches they played.

        Against oneself it is a half, for certain.
        """
        if player == opponent:
            return Estimate(0.5, 0.5, 0.5)
        played = self.played(player, opponent)
        return replace(belief(played, confidence), n=round(played.games))

    def win_rates(self, player: str, opponents: Sequence[str]) -> Float[np.ndarray, " N"]:
        """The mean belief against each: as `belief`, without the work that its bounds take."""
        return np.array([self._mean(player, other) for other in opponents], dtype=float)

    def _mean(self, player: str, opponent: str) -> float:
        played = self.played(player, opponent)
        won, lost = PRIOR + played.points, PRIOR + played.games - played.points
        return 0.5 if player == opponent else won / (won + lost)

    def cross(self, rows: Sequence[str], columns: Sequence[str]) -> Float[np.ndarray, "N M"]:
        """Mean beliefs of the row's player against the column's."""
        found = np.array([self.win_rates(name, columns) for name in rows])
        return found.reshape(len(rows), len(columns))

    def matrix(self, names: Sequence[str]) -> Float[np.ndarray, "N N"]:
        """`cross` of everybody with everybody."""
        return self.cross(names, names)

    def points(self, names: Sequence[str]) -> Float[np.ndarray, "N N"]:
        """Points won by the row's player against the column's."""
        place = {name: number for number, name in enumerate(names)}
        found = np.zeros((len(names), len(names)))
        for (one, other), tally in self._played.items():
            if one in place and other in place:
                found[place[one], place[other]] += tally.points
                found[place[other], place[one]] += tally.turned().points
        return found

    def names(self) -> list[str]:
        """Everybody who has played, in order of first appearance."""
        return list(dict.fromkeys(name for pair in self._played for name in pair))

    def to_json(self) -> dict[str, list[list[Any]]]:
        """Plain values, in an order that comes back."""
        return {"played": [[*pair, *tally] for pair, tally in self._played.items()]}

    @staticmethod
    def from_json(value: Mapping[str, Iterable[Sequence[Any]]]) -> "Payoff":
        """What `to_json` gave."""
        payoff = Payoff()
        for one, other, *tally in value["played"]:
            payoff.add(one, other, Tally(*map(float, tally)))
        return payoff
