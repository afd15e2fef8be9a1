"""How large a league must be in a game: by the steps that one learner needs to beat its start.

A round in which an exploiter cannot learn to beat anybody is lost, one in which it has learnt long
ago is too: so a life, which is one round, lasts some multiples of that. What is measured is kept,
training jobs and matches, and taken as it is by the same call later.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from understudy.data.players import PlayerRef
from understudy.data.schema import Table
from understudy.errors import InputError
from understudy.league import matches, training
from understudy.league.interface import Improve, League, LearnerJob, Opponent, Play
from understudy.league.payoff import Tally, belief
from understudy.league.recipe import LeagueRecipe, two_roles, with_baselines
from understudy.league.rules import Overrides
from understudy.workers import task_seed

AUTO = "auto"
"""What recipes of a size that is measured are called, and before their baselines' names."""
ROUNDS = 12
LIVES = 2.0
"""How long an exploiter's life is, beside what it takes to beat the start: its target is better."""
HUNT = 4.0
"""The same of an approximate best response in the end."""
_MATCHES = 200
_MOST = 8  # doublings
_PROBE = 2 * 10**7  # seeds of these matches and jobs lie this far behind those of the league


@dataclass(frozen=True, kw_only=True)
class Probe:
    """One learner that meets nobody but what it began as, for ever longer."""

    start: PlayerRef
    first: int
    """Agent-steps before it is measured for the first time; later ever twice as many in all."""
    hunting: Overrides
    seed: int
    folder: Path
    results: Table
    graded: bool

    def needed(self, improve: Improve, play: Play) -> int:
        """Agent-steps until it surely wins more than half of the matches against the start."""
        for steps in self._tried(improve, play):
            return steps
        most = self.first * 2 ** (_MOST - 1)
        raise InputError(
            f"within {most:,} agent-steps nobody learnt to beat {self.start.name}, so no size of a "
            "league can be told from that. Choose one yourself: --recipe full, or --set "
            "agent_steps=... of it"
        )

    def _tried(self, improve: Improve, play: Play) -> Iterator[int]:
        """Numbers of steps that were enough, the least first."""
        now, taken = self.start, 0
        for number in range(_MOST):
            job = LearnerJob(
                name=f"probe-{number}",
                start=now,
                imitation=self.start,
                opponents=(Opponent(self.start, 1.0),),
                agent_steps=max(self.first, taken),
                seed=task_seed(self.seed, _PROBE, number),
                overrides=self.hunting,
                out=self.folder / f"probe-{number}",
            )
            taken += training.train(improve, job).agent_steps
            now = PlayerRef(job.name, job.out)
            if self._beats(now, number, play):
                yield taken

    def _beats(self, one: PlayerRef, number: int, play: Play) -> bool:
        used = _PROBE + number * _MATCHES
        planned = matches.pairings([(one, self.start)], _MATCHES, self.seed, used)
        rows = matches.play_round(self.folder, number, self.results, play, planned)
        total = Tally()
        for (player, _), tally in matches.tallies(rows, self.graded).items():
            total = total.plus(tally if player == one.name else tally.turned())
        return belief(total, 0.975).low > 0.5


def recipe_of(league: League, name: str, start: PlayerRef, seed: int, folder: Path) -> LeagueRecipe:
    """A recipe by name; one that is called `auto` has the size that is measured in `folder`."""
    if name.partition("-")[0] != AUTO:
        return league.recipe(name)
    assert league.play is not None and league.results is not None
    quick = next(iter(league.recipes.values()))
    probe = Probe(
        start=start,
        first=max(1, quick.agent_steps // 40),
        hunting=_hunting(quick),
        seed=seed,
        folder=folder.resolve() / str(seed),
        results=league.results,
        graded=league.graded,
    )
    return sized(quick, probe.needed(league.improve, league.play), name)


def sized(quick: LeagueRecipe, needed: int, name: str) -> LeagueRecipe:
    """The recipe of this name, by the steps that are needed; all else as in `quick`."""
    league = two_roles(
        description=f"sized by {needed:,} agent-steps, in which a learner beats its start",
        rounds=ROUNDS,
        agent_steps=round(LIVES * needed / 0.45),
        matches=quick.matches,
        opponents_max=quick.opponents_max,
        exploiter_steps=round(HUNT * needed),
        exploiter_matches=quick.exploiter_matches,
        hunting=_hunting(quick),
    )
    found = with_baselines(AUTO, league)
    if name not in found:
        raise InputError(f"there is no league '{name}'; there is {', '.join(found)}")
    return found[name]


def _hunting(quick: LeagueRecipe) -> Overrides:
    """How exploiters learn, whose rate does not fall."""
    return replace(quick.exploiter_overrides, rate_end=quick.exploiter_overrides.rate)
