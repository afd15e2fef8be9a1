"""Prove that a change of the code changed no number: two states run the same commands.

    python benchmarks/sameness.py REV              this checkout beside REV, a commit
    python benchmarks/sameness.py OLD NEW          two checkouts, by their folders
    python benchmarks/sameness.py REV --only arena

Under the same seeds both record, encode, train every quick recipe, compete, hold a league and let
the shipped agents decide. What they leave behind must be equal: every column of every table, every
weight, every figure. Times, commands and versions are left out. The tables RENAMED… say what has
another name since, EXPECTED what is meant to differ; nothing else may. Exit code 1 on any difference.
"""

import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from safetensors.numpy import load_file

HERE = Path(__file__).resolve().parents[1]
RENAMED: dict[str, dict[str, str]] = {
    "arena": {
        **{"trust": "lambda_", "value_trust": "value_lambda", "spread": "std"},
        **{"manner": "overrides", "exploiter_manner": "exploiter_overrides", "tether": "kl_scale"},
        **{"reborn": "reset", "telling_matches": "highlights", "fresh_exploiter": "best_response"},
    },
    "scml": {f"l{k}.standard.spread": f"l{k}.standard.std" for k in (2, 3, 4)},
    "dota": {},
}
"""Columns, tensors and keys that have another name since, by game: old to new."""
RENAMED_FILES: dict[str, str] = {}
"""Likewise parts of the names of files, as regular expressions."""
RENAMED_VALUES: dict[str, str] = {"ArenaMatches": "BatchedArena", "lesson": "job"}
"""Likewise words that stand as values in JSON."""

_HASH = "[0-9a-f]{32}"
_READ = r"/manifest\.json / inputs / "
EXPECTED = (
    r"arena: arena/leagues/demo/league_state\.json / version: 1 before, 2 after",
    # The ends of SCML's intervals: Student's quantiles are exact now, no table and series.
    r"scml: .*(--json|strength\.json) / (players|pairs) .* \[[12]\]: \S+ before, \S+ after",
    # A tensor has another name, so the files have another hash; the tensors are compared one by one.
    rf".*\.json / (settings / )?(weights|players)( / [^:]+)?: {_HASH} before, {_HASH} after",
    rf".*{_READ}[^:]*weights\.safetensors: {_HASH} before, {_HASH} after",
    rf"scml: scml/models/l3[^/]*{_READ}samples/mornings-\d+\.parquet: only before",
    rf"scml: scml/models/l3-awr{_READ}models/l3/weights\.safetensors: only after",
    rf"scml: scml/models/dagger{_READ}models/hrl-xf-quick/weights\.safetensors: only after",
    rf"dota: dota/models/(items|wards){_READ}samples/value-\d+\.parquet: only before",
    rf"dota: dota/models/(items|wards){_READ}recordings/[a-z_]+-\d+\.parquet: only after",
    r"scml: scml/models/[^/]+/manifest\.json / settings / (l[234] / )?init: only before",
)
"""Differences that are meant, each a whole line as a regular expression. A model's manifest names
what was read, no more and no less; the weights it began with are there and no longer a setting."""

COMMANDS = {
    "arena": """
        record arena --matches 400 --seed 5 --out arena
        encode arena --out arena
        train arena imitate-quick --seed 5 --out arena
        train arena refine-quick --seed 5 --out arena --iterations 25
        compete arena imitate-quick refine-quick expert camper --matches 60 --seed 5 --out arena --json
        league arena --recipe demo --from imitate-quick --seed 5 --out arena --json
    """,
    "scml": """
        record scml --agents Steward,Penguin --configs 24 --steps 15 --seed 5 --out scml
        record scml --agents HRL,L1,SafePenguin,HorizonAware --configs 2 --steps 30 --seed 6 --trace --csv --out played
        record scml --agents EqualDist,Suzuka --track oneshot --configs 2 --steps 20 --seed 7 --out oneshot
        compete scml HRL AS0 Greedy Penguin --configs 4 --steps 30 --seed 8 --out scml --json
        encode scml --players Steward --out scml
        train scml hrl-xf-quick --seed 5 --out scml
        train scml dagger --seed 5 --out scml --init scml/models/hrl-xf-quick
        train scml l3 --seed 5 --out scml
        train scml l3-awr --seed 5 --out scml --init scml/models/l3
        train scml l3-direct --seed 5 --out scml
        compete scml hrl-xf-quick HRL Steward --configs 2 --steps 20 --seed 9 --out scml --json
        encode scml --players Steward --goals scml/models/hrl-xf-quick --out scml
    """,
    "dota": """
        record dota --synthetic 600 --seed 5 --out dota
        encode dota --out dota
        train dota value-quick --seed 5 --out dota
        train dota items --seed 5 --out dota
        train dota wards --seed 5 --out dota
        drift dota --out dota --model dota/models/value-quick
        recommend dota dota/9000000003 --minute 12
    """,
}

