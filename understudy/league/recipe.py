"""The settings of a whole league, as a value. Baselines are the same loop with other settings."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from understudy.league.matchmaking import (
    ByRole,
    FictitiousSelfPlay,
    Matchmaking,
    NashResponse,
    SelfPlay,
)
from understudy.league.population import Role
from understudy.league.rules import USUAL, Overrides, ResetRule, ResetTo, RoleRules, SnapshotRule


class Slot(NamedTuple):
    """A learner of the league."""

    name: str
    role: Role
    share: float
    """Its part of every round's agent-steps, beside the parts of the others."""


@dataclass(frozen=True, kw_only=True)
class LeagueRecipe:
    """How a league is run."""

    description: str
    slots: tuple[Slot, ...]
    rules: Mapping[Role, RoleRules]
    rounds: int
    """Up: a longer league, of more versions."""
    agent_steps: int
    """Per round, of all learners together: what leagues and their baselines are compared at."""
    matches: int
    """Of every pair whose win rate is not known yet; half of them with sides swapped."""
    matchmaking: Matchmaking = ByRole()  # noqa: RUF009 - frozen
    anneal_from: float = 0.0
    """The share of the rounds after which the learning rate of main agents falls to 0 along a line.
    0: over all rounds; 1: never, and the last version is one of many that come and go, and may just
    have found a new weakness. Up: more is learnt before what was learnt settles."""
    opponents_max: int = 16
    """Of one training job. Down: quicker; the least likely opponents are left out."""
    exploiter_steps: int = 0
    """Agent-steps of an approximate best response that measures the result; 0: none is trained."""
    exploiter_matches: int = 400
    """In which a best response is measured. Up: narrower intervals."""
    exploiter_overrides: Overrides = USUAL

    def __post_init__(self) -> None:
        for name in ("matches", "exploiter_matches"):
            if (count := getattr(self, name)) < 2 or count % 2:
                raise ValueError(f"{name} must be an even number, not {count}")
        if self.opponents_max < 1:
            raise ValueError(f"opponents_max must be at least 1, not {self.opponents_max}")
        if not 0 <= self.anneal_from <= 1:
            raise ValueError(f"anneal_from is a share of the rounds, not {self.anneal_from}")
        if not any(slot.role == "main" for slot in self.slots):
            raise ValueError("a league needs a main agent")
        if missing := {slot.role for slot in self.slots} - set(self.rules):
            raise ValueError(f"no rules for {', '.join(sorted(missing))}")

    def steps_of(self, slot: Slot) -> int:
        """A learner's agent-steps per round."""
        return round(self.agent_steps * slot.share / sum(other.share for other in self.slots))

    def overrides(self, slot: Slot, round_number: int) -> Overrides:
        """How a learner learns in a round, counted from 1."""
        usual = self.rules[slot.role].overrides
        if slot.role != "main":
            return usual
        return usual.slowed(self._left(round_number - 1), self._left(round_number))

    def _left(self, rounds: int) -> float:
        """The share of a main agent's learning rate that is left after so many rounds."""
        falling = self.rounds * (1 - self.anneal_from)
        return min(1.0, (self.rounds - rounds) / falling) if falling else 1.0

    def settings(self) -> dict[str, Any]:
        """All that decides what comes of it, fit for JSON."""
        found = asdict(self) | {"matchmaking": _named(self.matchmaking)}
        del found["description"]
        return found


