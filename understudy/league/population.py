"""Who is in a league: learners, and the frozen players they have met or made.

A learner gets new weights every round, and each time a new name: `main` after round 4 is
`main-004`. Such a version never changes, so results of versions never grow stale. A version that
is kept as an opponent is a frozen player of kind `historical`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

Role = Literal["main", "main exploiter", "league exploiter"]
Kind = Literal["historical", "scripted"]


@dataclass(frozen=True)
class Player:
    """Somebody frozen: a snapshot of a learner, what all began from, or a script."""

    name: str
    kind: Kind = "historical"
    role: Role | None = None
    """Of the learner it is a snapshot of; None for scripts and the beginning."""
    learner: str | None = None
    parent: str | None = None
    """The snapshot or beginning from which its life began or went on."""
    round: int = 0
    agent_steps: int = 0
    """How many its learner had taken since its life began."""
    reason: str = ""
    """Why it was kept."""


@dataclass(frozen=True)
class Learner:
    """Somebody who improves from round to round."""

    name: str
    role: Role
    version: str
    """Its weights now: the name of a version or, where a life begins, of a frozen player."""
    parent: str
    """The last frozen player of its line: its own snapshot, or where its life began."""
    begun_from: str
    """Where its life began."""
    life: int = 0
    """How often it was reset."""
    agent_steps: int = 0
    """Taken since its life began."""
    unsaved_steps: int = 0
    """Taken since its last snapshot, or since its life began."""

    def trained(self, version: str, agent_steps: int) -> "Learner":
        """The learner with new weights."""
        return replace(
            self,
            version=version,
            agent_steps=self.agent_steps + agent_steps,
            unsaved_steps=self.unsaved_steps + agent_steps,
        )

    def kept(self) -> "Learner":
        """The learner after its version became a frozen player."""
        return replace(self, parent=self.version, unsaved_steps=0)

    def reset(self, start: str) -> "Learner":
        """The learner with the weights of `start` and nothing behind it."""
        return replace(
            self,
            version=start,
            parent=start,
            begun_from=start,
            life=self.life + 1,
            agent_steps=0,
            unsaved_steps=0,
        )


@dataclass(frozen=True)
class Roster:
    """Everybody in a league at one moment."""

    start: str
    """The frozen player that every first life begins from: the imitation."""
    learners: tuple[Learner, ...]
    frozen: tuple[Player, ...]

    def learner(self, name: str) -> Learner:
        """A learner by name."""
        return next(learner for learner in self.learners if learner.name == name)

    def player(self, name: str) -> Player:
        """A frozen player by name."""
        return next(player for player in self.frozen if player.name == name)

    def mains(self) -> list[Learner]:
        """The learners that the league is for."""
        return [learner for learner in self.learners if learner.role == "main"]

    def snapshots(self, role: Role | None = None, learner: str | None = None) -> list[str]:
        """Names of snapshots, oldest first, of one role or one learner."""
        return [
            player.name
            for player in self.frozen
            if player.role is not None
            and (role is None or player.role == role)
            and (learner is None or player.learner == learner)
        ]

    def exploiters(self) -> list[str]:
        """Names of all snapshots of exploiters."""
        return [*self.snapshots("main exploiter"), *self.snapshots("league exploiter")]

    def opponents(self) -> list[str]:
        """Names of all frozen players, oldest first."""
        return [player.name for player in self.frozen]

    def members(self) -> list[str]:
        """Names of all frozen players and of all current versions."""
        return list(dict.fromkeys([*self.opponents(), *(one.version for one in self.learners)]))


def initial_roster(
    start: str, learners: Sequence[tuple[str, Role]], scripted: Sequence[str] = ()
) -> Roster:
    """The league before its first round: all learners play like `start`."""
    frozen = (Player(start, reason="the beginning"), *(Player(n, "scripted") for n in scripted))
    names = [player.name for player in frozen] + [name for name, _ in learners]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"two players of one name: {', '.join(sorted(twice))}")
    return Roster(
        start, tuple(Learner(name, role, start, start, start) for name, role in learners), frozen
    )


def version_name(learner: str, round_number: int) -> str:
    """What a learner's weights are called after a round."""
    return f"{learner}-{round_number:03d}"