SMALL = """
import sys
from dataclasses import replace

if sys.argv[1:3] == ["train", "scml"]:  # those that have no quick variant, in seconds
    from understudy.games.scml.recipes import RECIPES

    few = {"steps": 40, "batch_size": 256, "evaluate_every": 20, "hidden": (128, 128)}
    for name in ("l3", "l3-awr", "l3-direct"):
        RECIPES[name] = replace(RECIPES[name], **few)
    dagger = RECIPES["dagger"]
    RECIPES["dagger"] = replace(dagger, l3=replace(dagger.l3, **few), rounds=1, configs=1)
from understudy.__main__ import main

main()
"""
TIMES = {"seconds", "begun", "finished", "command", "versions", "samples_per_second"}
TIMES |= {"agent_steps_per_second", "seconds_per_step", "cpu_seconds", "rate", "at"}
TRACE = "played/trace.jsonl"
LEFT_OUT = {".html", ".pt", ".log", ".part"}  # pages are words; checkpoints hold times


def main() -> None:
    """Run both states where that was not done yet, and compare."""
    arguments = _parser().parse_args()
    chosen = {name: COMMANDS[name] for name in arguments.only or COMMANDS}
    with tempfile.TemporaryDirectory() as scratch:
        old = _checkout(arguments.old, Path(scratch) / "old")
        new = Path(arguments.new).resolve()
        kept = Path(arguments.keep).resolve() if arguments.keep else Path(scratch)
        known = _left_behind(old, kept / f"old-{arguments.old.replace('/', '-')}", chosen)
        before = _with_new_names(_with_places(known))
        after = _left_behind(new, Path(scratch) / "new", chosen)
    found = list(_differences(before, after))
    differences = [
        line for line in found if not any(re.fullmatch(meant, line) for meant in EXPECTED)
    ]
    for line in differences[:40]:
        print(line)
    meant = f"{len(found) - len(differences)} lines are meant to differ"
    print(f"{len(before):,} files, tables and answers compared, {len(differences)} differ; {meant}")
    sys.exit(bool(differences))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("old", help="a commit, or the folder of a checkout")
    parser.add_argument("new", nargs="?", default=HERE, help="the folder of a checkout")
    parser.add_argument("--only", action="append", choices=COMMANDS, help="this game; often")
    parser.add_argument("--keep", help="where the old state's digests are kept for the next time")
    return parser


def _checkout(name: str, folder: Path) -> Path:
    """The folder of an old state: itself, or a copy of a commit."""
    if Path(name).is_dir():
        return Path(name).resolve()
    folder.mkdir()
    archive = subprocess.run(["git", "-C", HERE, "archive", name], check=True, capture_output=True)
    subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
    return folder


def _left_behind(source: Path, folder: Path, commands: Mapping[str, str]) -> dict[str, Any]:
    """Digests of all that the commands wrote and said, by name."""
    found: dict[str, Any] = {}
    for game, lines in commands.items():
        kept = folder / f"{game}.json"
        if not kept.is_file():
            here = folder / game
            here.mkdir(parents=True)
            said = dict(_said(source, here, lines))
            kept.write_text(json.dumps(said | dict(_files(here)), indent=1))
        read = json.loads(kept.read_text())
        if trace := read.get(TRACE):  # worlds side by side write into it as they come
            trace.sort(key=lambda line: (line["match"], line["agent"], line["number"]))
        found |= {f"{game}: {name}": value for name, value in read.items()}
    return found


