"""The stage that runs a league: a game's hooks, the season, and what is measured at its end.

    league      players -> better players     snapshots, ratings, weaknesses, matches to watch

Like every stage it works in its own folder of a run and can be stopped at any moment.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from understudy import workers
from understudy.data.players import PlayerRef, weights_digest
from understudy.data.runs import LeagueFolder, Run
from understudy.errors import InputError
from understudy.league.analysis.compare import Field
from understudy.league.analysis.exploitability import BestResponse
from understudy.league.analysis.highlights import best_exploit
from understudy.league.analysis.summary import own_nash, read_lines, summarise, write_summary
from understudy.league.interface import LearnerJob, Pairing, TrainingResult
from understudy.league.season import Season, one_by_one
from understudy.league.state import State
from understudy.league.training import trainer
from understudy.learn.settings import changed
from understudy.pipeline.game import Game, with_leagues
from understudy.pipeline.league_replays import LeagueReplays
from understudy.pipeline.pairings import Fixture
from understudy.pipeline.players import resolve
from understudy.pipeline.tasks import Workers

Told = Callable[[State, int], None]


def league(
    game: Game,
    run: Run,
    recipe: str,
    *,
    settings: Sequence[str] = (),
    start: str | None = None,
    opponents: Sequence[str] = (),
    name: str | None = None,
    seed: int = 0,
    worker: Workers = None,
    resume: bool = True,
    told: Told = lambda state, rounds: None,
) -> dict[str, Any]:
    """Run a league, measure its main agents, and have its best matches ready to watch.

    `settings` are others than the recipe's, each NAME=VALUE.
    `opponents` are met by all from the beginning, beside those the game has for that. It lies in
    the run under `name`, by default that of the recipe. `told` hears how it stands and how many
    rounds there are, at the beginning and after every round.
    """
    workers.parse(worker)  # before anything is written
    season = season_of(
        *(game, run, recipe),
        settings=settings,
        start=start,
        opponents=opponents,
        name=name,
        seed=seed,
        worker=worker,
    )
    state = season.run(resume=resume, told=lambda state: told(state, season.recipe.rounds))
    lines = read_lines(season.folder)
    fresh = _exploiters(season, state)
    list(season.many(trainer(season.improve), [one.job() for one in fresh.values()]))
    measured = {name: one.measure(season.improve, season.play) for name, one in fresh.items()}
    best = sorted(fresh, key=lambda name: -float(measured[name]["mean"]))[:1]
    hunts = [line for name in best for line in fresh[name].told()]
    highlights = [best_exploit(hunts, fresh[name].name) for name in best]
    summary = summarise(state, lines, measured, [one for one in highlights if one is not None])
    write_summary(season.folder, summary)
    members = {one.name: one.player_ref for one in fresh.values()}
    LeagueReplays(game, season, members, [*hunts, *lines]).write(summary["highlights"])
    return summary


def season_of(
    game: Game,
    run: Run,
    recipe: str,
    *,
    settings: Sequence[str] = (),
    start: str | None = None,
    opponents: Sequence[str] = (),
    name: str | None = None,
    seed: int = 0,
    worker: Workers = 0,
) -> Season:
    """A league of a game, ready to be run."""
    if game.league is None or game.play is None:
        raise InputError(f"{game.name} has no leagues; there is {', '.join(with_leagues())}")
    folder = run.league(name or recipe).resolve()  # workers may stand elsewhere
    hooks = game.league()
    chosen = changed(hooks.recipe(recipe), settings, f"{game.name} {recipe}")
    begin = resolve(game, run, start or hooks.start or next(iter(game.players)))
    weights_digest(begin)  # which refuses a model without weights
    taken = any(f"{begin.name}-".startswith(f"{slot.name}-") for slot in chosen.slots)
    label = f"start-{begin.name}" if taken else begin.name  # versions have such names, too
    here = workers.parse(worker) == 0
    asked = {ref.name: ref for ref in (resolve(game, run, one) for one in opponents)}
    scripted = [*hooks.scripted, *(one for one, ref in asked.items() if _is_scripted(ref))]
    return Season(
        folder=folder,
        game=game.name,
        recipe=chosen,
        start=PlayerRef(label, begin.weights),
        scripted=tuple(one for one in dict.fromkeys(scripted) if one != begin.name),
        guests=tuple(ref for ref in asked.values() if not _is_scripted(ref) and ref != begin),
        results=hooks.results or game.results,
        play=hooks.play or partial(play_pairings, game),
        improve=hooks.improve,
        seed=seed,
        many=one_by_one if here else _Many(worker),
    )


def _is_scripted(ref: PlayerRef) -> bool:
    return ref.weights is None and ref.code is None


def compare(
    seasons: Mapping[str, Season], folder: Path, *, matches: int, seed: int = 0
) -> dict[str, Any]:
    """Rate the main agents of several finished leagues of one game in one field.

    A league's population is whoever has a twentieth of its own Nash mixture, and its main agent.
    """
    populations = {name: _population(season) for name, season in seasons.items()}
    first = next(iter(seasons.values()))
    field = Field(
        populations=populations,
        reference=first.start,
        matches=matches,
        seed=seed,
        folder=folder,
        results=first.results,
    )
    return field.compare(first.play)


def _population(season: Season) -> list[PlayerRef]:
    state = season.begun()
    if state.round < season.recipe.rounds:
        raise InputError(f"{season.folder} is not finished. Run its understudy league again")
    main = state.roster.mains()[0].version
    chosen = [name for name, share in own_nash(state).items() if share >= 0.05 and name != main]
    return [season.player_ref(name) for name in [*chosen, main]]


def play_pairings(game: Game, pairings: Sequence[Pairing]) -> pa.Table:
    """Each pairing from both sides, by the game's own `play`."""
    assert game.play is not None
    tables = [game.results.arrow().empty_table()]
    for pairing in pairings:
        one, other = pairing.players
        for refs in ((one, other), (other, one)):
            tables.append(game.play(Fixture(refs, pairing.seeds, keep=0)).results)
    return pa.concat_tables(tables)


