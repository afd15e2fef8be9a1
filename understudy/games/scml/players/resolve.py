"""Who can play, by the names people type."""

from collections.abc import Sequence

from understudy.data.players import PlayerRef
from understudy.data.runs import Run
from understudy.games.scml.domain import Track
from understudy.games.scml.players import catalogue as agents
from understudy.pipeline.game import Game
from understudy.pipeline.players import resolve

ABOUT = {
    "understudy.": "of this project",
    "scml.": "comes with scml",
    "scml_agents.scml2024.": "of the league of 2024",
    "scml_agents.scml2025.": "of the league of 2025",
    "scml_agents.scml2026.": "of the league of 2026",
}


def known_players() -> dict[str, str]:
    """Every agent of either track; the champion of 2024 first."""
    players = {"Penguin": "first in 2024", "AS0": "first in 2025"}
    for catalogue in agents.CATALOGUE.values():
        for name, path in catalogue.items():
            about = next(about for start, about in ABOUT.items() if path.startswith(start))
            players.setdefault(name, about)
    return players


def resolve_all(game: Game, run: Run, names: Sequence[str], track: Track) -> tuple[PlayerRef, ...]:
    """Players and groups of players, in the order they were named."""
    refs: list[PlayerRef] = []
    for name in names:
        together = agents.group(name, track)
        if together:
            refs += map(PlayerRef, together)
        elif name in game.players:
            refs += map(PlayerRef, agents.names(name, track))
        else:
            refs.append(resolve(game, run, name))
    return tuple(dict.fromkeys(refs))