def _said(source: Path, folder: Path, lines: str) -> Iterator[tuple[str, Any]]:
    """Run the commands on one core each; those that answer with JSON, with their answer."""
    setting = {"PYTHONPATH": str(source), "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
    for line in filter(None, map(str.strip, lines.splitlines())):
        start = time.perf_counter()
        many = () if line.split()[0] in ("drift", "recommend", "train") else ("--workers", "2")
        quiet = () if line.split()[0] in ("drift", "recommend") else ("--quiet",)
        many = () if line.startswith("record dota") else many
        done = subprocess.run(
            [sys.executable, "-c", SMALL, *shlex.split(line), *many, *quiet],
            cwd=folder,
            env=os.environ | setting,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            sys.exit(f"{source}: understudy {line}\n{done.stderr}")
        print(f"{time.perf_counter() - start:6.1f} s  {line}", file=sys.stderr)
        if "--json" in line:
            yield line, _timeless(json.loads(done.stdout))
        elif quiet == ():
            yield line, done.stdout


def _files(folder: Path) -> Iterator[tuple[str, Any]]:
    """What every file below a folder holds."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if path.suffix in LEFT_OUT or "tensorboard" in name:
            continue
        yield name, _content(path)


def _content(path: Path) -> Any:
    if path.suffix == ".parquet":
        return _table(pq.read_table(path))
    if path.suffix == ".safetensors":
        return {key: _array(value) for key, value in sorted(load_file(path).items())}
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            return {key: _array(arrays[key]) for key in sorted(arrays)}
    if path.suffix == ".json":
        return _timeless(json.loads(path.read_text()))
    if path.suffix == ".jsonl":
        return [_timeless(json.loads(line)) for line in path.read_text().splitlines()]
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


def _table(rows: pa.Table) -> dict[str, str]:
    """A digest of every column."""
    found = {}
    for name in rows.column_names:
        sink = pa.BufferOutputStream()
        column = pa.table({"values": rows[name].combine_chunks()})
        with pa.ipc.new_stream(sink, column.schema) as stream:
            stream.write_table(column)
        found[name] = hashlib.blake2b(sink.getvalue(), digest_size=16).hexdigest()
    return found


def _array(values: np.ndarray[Any, Any]) -> str:
    raw = repr((values.dtype, values.shape)).encode() + values.tobytes()
    return hashlib.blake2b(raw, digest_size=16).hexdigest()


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(item) for key, item in value.items() if key not in TIMES}
    return [_timeless(item) for item in value] if isinstance(value, list) else value


def _with_places(found: dict[str, Any]) -> dict[str, Any]:
    """With what models read by its place in the run, where it went by its bare name."""
    for name, manifest in found.items():
        if re.fullmatch(r".*/models/[^/]+/manifest\.json", name):
            start = manifest["settings"].get("start")
            folders = {".parquet": "samples", ".safetensors": f"models/{start}"}
            manifest["inputs"] = {
                key if "/" in key else f"{folders[Path(key).suffix]}/{key}": value
                for key, value in manifest["inputs"].items()
            }
    return found


def _with_new_names(found: dict[str, Any]) -> dict[str, Any]:
    """What the old state left behind, as the new one would call it."""
    named = {}
    for name, content in found.items():
        for old, new in RENAMED_FILES.items():
            name = re.sub(old, new, name)
        named[name] = _renamed(content, RENAMED[name.split(":", 1)[0]])
    return named


def _renamed(content: Any, names: Mapping[str, str]) -> Any:
    if isinstance(content, dict):
        return {names.get(key, key): _renamed(item, names) for key, item in content.items()}
    if isinstance(content, list):
        return [_renamed(item, names) for item in content]
    return RENAMED_VALUES.get(content, content) if isinstance(content, str) else content


def _differences(before: Any, after: Any, where: str = "") -> Iterator[str]:
    """Where two trees of digests differ, a line each."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            path = f"{where} / {key}" if where else key
            if key not in after or key not in before:
                yield f"{path}: only {'before' if key in before else 'after'}"
            else:
                yield from _differences(before[key], after[key], path)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, pair in enumerate(zip(before, after, strict=True)):
            yield from _differences(*pair, f"{where} [{number}]")
    elif before != after:
        yield f"{where}: {str(before)[:80]} before, {str(after)[:80]} after"


if __name__ == "__main__":
    main()
