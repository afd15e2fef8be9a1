"""An attack on ourselves: seeded cases of every kind until the time is up, and a table.

A case that goes wrong stays as a folder with the command that shows it. Kinds take turns, so that
a short campaign has something of each.
"""

import itertools
import json
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple, TypedDict

from understudy.data.integrity.json_files import read_json, write_json
from understudy.errors import InputError
from understudy.trust.command import Done, Main, run

COLUMNS = ("tried", "lost", "tracebacks", "hangs", "silent wrong")


class Fault(NamedTuple):
    """What went wrong in a case."""

    column: str
    """One of COLUMNS."""
    what: str


class Tally(TypedDict):
    """A campaign's counts on disk."""

    seed: int
    counts: dict[str, dict[str, int]]
    stories: list[str]
    cases: dict[str, int]


class Attack(NamedTuple):
    """One case: what is tried, in words, and what went wrong."""

    name: str
    command: str
    faults: list[Fault]
    weight: int = 1
    """How many things it tried."""


@dataclass
class Ground:
    """Where a campaign works."""

    main: Main
    folder: Path
    """Of the whole campaign."""
    kept: Path
    """Where cases that went wrong stay."""
    bases: dict[str, Path] = field(default_factory=dict)
    """Small runs that have been through every stage, by game: what cases are copies of."""
    seconds: dict[str, float] = field(default_factory=dict)
    """How long each stage took there."""
    told: dict[str, dict[str, str]] = field(default_factory=dict)
    """What verbs say and make of a run that is whole."""

    def succeed(self, arguments: Sequence[str]) -> Done:
        """Run a command that must end well."""
        done = run(self.main, arguments, seconds=900)
        if done.code:
            told = " ".join(arguments)
            raise RuntimeError(f"understudy {told} failed with {done.code}: {done.err[-500:]}")
        return done


Kind = Callable[[Ground, Path, random.Random], Attack]
"""Makes a case in an empty folder."""


@dataclass
class Table:
    """What came of a campaign so far."""

    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    stories: list[str] = field(default_factory=list)
    cases: dict[str, int] = field(default_factory=dict)
    """How many of each kind there were: the number of the next one."""

    def add(self, kind: str, attack: Attack, place: Path | None) -> None:
        """Count one more case."""
        row = self.counts.setdefault(kind, dict.fromkeys(COLUMNS, 0))
        row["tried"] += attack.weight
        for fault in attack.faults:
            row[fault.column] += 1
            self.stories.append(f"{kind}: {attack.name}: {fault.what} ({place})")

    @property
    def wrong(self) -> int:
        """How many cases went wrong in some way."""
        return sum(
            count for row in self.counts.values() for name, count in row.items() if name != "tried"
        )


def campaign(
    main: Main,
    kinds: Mapping[str, Kind],
    *,
    seconds: float,
    seed: int,
    kept: Path,
    most: int | None = None,
    tally: Path | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Table:
    """Try cases of all kinds in turn until the time is up, or `most` of each have been tried.

    With a `tally` cases go on from where the last campaign of this seed stopped, and add up there.
    """
    table = _begun(tally, seed)
    with tempfile.TemporaryDirectory(prefix="understudy-selftest-") as folder:
        ground = Ground(main, Path(folder), kept)
        until = time.monotonic() + seconds
        for number in itertools.count() if most is None else range(most):
            for kind, make in kinds.items():
                if time.monotonic() > until:
                    return table
                if number < table.cases.get(kind, 0):
                    continue
                _one(ground, table, kind, make, f"{seed}-{number}", tell)
                table.cases[kind] = number + 1
                if tally is not None:
                    write_json(tally, {"seed": seed, **asdict(table)})
    return table


def _begun(tally: Path | None, seed: int) -> Table:
    known = read_json(tally, Tally, "Delete it to begin anew") if tally is not None else None
    if known is None:
        return Table()
    if known["seed"] != seed:
        raise InputError(f"{tally} is of seed {known['seed']}; give --seed {known['seed']}")
    return Table(known["counts"], known["stories"], known["cases"])


def by_family(counts: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    """Rows to be shown: all agents are one, and every stage that is killed is its own."""
    rows = dict[str, dict[str, int]]()
    many = sum(kind.startswith("agents: ") for kind in counts)
    for kind, row in counts.items():
        name = f"agents ({many} kinds)" if kind.startswith("agents: ") else kind
        before = rows.setdefault(name, dict.fromkeys(COLUMNS, 0))
        rows[name] = {column: before[column] + row[column] for column in COLUMNS}
    return rows


def _one(
    ground: Ground, table: Table, kind: str, make: Kind, name: str, tell: Callable[[str], None]
) -> None:
    place = ground.folder / "case"
    with _emptied(place):
        attack = make(ground, place, random.Random(f"{kind}/{name}"))
        where = _keep(ground, kind, name, attack, place) if attack.faults else None
    table.add(kind, attack, where)
    for fault in attack.faults:
        tell(f"{kind} {name}: {attack.name}: {fault.column}: {fault.what}")


@contextmanager
def _emptied(place: Path) -> Iterator[None]:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    try:
        yield
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _keep(ground: Ground, kind: str, name: str, attack: Attack, place: Path) -> Path:
    """The case as a folder, with the command that shows it."""
    where = ground.kept / f"{kind.replace(' ', '-')}-{name}"
    shutil.rmtree(where, ignore_errors=True)
    shutil.copytree(place, where, symlinks=True, ignore=_pipes)
    faults = [fault._asdict() for fault in attack.faults]
    told = {"kind": kind, "case": attack.name, "command": attack.command, "faults": faults}
    (where / "case.json").write_text(json.dumps(told, indent=2) + "\n")
    return where


def _pipes(folder: str, names: list[str]) -> list[str]:
    """What cannot be copied."""
    return [name for name in names if (path := Path(folder, name)).exists() and path.is_fifo()]


def faults_of(done: Done) -> list[Fault]:
    """What is wrong with how a command ended, whatever it had to do."""
    if done.hung:
        return [Fault("hangs", "no end")]
    if done.traceback:
        last = " | ".join(line.strip() for line in done.err.strip().splitlines()[-5:])
        return [Fault("tracebacks", f"code {done.code}: {last[-400:]}")]
    return []
