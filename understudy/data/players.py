"""Who plays: a player by name, and what stands for the content of its weights."""

from dataclasses import dataclass
from pathlib import Path

from understudy.data.files import digest
from understudy.errors import InputError

UNFINISHED = "{folder} holds no weights yet. Finish its training: run the same command again"


@dataclass(frozen=True)
class PlayerRef:
    """A player by name: scripted, or trained and then with the folder of its weights."""

    name: str
    weights: Path | None = None


def weights_digest(player: PlayerRef, missing: str = UNFINISHED) -> str | None:
    """Stands for the content of a player's weights; None if it has none.

    Weights are the files named `weights.*` in its folder. `missing` is what to say where there are
    none, of the {folder} and the player's {name}.
    """
    if player.weights is None:
        return None
    paths = sorted(player.weights.glob("weights.*"))
    if not paths:
        raise InputError(missing.format(folder=player.weights, name=player.name))
    return "+".join(digest(path) for path in paths)
