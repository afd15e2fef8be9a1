"""A run, or one match of it, as a page."""

from pathlib import Path

from understudy.data.files import write_text
from understudy.data.runs import Run, read_manifest
from understudy.errors import InputError
from understudy.pipeline.game import Game, load


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
