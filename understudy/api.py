"""The pipeline from Python: each command as a function that returns what the command prints.

`understudy.record`, `understudy.train` and the others are these; options have the names they have
on the command line. Some agents of scml move by the order of sets: to play them again with
`workers=0`, start Python with PYTHONHASHSEED=0. Worker processes, and the commands, do so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy import games
from understudy.data.runs import COMPETE, RECORD, Run
from understudy.errors import InputError
from understudy.pipeline.game import Game, Schedule

if TYPE_CHECKING:  # torch takes seconds to import
    from understudy.learn.policy import FactoredPolicy

Workers = str | int | None
"""How many processes; 0: this one; tcp://HOST:PORT: a Dask cluster; None: one per core."""


def record(
    game: str,
    *,
    out: str | Path | None = None,
    players: Sequence[str] | None = None,
    seed: int = 0,
    workers: Workers = None,
    resume: bool = True,
    quiet: bool = True,
    **options: Any,
) -> Path:
    """Play matches and write down what players saw and did; the folder of the recordings.

    `players` are recorded to learn from. `options` are the game's own: `opponents` and `matches`
    of a game of two, those of a tournament for scml (`configs`, `steps`, `field` and so on).
    """
    from understudy.pipeline import record as stage

    chosen, run = _playable(game), Run.of(game, out)
    schedule = _to_record(chosen, run, players, {"seed": seed, **options})
    stage.record(chosen, run, schedule, worker=workers, resume=resume, quiet=quiet)
    return run.recordings


def encode(
    game: str,
    *,
    out: str | Path | None = None,
    players: Sequence[str] | None = None,
    workers: Workers = None,
    resume: bool = True,
    quiet: bool = True,
    **options: Any,
) -> dict[str, float]:
    """Turn a run's recordings into samples, one row per decision; counts to check them by."""
    from understudy.pipeline import encode as stage

    return stage.encode(
        games.load(game),
        Run.of(game, out),
        players=players,
        options=options or None,
        worker=workers,
        resume=resume,
        quiet=quiet,
    )


def train(
    game: str,
    recipe: str,
    *,
    out: str | Path | None = None,
    init: str | Path | None = None,
    start: str | None = None,
    seed: int = 0,
    device: str = "cpu",
    workers: Workers = None,
    resume: bool = True,
    **changes: Any,
) -> dict[str, Any]:
    """Train a recipe on a run's samples, or by playing; its evaluation. `start` is `--from`.

    `changes` are settings of a recipe that plays: `iterations`, `rollouts` and so on.
    """
    from understudy.learn.recipe import TrainOptions
    from understudy.pipeline import train as stage

    return stage.train(
        games.load(game),
        Run.of(game, out),
        recipe,
        options=TrainOptions(init=None if init is None else Path(init), start=start, **changes),
        seed=seed,
        device=device,
        worker=workers,
        resume=resume,
    )


def compete(
    game: str,
    players: Sequence[str],
    *,
    out: str | Path | None = None,
    seed: int = 0,
    workers: Workers = None,
    resume: bool = True,
    quiet: bool = True,
    **options: Any,
) -> list[dict[str, Any]]:
    """Let players meet; how strong they are, with intervals.

    A row per ordered pair of players of a game of two (`matches` says how often they meet), a row
    per player of scml, whose options are those of a tournament.
    """
    from understudy.pipeline import compete as stage

    chosen, run = _playable(game), Run.of(game, out)
    schedule = _to_compete(chosen, run, players, {"seed": seed, **options})
    met = stage.compete(chosen, run, schedule, worker=workers, resume=resume, quiet=quiet)
    if game == "scml":
        from understudy.games.scml.strength.strength import assess

        return [dict(row) for row in assess(met.results).to_json()["players"]]
    from understudy.data.results import win_rates

    return [asdict(rate) for rate in win_rates(met.results)]


def load_policy(folder: str | Path) -> "FactoredPolicy":
    """The policy that training left in a model's folder."""
    from understudy.learn import policy

    return policy.load_policy(Path(folder))


def _playable(name: str) -> Game:
    game = games.load(name)
    if game.play is None:
        raise InputError(
            f"{name} is not played here. Read matches: understudy record {name} --help"
        )
    return game


def _to_record(
    game: Game, run: Run, players: Sequence[str] | None, options: Mapping[str, Any]
) -> Schedule:
    if game.name == "scml":
        from understudy.games.scml.players.catalogue import best

        competitors = players or best(
            dict.fromkeys((2026, 2025, 2024), 5), options.get("track", "std")
        )
        return _tournament(
            game, run, competitors, RECORD, **{"configs": 5, "keep": None, **options}
        )
    from understudy.pipeline import pairings

    everybody = list(game.players)
    defaults = {"opponents": everybody, "matches": 2000}
    return pairings.to_record(game, players=players or everybody[:1], **{**defaults, **options})


def _to_compete(
    game: Game, run: Run, players: Sequence[str], options: Mapping[str, Any]
) -> Schedule:
    if game.name == "scml":
        return _tournament(game, run, players, COMPETE, **{"configs": 40, **options})
    from understudy.pipeline import pairings
    from understudy.pipeline.players import resolve

    refs = [resolve(game, run, player) for player in players]
    return pairings.to_compete(game, refs, **{"matches": 400, **options})


def _tournament(
    game: Game,
    run: Run,
    players: Sequence[str],
    purpose: int,
    *,
    track: str = "std",
    field: str = "official",
    simulator: str = "engine",
    keep: int | None = 3,
    **options: Any,
) -> Schedule:
    """A tournament of scml; `options` are fields of `Tournament`."""
    from understudy.games.scml.domain import track_named
    from understudy.games.scml.players.resolve import resolve_all
    from understudy.games.scml.tournament import design

    rules = track_named(track)
    tournament = design.Tournament(
        field=design.field_named(field),
        competitors=resolve_all(game, run, players, rules),
        track=rules,
        simulator=design.simulator_named(simulator),
        **options,
    )
    return design.schedule(tournament, purpose=purpose, keep=keep)
