"""Several leagues in one field: their main agents rated together, their populations compared.

Ratings of different leagues rest on different opponents. Here everybody meets everybody, so one
scale holds for all, and each population is played against each other as a whole.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from understudy.data.players import PlayerRef, weights_digest
from understudy.data.runs import begin, finish
from understudy.data.schema import Table
from understudy.league import matches
from understudy.league.analysis.nash import relative_performance
from understudy.league.analysis.ratings import elo
from understudy.league.interface import Play
from understudy.league.payoff import Payoff
from understudy.league.state import MISSING

_FIELD = 2 * 10**7  # seeds of these matches lie this far behind those of a league


@dataclass(frozen=True, kw_only=True)
class Field:
    """Populations to be compared."""

    populations: Mapping[str, Sequence[PlayerRef]]
    """By name, each with its main agent last."""
    reference: PlayerRef
    """Meets every main agent, and has 1000 Elo: what all leagues began from."""
    matches: int
    """Of every pair, half of them with sides swapped."""
    seed: int
    folder: Path
    results: Table
    """What `play` returns."""
    graded: bool = False
    """Whether the size of a score counts, or only who won."""

    def compare(self, play: Play) -> dict[str, Any]:
        """Ratings of the main agents, and how each population fares against each other."""
        begin(self.folder, "compare leagues", self._settings())
        players = self._entrants()
        planned = matches.pairings(self._pairs(), self.matches, self.seed, _FIELD)
        rows = matches.play_round(self.folder, 0, self.results, play, planned)
        payoff = Payoff()
        for (one, other), tally in matches.tallies(rows, self.graded).items():
            payoff.add(one, other, tally)
        finish(self.folder, matches=len(rows) // 2)
        mains = [name for name, population in players.items() if population]
        names = [self.reference.name, *(players[name][-1].name for name in mains)]
        ratings = elo(names, payoff.points(names), anchor=self.reference.name)
        return {
            "ratings": {name: ratings[players[name][-1].name].named("value") for name in mains},
            "relative_population_performance": {
                f"{one} - {other}": relative_performance(
                    payoff.cross([p.name for p in players[one]], [p.name for p in players[other]])
                )
                for one, other in combinations(mains, 2)
            },
        }

    def _entrants(self) -> dict[str, list[PlayerRef]]:
        """Everybody under a name that tells the populations apart."""
        return {
            name: [PlayerRef(f"{name}.{one.name}", one.weights) for one in population]
            for name, population in self.populations.items()
        }

    def _pairs(self) -> list[tuple[PlayerRef, PlayerRef]]:
        """Members of different populations, and each main agent with the reference."""
        players = self._entrants()
        pairs = [
            (one, other)
            for left, right in combinations(players.values(), 2)
            for one in left
            for other in right
        ]
        mains = [population[-1] for population in players.values() if population]
        return pairs + [(main, self.reference) for main in mains]

    def _settings(self) -> dict[str, Any]:
        return {
            "populations": {
                name: {one.name: weights_digest(one, MISSING) for one in population}
                for name, population in self.populations.items()
            },
            "reference": [self.reference.name, weights_digest(self.reference, MISSING)],
            "matches": self.matches,
            "seed": self.seed,
        }
