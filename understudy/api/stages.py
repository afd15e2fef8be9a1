"""Each command as a function that returns what the command prints.

`understudy.record`, `understudy.train` and the others are these; options have the names they have
on the command line. Some agents of scml move by the order of sets: to play them again with
`workers=0`, start Python with PYTHONHASHSEED=0. Worker processes, and the commands, do so.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy import games
from understudy.api.results import Competition, Figures
from understudy.data.integrity.locks import released
from understudy.data.runs import COMPETE, RECORD, Run
from understudy.errors import InputError
from understudy.pipeline.game import Game, Schedule, load

if TYPE_CHECKING:
    from understudy.pipeline.tasks import Workers


@released
def record(
    game: str,
    *,
    out: str | Path | None = None,
    players: Sequence[str] | None = None,
    seed: int = 0,
    workers: "Workers" = None,
    resume: bool = True,
    quiet: bool = True,
    **options: Any,
) -> Path:
    """Play matches and write down what players saw and did; the folder of the recordings.

    `players` are recorded to learn from. `options` are the game's own: `opponents` and `matches`
    of a game of two, those of a tournament for scml (`configs`, `steps`, `field` and so on).
    """
    from understudy.pipeline import record as stage

    chosen, run = load(game), Run.of(game, out)
    schedule = _plan(chosen, run, RECORD, players, {"seed": seed, **options})
    stage.record(chosen, run, schedule, worker=workers, resume=resume, quiet=quiet)
    return run.recordings


@released
def encode(
    game: str,
    *,
    out: str | Path | None = None,
    players: Sequence[str] | None = None,
    goals: str | Path | None = None,
    workers: "Workers" = None,
    resume: bool = True,
    quiet: bool = True,
    **options: Any,
) -> Figures:
    """Turn a run's recordings into samples, one row per decision; counts to check them by."""
    from understudy.pipeline import encode as stage

    run = Run.of(game, out)
    counts = stage.encode(
        load(game),
        run,
        players=players,
        goals=None if goals is None else Path(goals),
        options=_of_game("encode", game, options) or None,
        worker=workers,
        resume=resume,
        quiet=quiet,
    )
    return Figures(counts, run, run.samples)


@released
def train(
    game: str,
    recipe: str,
    *,
    out: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    name: str | None = None,
    init: str | Path | None = None,
    start: str | None = None,
    seed: int = 0,
    device: str = "cpu",
    workers: "Workers" = None,
    resume: bool = True,
    **options: Any,
) -> Figures:
    """Train a recipe on a run's samples, or by playing; its evaluation. `start` is `--from`.

    `settings` are others than the recipe's, as `{"objective.temperature": 0.5}`; `name` is the
    model's, if not the recipe's.
    `options` are further ones of the command: `iterations`, `rollouts`, `updates` of a recipe that
    plays, and what only this game's recipes can be told.
    """
    from understudy.learn.recipe import TrainOptions
    from understudy.pipeline import train as stage

    chosen = load(game)
    shared = {field.name for field in fields(TrainOptions)} & options.keys()
    told = TrainOptions(
        init=None if init is None else Path(init),
        start=start,
        **{name: options.pop(name) for name in shared},
        own=_of_game("train", game, options),
    )
    run = Run.of(game, out)
    evaluation = stage.train(
        chosen,
        run,
        recipe,
        settings=[f"{setting}={value}" for setting, value in (settings or {}).items()],
        name=name,
        options=told,
        seed=seed,
        device=device,
        worker=workers,
        resume=resume,
    )
    return Figures(evaluation, run, run.model(name or recipe))


@released
def compete(
    game: str,
    players: Sequence[str],
    *,
    out: str | Path | None = None,
    seed: int = 0,
    workers: "Workers" = None,
    resume: bool = True,
    quiet: bool = True,
    **options: Any,
) -> Competition:
    """Let players meet; how strong they are, with intervals.

    A row per ordered pair of players of a game of two (`matches` says how often they meet), a row
    per player of scml, whose options are those of a tournament.
    """
    from understudy.pipeline import compete as stage

    chosen, run = load(game), Run.of(game, out)
    schedule = _plan(chosen, run, COMPETE, players, {"seed": seed, **options})
    met = stage.compete(chosen, run, schedule, worker=workers, resume=resume, quiet=quiet)
    strength = games.commands(game).strength
    return Competition([] if strength is None else strength(met.results), run, game)


@released
def league(
    game: str,
    recipe: str = "quick",
    *,
    out: str | Path | None = None,
    start: str | None = None,
    opponents: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    name: str | None = None,
    seed: int = 0,
    workers: "Workers" = None,
    resume: bool = True,
) -> Figures:
    """Let players improve against each other in a league; its summary. `start` is `--from`.

    `opponents` are met by all from the beginning: players, models, FILE.py:POLICY.
    """
    from understudy.pipeline import league as stage

    run = Run.of(game, out)
    summary = stage.league(
        load(game),
        run,
        recipe,
        settings=[f"{setting}={value}" for setting, value in (settings or {}).items()],
        start=start,
        opponents=opponents,
        name=name,
        seed=seed,
        worker=workers,
        resume=resume,
    )
    return Figures(summary, run, run.league(name or recipe))


def _of_game(command: str, game: str, options: dict[str, Any]) -> dict[str, Any]:
    """What the stage is told of options that only this game has."""
    read = games.commands(game).options.get(command)
    if read is not None:
        with _only_known(command, game, options):
            return read(game, **options)
    for name in options:
        raise _no_option(command, game, name)
    return {}


def _plan(
    game: Game, run: Run, purpose: int, players: Sequence[str] | None, options: Mapping[str, Any]
) -> Schedule:
    """The matches that the game plans of these options."""
    plan = games.commands(game.name).plan
    if plan is None:
        raise InputError(
            f"{game.name} is not played here. Read matches: understudy record {game.name} --help"
        )
    named = [players] if isinstance(players, str) else players
    with _only_known("record" if purpose == RECORD else "compete", game.name, options):
        return plan(run, purpose, named, options)


@contextmanager
def _only_known(command: str, game: str, options: Mapping[str, Any]) -> Iterator[None]:
    """Of an option that what reads them does not have: InputError that names it."""
    try:
        yield
    except TypeError as mistake:
        for name in options:
            if f"unexpected keyword argument '{name}'" in str(mistake):
                raise _no_option(command, game, name) from mistake
        raise


def _no_option(command: str, game: str, name: str) -> InputError:
    return InputError(
        f"{command} takes no option '{name}' for {game}; understudy {command} {game} --help lists "
        "what it takes"
    )
