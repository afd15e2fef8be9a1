"""The pipeline, one function per stage. Read this file first.

    record      players -> recordings     what happened in matches
    encode      recordings -> samples     one row per decision
    train       samples -> model          weights, metrics, evaluation
    compete     players -> results        who beats whom, with intervals
    report      run -> page               all of it for a person to read

Each stage works in its own folder of a run (`data/runs.py`) and can be stopped at any moment: the
same call goes on where it was. A stage takes plain values and returns plain values; the command
line (`cli.py`) parses and prints.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from understudy import games, workers
from understudy.data import shards
from understudy.data.files import digest, write_text
from understudy.data.results import WinRate, results_table, win_rates
from understudy.data.runs import Run, begin, finish, read_manifest
from understudy.data.schema import Table
from understudy.errors import InputError
from understudy.games import Fixture, Game, PlayerRef

MATCHES_PER_TASK = 50
RECORD, COMPETE = 0, 1
"""What a match is for; no match of one purpose shares its seed with one of the other."""
_SEEDS_PER_PURPOSE = 10**8

Workers = str | int | None
Progress = Callable[[int, int, Mapping[str, float]], None]


@dataclass(frozen=True)
class _Task:
    """What a worker needs to do its part of a stage."""

    game: str
    key: str
    source: Path
    target: Path
    fixture: Fixture | None = None
    players: frozenset[str] | None = None
    keep: int | None = None


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
    *,
    players: Sequence[str],
    opponents: Sequence[str],
    matches: int,
    seed: int = 0,
    worker: Workers = None,
    resume: bool = True,
    seconds_per_task: float | None = None,
    quiet: bool = False,
) -> int:
    """Have `players` meet `opponents` and record every match; the number of matches there are."""
    workers.parse(worker)  # before anything is written
    if matches < 1:
        raise InputError(f"--matches must be at least 1, not {matches}")
    pairs = [
        (_scripted(game, one), _scripted(game, other)) for one in players for other in opponents
    ]
    settings = {
        "game": game.name,
        "players": list(players),
        "opponents": list(opponents),
        "matches": matches,
        "seed": seed,
    }
    begin(run.recordings, "record", settings, resume=resume)
    folder = run.recordings.resolve()
    tasks = {
        key: _Task(game.name, key, folder, folder, fixture)
        for key, fixture in fixtures(pairs, matches, seed, RECORD).items()
    }
    _work(_record, tasks, game.recordings, worker, seconds_per_task, quiet, "recording")
    finish(run.recordings, matches=matches)
    return matches


def _record(task: _Task) -> None:
    """Play one fixture and write its recordings, the table that marks the task as done last."""
    game = games.load(task.game)
    assert game.play is not None and task.fixture is not None
    tables = game.play(task.fixture, None)
    for table in reversed(game.recordings):
        shards.write_shard(shards.shard_path(task.target, table, task.key), tables[table.name])


def read_logs(game: Game, run: Run, logs: Path, *, resume: bool = True) -> Imports:
    """Recordings from logs of other origin; the lines that could not be read are told apart."""
    if game.read_logs is None:
        raise InputError(f"{game.name} reads no logs of other origin")
    imports = game.read_logs(logs)  # which refuses a folder without logs
    begin(run.recordings, "record", {"game": game.name, "logs": str(logs)}, resume=resume)
    files, matches, rejected, written = 0, 0, list[str](), set[Path]()
    for files, found in enumerate(imports, start=1):
        rejected += found.rejected
        outline = found.tables[game.recordings[0].name]
        matches += len(outline)
        for table in reversed(game.recordings) if len(outline) else ():
            path = shards.shard_path(run.recordings, table, f"{files:05d}")
            shards.write_shard(path, found.tables[table.name])
            written.add(path)
    for path in {*run.recordings.glob("*.parquet")} - written:
        path.unlink()  # its log is gone since an earlier call
    finish(run.recordings, matches=matches, files=files, rejected=rejected)
    return Imports(files, matches, rejected)


def fixtures(
    pairs: Sequence[tuple[PlayerRef, PlayerRef]], matches: int, seed: int, purpose: int
) -> dict[str, Fixture]:
    """Spread matches evenly over pairs; each seed is played twice, sides swapped.

    Against itself a player meets each seed once: the rematch would be the same match again.
    """
    if len(pairs) * matches > _SEEDS_PER_PURPOSE:
        raise InputError(
            f"too many matches: {len(pairs)} pairs can play {_SEEDS_PER_PURPOSE // len(pairs):,}"
        )
    first = (2 * seed + purpose) * _SEEDS_PER_PURPOSE
    found: dict[str, Fixture] = {}
    for number, pair in enumerate(pairs):
        share = matches // len(pairs) + (number < matches % len(pairs))
        start = first + number * matches
        rematches = share // 2 if pair[0] != pair[1] else 0
        for players, count in ((pair, share - rematches), (pair[::-1], rematches)):
            for offset in range(0, count, MATCHES_PER_TASK):
                end = min(offset + MATCHES_PER_TASK, count)
                found[f"{len(found):05d}"] = Fixture(
                    players, tuple(range(start + offset, start + end))
                )
    return found


# --- encode --------------------------------------------------------------------------------------


def encode(
    game: Game,
    run: Run,
    *,
    players: Sequence[str] | None = None,
    worker: Workers = None,
    resume: bool = True,
    quiet: bool = False,
) -> dict[str, float]:
    """Turn recordings into samples of `players`' decisions; counts for a sanity check.

    By default the players are those that were recorded to learn from. A shard is made again only
    if its recording has changed.
    """
    workers.parse(worker)  # before anything is written
    manifest = read_manifest(run.recordings)
    if players is None and manifest is not None:
        players = manifest["settings"].get("players")
    keys = [shards.shard_key(p) for p in shards.shard_paths(run.recordings, game.recordings[0])]
    inputs = {key: _recording_digest(game, run.recordings, key) for key in keys}
    settings = {"game": game.name, "players": sorted(players) if players else None}
    begin(run.samples, "encode", settings, resume=resume)
    chosen = frozenset(players) if players else None
    source, target = run.recordings.resolve(), run.samples.resolve()
    tasks = {key: _Task(game.name, key, source, target, players=chosen) for key in keys}
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
    counts = _add_up(paths)
    finish(run.samples, inputs=inputs, counts=counts)
    return counts


def _encode(task: _Task) -> None:
    """Encode one shard; its input's digest and its counts travel in its metadata."""
    game = games.load(task.game)
    recordings = {
        table.name: shards.read_shard(shards.shard_path(task.source, table, task.key), table)
        for table in game.recordings
    }
    samples = game.encode(recordings, task.players)
    counts = game.summarise(recordings, samples)
    note = {"input": _recording_digest(game, task.source, task.key), "counts": json.dumps(counts)}
    for table in reversed(game.samples):
        rows = samples[table.name].replace_schema_metadata(table.arrow(note).metadata)
        shards.write_shard(shards.shard_path(task.target, table, task.key), rows)


