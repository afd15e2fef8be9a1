"""Recordings to samples: one row per decision."""

import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from understudy import workers
from understudy.data import shards
from understudy.data.elsewhere.gather import gather
from understudy.data.files import digest
from understudy.data.runs import Run, begin, finish, read_manifest
from understudy.data.schema import Table
from understudy.errors import InputError, did_you_mean
from understudy.pipeline.game import Game, load
from understudy.pipeline.tasks import Task, Workers, work


def encode(
    game: Game,
    run: Run,
    *,
    players: Sequence[str] | None = None,
    sources: Sequence[str] = (),
    goals: Path | None = None,
    options: Mapping[str, Any] | None = None,
    worker: Workers = None,
    resume: bool = True,
    quiet: bool = False,
) -> dict[str, float]:
    """Turn recordings into samples of `players`' decisions; counts for a sanity check.

    By default the players are those that were recorded to learn from. With `sources` the recordings
    of those runs are encoded, gathered in this one. `options` are the game's own, and `goals` is a
    trained model whose goals are filled in. A shard is made again only if its recording, or what it
    must know of others, has changed.
    """
    game.require()  # before anything is written
    workers.parse(worker)
    if game.encode is None:
        raise InputError(f"{game.name} has nothing to be encoded into")
    fill = _filler(game, run, goals)
    if sources:
        gather_from(
            *(game, run, sources), lambda one: one.recordings, game.recordings, resume=resume
        )
    players = players if players is not None else _recorded_to_learn_from(run)
    tasks = _tasks(game, run, players, options or {})
    inputs = {
        key: _recording_digest(game, run.recordings, key, task.surveyed)
        for key, task in tasks.items()
    }
    settings = {"game": game.name, "players": sorted(players) if players else None}
    begin(run.samples, "encode", {**settings, **(options or {})}, resume=resume)
    first = game.samples[0]
    for path in run.samples.glob(f"{first.name}-*.parquet"):
        if shards.shard_key(path) not in tasks:
            path.unlink()  # its recording is gone
    paths = {key: shards.shard_path(run.samples.resolve(), first, key) for key in tasks}

    def is_done(key: str) -> bool:
        return shards.shard_note(paths[key], "input") == inputs[key]

    def ship(task: Task) -> workers.Shipment:
        paths = (shards.shard_path(task.source, table, task.key) for table in game.recordings)
        return workers.Shipment(task.target, task.source, tuple(paths))

    work(_encode, tasks, game.samples, worker, None, quiet, "encoding", is_done, ship=ship)
    if not any(shards.shard_rows(path, first) for path in paths.values()):
        raise _nothing_of(players, game, run)
    fill(run.samples)
    counts = _add_up(paths.values())
    finish(run.samples, inputs=inputs, counts=counts)
    return counts


def _nothing_of(players: Sequence[str] | None, game: Game, run: Run) -> InputError:
    asked, known = ", ".join(players or ["anybody"]), _recorded_to_learn_from(run) or ()
    there = f"; recorded to learn from: {', '.join(known)}" if known else ""
    return InputError(
        f"{run.recordings} holds no decision of {asked}{did_you_mean(asked, known)}{there}. "
        f"Encode somebody else's: understudy encode {game.name} --players NAME --fresh"
    )


def gather_from(
    game: Game,
    run: Run,
    sources: Sequence[str],
    place: Callable[[Run], Path],
    tables: Sequence[Table],
    *,
    resume: bool,
) -> None:
    """The recordings, or samples, of other runs in this one: `place` says where a run has them."""
    folders = dict[str, Path]()
    for name in dict.fromkeys(sources):
        source = Run.existing(Path(name))
        if source.folder.resolve() == run.folder.resolve():
            raise InputError(f"--from {name} is the run itself; choose another --out")
        folders[name] = place(source)
    gather(place(run), folders, tables, game.name, resume=resume)


def _recorded_to_learn_from(run: Run) -> Sequence[str] | None:
    """The players whose decisions were asked for when recording; None: everybody's."""
    manifest = read_manifest(run.recordings)
    return None if manifest is None else manifest["settings"].get("players")


def _tasks(
    game: Game, run: Run, players: Sequence[str] | None, options: Mapping[str, Any]
) -> dict[str, Task]:
    """A task per shard of the recordings, with what it must know of all the others."""
    keys = [shards.shard_key(p) for p in shards.shard_paths(run.recordings, game.recordings[0])]
    surveyed = game.survey(run.recordings, keys) if game.survey else {}
    return {
        key: Task(
            game.name,
            key,
            run.recordings.resolve(),
            run.samples.resolve(),
            players=frozenset(players) if players else None,
            options=options,
            surveyed=surveyed.get(key, {}),
        )
        for key in keys
    }


def _filler(game: Game, run: Run, goals: Path | None) -> Callable[[Path], None]:
    """Fills a model's goals into samples; does nothing where none is given."""
    if goals is None:
        return lambda samples: None
    if (fill := game.fill) is None:
        raise InputError(f"{game.name} has no goals to be filled in; leave out --goals")
    model = run.find_model(str(goals))
    return lambda samples: fill(samples, model)


def _encode(task: Task) -> None:
    """Encode one shard; its input's digest and its counts travel in its metadata."""
    game = load(task.game)
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
        rows = samples[table.name]
        # A game may have written notes of its own.
        noted = {**(rows.schema.metadata or {}), **table.arrow(note).metadata}
        rows = rows.replace_schema_metadata(noted)
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


def _add_up(paths: Iterable[Path]) -> dict[str, float]:
    total: dict[str, float] = {}
    for path in paths:
        for name, count in json.loads(shards.shard_note(path, "counts") or "{}").items():
            total[name] = total.get(name, 0) + count
    return total
