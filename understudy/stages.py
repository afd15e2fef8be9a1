"""The pipeline, one function per stage. Read this file first.

    record      players -> recordings     what happened in matches
    encode      recordings -> samples     one row per decision
    train       samples -> model          weights, metrics, evaluation
    compete     players -> results        who beats whom, with intervals
    report      run -> page               all of it for a person to read

`stages_league.py` has one more: league, players -> better players.

Each stage works in its own folder of a run (`data/runs.py`) and can be stopped at any moment: the
same call goes on where it was. A stage takes plain values and returns plain values; the command
line (`cli.py`) parses and prints.
"""

import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from understudy import games, workers
from understudy.data import shards
from understudy.data.files import digest, write_text
from understudy.data.results import read_results
from understudy.data.runs import Run, begin, finish, read_manifest
from understudy.data.schema import Table
from understudy.errors import InputError
from understudy.games import Awaited, Game, Imported, Schedule

if TYPE_CHECKING:  # torch takes seconds to import
    from understudy.learn.rl.recipe import Refinement

_TITLES = {"record": "recording", "compete": "competing"}

Workers = str | int | None
Progress = Callable[[int, int, Mapping[str, float]], None]


@dataclass(frozen=True)
class _Task:
    """What a worker needs to do its part of a stage."""

    game: str
    key: str
    source: Path
    target: Path
    fixture: Any = None
    players: frozenset[str] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    surveyed: Mapping[str, pa.Table] = field(default_factory=dict)


class Imports(NamedTuple):
    """What came of reading logs."""

    files: int
    matches: int
    rejected: list[str]
    """FILE:LINE: what is wrong, for every line left out."""


# --- record --------------------------------------------------------------------------------------


def record(
    game: Game,
    run: Run,
    schedule: Schedule,
    *,
    worker: Workers = None,
    resume: bool = True,
    seconds_per_task: float | None = None,
    quiet: bool = False,
) -> int:
    """Play a schedule and record its matches; how many there are."""
    _play(game, run.recordings, "record", schedule, worker, resume, seconds_per_task, quiet)
    finish(run.recordings, matches=schedule.matches)
    return schedule.matches


def _play(
    game: Game,
    folder: Path,
    stage: str,
    schedule: Schedule,
    worker: Workers,
    resume: bool,
    seconds_per_task: float | None,
    quiet: bool,
) -> None:
    """Have a schedule played into a folder: recordings and results."""
    workers.parse(worker)  # before anything is written
    begin(folder, stage, schedule.settings, resume=resume)
    path = folder.resolve()
    tasks = {
        key: _Task(game.name, key, path, path, fixture)
        for key, fixture in schedule.fixtures.items()
    }
    tables = (game.results, *game.recordings)
    _work(_play_fixture, tasks, tables, worker, seconds_per_task, quiet, _TITLES[stage])


def _play_fixture(task: _Task) -> None:
    """Play one fixture and write what came of it, the table that marks it as done last."""
    game = games.load(task.game)
    assert game.play is not None
    played = game.play(task.fixture)
    for table in reversed(game.recordings):
        rows = played.recordings[table.name]
        shards.write_shard(shards.shard_path(task.target, table, task.key), rows)
    shards.write_shard(shards.shard_path(task.target, game.results, task.key), played.results)


def read_logs(game: Game, run: Run, logs: Path, *, resume: bool = True) -> Imports:
    """Recordings from logs of other origin; the lines that could not be read are told apart."""
    if game.read_logs is None:
        raise InputError(f"{game.name} reads no logs of other origin")
    imports = game.read_logs(logs)  # which refuses a folder without logs
    return take_in(game, run, imports, {"logs": str(logs)}, resume=resume)


def take_in(
    game: Game,
    run: Run,
    imports: Iterable[Imported | Awaited],
    settings: Mapping[str, Any],
    *,
    resume: bool = True,
) -> Imports:
    """Write recordings that were not played here; `settings` say where they are from.

    A part that was taken in earlier, and is still the same, is not read again.
    """
    begin(run.recordings, "record", {"game": game.name, **settings}, resume=resume)
    files, matches, rejected, written = 0, 0, list[str](), set[Path]()
    for files, found in enumerate(imports, start=1):
        part = _Part(game, run.recordings, f"{files:05d}")
        taken = part.taken(found) or part.take(found)
        matches += taken["matches"]
        rejected += taken["rejected"]
        written |= {*part.tables.values(), part.note} if taken["matches"] else {part.note}
    for path in {*run.recordings.glob("*.parquet"), *run.recordings.glob("import-*")} - written:
        path.unlink()  # its log is gone since an earlier call
    finish(run.recordings, matches=matches, files=files, rejected=rejected)
    return Imports(files, matches, rejected)


