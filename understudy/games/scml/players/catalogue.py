"""The agents that can play, by name: scml's built-ins, ours, and the league's of 2024 to 2026.

Older agents of the Standard track were written for another world and cannot play in this one.
"""

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

from understudy import extras
from understudy.data.own_code import OwnCode, load_own, require_name
from understudy.errors import InputError, did_you_mean, some
from understudy.games.scml.domain import Track

if TYPE_CHECKING:  # takes seconds to import
    from scml.oneshot.agent import OneShotAgent

BUILT_INS = {
    "Greedy": "scml.std.agents.GreedyStdAgent",
    "Random": "scml.std.agents.RandomStdAgent",
    "SyncRandom": "scml.std.agents.SyncRandomStdAgent",
    "DoNothing": "scml.std.agents.StdDoNothingAgent",
}
LEAGUE_2024 = {
    "Penguin": "team_penguin.PenguinAgent",  # first
    "Cautious": "team_miyajima_std.CautiousStdAgent",
    "Dog": "team_181.DogAgent",
    "AX": "team_178.AX",
    "QuickDecision": "teamyuzuru.QuickDecisionAgent",
    "Group2": "coyoteteam.Group2",
    "MatchingPennies": "team_193.MatchingPennies",
    "S5s": "team_atsunaga.S5s",
}
LEAGUE_2025 = {
    "AS0": "team_atsunaga.AS0",  # first
    "Xeno": "team_253.XenoSotaAgent",  # second
    "UltraSuperMiracle": "team_254.UltraSuperMiracleSoraFinalAgentZ",  # third
    "PriceTrend": "team_280.PriceTrendStdAgent",
    "Ponpon": "team_255.PonponAgent",
    "KATSUDON": "team_268.KATSUDONAgent",
    "LitaYR": "team_276.LitaAgentYR",
}
LEAGUE_2026 = {
    # the finalists; the package names no winner
    "TakaLink": "team_21282",
    "COW": "team_21303",
    "SBD": "team_21650",
    "HorizonAware": "team_21653",
    "Rohn": "team_21695",
    "Hi": "team_21800",  # its class is called Std
    # the others
    "Ok": "team_20941",
    "BalancedGreedy": "team_20964",
    "Arion": "team_21021",
    "EmSel": "team_21084",
    "ShimijimiShijimi": "team_21127",
    "AgeAge": "team_21165",
    "Agent01": "team_21195",
    "GS3": "team_21201",
    "Sugai": "team_21313",
    "Group4": "team_21559",
    "SuperimagentZ": "team_21683",
    "Kota": "team_21747",
    "StdOmega": "team_21803",
    "SupmerkosV3": "team_22272",
}

LEARNT = {
    "HRL": "understudy.games.scml.agent.hrl.HRLAgent",
    "L1": "understudy.games.scml.agent.hrl.L1Agent",
}
OURS: dict[Track, dict[str, str]] = {
    "std": {
        "Steward": "understudy.games.scml.players.steward.Steward",
        "TunedSteward": "understudy.games.scml.players.steward.TunedSteward",
        **LEARNT,
        "L1Risk": "understudy.games.scml.agent.hrl.L1RiskAgent",
        "HorizonAwareClone": "understudy.games.scml.agent.clones.HorizonAwareClone",
        "SafePenguin": "understudy.games.scml.players.safety_wrapper.SafePenguin",
    },
    "oneshot": {"Matcher": "understudy.games.scml.players.matcher.Matcher", **LEARNT},
}
STD: dict[str, str] = (
    BUILT_INS
    | {name: f"scml_agents.scml2024.standard.{path}" for name, path in LEAGUE_2024.items()}
    | {name: f"scml_agents.scml2025.standard.{path}" for name, path in LEAGUE_2025.items()}
    | {name: f"scml_agents.scml2026.standard.{p}.MAIN_AGENT" for name, p in LEAGUE_2026.items()}
    | OURS["std"]
)
ONESHOT: dict[str, str] = {
    "Random": "scml.oneshot.agents.RandomOneShotAgent",
    "SyncRandom": "scml.oneshot.agents.SyncRandomOneShotAgent",
    "RandDist": "scml.oneshot.agents.RandDistOneShotAgent",
    "EqualDist": "scml.oneshot.agents.EqualDistOneShotAgent",
    "Greedy": "scml.oneshot.agents.GreedyOneShotAgent",
    "GreedySync": "scml.oneshot.agents.GreedySyncAgent",
    "DoNothing": "scml.oneshot.agents.OneshotDoNothingAgent",
    # 2024: the first four are its winners
    "Cautious": "scml_agents.scml2024.oneshot.team_miyajima_oneshot.CautiousOneShotAgent",
    "MatchingPennies": "scml_agents.scml2024.oneshot.team_193.MatchingPennies",
    "DistRedist": "scml_agents.scml2024.oneshot.team_171.DistRedistAgent",
    "EpsilonGreedy": "scml_agents.scml2024.oneshot.teamyuzuru.EpsilonGreedyAgent",
    "Suzuka": "scml_agents.scml2024.oneshot.team_abc.SuzukaAgent",
    # 2025: the first three are its winners
    "CostAverse": "scml_agents.scml2025.oneshot.teamyuzuru.CostAverseAgent",
    "Rchan": "scml_agents.scml2025.oneshot.takafam.Rchan",
    "AlmostEqual": "scml_agents.scml2025.oneshot.team_284.AlmostEqualAgent",
    **OURS["oneshot"],
}
CATALOGUE: dict[Track, dict[str, str]] = {"std": STD, "oneshot": ONESHOT}
BACKGROUND_AGENTS: dict[Track, tuple[str, ...]] = {
    "std": ("Greedy", "Random", "SyncRandom"),
    "oneshot": ("Greedy", "RandDist", "EqualDist"),
}
"""Those that fill a tournament's empty places: scml's DefaultAgentsStd and DefaultAgentsOneShot."""

