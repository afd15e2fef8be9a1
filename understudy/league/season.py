"""The league's loop: training jobs, matches, snapshots, round after round. Read this file first.

    runs/NAME/leagues/RECIPE/
      league_state.json   everything the league knows, replaced whole after every round
      players/VERSION/    weights of snapshots and of the learners' present versions
      results-*.parquet   matches, a shard per round      matches.jsonl   the same in lines
      summary.json        ratings, mixture, weaknesses    manifest.json

A round is decided by the state before it and the seed alone. Killed at any moment, the same call
goes on: what a round had finished, training jobs and matches, is taken as it is; the rest is done
anew and comes out the same.
"""

import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.data.players import PlayerRef, code_stamps, weights_digest
from understudy.data.runs import LeagueFolder, begin, finish
from understudy.data.schema import Table
from understudy.league import matches, training
from understudy.league.analysis.exploitability import worst_past
from understudy.league.analysis.nash import nash, shares_by_name
from understudy.league.interface import Improve, LearnerJob, Play, TrainingResult
from understudy.league.matchmaking import Opponents, likeliest
from understudy.league.payoff import Payoff
from understudy.league.population import Learner, Player, Roster, initial_roster, version_name
from understudy.league.recipe import LeagueRecipe
from understudy.league.state import MISSING, State, check_weights, read_state, write_state
from understudy.workers import task_seed

JOB, RNG = range(2)  # what a seed is drawn for
Many = Callable[
    [Callable[[LearnerJob], TrainingResult], Sequence[LearnerJob]], Iterable[TrainingResult]
]


def one_by_one(
    function: Callable[[LearnerJob], TrainingResult], given: Sequence[LearnerJob]
) -> list[TrainingResult]:
    """The simplest way to do many training jobs."""
    return [function(job) for job in given]