def three_roles(
    *,
    description: str,
    rounds: int,
    agent_steps: int,
    matches: int,
    shares: tuple[float, float, float] = (0.5, 0.25, 0.25),
    keep_every: int = 2,
    patience: int = 4,
    beats: float = 0.7,
    reset: ResetTo = "adaptive",
    matchmaking: ByRole = ByRole(),  # noqa: B008 - frozen
    anneal_from: float = 0.0,
    opponents_max: int = 16,
    exploiter_steps: int = 0,
    exploiter_matches: int = 400,
    hunting: Overrides = USUAL,
) -> LeagueRecipe:
    """One learner of each role, with these `shares` of every round's agent-steps; 0: none.

    A main agent is kept every `keep_every` rounds, an exploiter when it surely beats whom it should
    or after `patience` rounds. Exploiters learn with the overrides of `hunting`, and so do the
    approximate best responses that measure the result, their rate falling to 0.
    """
    names = ("main", "main-exploiter", "league-exploiter")
    roles: tuple[Role, ...] = ("main", "main exploiter", "league exploiter")
    slots = tuple(Slot(*each) for each in zip(names, roles, shares, strict=True) if each[2])
    main, hunter, wanderer = (agent_steps * share / sum(shares) for share in shares)

    def when(each: float, rounds: int, beats: float | None = None) -> SnapshotRule:
        """Half a round less than meant: a game may take a few steps less than it was given."""
        least = 0 if beats is None else int(each / 2)
        return SnapshotRule(least, int((rounds - 0.5) * each), beats=beats)

    rules: dict[Role, RoleRules] = {
        "main": RoleRules(when(main, keep_every)),
        "main exploiter": RoleRules(when(hunter, patience, beats), ResetRule(1.0, reset), hunting),
        "league exploiter": RoleRules(
            when(wanderer, patience, beats), ResetRule(0.25, reset), hunting
        ),
    }
    return LeagueRecipe(
        description=description,
        slots=slots,
        rules=rules,
        rounds=rounds,
        agent_steps=agent_steps,
        matches=matches,
        matchmaking=matchmaking,
        anneal_from=anneal_from,
        opponents_max=opponents_max,
        exploiter_steps=exploiter_steps,
        exploiter_matches=exploiter_matches,
        exploiter_overrides=replace(hunting, rate_end=0.0),
    )


def two_roles(
    *,
    description: str,
    rounds: int,
    agent_steps: int,
    matches: int = 40,
    opponents_max: int = 8,
    exploiter_steps: int = 0,
    exploiter_matches: int = 400,
    hunting: Overrides = USUAL,
) -> LeagueRecipe:
    """A main agent and an exploiter that hunts it anew every round: the usual league.

    Lives last one round, there is no league exploiter, the learning rate falls late. In games whose
    exploitability is exact (docs/league.md) that left the main agent less exploitable than long
    lives and three roles in poker, more in liar's dice, and about as much in the circle.
    """
    return three_roles(
        description=description,
        rounds=rounds,
        agent_steps=agent_steps,
        matches=matches,
        shares=(0.55, 0.45, 0.0),
        keep_every=1,
        patience=1,
        beats=0.6,
        reset="past main",
        matchmaking=ByRole(self_play=0.05, past=0.7, lost_below=0.5, curriculum=0.0),
        anneal_from=0.5,
        opponents_max=opponents_max,
        exploiter_steps=exploiter_steps,
        exploiter_matches=exploiter_matches,
        hunting=hunting,
    )


def with_baselines(
    name: str, recipe: LeagueRecipe, *, magnet: float = 0.1
) -> dict[str, LeagueRecipe]:
    """A recipe beside four others with the same number of agent-steps.

    Plain self-play, fictitious self-play, PSRO, and self-play with a pull of weight `magnet` to its
    own past. The one learner takes all steps, and is kept as often as the league's main agent; in
    PSRO every round, each a best response from the imitation with the full learning rate.
    """
    main = next(slot for slot in recipe.slots if slot.role == "main")
    more = recipe.agent_steps / recipe.steps_of(main)
    rule = recipe.rules["main"].snapshot
    rule = replace(rule, min_steps=int(rule.min_steps * more), max_steps=int(rule.max_steps * more))
    rules: dict[Role, RoleRules] = {"main": replace(recipe.rules["main"], snapshot=rule)}
    alone = replace(recipe, slots=(Slot("main", "main", 1.0),), rules=rules)
    held = replace(rules["main"], overrides=replace(rules["main"].overrides, magnet=magnet))
    each = SnapshotRule(0, recipe.agent_steps // 2)
    return {
        name: recipe,
        f"{name}-self-play": replace(
            alone,
            description=f"plain self-play with the agent-steps of {name}",
            matchmaking=SelfPlay(),
        ),
        f"{name}-fictitious": replace(
            alone,
            description=f"fictitious self-play with the agent-steps of {name}",
            matchmaking=FictitiousSelfPlay(),
        ),
        f"{name}-psro": replace(
            alone,
            description=f"a best response a round to the Nash mixture, agent-steps of {name}",
            rules={"main": replace(rules["main"], snapshot=each, reset=ResetRule(1.0))},
            matchmaking=NashResponse(),
            anneal_from=1.0,
        ),
        f"{name}-magnet": replace(
            alone,
            description=f"self-play held near its last snapshot, agent-steps of {name}",
            rules={"main": held},
            matchmaking=SelfPlay(),
        ),
    }


def _named(matchmaking: Matchmaking) -> dict[str, Any]:
    return {"way": type(matchmaking).__name__, **vars(matchmaking)}