UNFORGETTING = ("LitaYR",)
"""Agents that keep what they learn in their module, where the next world would find it."""

BORROWING = ("SafePenguin",)
"""Agents of ours that are made of one of the league's."""

INEXACT: dict[str, str] = {}
"""Agents whose games cannot be repeated, not even in scml, and why."""


def names(chosen: str, track: Track = "std") -> list[str]:
    """Agents by comma: names, a year of the league, built-ins, or all."""
    agents: list[str] = []
    for part in filter(None, (part.strip() for part in chosen.split(","))):
        agents += group(part, track) or [known(part, track)]
    if not agents:
        raise InputError(f"no SCML agent is named; there is {', '.join(CATALOGUE[track])}")
    return list(dict.fromkeys(agents))


def group(name: str, track: Track = "std") -> list[str]:
    """The agents that go by one name together; none if it is no such name."""
    agents = CATALOGUE[track]
    if name == "all":
        return list(agents)
    if name == "built-ins":
        return [agent for agent, path in agents.items() if path.startswith("scml.")]
    if name in ("2024", "2025", "2026"):
        return [agent for agent, path in agents.items() if f".scml{name}." in path]
    return []


def best(most: Mapping[int, int], track: Track = "std") -> list[str]:
    """So many of each year's agents, those that came off best first, as far as is known."""
    return [name for year, count in most.items() for name in group(str(year), track)[:count]]


def known(name: str, track: Track = "std") -> str:
    """The name of one agent, if there is such an agent."""
    if name not in CATALOGUE[track]:
        require_name(name)
        raise InputError(
            f"there is no SCML agent '{name}'{did_you_mean(name, CATALOGUE[track])}; there is "
            f"{some(CATALOGUE[track], 'understudy recipes scml')}, "
            "and together 2024, 2025, 2026, built-ins, all"
        )
    return name


def require(players: Sequence[str], track: Track = "std") -> None:
    """InputError where the package that brings one of these players is not installed."""
    for name in players:
        path = CATALOGUE[track].get(name, "")
        if path.startswith("scml_agents.") or name in BORROWING:
            extras.require(["scml", "scml_agents"], f"the agent {name}")


def is_ours(name: str, track: Track = "std") -> bool:
    """Whether an agent is of this project or of scml itself."""
    return CATALOGUE[track].get(name, "").startswith(("understudy.", "scml."))


def load(name: str, track: Track = "std") -> "type[OneShotAgent]":
    """The class of an agent."""
    module, _, kind = CATALOGUE[track][name].rpartition(".")
    return getattr(import_module(module), kind)


def load_for_world(
    players: Sequence[str], track: Track = "std", own: Mapping[str, OwnCode] = MappingProxyType({})
) -> "list[type[OneShotAgent]]":
    """The classes for one world, in the order of the names, with nothing left of other worlds.

    `own` is where players are written that are not in the catalogue.
    """
    for name in set(players).intersection(UNFORGETTING).difference(own):
        _forget(CATALOGUE[track][name].rpartition(".")[0])
    kinds = {
        name: load_own(own[name]) if name in own else load(name, track)
        for name in dict.fromkeys(players)
    }
    return [kinds[name] for name in players]


def _forget(package: str) -> None:
    for module in [name for name in sys.modules if f"{name}.".startswith(f"{package}.")]:
        del sys.modules[module]
