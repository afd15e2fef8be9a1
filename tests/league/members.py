"""Leagues to test with: small rosters and payoffs written by hand."""

from dataclasses import replace

from understudy.league.payoff import Payoff, Tally
from understudy.league.population import Player, Roster, initial_roster, version_name

ALL = (
    ("main", "main"),
    ("main-exploiter", "main exploiter"),
    ("league-exploiter", "league exploiter"),
)
ROLES = dict(ALL)


def league(learners=ALL, snapshots=(), scripted=()):
    """A league of these learners, each at round 9, with snapshots given as (learner, round)."""
    roster = initial_roster("clone", learners, scripted)
    frozen = [
        Player(
            version_name(name, number),
            role=dict(learners).get(name, ROLES.get(name)),
            learner=name,
            parent="clone",
            round=number,
        )
        for name, number in snapshots
    ]
    now = [replace(one, version=version_name(one.name, 9)) for one in roster.learners]
    return Roster("clone", tuple(now), roster.frozen + tuple(frozen))


def payoff(rates, games=1000):
    """Believed win rates by (player, opponent), from many games."""
    found = Payoff()
    for (one, other), rate in rates.items():
        found.add(one, other, Tally(rate * games, 0.0, (1 - rate) * games))
    return found
