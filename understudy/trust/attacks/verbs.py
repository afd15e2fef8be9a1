"""What reads a whole run: pages, exports, comparisons, services, on runs that are damaged."""

import json
import os
import random
import shutil
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from understudy.data.runs import Run
from understudy.trust.attacks.cases import damage_of
from understudy.trust.attacks.stages import base, here
from understudy.trust.campaign import Attack, Fault, Ground, faults_of
from understudy.trust.command import Done, Kill, run, shown
from understudy.trust.sameness import content_of

_ALL = (
    "report {run}",
    "compare {run} {whole} -o {place}/compare.html",
    "replay {run}/{match} -o {place}/replay.html",
    "check {run}",
    "studio {run} --port 0",
)
_PLAY = "--quiet --workers 0 --out {run}"
VERBS = {
    "arena": (
        *_ALL,
        "compact {run} --out {place}/few",
        "compare {run}/models/imitate-quick {whole}/models/refine-quick -o {place}/compare.html",
        "export arena imitate-quick --run {run} -o {place}/policy.onnx",
        "export arena refine-quick --torch --run {run} -o {place}/policy.pt2",
        "evaluate {run}/models/imitate-quick --split val",
        "follow {run}/recordings --game arena --out {place}/live --once",
        "serve arena imitate-quick --run {run} --lines",
        "serve arena refine-quick --run {run} --port 0",
        f"compete arena demo refine-quick --matches 2 {_PLAY}",
        f"league arena --recipe demo --from imitate-quick {_PLAY} --name other --set rounds=1"
        " --set agent_steps=2000 --set matches=2 --set exploiter_steps=2000"
        " --set exploiter_matches=2",
    ),
    "scml": (
        *_ALL,
        "compact {run} --out {place}/few",
        "join scml hrl-xf-quick hrl-xf-quick online-quick --name again --out {run}",
        "export scml hrl-xf-quick --run {run} -o {place}/agent.zip",
        "evaluate {run}/models/hrl-xf-quick --split val",
        "compete scml hrl-xf-quick SyncRandom --configs 1 --steps 6 --max-worlds-per-config 2"
        f" --seed 5 {_PLAY}",
    ),
    "traced": _ALL,
    "dota": (
        *_ALL,
        "compact {run} --out {place}/few",
        "recommend dota {run}/{match} --minute 10 --json",
        "recommend dota {run}/{match} --minute 10 --models {run}/models --plan",
        "drift dota --out {run} --model {run}/models/value-quick",
        "calibrate dota {run}/models/value-quick --matches {newer} --name again",
        "export dota value-quick --run {run} -o {place}/value",
        "evaluate {run}/models/value-quick --split val",
        "serve dota value-quick --run {run} --port 0",
    ),
    "newer": (
        *_ALL,
        "split dota --out {run}",
        "calibrate dota {dota}/models/value-quick --matches {run} --name again",
        "train dota value-files --fresh --out {run}",
    ),
    "few": ("encode arena --quiet --workers 0 --out {run}", *_ALL),
    "kuhn": (*_ALL, "exploitability openspiel:kuhn_poker imitate-quick --out {run}"),
}
"""By the run that they read."""
_WAIT = ("studio", "serve arena refine-quick", "serve dota")
"""These go on until they are stopped."""
_READS = {
    **dict.fromkeys(("export", "evaluate", "serve", "exploitability"), "models"),
    **dict.fromkeys(("join", "compete", "league"), "models"),
    **dict.fromkeys(("replay", "compact", "follow", "recommend", "encode"), "recordings"),
    **dict.fromkeys(("split", "drift", "calibrate", "train"), "samples"),
}
"""The folder of a run that a verb reads, where it does not read all of it."""
_KEY = {"arena": "match", "few": "match", "kuhn": "match", "dota": "match_id", "newer": "match_id"}


