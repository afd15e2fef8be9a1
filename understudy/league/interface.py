"""What a league asks of a game: to play matches, and to improve a player. Nothing else.

A game gives two functions. `play` plays pairings and returns one row per player per match, as
`data.results.pair_results` declares; the same pairing must always end the same. `improve` does one
training job and leaves the new weights in the job's folder; the same job must always give the same
weights. Weights are files named `weights.*` in a folder; what is in them is the game's own affair.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.data.players import PlayerRef
from understudy.data.schema import Table
from understudy.errors import InputError
from understudy.league.analysis.game_tree import GameTree, best_response
from understudy.league.analysis.game_tree import mixture as mixed_tables
from understudy.league.recipe import LeagueRecipe
from understudy.league.rules import USUAL, Overrides


@dataclass(frozen=True)
class Pairing:
    """Two players, and the seeds of their matches; each seed twice, with sides swapped."""

    players: tuple[PlayerRef, PlayerRef]
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Opponent:
    """Somebody to be met in a training job, and how often."""

    player: PlayerRef | None
    """None: the learner itself, as it learns."""
    probability: float


@dataclass(frozen=True, kw_only=True)
class LearnerJob:
    """One piece of training."""

    name: str
    """What the improved player is called."""
    start: PlayerRef
    """Whose weights it begins with."""
    imitation: PlayerRef
    """What the league began from, for learners that are to stay near it."""
    opponents: tuple[Opponent, ...]
    agent_steps: int
    """How many decisions the learner may learn from."""
    seed: int
    overrides: Overrides = USUAL
    magnet: PlayerRef | None = None
    """Its own last snapshot, which `overrides.magnet` pulls it to; None: where it starts."""
    out: Path
    """Where the new weights go; may hold what the same job left that was stopped."""


@dataclass(frozen=True)
class TrainingResult:
    """What came of a training job, beside the weights."""

    agent_steps: int
    """How many were taken."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Anything worth a line in a chart."""
    match_steps: int = 0
    """Steps of the matches in which those were taken: in self-play of two, one for two agent-steps.
    0: the game does not count them."""


@dataclass(frozen=True)
class Exact:
    """A game that can be gone through whole."""

    tree: Callable[[], GameTree]
    table: Callable[[PlayerRef], np.ndarray[Any, Any]]
    """How a player plays: probabilities of the options in each of the tree's states, [I O]."""

    def win_rate(self, mixture: Mapping[PlayerRef, float]) -> float:
        """What the best response wins against whoever draws one of these for each match."""
        tree, total = self.tree(), sum(mixture.values())
        tables = [self.table(one) for one in mixture]
        shares = [share / total for share in mixture.values()]
        return best_response(tree, mixed_tables(tree, tables, shares)).win_rate


Play = Callable[[Sequence[Pairing]], pa.Table]
Improve = Callable[[LearnerJob], TrainingResult]


@dataclass(frozen=True)
class League:
    """What a game gives for its leagues."""

    improve: Improve
    """Other processes must be able to import it."""
    recipes: Mapping[str, LeagueRecipe]
    scripted: tuple[str, ...] = ()
    """Scripted players that are in the league from the beginning."""
    start: str | None = None
    """The model that all learners begin with; None: the first scripted player."""
    play: Play | None = None
    """A quicker way to play many pairings; None: the game's own `play`, one after the other."""
    results: Table | None = None
    """What `play` returns; None: the game's own results. Where it is another table, its matches are
    none of the game's, and no page shows one."""
    graded: bool = False
    """Whether the size of a score counts, as that of a pot does, or only who won."""
    exact: Exact | None = None
    """How exploitability is computed, where the game is small enough; None: it is estimated."""

    def recipe(self, name: str) -> LeagueRecipe:
        """A recipe by name."""
        if name not in self.recipes:
            raise InputError(f"there is no league '{name}'; there is {', '.join(self.recipes)}")
        return self.recipes[name]
