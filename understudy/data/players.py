"""Who plays: a player by name, and what stands for the content of its weights or code."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from understudy.data.files import digest
from understudy.data.own_code import OwnCode
from understudy.errors import InputError

UNFINISHED = "{folder} holds no weights yet. Finish its training: run the same command again"


@dataclass(frozen=True)
class PlayerRef:
    """A player by name: scripted, trained and then with the folder of its weights, or brought."""

    name: str
    weights: Path | None = None
    code: OwnCode | None = None
    """Where somebody's own player is written; None: it comes with the game."""


def code_stamps(players: Iterable[PlayerRef]) -> dict[str, str]:
    """By name, what stands for the code of those that were brought: for manifests."""
    return {
        ref.name: f"{ref.code.title} {ref.code.digest or ''}".strip()
        for ref in players
        if ref.code is not None
    }


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
