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
from understudy.data import shards
from understudy.data.files import write_text
from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.games import Game, PlayerRef
from understudy.games.pairs import Fixture
from understudy.games.players import resolve, weights_digest
from understudy.league.exploit import FreshExploiter
from understudy.league.hooks import Contestant, Learnt, Lesson, Pairing
from understudy.league.season import Season, one_by_one
from understudy.league.state import State
from understudy.league.summary import read_lines, summarise, write_summary
from understudy.stages import Workers

Told = Callable[[State], None]


def league(
    game: Game,
    run: Run,
    recipe: str,
    *,
    start: str | None = None,
    name: str | None = None,
    seed: int = 0,
    worker: Workers = None,
    resume: bool = True,
    told: Told = lambda state: None,
) -> dict[str, Any]:
    """Run a league, measure its main agents, and have its best matches ready to watch.

    It lies in the run under `name`, by default that of the recipe. `told` hears of every round.
    """
    workers.parse(worker)  # before anything is written
    season = season_of(game, run, recipe, start=start, name=name, seed=seed, worker=worker)
    state = season.run(resume=resume, told=told)
    exploits = _exploits(season, state)
    summary = summarise(state, read_lines(season.folder), exploits)
    write_summary(season.folder, summary)
    _write_replays(game, season, summary["telling_matches"])
    return summary


def season_of(
    game: Game,
    run: Run,
    recipe: str,
    *,
    start: str | None = None,
    name: str | None = None,
    seed: int = 0,
    worker: Workers = 0,
) -> Season:
    """A league of a game, ready to be run."""
    if game.league is None or game.play is None:
        raise InputError(f"{game.name} has no leagues")
    if name is not None and Path(name).name != name:
        raise InputError(f"--name must be a plain name, not '{name}'")
    hooks = game.league()
    chosen = hooks.recipe(recipe)
    begin = resolve(game, run, start or hooks.start or next(iter(game.players)))
    weights_digest(begin)  # which refuses a model without weights
    taken = any(f"{begin.name}-".startswith(f"{slot.name}-") for slot in chosen.slots)
    label = f"start-{begin.name}" if taken else begin.name  # versions have such names, too
    here = workers.parse(worker) == 0
    return Season(
        folder=run.leagues / (name or recipe),
        game=game.name,
        recipe=chosen,
        start=Contestant(label, begin.weights),
        scripted=tuple(one for one in hooks.scripted if one != begin.name),
        results=game.results,
        play=hooks.play or partial(play_pairings, game),
        improve=hooks.improve,
        seed=seed,
        many=one_by_one if here else _Many(worker),
    )


def play_pairings(game: Game, pairings: Sequence[Pairing]) -> pa.Table:
    """Each pairing from both sides, by the game's own `play`."""
    assert game.play is not None
    tables = [game.results.arrow().empty_table()]
    for pairing in pairings:
        one, other = (PlayerRef(player.name, player.weights) for player in pairing.players)
        for refs in ((one, other), (other, one)):
            tables.append(game.play(Fixture(refs, pairing.seeds, keep=0)).results)
    return pa.concat_tables(tables)


@dataclass(frozen=True)
class _Many:
    """The lessons of a round on several processes."""

    worker: Workers

    def __call__(
        self, function: Callable[[Lesson], Learnt], given: Sequence[Lesson]
    ) -> list[Learnt]:
        tasks = {lesson.name: lesson for lesson in given}
        outcomes = workers.run(function, tasks, workers=self.worker, title="lessons", quiet=True)
        for outcome in outcomes:
            if outcome.error is not None:
                raise InputError(
                    f"the lesson of {outcome.key} failed: {outcome.error}. The others are kept; "
                    "the same command tries this one again"
                )
        return [outcome.value for outcome in outcomes]


def _exploits(season: Season, state: State) -> dict[str, Mapping[str, Any]]:
    """What fresh exploiters achieve against each main agent, and against the Nash mixture."""
    recipe = season.recipe
    if not recipe.exploiter_steps:
        return {}
    targets = {main.name: {season.contestant(main.version): 1.0} for main in state.roster.mains()}
    shares = state.history[-1]["nash"]
    total = sum(shares.values())
    targets["nash mixture"] = {
        season.contestant(name): share / total for name, share in shares.items()
    }
    return {
        name: FreshExploiter(
            target=target,
            start=season.start,
            agent_steps=recipe.exploiter_steps,
            matches=recipe.exploiter_matches,
            seed=season.seed,
            folder=season.folder / "exploiters" / name.replace(" ", "-"),
            results=season.results,
        ).measure(season.improve, season.play)
        for name, target in targets.items()
    }


def _write_replays(game: Game, season: Season, telling: Sequence[Mapping[str, Any]]) -> None:
    """Play the matches to watch once more, recorded this time, and write their pages.

    They lie in a small run of their own, so that the game finds recordings and weights as ever.
    """
    if game.replay is None:
        return
    watched = Run(season.folder / "watched")
    for one in telling:
        page = season.folder / "replays" / f"{one['match']}.html"
        if page.is_file():
            continue
        players = [season.contestant(name) for name in one["players"]]
        _record(game, watched, players, one["seed"])
        write_text(page, game.replay(watched, one["match"]))


def _record(game: Game, watched: Run, players: Sequence[Contestant], seed: int) -> None:
    """One match in full; the models of its players are linked beside it."""
    assert game.play is not None
    refs = tuple(PlayerRef(player.name, player.weights) for player in players)
    played = game.play(Fixture(refs, (seed,)))
    for table in reversed(game.recordings):
        path = shards.shard_path(watched.recordings, table, str(seed))
        shards.write_shard(path, played.recordings[table.name])
    for player in players:
        if player.weights is not None:
            _link(watched.model(player.name), player.weights)


def _link(link: Path, target: Path) -> None:
    if not link.exists():
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(target.resolve(), target_is_directory=True)