class _Part:
    """The shards that one part of an import becomes, and a note that they are whole."""

    def __init__(self, game: Game, folder: Path, key: str) -> None:
        self.outline = game.recordings[0]
        self.tables = {
            table.name: shards.shard_path(folder, table, key) for table in game.recordings
        }
        self.note = folder / f"import-{key}.json"

    def taken(self, found: Imported | Awaited) -> dict[str, Any] | None:
        """What the note says, if the part was taken in earlier and has not changed since."""
        if not isinstance(found, Awaited) or not self.note.is_file():
            return None
        note: dict[str, Any] = json.loads(self.note.read_text())
        if note["stamp"] != found.stamp:
            return None
        if note["matches"]:
            if not all(path.is_file() for path in self.tables.values()):
                return None
            found.remember(shards.read_shard(self.tables[self.outline.name], self.outline))
        return note

    def take(self, found: Imported | Awaited) -> dict[str, Any]:
        """Write the part's recordings, and last the note."""
        self.note.unlink(missing_ok=True)
        matches = len(found.tables[self.outline.name])
        for name, path in reversed(self.tables.items()) if matches else ():
            shards.write_shard(path, found.tables[name])
        told = {"matches": matches, "rejected": found.rejected}
        if isinstance(found, Awaited):
            write_text(self.note, json.dumps(told | {"stamp": found.stamp}, indent=2) + "\n")
        return told


# --- encode --------------------------------------------------------------------------------------


def encode(
    game: Game,
    run: Run,
    *,
    players: Sequence[str] | None = None,
    goals: Path | None = None,
    options: Mapping[str, Any] | None = None,
    worker: Workers = None,
    resume: bool = True,
    quiet: bool = False,
) -> dict[str, float]:
    """Turn recordings into samples of `players`' decisions; counts for a sanity check.

    By default the players are those that were recorded to learn from; `options` are the game's
    own, and `goals` is a trained model whose goals are filled in. A shard is made again only if
    its recording, or what it must know of others, has changed.
    """
    workers.parse(worker)  # before anything is written
    if game.encode is None:
        raise InputError(f"{game.name} has nothing to be encoded into")
    fill = _filler(game, goals)
    manifest = read_manifest(run.recordings)
    if players is None and manifest is not None:
        players = manifest["settings"].get("players")
    keys = [shards.shard_key(p) for p in shards.shard_paths(run.recordings, game.recordings[0])]
    surveyed = game.survey(run.recordings, keys) if game.survey else {}
    inputs = {
        key: _recording_digest(game, run.recordings, key, surveyed.get(key, {})) for key in keys
    }
    settings = {"game": game.name, "players": sorted(players) if players else None}
    settings |= dict(options or {})
    begin(run.samples, "encode", settings, resume=resume)
    chosen = frozenset(players) if players else None
    source, target = run.recordings.resolve(), run.samples.resolve()
    tasks = {
        key: _Task(
            game.name,
            key,
            source,
            target,
            players=chosen,
            options=options or {},
            surveyed=surveyed.get(key, {}),
        )
        for key in keys
    }
    first = game.samples[0]
    for path in run.samples.glob(f"{first.name}-*.parquet"):
        if shards.shard_key(path) not in tasks:
            path.unlink()  # its recording is gone

    def is_done(key: str) -> bool:
        return shards.shard_note(shards.shard_path(target, first, key), "input") == inputs[key]

    _work(_encode, tasks, game.samples, worker, None, quiet, "encoding", is_done)
    paths = [shards.shard_path(target, first, key) for key in keys]
    if not any(shards.shard_rows(path, first) for path in paths):
        raise InputError(
            f"{run.recordings} holds no decision of {', '.join(players or ['anybody'])}. Encode "
            f"somebody else's: understudy encode {game.name} --players NAME --fresh"
        )
    fill(run.samples)
    counts = _add_up(paths)
    finish(run.samples, inputs=inputs, counts=counts)
    return counts


