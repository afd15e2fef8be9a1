"""Everything a league knows, in one value and one file that is written whole after every round."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from understudy.data.integrity.json_files import fitting_together, read_json, shaped, write_json
from understudy.data.integrity.shapes import LeagueState, LeagueVersion
from understudy.data.players import PlayerRef, weights_digest
from understudy.data.runs import LeagueFolder
from understudy.errors import InputError
from understudy.league.payoff import Payoff
from understudy.league.population import Learner, Player, Roster

VERSION = 4  # win rates of matches of these very versions alone
MISSING = (
    "{folder}: the weights of {name} are missing. Put them back, or start this league over with "
    "--fresh"
)
"""Said of weights that a league has lost."""


@dataclass(frozen=True)
class State:
    """A league between two rounds."""

    roster: Roster
    payoff: Payoff
    round: int = 0
    """How many are behind it."""
    agent_steps: int = 0
    """Of all learners together."""
    match_steps: int = 0
    """In which those were taken, where the game counts them."""
    seeds: int = 0
    """How many seeds of matches have been used."""
    weights: Mapping[str, str] = field(default_factory=dict)
    """Digests of the weights of everybody who has some."""
    history: tuple[Mapping[str, Any], ...] = ()
    """One entry per round: who met whom, who was kept, what the mixture was."""

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "schema": "understudy.league",
            "version": VERSION,
            "round": self.round,
            "agent_steps": self.agent_steps,
            "match_steps": self.match_steps,
            "seeds": self.seeds,
            "start": self.roster.start,
            "learners": [asdict(learner) for learner in self.roster.learners],
            "players": [asdict(player) for player in self.roster.frozen],
            "weights": dict(self.weights),
            "payoff": self.payoff.to_json(),
            "history": list(self.history),
        }

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> "State":
        """What `to_json` gave."""
        roster = Roster(
            value["start"],
            tuple(Learner(**learner) for learner in value["learners"]),
            tuple(Player(**player) for player in value["players"]),
        )
        return State(
            roster=roster,
            payoff=Payoff.from_json(value["payoff"]),
            round=value["round"],
            agent_steps=value["agent_steps"],
            match_steps=value["match_steps"],
            seeds=value["seeds"],
            weights=value["weights"],
            history=tuple(value["history"]),
        )


def read_state(folder: Path) -> State | None:
    """The state of the league in a folder; None where none has finished a round."""
    path = LeagueFolder(folder).state
    cure = "Put a copy of it back, or start this league over with --fresh"
    known = read_json(path, LeagueVersion, cure)
    if known is None:
        return None
    _require_readable(path, known["version"])
    with fitting_together(path, cure):
        return State.from_json(shaped(known, LeagueState, path, cure))


def _require_readable(path: Path, version: int) -> None:
    if version != VERSION:
        raise InputError(
            f"{path} is of version {version}, and this program goes on with version {VERSION} "
            "only: what is counted has changed. Start this league over with --fresh"
        )


def write_state(folder: Path, state: State) -> None:
    """Replace the state in a folder, whole."""
    write_json(LeagueFolder(folder).state, state.to_json(), indent=None)


def check_weights(player: PlayerRef, known: str | None) -> None:
    """Raise InputError unless a player's weights are what they were."""
    if known is not None and weights_digest(player, MISSING) != known:
        raise InputError(
            f"{player.weights}: the weights of {player.name} are damaged: they are not what was "
            "written there. Put a copy of them back, or start this league over with --fresh"
        )
