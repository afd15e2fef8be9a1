"""Which agents of the league can be imported here: their package declares more than they need."""

from understudy.games.scml.domain import Track
from understudy.games.scml.players import catalogue
from understudy.games.scml.players.own import silence
from understudy.workers.attempt import line_of


def importable() -> dict[str, str | None]:
    """By agent (OneShot's with their track): why it cannot be imported; None: it can."""
    found = dict[str, str | None]()
    tracks: tuple[Track, ...] = ("std", "oneshot")
    for track in tracks:
        for name in (one for one in catalogue.CATALOGUE[track] if of_league(one, track)):
            title = name if track == "std" else f"{name} ({track})"
            found[title] = _fault(name, track)
    return found


def of_league(name: str, track: Track) -> bool:
    """Whether scml-agents brings it."""
    return catalogue.CATALOGUE[track][name].startswith("scml_agents.")


def _fault(name: str, track: Track) -> str | None:
    try:
        with silence():
            catalogue.load(name, track)
    except Exception as failure:  # an agent's module may do anything
        return line_of(failure)
    return None
