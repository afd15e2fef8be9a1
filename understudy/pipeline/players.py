"""Players by the names people type: scripted ones, models of a run, folders of models."""

from pathlib import Path

from understudy.data.players import PlayerRef
from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.pipeline.game import Game


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


def scripted(game: Game, name: str) -> PlayerRef:
    """A scripted player by name."""
    if name not in game.players:
        raise InputError(f"{game.name} has no player '{name}'; it has {', '.join(game.players)}")
    return PlayerRef(name)
