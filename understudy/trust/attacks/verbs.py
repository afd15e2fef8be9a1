"""What reads a whole run: pages, exports, comparisons, services, on runs that are damaged."""

import random
import shutil
import signal
from pathlib import Path

from understudy.trust.attacks.cases import damage_of
from understudy.trust.attacks.stages import base
from understudy.trust.campaign import Attack, Fault, Ground, faults_of
from understudy.trust.command import Kill, run, shown

VERBS = (
    "report {run}",
    "compare {run} {whole} -o {place}/compare.html",
    "compare {run}/models/imitate-quick {whole}/models/refine-quick -o {place}/compare.html",
    "export arena imitate-quick --run {run} -o {place}/policy.onnx",
    "export arena refine-quick --torch --run {run} -o {place}/policy.pt2",
    "evaluate {run}/models/imitate-quick --split val",
    "follow {run}/recordings --game arena --out {place}/live --once",
    "serve arena imitate-quick --run {run} --lines",
    "serve arena refine-quick --run {run} --port 0",
    "studio {run} --port 0",
    "check {run}",
    "compact {run} --out {place}/few",
    "compete arena demo refine-quick --matches 2 --quiet --workers 0 --out {run}",
    "league arena --recipe demo --from imitate-quick --quiet --workers 0 --out {run}",
)
_WAIT = ("studio", "serve arena refine-quick")
"""These go on until they are stopped."""


def damaged_for_verb(ground: Ground, place: Path, dice: random.Random) -> Attack:
    """A verb that reads a run in which a file is damaged ends with its work or with a line."""
    whole = base(ground, "arena")
    case = place / "run"
    shutil.copytree(whole, case)
    path, how, _ = damage_of(case, dice)
    command = dice.choice(VERBS).format(run=case, whole=whole, place=place)
    waits = command.startswith(_WAIT)
    kill = Kill(signal.SIGTERM, dice.uniform(1.0, 4.0), "first") if waits else None
    done = run(ground.main, command.split(), seconds=120, kill=kill)
    faults = faults_of(done) if done.code != -signal.SIGTERM else []
    if not done.hung and done.code == 2 and len(done.err.strip().splitlines()) > 3:
        faults.append(Fault("tracebacks", f"more than a line: {done.err.strip()[-200:]}"))
    told = f"{command.split()[0]} after {how} {path.relative_to(case)}"
    return Attack(told, shown(command.split(), place), faults)
