"""A run, one match of it, or several runs beside each other, as a page."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.data.files import write_text
from understudy.data.results import results_of
from understudy.data.runs import Run, read_manifest
from understudy.errors import InputError
from understudy.pipeline.game import Game, load, modules

if TYPE_CHECKING:
    from understudy.report.compare import Read, Results, Subject
    from understudy.report.page import Panel


def report(run: Run, out: Path | None = None) -> Path:
    """Everything of a run on one page that works offline; where it was written."""
    from understudy.report.page import page
    from understudy.report.run import run_panels, subtitle

    game = game_of(run)
    panels = run_panels(run, game.panels(run))
    if not panels:
        raise InputError(f"{run.folder} holds nothing to report yet")
    path, title = out or run.report, run.folder.resolve().name
    tab = f"{run.title} · {game.name} report"
    write_text(path, page(title, subtitle(game.name, game.about), panels, tab))
    return path


def replay(run: Run, match: str, out: Path) -> Path:
    """One recorded match as a page with a player."""
    game = game_of(run)
    if game.replay is None:
        raise InputError(f"{game.name} has no replays")
    write_text(out, game.replay(run, match))
    return out


def replay_anywhere(runs: Path, match: str, out: Path) -> Path:
    """One recorded match as a page, whichever run of a folder it is in."""
    pages, reasons = dict[Path, str](), list[str]()
    for folder in sorted(runs.glob("*/")):
        try:
            game = game_of(Run(folder))
            if game.replay is not None:
                pages[folder] = game.replay(Run(folder), match)
        except InputError as reason:
            reasons.append(str(reason))
    if len(pages) == 1:
        write_text(out, next(iter(pages.values())))
        return out
    if pages:
        places = ", ".join(f"{folder}/{match}" for folder in pages)
        raise InputError(f"several runs have a match '{match}'. Name one of them: {places}")
    why = reasons[0] if len(reasons) == 1 else f"{len(reasons)} runs were looked through"
    raise InputError(f"no run in {runs} has a match '{match}' to show ({why}). Give RUN/MATCH")


def replay_file(match: Path, out: Path) -> Path:
    """A match file of other origin as a page, by the game that can read it."""
    games = [game for game in map(load, modules()) if game.replay_file is not None]
    reasons = list[str]()
    for game in games:
        assert game.replay_file is not None
        try:
            write_text(out, game.replay_file(match))
        except InputError as reason:
            reasons.append(str(reason))
        else:
            return out
    names = ", ".join(game.name for game in games)
    raise InputError("; ".join(reasons) or f"no match files are read, but those of {names}")


def game_of(run: Run) -> Game:
    """The game a run is about, from its manifests."""
    many = (folder for kind in (run.models, run.results, run.leagues) for folder in kind.glob("*/"))
    for folder in (run.recordings, run.samples, *many):
        if (manifest := read_manifest(folder)) is not None:
            return load(str(manifest["settings"].get("game")))
    raise InputError(
        f"{run.folder} is not a run: no stage has left a manifest there. "
        f"Begin one: understudy record GAME --out {run.folder}"
    )


# --- Side by side --------------------------------------------------------------------------------


def compare(places: Sequence[Path], out: Path) -> Path:
    """Runs or models side by side on one page that works offline; where it was written."""
    from understudy.report.page import page

    subjects = subjects_of(places)
    title = " beside ".join(one.label for one in subjects)
    write_text(out, page("Compared", title, compared(subjects), f"{title} · compared"))
    return out


def subjects_of(places: Sequence[Path]) -> "list[Subject]":
    """Runs, and models given by their folders; at least two things must be there to compare."""
    from understudy.report.compare import Subject

    found = list[Subject]()
    names = Counter(place.resolve().name for place in places)
    for place in dict.fromkeys(place.resolve() for place in places):
        run, model = Run.existing(place), None
        if place.parent.name == Run(place).models.name and read_manifest(place) is not None:
            run, model = Run(place.parent.parent), place.name
        else:
            game_of(run)  # which refuses what is no run
        unique = names[place.name] == 1
        label = place.name if unique else "/".join(place.parts[-3:] if model else place.parts[-2:])
        found.append(Subject(label, run, model))
    if sum(max(1, len(one.models())) for one in found) < 2:
        raise InputError("name two runs or more to compare, or models: RUN/models/NAME")
    return found


def compared(subjects: "Sequence[Subject]", read: "Read | None" = None) -> "list[Panel]":
    """What there is to compare of them; `read` is how metrics are read."""
    from understudy.report.compare import compare_panels
    from understudy.report.run import read_metrics

    played = {one.label: _results(one.run) for one in subjects}
    return compare_panels(subjects, played, read or read_metrics)


def _results(run: Run) -> "Results":
    """All results of a run, with the settings they were played with."""
    tables = results_of(run, game_of(run).results)
    manifests = {name: read_manifest(run.result(name)) for name in tables}
    return {
        name: (manifest["settings"], tables[name])
        for name, manifest in manifests.items()
        if manifest is not None
    }