def _recording_digest(game: Game, folder: Path, key: str) -> str:
    """Stands for the content of all tables of one recording."""
    paths = [shards.shard_path(folder, table, key) for table in game.recordings]
    for path in paths:
        if not path.is_file():
            raise InputError(
                f"{path} is missing. Run understudy record {game.name} again: only what is missing "
                "is made"
            )
    return "+".join(digest(path) for path in paths)


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
    device: str = "cpu",
    resume: bool = True,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Train a recipe on the run's samples; the evaluation of what came out."""
    from understudy.learn.fit import usable_device

    usable_device(device)
    chosen = game.recipe(recipe)
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


# --- compete -------------------------------------------------------------------------------------


def compete(
    game: Game,
    run: Run,
    players: Sequence[str],
    *,
    matches: int = 400,
    seed: int = 0,
    keep: int = 3,
    worker: Workers = None,
    resume: bool = True,
    seconds_per_task: float | None = None,
    quiet: bool = False,
) -> list[WinRate]:
    """Let every pair of players meet; win rates with intervals.

    Each seed is played twice with sides swapped. `keep` matches per pair and side are recorded in
    full, for replays.
    """
    workers.parse(worker)  # before anything is written
    refs = [resolve(game, run, name) for name in players]
    names = [ref.name for ref in refs]
    if len(names) < 2 or len(set(names)) < len(names):
        raise InputError(
            "compete needs at least two different players: understudy compete "
            f"{game.name} imitate {' '.join(list(game.players)[:2])}"
        )
    if matches < 2:
        raise InputError(f"--matches must be at least 2 (a match and its rematch), not {matches}")
    settings = {
        "game": game.name,
        "players": {ref.name: _weights_digest(ref) for ref in refs},
        "matches": matches,
        "seed": seed,
        "keep": keep,
    }
    folder = run.results / f"{'-'.join(names)}-{matches}-{seed}"[:120]
    begin(folder, "compete", settings, resume=resume)
    pairs = list(combinations(refs, 2))
    path = folder.resolve()
    tasks, seen = dict[str, _Task](), set[tuple[PlayerRef, ...]]()
    for key, fixture in fixtures(pairs, matches * len(pairs), seed, COMPETE).items():
        filmed = 0 if fixture.players in seen else keep
        seen.add(fixture.players)
        tasks[key] = _Task(game.name, key, path, path, fixture, keep=filmed)
    tables = (results_table(game.name), *game.recordings)
    _work(_compete, tasks, tables, worker, seconds_per_task, quiet, "competing")
    rates = win_rates(read_results(game, folder))
    finish(folder, win_rates=[vars(rate) for rate in rates])
    return rates