def _filler(game: Game, goals: Path | None) -> Callable[[Path], None]:
    """Fills a model's goals into samples; does nothing where none is given."""
    if goals is None:
        return lambda samples: None
    if (fill := game.fill) is None:
        raise InputError(f"{game.name} has no goals to be filled in; leave out --goals")
    return lambda samples: fill(samples, goals)


def _encode(task: _Task) -> None:
    """Encode one shard; its input's digest and its counts travel in its metadata."""
    game = games.load(task.game)
    recordings = {
        table.name: shards.read_shard(shards.shard_path(task.source, table, task.key), table)
        for table in game.recordings
    }
    assert game.encode is not None
    samples = game.encode({**recordings, **task.surveyed}, task.players, **task.options)
    counts = game.summarise(recordings, samples)
    made_from = _recording_digest(game, task.source, task.key, task.surveyed)
    note = {"input": made_from, "counts": json.dumps(counts)}
    for table in reversed(game.samples):
        rows = samples[table.name].replace_schema_metadata(table.arrow(note).metadata)
        shards.write_shard(shards.shard_path(task.target, table, task.key), rows)


def _recording_digest(game: Game, folder: Path, key: str, surveyed: Mapping[str, pa.Table]) -> str:
    """Stands for the content of all tables that one recording is encoded from."""
    paths = [shards.shard_path(folder, table, key) for table in game.recordings]
    for path in paths:
        if not path.is_file():
            raise InputError(
                f"{path} is missing. Run understudy record {game.name} again: only what is missing "
                "is made"
            )
    known = [
        f"{zlib.crc32(json.dumps(table.to_pydict()).encode()):08x}" for table in surveyed.values()
    ]
    return "+".join([*(digest(path) for path in paths), *known])


def _add_up(paths: Sequence[Path]) -> dict[str, float]:
    total: dict[str, float] = {}
    for path in paths:
        for name, count in json.loads(shards.shard_note(path, "counts") or "{}").items():
            total[name] = total.get(name, 0) + count
    return total


# --- train ---------------------------------------------------------------------------------------


