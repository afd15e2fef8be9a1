"""Players by the names people type: scripted ones, models of a run, folders of models."""

from pathlib import Path

from understudy.data.files import digest
from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.pipeline.game import Game, PlayerRef


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


def weights_digest(ref: PlayerRef) -> str | None:
    """Stands for the content of a player's weights; None if it has none."""
    if ref.weights is None:
        return None
    weights = sorted(ref.weights.glob("weights.*"))
    if not weights:
        raise InputError(
            f"{ref.weights} holds no weights yet. Finish its training: run the same command again"
        )
    return digest(weights[0])
