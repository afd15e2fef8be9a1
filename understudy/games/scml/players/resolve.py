"""Who can play, by the names people type."""

from collections.abc import Sequence

from understudy.data.own_code import is_reference
from understudy.data.players import PlayerRef
from understudy.data.runs import Run
from understudy.games.scml.domain import Track
from understudy.games.scml.players import catalogue as agents
from understudy.games.scml.players.own import check_agent
from understudy.pipeline.game import Game
from understudy.pipeline.players import brought, resolve
from understudy.workers.alone import check_alone

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
        elif is_reference(name):
            refs.append(own_agent(name, [*game.players, *(ref.name for ref in refs)], track))
        elif name in game.players:
            refs += map(PlayerRef, agents.names(name, track))
        else:
            refs.append(resolve(game, run, name))
    return tuple(dict.fromkeys(refs))


def hosted_agents(text: str, track: Track) -> list[PlayerRef]:
    """By comma: agents of the catalogue, groups of them, and agents of somebody's own."""
    refs: list[PlayerRef] = []
    for name in [part.strip() for part in text.split(",")]:
        if is_reference(name):
            taken = [*agents.CATALOGUE[track], *(ref.name for ref in refs)]
            refs.append(own_agent(name, taken, track))
        elif name:
            refs += map(PlayerRef, agents.names(name, track))
    agents.require([ref.name for ref in refs], track)
    return list(dict.fromkeys(refs)) or [*map(PlayerRef, agents.names(text, track))]


def own_agent(reference: str, taken: Sequence[str], track: Track) -> PlayerRef:
    """An agent of somebody's own that can play on the track."""
    ref = brought(reference, taken)
    assert ref.code is not None
    code = ref.code
    check_alone(lambda: check_agent(code, track), code.title)
    return ref
