"""Who plays: a player or a mixture by name, and what stands for the content of weights or code."""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from random import Random

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

    def drawn(self, seed: int, slot: int) -> "PlayerRef":
        """Itself, in every match."""
        return self


@dataclass(frozen=True)
class Mixture:
    """Several players, one of whom is drawn for every match: never a player itself."""

    name: str
    shares: tuple[tuple[PlayerRef, float], ...]
    """How often each of them is drawn; together 1."""

    def drawn(self, seed: int, slot: int) -> PlayerRef:
        """Who plays the match of this seed, in this seat; other dice than that player has."""
        players, shares = zip(*self.shares, strict=True)
        return Random(f"{seed} {slot}").choices(players, shares)[0]


Contender = PlayerRef | Mixture


def code_stamps(players: Iterable[Contender]) -> dict[str, str]:
    """By name, what stands for the code of those that were brought: for manifests."""
    return {
        ref.name: f"{ref.code.title} {ref.code.digest or ''}".strip()
        for ref in players
        if isinstance(ref, PlayerRef) and ref.code is not None
    }


def weights_digest(player: Contender, missing: str = UNFINISHED) -> str | None:
    """Stands for the content of a player's weights; None if it has none.

    Weights are the files named `weights.*` in its folder. `missing` is what to say where there are
    none, of the {folder} and the player's {name}. Of a mixture it is all of them and their shares.
    """
    if isinstance(player, Mixture):
        told = [(weights_digest(one, missing) or one.name, share) for one, share in player.shares]
        return sha256(repr(told).encode()).hexdigest()
    if player.weights is None:
        return None
    paths = sorted(player.weights.glob("weights.*"))
    if not paths:
        raise InputError(missing.format(folder=player.weights, name=player.name))
    return "+".join(digest(path) for path in paths)
