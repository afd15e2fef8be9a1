"""The matches of a league most worth watching, among players whose weights are still there."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from understudy.data.stats import Estimate
from understudy.league.analysis.ratings import win_probability
from understudy.league.payoff import Payoff
from understudy.league.population import Roster


@dataclass(frozen=True)
class Highlight:
    """A match and why one should watch it."""

    kind: str
    match: str
    round: int
    seed: int
    players: tuple[str, str]
    """In the order of their slots."""
    winner: str
    why: str


def highlight_matches(
    rows: Iterable[Mapping[str, Any]],
    roster: Roster,
    payoff: Payoff,
    ratings: Mapping[str, Estimate],
) -> list[Highlight]:
    """The best exploit, the greatest upset, and how the two strongest meet.

    `rows` are matches as `matches.jsonl` tells of them.
    """
    members = {*roster.members()}
    decided = [row for row in rows if row["score"] and members >= {*row["players"]}]
    return [
        found
        for found in (
            _best_exploit(decided, roster, payoff),
            _upset(decided, ratings),
            _duel(decided, ratings),
        )
        if found is not None
    ]


def best_exploit(rows: Iterable[Mapping[str, Any]], exploiter: str) -> Highlight | None:
    """Won by an approximate best response: of its matches won, the one of middle length."""
    rows = [*rows]
    won = [row for row in rows if row["score"] and winner(row) == exploiter]
    if not won:
        return None
    won.sort(key=lambda row: (row.get("steps", 0), row["match"]))
    typical = won[len(won) // 2]
    why = f"{exploiter} wins {len(won)} of {len(rows)} matches"
    return _told("fresh exploit", typical, f"{why} against {loser(typical)}")


def _best_exploit(
    rows: list[Mapping[str, Any]], roster: Roster, payoff: Payoff
) -> Highlight | None:
    """Won by the exploiter that most surely beats a main agent."""
    exploiters = {*roster.exploiters()}
    mains = {*roster.snapshots("main"), *(main.version for main in roster.mains())}
    won = [row for row in rows if winner(row) in exploiters and loser(row) in mains]
    if not won:
        return None

    def sureness(row: Mapping[str, Any]) -> float:
        return payoff.belief(winner(row), loser(row)).low

    best = max(won, key=sureness)
    rate = payoff.belief(winner(best), loser(best))
    why = f"{winner(best)} beats {loser(best)} in {rate.value:.0%}, by {rate.n} matches"
    return _told("best exploit", best, why)


def _upset(rows: list[Mapping[str, Any]], ratings: Mapping[str, Estimate]) -> Highlight | None:
    """Won by the one whom ratings gave the least chance."""
    rated = [row for row in rows if ratings.keys() >= {*row["players"]}]
    if not rated:
        return None

    def chance(row: Mapping[str, Any]) -> float:
        return win_probability(ratings[winner(row)].value, ratings[loser(row)].value)

    best = min(rated, key=chance)
    why = f"ratings gave {winner(best)} {chance(best):.1%} against {loser(best)}"
    return _told("upset", best, why)


def _duel(rows: list[Mapping[str, Any]], ratings: Mapping[str, Estimate]) -> Highlight | None:
    """Between the two strongest who have met, the longest match that was decided."""
    rated = [row for row in rows if ratings.keys() >= {*row["players"]}]
    if not rated:
        return None

    def strength(row: Mapping[str, Any]) -> tuple[float, float]:
        weaker = min(ratings[name].value for name in row["players"])
        return weaker, float(row.get("steps", 0))

    best = max(rated, key=strength)
    return _told("duel", best, "the two strongest who have met")


def winner(row: Mapping[str, Any]) -> str:
    """Who won a decided match."""
    return str(row["players"][0 if row["score"] > 0 else 1])


def loser(row: Mapping[str, Any]) -> str:
    """Who lost it."""
    return str(row["players"][1 if row["score"] > 0 else 0])


def _told(kind: str, row: Mapping[str, Any], why: str) -> Highlight:
    one, other = row["players"]
    return Highlight(
        kind, str(row["match"]), row["round"], row["seed"], (one, other), winner(row), why
    )
