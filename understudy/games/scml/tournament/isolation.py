"""Worlds with agents that may kill, hang or spoil their process, each in a process of its own.

Who is to blame for a world that did not end well is found out by playing it again with the
suspects one by one, the others doing nothing. The guilty one then does nothing in that world, a
fault is written down with what it did, and the others play on.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any

from understudy.games.scml.engine.hosting import faults
from understudy.games.scml.tournament.design import WorldPlan
from understudy.workers.alone import Ended, Limits, Mark, alone
from understudy.workers.attempt import SPOILT

MEMORY = 4 * 2**30
"""Bytes that the agents of a world may use."""
SECONDS = 900.0
"""For one world alone, unless --task-seconds says otherwise."""
_OURS = ("understudy.games.scml.engine", "understudy.games.scml.recording")
"""What a world rests on: whoever changes code there changes the rules."""

Rules = dict[str, CodeType]
Tables = dict[str, Any]
Blamed = Mapping[int, str]
"""By factory, what its agent did. Such an agent does nothing."""
NOBODY: Blamed = MappingProxyType({})


@dataclass(frozen=True)
class Player:
    """A player of one world, and its factories."""

    name: str
    factories: tuple[int, ...]


def play_isolated(plan: WorldPlan, play: Callable[[WorldPlan, Blamed], Tables]) -> Tables:
    """The tables of a world whose agents may do anything."""
    limits = Limits(plan.seconds or SECONDS, MEMORY)
    blamed = dict[int, str]()
    while True:
        ended = _attempt(plan, blamed, play, limits)
        if ended.death is None:
            return ended.value
        suspects = [one for one in _suspects(plan) if not blamed.keys() & set(one.factories)]
        if not suspects:
            raise RuntimeError(f"{plan.match}: {ended.death}, with nobody left to blame")
        for one, what in _guilty(plan, blamed, suspects, ended, play, limits):
            blamed |= dict.fromkeys(one.factories, what)


def _guilty(
    plan: WorldPlan,
    blamed: Blamed,
    suspects: Sequence[Player],
    ended: Ended,
    play: Callable[[WorldPlan, Blamed], Tables],
    limits: Limits,
) -> list[tuple[Player, str]]:
    """Who did it, and what. Where nobody does it alone: whose code was running, or all."""
    assert ended.death is not None
    inside = [one for one in suspects if ended.mark in one.factories]
    if len(suspects) == 1 or (ended.late and inside):  # to wait for another hang proves nothing
        return [(one, ended.death) for one in inside or suspects]
    for one in [*inside, *(other for other in suspects if other not in inside)]:
        others = {
            factory: "is no suspect now"
            for other in suspects
            if other is not one
            for factory in other.factories
        }
        again = _attempt(plan, {**blamed, **others}, play, limits)
        if again.death is not None:
            return [(one, again.death)]
    if inside:
        return [(inside[0], ended.death)]
    names = ", ".join(one.name for one in suspects)
    return [(one, f"{ended.death}; one of {names}, none of them alone") for one in suspects]


def _attempt(
    plan: WorldPlan, idle: Blamed, play: Callable[[WorldPlan, Blamed], Tables], limits: Limits
) -> Ended:
    """Play the world in a process of its own, with some who do nothing."""

    def call(mark: Mark) -> Tables:
        faults.tell_of_calls(mark.set)
        return play(plan, idle)

    try:
        return alone(call, limits)
    except RuntimeError as failure:
        if SPOILT in str(failure):
            return Ended(None, "changed the simulator's own code")
        raise


def _suspects(plan: WorldPlan) -> list[Player]:
    """Players whose code is not ours, those that were brought first."""
    from understudy.games.scml.players import catalogue

    found = dict[str, list[int]]()
    brought = set[str]()
    for index, ref in enumerate(plan.players):
        if ref.code is not None:
            brought.add(ref.name)
        elif ref.weights is not None or catalogue.is_ours(ref.name, plan.track):
            continue
        found.setdefault(ref.name, []).append(index)
    ranked = sorted(found.items(), key=lambda item: item[0] not in brought)
    return [Player(name, tuple(factories)) for name, factories in ranked]


def is_foreign(plan: WorldPlan) -> bool:
    """Whether somebody in it was brought along."""
    return any(ref.code is not None for ref in plan.players)


def isolated(plans: Sequence[WorldPlan], seconds: float | None) -> tuple[WorldPlan, ...]:
    """The same worlds, each to be played in a process of its own."""
    return tuple(
        replace(plan, isolated=True, seconds=seconds) if plan.simulator != "batch" else plan
        for plan in plans
    )


# --- Spoilt code ---------------------------------------------------------------------------------


def rules_in_force() -> Rules:
    """The code that worlds rest on, by name, as it is now in this process."""
    return {
        f"{module.__name__}.{name}": thing
        for module in _modules()
        for name, thing in _things(module)
    }


def require_unspoilt(before: Rules) -> None:
    """Raise RuntimeError where code of ours is another than before: this process is no good now."""
    now = rules_in_force()
    changed = sorted(name for name in before if now.get(name) is not before[name])
    if changed:
        raise RuntimeError(f"{SPOILT}: {changed[0]} was changed by an agent")


def _modules() -> Iterator[ModuleType]:
    for name, module in sorted(sys.modules.items()):
        if name.startswith(_OURS):
            yield module


def _things(module: ModuleType) -> Iterator[tuple[str, CodeType]]:
    for name, thing in vars(module).items():
        if isinstance(thing, FunctionType):
            yield name, thing.__code__
        elif isinstance(thing, type) and thing.__module__ == module.__name__:
            for inner, method in vars(thing).items():
                if isinstance(method, FunctionType):
                    yield f"{name}.{inner}", method.__code__
