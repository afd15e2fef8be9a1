"""Environments by name: `connect_four_v3` of PettingZoo's own packages, or `MODULE:FUNCTION`."""

import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from understudy import extras
from understudy.errors import InputError, did_you_mean
from understudy.games.pettingzoo.crowd import AecCrowd, ParallelCrowd, are_alike
from understudy.games.pettingzoo.matches import AecMatch, ParallelMatch
from understudy.games.pettingzoo.spaces import heads_of, size
from understudy.games.two_player.hosted import HostedEnv
from understudy.games.two_player.hosted_game import hosted_game
from understudy.pipeline.game import Game
from understudy.workers.attempt import line_of

EXAMPLE = "connect_four_v3"
PACKAGES = (*(f"pettingzoo.{part}" for part in ("classic", "butterfly", "atari", "sisl")), "mpe2")
MOST_FEATURES = 4_096
_OWN = "Wrap it in a function of your own: pettingzoo:MODULE:FUNCTION"


@cache
def load(name: str) -> Game:
    """An environment of two players, as a game."""
    return hosted_game(PettingZoo(name), f"{name}, an environment of PettingZoo's kind")


@dataclass(frozen=True)
class PettingZoo:
    """An environment by the name that comes after `pettingzoo:`."""

    environment: str

    @property
    def name(self) -> str:
        """The game's name."""
        return f"pettingzoo:{self.environment}"

    def __call__(self, num_matches: int, pseudo_reward: float) -> HostedEnv:
        """So many matches; rewards of the environment's own are the pseudo-reward."""
        return HostedEnv(self, num_matches, pseudo_reward)

    @property
    def features(self) -> int:
        """Of the agent that sees more."""
        return _looked_at(self.environment)[0]

    @property
    def heads(self) -> tuple[int, ...]:
        """Of both agents; a head has the options of the one that has more."""
        return _looked_at(self.environment)[1]

    def match(self) -> AecMatch | ParallelMatch:
        """Room for one match."""
        env = _for_two(_make(self.environment)())
        kind = AecMatch if hasattr(env, "agent_iter") else ParallelMatch
        return kind(env, self.heads)


@cache
def _looked_at(name: str) -> tuple[int, tuple[int, ...]]:
    """Features and heads of an environment; InputError where it cannot be a game of ours."""
    env = _made(name)
    agents = list(env.possible_agents)
    if len(agents) < 2:
        raise InputError(f"pettingzoo:{name} is for {len(agents)} player; games here are for two")
    if len(agents) > 2 and not are_alike(env):
        raise InputError(
            f"pettingzoo:{name} is for {len(agents)} players that are not alike; games here are "
            f"for two, or for more that see and do the same. {_OWN}"
        )
    try:
        features = max(size(env.observation_space(one)) for one in agents)
        both = [heads_of(env.action_space(one)) for one in agents]
    except ValueError as mistake:
        raise InputError(f"pettingzoo:{name} {mistake}. {_OWN}") from None
    except Exception as failure:
        raise InputError(f"pettingzoo:{name} has no spaces: {line_of(failure)}") from failure
    if len(both[0]) != len(both[1]):
        counts = f"{len(both[0])} and {len(both[1])}"
        raise InputError(f"pettingzoo:{name} has players that choose {counts} things. {_OWN}")
    if features > MOST_FEATURES:
        shown = f"{features:,} numbers, more than {MOST_FEATURES:,}"
        raise InputError(f"pettingzoo:{name} shows {shown}: make its pictures smaller. {_OWN}")
    return features, tuple(map(max, zip(*both, strict=True)))


def _made(name: str) -> Any:
    """One such environment; InputError where none comes of it."""
    make = _make(name)
    try:
        env = make()
    except Exception as failure:
        raise InputError(f"pettingzoo:{name} cannot be made: {line_of(failure)}") from failure
    if not hasattr(env, "possible_agents"):
        raise InputError(
            f"pettingzoo:{name} makes no environment of PettingZoo but {type(env).__name__}, "
            "which has no possible_agents"
        )
    return env


def _for_two(env: Any) -> Any:
    """An environment as it is, or of a crowd two seats, the others guessing."""
    if len(env.possible_agents) == 2:
        return env
    return AecCrowd(env) if hasattr(env, "agent_iter") else ParallelCrowd(env)


@cache
def _make(name: str) -> Callable[[], Any]:
    """The function that makes an environment; `parallel_env` where there is one: fewer steps."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # it would greet everybody on stdout
    place, colon, function = name.rpartition(":")
    if place.endswith(".py"):
        raise InputError(f"name the module, not its file: pettingzoo:{place[:-3]}:{function}")
    found = _imported(place if colon else _of_theirs(name), name)
    names = (function,) if colon else ("parallel_env", "env")
    for one in names:
        if callable(made := getattr(found, one, None)):
            return made
    near = did_you_mean(function, vars(found)) if colon else ""
    told = f"{found.__name__} has no function {' or '.join(names)}{near}"
    raise InputError(f"{told} for pettingzoo:{name}")


def _of_theirs(name: str) -> str:
    """The module of one of PettingZoo's own."""
    for package in PACKAGES:
        if find_spec(package.partition(".")[0]) and find_spec(f"{package}.{name}"):
            return f"{package}.{name}"
    raise InputError(
        f"there is no environment '{name}' in {', '.join(PACKAGES)}; one of your own is "
        "pettingzoo:MODULE:FUNCTION"
    )


def _imported(module: str, name: str) -> Any:
    """A module, also of the folder one stands in: worker processes stand there as well."""
    if "" not in sys.path and (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    try:
        with warnings.catch_warnings():  # theirs say that there is a newer way to ask for them
            warnings.simplefilter("ignore", DeprecationWarning)
            return import_module(module)
    except ImportError as failure:
        if mistake := extras.cured(failure, f"pettingzoo:{name}"):
            raise mistake from failure
        cure = (
            f"{module} is looked for in the folder you stand in, and where packages are installed"
            if ":" in name
            else 'What PettingZoo\'s own need: pip install "pettingzoo[classic]"'
        )
        raise InputError(f"pettingzoo:{name} cannot be imported ({failure}). {cure}") from failure
    except Exception as failure:  # of somebody else's file
        raise InputError(f"pettingzoo:{name} cannot be imported: {line_of(failure)}") from failure
