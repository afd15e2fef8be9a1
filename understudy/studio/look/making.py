"""What is made in the process beside the studio: each a function of one plain argument."""

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from understudy.data.files import write_text
from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.names import shown
from understudy.pipeline.game import Look, Shown, load
from understudy.pipeline.import_matches import read_logs
from understudy.pipeline.report import game_of, report
from understudy.report.page import Panel

REPORT = "report"
"""The kind of the page that shows a whole run, as `understudy report` makes it."""
MOST_SHOWN = 300
"""Things in a list; a search finds the others."""


class Listed(NamedTuple):
    """Things of one kind to look into."""

    about: str
    found: list[Shown]
    more: bool


class Wanted(NamedTuple):
    """A page of one thing, and where to keep it."""

    folder: Path
    kind: str
    key: str
    out: Path


class Uploaded(NamedTuple):
    """A file that somebody sent, and the run that it becomes recordings of."""

    game: str
    logs: Path
    run: Path


def game_panels(folder: Path) -> list[Panel]:
    """What a game shows of a run in its report."""
    run = Run(folder)
    return game_of(run).panels(run)


def listed(asked: tuple[Path, str]) -> dict[str, Listed]:
    """What of a run can be looked into, by kind; those that have all the words of a search."""
    run, words = Run(asked[0]), asked[1].lower().split()
    found = dict[str, Listed]()
    for kind, look in game_of(run).looks().items():
        fits = (one for one in look.find(run) if all(w in " ".join(one).lower() for w in words))
        some = list(islice(fits, MOST_SHOWN + 1))
        if some or words:
            found[kind] = Listed(look.about, some[:MOST_SHOWN], len(some) > MOST_SHOWN)
    return found


def make_page(wanted: Wanted) -> None:
    """Make the page of one thing, whole."""
    run = Run(wanted.folder)
    if wanted.kind == REPORT:
        report(run, wanted.out)
        return
    looks = game_of(run).looks()
    if wanted.kind not in looks:
        raise InputError(f"{run.title} has no {shown(wanted.kind)} to look into")
    write_text(wanted.out, looks[wanted.kind].page(run, wanted.key))


def take_in(sent: Uploaded) -> tuple[str, str]:
    """Make recordings of a file, and say what to look at first: its kind and key."""
    game, run = load(sent.game), Run(sent.run)
    taken = read_logs(game, run, sent.logs)
    first = _first(game.looks(), run)
    if not taken.matches or first is None:
        reasons = "; ".join(taken.rejected[:3]) or "no line of it tells of a match"
        raise InputError(f"{sent.logs.name} holds no match of {sent.game}: {reasons}")
    return first


def _first(looks: Mapping[str, Look], run: Run) -> tuple[str, str] | None:
    for kind, look in looks.items():
        for one in look.find(run):
            return kind, one.key
    return None
