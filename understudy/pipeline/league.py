"""The stage that runs a league: a game's hooks, the season, and what is measured at its end.

    league      players -> better players     snapshots, ratings, weaknesses, matches to watch

Like every stage it works in its own folder of a run and can be stopped at any moment.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from understudy import workers
from understudy.data import shards
from understudy.data.files import link_folder, write_bytes, write_text
from understudy.data.integrity.json_files import read_json
from understudy.data.integrity.shapes import Named
from understudy.data.players import PlayerRef, weights_digest
from understudy.data.runs import LeagueFolder, Run
from understudy.data.stats import Estimate
from understudy.errors import InputError
from understudy.league.analysis.compare import Field
from understudy.league.analysis.exploitability import BestResponse
from understudy.league.analysis.highlights import best_exploit
from understudy.league.analysis.summary import (
    own_nash,
    ratings_of,
    read_lines,
    summarise,
    write_summary,
)
from understudy.league.interface import LearnerJob, Pairing, TrainingResult
from understudy.league.season import Season, one_by_one
from understudy.league.sizing import AUTO, recipe_of
from understudy.league.state import State
from understudy.league.training import trainer
from understudy.learn import metrics_log
from understudy.learn.settings import changed
from understudy.pipeline.game import Game, families, with_leagues
from understudy.pipeline.pairings import Fixture
from understudy.pipeline.players import default_start, resolve
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
    game.require()  # before anything is written
    workers.parse(worker)
    season = season_of(
        *(game, run, recipe),
        settings=settings,
        start=start,
        opponents=opponents,
        name=name,
        seed=seed,
        worker=worker,
        resume=resume,
    )
    board = LeagueBoard(season.folder)

    def tell(state: State) -> None:
        board.told(state)
        _summarise_so_far(season, state)
        told(state, season.recipe.rounds)

    state = season.run(resume=resume, told=tell)
    board.close()
    lines = read_lines(season.folder)
    fresh = _exploiters(season, state)
    list(season.many(trainer(season.improve), [one.job() for one in fresh.values()]))
    measured = {name: one.measure(season.improve, season.play) for name, one in fresh.items()}
    best = sorted(fresh, key=lambda name: -float(measured[name]["mean"]))[:1]
    hunts = [line for name in best for line in fresh[name].told()]
    highlights = [best_exploit(hunts, fresh[name].name) for name in best]
    told_of = [one for one in highlights if one is not None]
    way, exact = type(season.recipe.matchmaking).__name__, _exactly(game, season, state)
    summary = summarise(state, lines, measured, told_of, way=way, exact=exact)
    write_summary(season.folder, summary)
    members = {one.name: one.player_ref for one in fresh.values()}
    LeagueReplays(game, season, members, [*hunts, *lines]).write(summary["highlights"])
    return summary


def _summarise_so_far(season: Season, state: State) -> None:
    """A summary after every round, for whoever looks on; best responses are measured at the end."""
    path = LeagueFolder(season.folder).summary
    known = read_json(path, Named, "Run the same league again") if path.is_file() else None
    if state.history and (known or {}).get("rounds") != state.round:
        write_summary(season.folder, summarise(state, read_lines(season.folder), {}))


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
    resume: bool = True,
) -> Season:
    """A league of a game, ready to be run."""
    if game.league is None or game.play is None:
        others = [*with_leagues(), *(f"{family}:NAME" for family in families())]
        raise InputError(f"{game.name} has no leagues; there is {', '.join(others)}")
    folder = run.league(name or recipe).resolve()  # workers may stand elsewhere
    hooks = game.league()
    if recipe.partition("-")[0] != AUTO:
        hooks.recipe(recipe)  # which refuses one that is not there
    begin = resolve(game, run, start or default_start(game, run, folder, resume=resume))
    weights_digest(begin)  # which refuses a model without weights
    results, play = hooks.results or game.results, hooks.play or partial(play_pairings, game)
    whole = replace(hooks, results=results, play=play)
    found = recipe_of(whole, recipe, begin, seed, run.tuning(f"league-size-{begin.name}"))
    chosen = changed(found, settings, f"{game.name} {recipe}")
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
        results=results,
        graded=hooks.graded,
        play=play,
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
        graded=first.graded,
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
            function,
            tasks,
            workers=self.worker,
            title="training jobs",
            ship=lambda job: workers.Shipment(job.out),
            put=write_bytes,
            quiet=True,
        )
        for outcome in outcomes:
            if outcome.error is not None:
                raise InputError(
                    f"the training job of {outcome.key} failed: {outcome.error}. The others are "
                    "kept; "
                    "the same command tries this one again"
                )
        return [outcome.value for outcome in outcomes]


# --- for TensorBoard -----------------------------------------------------------------------------


class LeagueBoard:
    """Is told of a league as it goes; begins with all that is known of earlier rounds."""

    def __init__(self, folder: Path) -> None:
        self._folder = LeagueFolder(folder).tensorboard
        self._written = 0
        self._board: Any = None

    def told(self, state: State) -> None:
        """Write down the rounds that are new."""
        if not state.history:
            return
        if self._board is None:
            shutil.rmtree(self._folder, ignore_errors=True)  # written again, from the history
            self._board = metrics_log.tensorboard(self._folder, 0)
        if self._board is None:
            return  # not installed
        ratings = ratings_of(state)
        for entry in state.history[self._written :]:
            for what, value in _scalars(entry, ratings).items():
                self._board.add_scalar(what, value, entry["round"])
        self._board.flush()
        self._written = len(state.history)

    def close(self) -> None:
        """Nothing more is told."""
        if self._board is not None:
            self._board.close()


def _scalars(entry: Mapping[str, Any], ratings: Mapping[str, Estimate]) -> dict[str, float]:
    """What one round says of every learner."""
    found = dict[str, float]()
    for name, learner in entry["learners"].items():
        version = learner["version"]
        values = {**entry["metrics"].get(version, {}), "nash share": entry["nash"].get(version, 0)}
        if version in ratings:
            values["rating"] = ratings[version].value
        if (worst := entry["worst"].get(name)) is not None:
            values["worst past"] = worst["mean"]
        found |= {
            f"{name}/{what}": float(value)
            for what, value in values.items()
            if isinstance(value, int | float)
        }
    return found


# --- best responses ------------------------------------------------------------------------------


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
        graded=season.graded,
    )


def _exactly(game: Game, season: Season, state: State) -> dict[str, float]:
    """What the best answer wins, where the game is small enough to compute it."""
    exact = None if game.league is None else game.league().exact
    if exact is None:
        return {}
    main = season.player_ref(state.roster.mains()[0].version)
    mixture = {season.player_ref(name): share for name, share in own_nash(state).items()}
    try:
        return {"main agent": exact.win_rate({main: 1.0}), "mixture": exact.win_rate(mixture)}
    except InputError:  # a policy that remembers is no table
        return {}


# --- matches to watch ----------------------------------------------------------------------------


@dataclass(frozen=True)
class LeagueReplays:
    """Pages of matches worth watching: played once more, recorded this time.

    They lie in a small run of their own, so that the game finds recordings and weights as ever.
    """

    game: Game
    season: Season
    guests: Mapping[str, PlayerRef]
    """Players that are no members of the league."""
    lines: Sequence[Mapping[str, Any]]
    """All matches that may be asked for."""

    def write(self, highlights: Sequence[Mapping[str, Any]]) -> None:
        """What is not there yet."""
        if self.game.replay is None or self.season.results != self.game.results:
            return
        watched = LeagueFolder(self.season.folder).watched
        for one in highlights:
            page = LeagueFolder(self.season.folder).replay(one["match"])
            company = [
                line
                for line in self.lines
                if (line["round"], line["players"]) == (one["round"], list(one["players"]))
            ]
            if not page.is_file() and self._record(watched, one["match"], company):
                write_text(page, self.game.replay(watched, one["match"]))

    def _record(self, watched: Run, match: str, company: Sequence[Mapping[str, Any]]) -> bool:
        """Record a match in full; whether it went as before.

        It is played in the same `company`, side by side with the same matches: a network's answer
        may differ in the last bit with how many it answers at once, and a match may depend on that.
        """
        assert self.game.play is not None
        names = company[0]["players"]
        one, other = (self.guests.get(name) or self.season.player_ref(name) for name in names)
        played = self.game.play(Fixture((one, other), tuple(line["seed"] for line in company)))
        before = {line["match"]: line["score"] for line in company}
        now = {row["match"]: row["score"] for row in played.results.to_pylist() if row["slot"] == 0}
        if now.get(match) != before[match]:
            return False
        for table in reversed(self.game.recordings):
            path = shards.shard_path(watched.recordings, table, match)
            shards.write_shard(path, played.recordings[table.name])
        for player in (one, other):
            if player.weights is not None:
                shown = watched.model(player.name)
                link_folder(shown, player.weights, within=self.season.folder.parent.parent)
        return True
