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
    many = (folder for kind in (run.models, run.results, run.leagues) for folder in kind.glob("*/"))
    for folder in (run.recordings, run.samples, *many):
        if (manifest := read_manifest(folder)) is not None:
            return load(manifest["settings"]["game"])
    raise InputError(
        f"{run.folder} is not a run: no stage has left a manifest there. "
        f"Begin one: understudy record GAME --out {run.folder}"
    )