@dataclass(frozen=True, kw_only=True)
class Season:
    """A league of one game in one folder."""

    folder: Path
    game: str
    recipe: LeagueRecipe
    start: PlayerRef
    """What every learner begins from."""
    scripted: tuple[str, ...]
    guests: tuple[PlayerRef, ...] = ()
    """Others that are met from the beginning and never learn: trained ones, or somebody's own."""
    results: Table
    """What `play` returns."""
    graded: bool = False
    """Whether the size of a score counts, or only who won."""
    play: Play
    improve: Improve
    seed: int = 0
    many: Many = one_by_one
    """How the training jobs of a round are given: they do not depend on each other."""

    def run(
        self, *, resume: bool = True, told: Callable[[State], None] = lambda state: None
    ) -> State:
        """Play all rounds that are left; the league at the end.

        `told` hears how it stands at the beginning and after every round.
        """
        if resume:
            read_state(self.folder)  # an old one is refused as such, not for settings it lacks
        begin(self.folder, "league", self._settings(), resume=resume)
        state = self.begun()
        self._tidy(state)
        matches.rewrite_lines(self.folder, state.round, self.results)
        told(state)
        while state.round < self.recipe.rounds:
            state, rows = self._round(state)
            write_state(self.folder, state)
            matches.append_lines(self.folder / matches.MATCHES, state.round, rows)
            self._tidy(state)
            told(state)
        steps = {"agent_steps": state.agent_steps, "match_steps": state.match_steps}
        finish(self.folder, rounds=state.round, **steps)
        return state

    def begun(self) -> State:
        """The league as it was left, every player in good order, or as it begins."""
        state = read_state(self.folder)
        if state is None:
            slots = [(slot.name, slot.role) for slot in self.recipe.slots]
            guests = [ref.name for ref in self.guests]
            roster = initial_roster(self.start.name, slots, (*self.scripted, *guests))
            return State(roster, Payoff(), weights=self._digests([self.start.name, *guests]))
        for name in state.roster.members():
            check_weights(self.player_ref(name), state.weights.get(name))
        return state

    def player_ref(self, name: str) -> PlayerRef:
        """A player by name."""
        frozen = {one: PlayerRef(one) for one in self.scripted}
        frozen |= {ref.name: ref for ref in (*self.guests, self.start)}
        return training.player_ref(self.folder, frozen, name)

    def _settings(self) -> dict[str, Any]:
        return {
            "game": self.game,
            "seed": self.seed,
            "start": self.start.name,
            "weights": weights_digest(self.start, MISSING),
            "scripted": list(self.scripted),
            **({"guests": self._guests()} if self.guests else {}),
            **self.recipe.settings(),
        }

    def _guests(self) -> dict[str, str | None]:
        weights = {ref.name: weights_digest(ref, MISSING) for ref in self.guests}
        return weights | code_stamps(self.guests)

    # --- one round -------------------------------------------------------------------------------

    def _round(self, before: State) -> tuple[State, pa.Table]:
        """The state after one more round, and the matches played in it."""
        number = before.round + 1
        met = {learner.name: self._opponents(learner, before) for learner in before.roster.learners}
        planned = [self._job(one, met[one.name], number) for one in before.roster.learners]
        outcomes = list(self.many(training.trainer(self.improve), planned))
        roster = replace(
            before.roster,
            learners=tuple(
                one.trained(job.name, found.agent_steps)
                for one, job, found in zip(before.roster.learners, planned, outcomes, strict=True)
            ),
        )
        payoff = Payoff.from_json(before.payoff.to_json())
        rows, seeds = self._play(roster, payoff, number, before.seeds)
        after, kept = self._keep(roster, payoff, number)
        steps = before.agent_steps + sum(one.agent_steps for one in outcomes)
        match_steps = before.match_steps + sum(one.match_steps for one in outcomes)
        entry = {
            "round": number,
            "agent_steps": steps,
            "match_steps": match_steps,
            "opponents": met,
            "kept": kept,
            "metrics": {
                job.name: dict(found.metrics) for job, found in zip(planned, outcomes, strict=True)
            },
            **_standing(roster, after, payoff),
        }
        state = State(
            roster=after,
            payoff=payoff,
            round=number,
            agent_steps=steps,
            match_steps=match_steps,
            seeds=seeds,
            weights=self._digests(after.members()),
            history=(*before.history, entry),
        )
        return state, rows

    def _opponents(self, learner: Learner, state: State) -> Opponents:
        found = self.recipe.matchmaking(learner, state.roster, state.payoff)
        return likeliest(found, self.recipe.opponents_max)

    def _job(self, learner: Learner, met: Opponents, number: int) -> LearnerJob:
        slots = [slot.name for slot in self.recipe.slots]
        place = slots.index(learner.name)
        name = version_name(learner.name, number)
        players = {other: self.player_ref(other) for other in met if other != learner.name}
        return LearnerJob(
            name=name,
            start=self.player_ref(learner.version),
            imitation=self.start,
            opponents=training.opponents_of(met, learner.name, players),
            agent_steps=self.recipe.steps_of(self.recipe.slots[place]),
            seed=task_seed(self.seed, JOB, number, place),
            overrides=self.recipe.overrides(self.recipe.slots[place], number),
            magnet=self.player_ref(learner.parent),
            out=LeagueFolder(self.folder).player(name),
        )

    def _play(self, roster: Roster, payoff: Payoff, number: int, used: int) -> tuple[pa.Table, int]:
        """Have everybody meet who has not; count it. How many seeds are used now."""
        names = roster.members()
        players = {name: self.player_ref(name) for name in names}
        pairs = matches.due(names, payoff, self.recipe.matches, players)
        planned = matches.pairings(pairs, self.recipe.matches, self.seed, used)
        rows = matches.play_round(self.folder, number, self.results, self.play, planned)
        for (one, other), tally in matches.tallies(rows, self.graded).items():
            payoff.add(one, other, tally)
        return rows, used + sum(len(pairing.seeds) for pairing in planned)

    def _keep(
        self, roster: Roster, payoff: Payoff, number: int
    ) -> tuple[Roster, list[dict[str, str]]]:
        """Take snapshots of those whose time has come, and only then reset them.

        After the last round nobody starts over.
        """
        rng = np.random.default_rng(task_seed(self.seed, RNG, number))
        learners, frozen = list[Learner](), list(roster.frozen)
        for one in roster.learners:
            rules = self.recipe.rules[one.role]
            if kept := rules.snapshot(one, roster, payoff):
                frozen.append(_snapshot(one, number, kept.reason))
                start = rules.reset(one, roster, payoff, kept.succeeded, rng)
                last = number == self.recipe.rounds
                one = one.kept() if start is None or last else one.reset(start)
            learners.append(one)
        new = [
            {"name": player.name, "reason": player.reason}
            for player in frozen[len(roster.frozen) :]
        ]
        return Roster(roster.start, tuple(learners), tuple(frozen)), new

    # --- files -----------------------------------------------------------------------------------

    def _digests(self, names: Iterable[str]) -> dict[str, str]:
        found = {name: weights_digest(self.player_ref(name), MISSING) for name in names}
        return {name: known for name, known in found.items() if known is not None}

    def _tidy(self, state: State) -> None:
        """Remove the weights of versions that nobody will meet again."""
        wanted = {*state.roster.members()}
        wanted |= {version_name(slot.name, state.round + 1) for slot in self.recipe.slots}
        for folder in LeagueFolder(self.folder).players.glob("*/"):
            if folder.name not in wanted:
                shutil.rmtree(folder)


def _snapshot(learner: Learner, number: int, reason: str) -> Player:
    return Player(
        name=learner.version,
        role=learner.role,
        learner=learner.name,
        parent=learner.parent,
        round=number,
        agent_steps=learner.agent_steps,
        reason=reason,
    )


def _standing(roster: Roster, after: Roster, payoff: Payoff) -> dict[str, Any]:
    """What a round leaves to tell of: who the learners were, how they stood, who started over."""
    names = roster.members()
    return {
        "learners": {
            one.name: {
                "version": one.version,
                "parent": one.parent,
                "begun_from": one.begun_from,
                "life": one.life,
                "agent_steps": one.agent_steps,
            }
            for one in roster.learners
        },
        "worst": {one.name: worst_past(payoff, one, roster) for one in roster.mains()},
        "nash": shares_by_name(names, nash(payoff.matrix(names))),
        "reset": {
            new.name: new.begun_from
            for old, new in zip(roster.learners, after.learners, strict=True)
            if new.life > old.life
        },
    }