@dataclass(frozen=True)
class _Many:
    """The training jobs of a round on several processes."""

    worker: Workers

    def __call__(
        self, function: Callable[[LearnerJob], TrainingResult], given: Sequence[LearnerJob]
    ) -> list[TrainingResult]:
        tasks = {job.name: job for job in given}
        outcomes = workers.run(
            function, tasks, workers=self.worker, title="training jobs", quiet=True
        )
        for outcome in outcomes:
            if outcome.error is not None:
                raise InputError(
                    f"the training job of {outcome.key} failed: {outcome.error}. The others are "
                    "kept; "
                    "the same command tries this one again"
                )
        return [outcome.value for outcome in outcomes]


def _exploiters(season: Season, state: State) -> dict[str, BestResponse]:
    """Of each main agent two: one begins with the imitation, one as the main agent itself."""
    if not season.recipe.exploiter_steps:
        return {}
    asked = dict[str, BestResponse]()
    for main in state.roster.mains():
        target = season.player_ref(main.version)
        for name, begins in ((main.name, season.start), (f"{main.name} from itself", target)):
            asked[name] = _exploiter(season, name, {target: 1.0}, begins)
    return asked


def _exploiter(
    season: Season, name: str, target: Mapping[PlayerRef, float], start: PlayerRef
) -> BestResponse:
    return BestResponse(
        target=target,
        start=start,
        imitation=season.start,
        agent_steps=season.recipe.exploiter_steps,
        overrides=season.recipe.exploiter_overrides,
        matches=season.recipe.exploiter_matches,
        seed=season.seed,
        folder=LeagueFolder(season.folder).exploiter(name),
        results=season.results,
    )
