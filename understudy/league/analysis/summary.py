"""What came of a league, as plain values: `summary.json` beside its state."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from understudy.data.integrity.json_files import read_json, write_json
from understudy.data.integrity.json_files import read_lines as read_lines_of
from understudy.data.integrity.shapes import LeagueMatch, LeagueSummary
from understudy.data.runs import LeagueFolder
from understudy.data.stats import Estimate
from understudy.errors import InputError
from understudy.league.analysis.cyclicity import cyclicity
from understudy.league.analysis.exploitability import worst_past
from understudy.league.analysis.highlights import Highlight, highlight_matches
from understudy.league.analysis.nash import nash, relative_performance, shares_by_name
from understudy.league.analysis.ratings import ANCHOR, elo
from understudy.league.analysis.verdict import verdict
from understudy.league.matches import MATCHES
from understudy.league.population import Roster
from understudy.league.state import State


def ratings_of(state: State) -> dict[str, Estimate]:
    """Of everybody who has ever played, versions that are no more included."""
    names = list(dict.fromkeys([state.roster.start, *state.payoff.names()]))
    return elo(names, state.payoff.points(names), anchor=state.roster.start)


def own_nash(state: State) -> dict[str, float]:
    """The Nash mixture among all who have weights: what the league has to offer, scripts apart."""
    scripted = {player.name for player in state.roster.frozen if player.kind == "scripted"}
    names = [name for name in state.roster.members() if name not in scripted]
    shares = shares_by_name(names, nash(state.payoff.matrix(names)))
    total = sum(shares.values())
    return {name: share / total for name, share in shares.items()}


def summarise(
    state: State,
    lines: Sequence[Mapping[str, Any]],
    exploits: Mapping[str, Mapping[str, Any]],
    highlights: Sequence[Highlight] = (),
    *,
    way: str = "",
    exact: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """The whole summary.

    `exploits` are what approximate best responses have measured, `highlights` their matches worth
    watching; `way` is how opponents were chosen, `exact` what the best answer wins where that can
    be computed, against the main agent and against the league's own mixture.
    """
    ratings = ratings_of(state)
    members = state.roster.members()
    rates = state.payoff.matrix(members)
    found = {
        "rounds": state.round,
        "agent_steps": state.agent_steps,
        "match_steps": state.match_steps,
        "matches": len(lines),
        "elo_scale": f"400 points are odds of 10 to 1; {state.roster.start} has {ANCHOR:.0f}",
        "players": sorted(
            (_player(name, state.roster, ratings) for name in members),
            key=lambda player: -player["rating"],
        ),
        "rating_curves": _curves(state, ratings),
        "win_rates": _pairs(state, members),
        "nash": shares_by_name(members, nash(rates)),
        "own_nash": own_nash(state),
        "relative_population_performance": _against_the_beginning(state.roster, rates),
        "minimum_win_rate": {
            main.name: worst_past(state.payoff, main, state.roster) for main in state.roster.mains()
        },
        "best_response": dict(exploits),
        "exact": dict(exact or {}),
        "cyclicity": _cyclicity(state, members),
        "way": way,
        "highlights": [
            asdict(one)
            for one in (*highlights, *highlight_matches(lines, state.roster, state.payoff, ratings))
        ],
    }
    return found | {"verdict": verdict(found)}


def _cyclicity(state: State, members: Sequence[str]) -> dict[str, float]:
    """The share of what makes win rates differ that no rating explains."""
    known = cyclicity(state.payoff.points(members))
    return {**known.named("value"), "n": known.n or 0}


def read_lines(folder: Path) -> list[dict[str, Any]]:
    """All matches of a league."""
    cure = "Run the same understudy league again: it writes it anew"
    return [{**line} for line in read_lines_of(folder / MATCHES, LeagueMatch, cure)]


def write_summary(folder: Path, summary: Mapping[str, Any]) -> None:
    """Replace the summary in a folder, whole."""
    write_json(LeagueFolder(folder).summary, summary)


def read_summary(folder: Path) -> dict[str, Any]:
    """What `write_summary` wrote."""
    path = LeagueFolder(folder).summary
    cure = "Run the same understudy league again: it writes it"
    found = read_json(path, LeagueSummary, cure)
    if found is None:
        raise InputError(f"{path} is missing. {cure}")
    return {**found}


def _player(name: str, roster: Roster, ratings: Mapping[str, Estimate]) -> dict[str, Any]:
    rating = ratings[name]
    # One who has just started over is nobody yet: it only has the weights it was given.
    now = [one for one in roster.learners if one.version == name and one.agent_steps]
    frozen = [player for player in roster.frozen if player.name == name]
    return {
        "name": name,
        "kind": frozen[0].kind if frozen else "learner",
        "role": (frozen or now)[0].role,
        "learner": now[0].name if now else frozen[0].learner,
        "parent": (frozen or now)[0].parent,
        "present": [learner.name for learner in now],
        "rating": rating.value,
        "low": rating.low,
        "high": rating.high,
    }


def _curves(state: State, ratings: Mapping[str, Estimate]) -> dict[str, list[dict[str, Any]]]:
    """Every version of every learner, rated together with all others."""
    found: dict[str, list[dict[str, Any]]] = {}
    for entry in state.history:
        for name, learner in entry["learners"].items():
            point = {
                "round": entry["round"],
                "agent_steps": entry["agent_steps"],
                **ratings[learner["version"]].named("value"),
            }
            found.setdefault(name, []).append(point)
    return found


def _pairs(state: State, members: Sequence[str]) -> list[dict[str, Any]]:
    """Both sides of every pair that has met, with 95 % intervals."""
    found = []
    for one, other in permutations(members, 2):
        tally = state.payoff.played(one, other)
        if tally.games:
            rate = state.payoff.belief(one, other, 0.975)
            found.append({"player": one, "opponent": other, **tally._asdict(), **rate.named()})
    return found


def _against_the_beginning(roster: Roster, rates: Float[np.ndarray, "N N"]) -> float | None:
    """How everything the league has made fares against what it began with; a win rate."""
    old = {player.name for player in roster.frozen if player.role is None}
    members = roster.members()
    before = [place for place, name in enumerate(members) if name in old]
    after = [place for place, name in enumerate(members) if name not in old]
    return relative_performance(rates[np.ix_(after, before)]) if after else None
