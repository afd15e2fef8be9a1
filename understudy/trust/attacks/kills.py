"""Stages that are killed again and again, and end as if they never had been."""

import itertools
import os
import random
import shutil
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path

from understudy.trust.attacks.stages import STAGES, Stage, base, called, here
from understudy.trust.campaign import Attack, Fault, Ground, Kind, faults_of
from understudy.trust.command import Done, Kill, Whom, run, shown
from understudy.trust.sameness import differences

SIGNALS = ("SIGKILL", "SIGKILL", "SIGTERM", "SIGINT")
_WHOM: tuple[Whom, ...] = ("first", "group", "worker")
MOST = 14
"""Kills of one case, which then must end."""


def kinds() -> dict[str, Kind]:
    """One for each stage."""
    known = here()
    return {f"kills: {name}": partial(killed, name) for name in STAGES if STAGES[name][0] in known}


def killed(name: str, ground: Ground, place: Path, dice: random.Random) -> Attack:
    """A stage is killed some times; the same command then ends with the bytes of an unbroken one.

    Half of the kills come at some time, of the command, of all its processes or of one worker; the
    others right before or after a file is put in place.
    """
    game, stage = STAGES[name]
    whole = base(ground, game)
    case = place / "run"
    shutil.copytree(whole, case, symlinks=True)
    shutil.rmtree(case / stage.makes)
    workers = 2 if dice.random() < 0.2 else 0
    arguments = called(ground, stage, workers, case)
    faults, kills, last = list[Fault](), 0, None
    for _ in range(dice.randint(6, MOST)):
        number = getattr(signal, dice.choice(SIGNALS))
        latest = 0.5 * ground.seconds[name] + (3.0 if workers else 0.1)
        done = _settled(
            stage, _attempt(ground, arguments, number, stage.renames, latest, workers, dice)
        )
        kills += done.bereft or done.code in (-number, 128 + number)
        if done.code != -number:  # SIGKILL, or one that came before anybody listened
            faults += faults_of(done)
        if not done.code:
            last = done if stage.once else last
            break
        if done.code in (1, 2) and not done.bereft:
            faults.append(Fault("lost", f"refused: {done.err.strip()[-200:]}"))
    last = last or _settled(stage, run(ground.main, arguments, seconds=600))
    faults += faults_of(last)
    if last.code:
        faults.append(Fault("lost", f"cannot go on: {last.err.strip()[-200:]}"))
    elif wrong := differences(whole / stage.makes, case / stage.makes):
        faults.append(Fault("lost", f"not as unbroken: {wrong[0]}"))
    told = f"{name}, {kills} kills, {workers} workers"
    return Attack(told, shown(arguments, place), faults, kills)


def _settled(stage: Stage, done: Done) -> Done:
    """What is refused because it was done is done; whether it is whole, its bytes tell."""
    return done._replace(code=0) if stage.once and "holds a model" in done.err else done


def _attempt(
    ground: Ground,
    arguments: list[str],
    number: signal.Signals,
    renames: int,
    latest: float,
    workers: int,
    dice: random.Random,
) -> Done:
    """Run the command until it is killed, or to its end."""
    if dice.random() < 0.5:
        whom = dice.choice(_WHOM if workers else _WHOM[:2])
        kill = Kill(number, dice.uniform(0.0, latest), whom)
        return run(ground.main, arguments, kill=kill, seconds=600)
    moment, before = dice.randint(1, max(2, renames // 4)), dice.random() < 0.5
    prepare = dying_at(moment, before, number)
    return run(ground.main, arguments, prepare=prepare, seconds=600)


def dying_at(moment: int, before: bool, number: signal.Signals) -> Callable[[], None]:
    """Have this process killed right before or after it puts its file of that number in place."""
    rename, numbers = os.replace, itertools.count(1)

    def rename_or_die(source: str, target: str) -> None:
        now = next(numbers) == moment
        if now and before:
            os.kill(os.getpid(), number)
        rename(source, target)
        if now and not before:
            os.kill(os.getpid(), number)

    def prepare() -> None:
        os.replace = rename_or_die  # type: ignore[assignment]

    return prepare