def train(
    game: Game,
    run: Run,
    recipe: str,
    *,
    seed: int = 0,
    init: Path | None = None,
    start: str | None = None,
    changes: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    device: str = "cpu",
    worker: Workers = None,
    resume: bool = True,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Train a recipe on the run's samples, from `init`'s weights if given; what came out.

    A recipe of refinement plays instead: it begins with the model `start`, acts on the workers,
    and may be told other numbers of iterations and the like (`changes`). `options` are the game's
    own, fields of its recipes.
    """
    from understudy.learn.base import usable_device
    from understudy.learn.rl.recipe import Refinement

    usable_device(device)
    chosen = game.recipe(recipe)
    if isinstance(chosen, Refinement):
        try:
            task = replace(chosen, **{"start": start or chosen.start, **(changes or {})})
        except ValueError as mistake:
            raise InputError(f"'{recipe}' cannot be changed like that: {mistake}") from mistake
        return _refine(game, run, recipe, task, seed, device, worker, resume, progress)
    if start is not None or changes:
        raise InputError(
            f"'{recipe}' learns from samples, not by playing; leave out --from and such"
        )
    if init is not None:
        if not hasattr(chosen, "init"):
            raise InputError(f"'{recipe}' begins anew and takes no weights; leave out --init")
        chosen = replace(chosen, init=init)  # type: ignore[type-var]
    if options:
        chosen = replace(chosen, **options)  # type: ignore[type-var]
    inputs = {
        path: table for table in game.samples for path in shards.shard_paths(run.samples, table)
    }
    for path, table in inputs.items():  # before the model's folder is claimed, or deleted
        shards.open_shard(path, table).close()
    out = run.model(recipe)
    settings = {"game": game.name, "recipe": recipe, "seed": seed, **chosen.settings()}
    begin(out, "train", settings, inputs=list(inputs), resume=resume)
    evaluation = chosen.fit(run.samples, out, seed, device=device, progress=progress)
    finish(out, evaluation=evaluation)
    return evaluation


def _refine(
    game: Game,
    run: Run,
    name: str,
    recipe: "Refinement",
    seed: int,
    device: str,
    worker: Workers,
    resume: bool,
    progress: Progress | None,
) -> dict[str, Any]:
    """Refine a model of the run, or one elsewhere, by playing."""
    from understudy.games.players import resolve, weights_digest
    from understudy.learn.rl.train import refine

    workers.parse(worker)  # before anything is written
    found = resolve(game, run, recipe.start)
    if found.weights is None:
        raise InputError(
            f"'{recipe.start}' is scripted and cannot be refined; name a trained model"
        )
    weights_digest(found)  # which refuses a model without weights
    out = run.model(name)
    settings = {"game": game.name, "recipe": name, "seed": seed, **recipe.settings()}
    inputs = sorted(found.weights.glob("weights.*"))
    begin(out, "train", settings, inputs=inputs, resume=resume)
    evaluation = refine(
        recipe, found.weights, out, seed, device=device, workers=worker, progress=progress
    )
    finish(out, evaluation=evaluation)
    return evaluation


# --- compete -------------------------------------------------------------------------------------


class Competition(NamedTuple):
    """What came of letting players meet."""

    folder: Path
    results: pa.Table


def compete(
    game: Game,
    run: Run,
    schedule: Schedule,
    *,
    worker: Workers = None,
    resume: bool = True,
    seconds_per_task: float | None = None,
    quiet: bool = False,
) -> Competition:
    """Play a schedule for its results."""
    folder = run.results / schedule.name
    _play(game, folder, "compete", schedule, worker, resume, seconds_per_task, quiet)
    finish(folder, matches=schedule.matches)
    return Competition(folder, read_results(folder, game.results))


# --- report --------------------------------------------------------------------------------------


def report(run: Run, out: Path | None = None) -> Path:
    """Everything of a run on one page that works offline; where it was written."""
    from understudy.report.page import page
    from understudy.report.run import run_panels, subtitle

    game = game_of(run)
    panels = run_panels(run, game.panels(run))
    if not panels:
        raise InputError(f"{run.folder} holds nothing to report yet")
    path = out or run.report
    write_text(path, page(run.folder.resolve().name, subtitle(game.name, game.about), panels))
    return path


def replay(run: Run, match: str, out: Path) -> Path:
    """One recorded match as a page with a player."""
    game = game_of(run)
    if game.replay is None:
        raise InputError(f"{game.name} has no replays")
    write_text(out, game.replay(run, match))
    return out


def game_of(run: Run) -> Game:
    """The game a run is about, from its manifests."""
    many = (folder for kind in (run.models, run.results, run.leagues) for folder in kind.glob("*/"))
    for folder in (run.recordings, run.samples, *many):
        if (manifest := read_manifest(folder)) is not None:
            return games.load(manifest["settings"]["game"])
    raise InputError(
        f"{run.folder} is not a run: no stage has left a manifest there. "
        f"Begin one: understudy record GAME --out {run.folder}"
    )


# --- shared by the stages ------------------------------------------------------------------------


def _work(
    function: Callable[[_Task], None],
    tasks: Mapping[str, _Task],
    tables: Sequence[Table],
    worker: Workers,
    seconds_per_task: float | None,
    quiet: bool,
    title: str,
    is_done: Callable[[str], bool] | None = None,
) -> None:
    """Run the tasks that are not done; every task must leave its shard of each of `tables`."""
    folder = next(iter(tasks.values())).target

    def is_there(key: str) -> bool:
        return all(shards.shard_path(folder, table, key).is_file() for table in tables)

    outcomes = workers.run(
        function,
        tasks,
        workers=worker,
        title=title,
        seconds_per_task=seconds_per_task,
        is_done=is_done or is_there,
        quiet=quiet,
    )
    failed = [outcome for outcome in outcomes if outcome.error is not None]
    if failed:
        raise InputError(
            f"{len(failed)} of {len(tasks)} tasks failed, the first ({failed[0].key}) because: "
            f"{failed[0].error}. The others are kept; the same command tries these again"
        )
    if missing := [key for key in tasks if not is_there(key)]:
        raise InputError(
            f"{len(missing)} tasks were done elsewhere but their files are not in {folder}: the "
            "workers must share this folder"
        )