def damaged_for_verb(ground: Ground, place: Path, dice: random.Random) -> Attack:
    """A verb that reads a run in which a file is damaged ends with its work or with a line.

    What it then says and makes is what it says and makes of the whole run, or names the file.
    """
    game = dice.choice(here())
    whole, case = base(ground, game), place / "run"
    template = dice.choice(VERBS[game])
    expected = _expected(ground, game, template, place)
    shutil.copytree(whole, case, symlinks=True)
    below = _READS.get(template.split()[0], "") if dice.random() < 0.7 else ""
    path, how, sealed = damage_of(case, dice, below)
    arguments = _arguments(ground, game, template, place)
    waits = template.startswith(_WAIT)
    kill = Kill(signal.SIGTERM, dice.uniform(1.0, 4.0), "first") if waits else None
    done = run(ground.main, arguments, seconds=120, kill=kill, prepare=_asked(template, place))
    faults = faults_of(done) if done.code != -signal.SIGTERM else []
    if not done.hung and done.code == 2 and len(done.err.strip().splitlines()) > 3:
        faults.append(Fault("tracebacks", f"more than a line: {done.err.strip()[-200:]}"))
    if sealed and not waits and not done.code and not faults:
        faults += _unlike(_made(done, place), expected, path)
    told = f"{' '.join(arguments[:2])} after {how} {path.relative_to(case)}"
    return Attack(told.replace(str(place), ""), shown(arguments, place), faults)


def _arguments(ground: Ground, game: str, template: str, place: Path) -> list[str]:
    others = {name: base(ground, name) for name in ("dota", "newer") if f"{{{name}}}" in template}
    whole = base(ground, game)
    match = _match(whole, game) if "{match}" in template else ""
    return template.format(
        run=place / "run", whole=whole, place=place, match=match, **others
    ).split()


def _match(whole: Path, game: str) -> str:
    """Some match that is recorded there."""
    first, key = ("worlds", "match") if game in ("scml", "traced") else ("matches", _KEY[game])
    shard = sorted(Run(whole).recordings.glob(f"{first}-*.parquet"))[0]
    return str(pq.read_table(shard, columns=[key])[key][0].as_py())


def _asked(template: str, place: Path) -> Callable[[], None]:
    """What a command that reads lines is asked."""
    if not template.endswith("--lines"):
        return lambda: None
    path = place / "asked"
    path.write_text(json.dumps({"match": "m", "observation": {"position": [1.0, 1.5]}}) + "\n")
    return partial(_read_from, path)


def _read_from(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    os.dup2(file, 0)


def _expected(ground: Ground, game: str, template: str, place: Path) -> dict[str, str]:
    """What comes of it on the whole run, in the very same place."""
    if template.startswith(_WAIT):
        return {}
    key = f"{game}: {template}"
    if key not in ground.told:
        shutil.copytree(base(ground, game), place / "run", symlinks=True)
        arguments = _arguments(ground, game, template, place)
        done = run(ground.main, arguments, seconds=300, prepare=_asked(template, place))
        if done.code:
            raise RuntimeError(f"understudy {' '.join(arguments)}: {done.err[-500:]}")
        ground.told[key] = _made(done, place)
        for one in place.iterdir():
            shutil.rmtree(one) if one.is_dir() else one.unlink()
    return ground.told[key]


def _made(done: Done, place: Path) -> dict[str, str]:
    """What it said, and what it wrote outside the run; the page inside it as well."""
    found = [path for path in sorted(place.rglob("*")) if path.is_file()]
    made = [path for path in found if path.relative_to(place).parts[0] not in ("run", "asked")]
    made += [path for path in found if path == Run(place / "run").report]
    texts = {str(path): _text(content_of(path)) for path in made}
    return {**texts, "": done.out, "err": done.err}


def _text(content: Any) -> str:
    return content.decode(errors="replace") if isinstance(content, bytes) else str(content)


def _unlike(made: dict[str, str], expected: dict[str, str], path: Path) -> list[Fault]:
    """Where it made something else and did not say that this file is damaged."""
    if any(
        text.count(path.name) > expected.get(name, "").count(path.name)
        for name, text in made.items()
    ):
        return []
    other = [name for name in made.keys() | expected.keys() if made.get(name) != expected.get(name)]
    return [Fault("silent wrong", f"{name or 'output'} is another") for name in sorted(other)[:1]]