def _compete(task: _Task) -> None:
    """Play one fixture; write its results, and the matches kept for replays."""
    game = games.load(task.game)
    assert game.play is not None and task.fixture is not None
    tables = game.play(task.fixture, task.keep)
    for table in reversed(game.recordings):
        shards.write_shard(shards.shard_path(task.target, table, task.key), tables[table.name])
    results = game.results(tables[game.recordings[0].name])
    shards.write_shard(shards.shard_path(task.target, results_table(game.name), task.key), results)


def read_results(game: Game, folder: Path) -> pa.Table:
    """All results in one folder of a compete."""
    table = results_table(game.name)
    return pa.concat_tables(shards.read_shard(p, table) for p in shards.shard_paths(folder, table))


def resolve(game: Game, run: Run, name: str) -> PlayerRef:
    """A player by name: scripted, a model of this run, or the folder of a model elsewhere."""
    if name in game.players:
        return PlayerRef(name)
    for folder in (run.model(name), Path(name)):
        if folder.is_dir():
            return PlayerRef(folder.name, folder.resolve())
    trained = sorted(path.name for path in run.models.glob("*/")) if run.models.is_dir() else []
    raise InputError(
        f"there is no player '{name}'. Scripted: {', '.join(game.players)}. "
        f"Trained in {run.folder}: {', '.join(trained) or 'none yet'}"
    )


def _scripted(game: Game, name: str) -> PlayerRef:
    if name not in game.players:
        raise InputError(f"{game.name} has no player '{name}'; it has {', '.join(game.players)}")
    return PlayerRef(name)


def _weights_digest(ref: PlayerRef) -> str | None:
    if ref.weights is None:
        return None
    weights = sorted(ref.weights.glob("weights.*"))
    if not weights:
        raise InputError(
            f"{ref.weights} holds no weights yet. Finish its training: run the same command again"
        )
    return digest(weights[0])


# --- report --------------------------------------------------------------------------------------


def report(run: Run, out: Path | None = None) -> Path:
    """Everything of a run on one page that works offline; where it was written."""
    from understudy.report.page import page
    from understudy.report.run import run_panels, subtitle

    game = game_of(run)
    table = results_table(game.name)
    folders = sorted({path.parent for path in run.results.glob(f"*/{table.name}-*.parquet")})
    results = {folder.name: read_results(game, folder) for folder in folders}
    panels = run_panels(run, results, game.panels(run))
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
    for folder in (run.recordings, run.samples, *run.models.glob("*/"), *run.results.glob("*/")):
        if (manifest := read_manifest(folder)) is not None:
            return games.load(manifest["settings"]["game"])
    raise InputError(
        f"{run.folder} is not a run: no stage has left a manifest there. "
        f"Begin one: understudy record arena --out {run.folder}"
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
