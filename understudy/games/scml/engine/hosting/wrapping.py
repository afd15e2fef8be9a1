"""Subclasses of agent classes whose calls pass through code of ours; simulators see no difference.

Both simulators treat an agent by what it leaves to the base classes, so only methods of its own may
be replaced without a thought.
"""

from collections.abc import Mapping
from typing import Any

from negmas.sao import SAOSyncController
from scml.oneshot.agent import OneShotAgent

AGENT_CALLS = (
    "init",
    "before_step",
    "step",
    "first_proposals",
    "counter_all",
    "propose",
    "respond",
    "on_negotiation_success",
    "on_negotiation_failure",
)
"""What a simulator asks of an agent."""


def own_calls(kind: type[OneShotAgent]) -> list[str]:
    """The calls, and the making, that an agent class does not leave to negmas or scml."""
    return [
        name
        for name in ("__init__", *AGENT_CALLS)
        if hasattr(kind, name)
        and getattr(kind, name) is not getattr(SAOSyncController, name, None)
        and getattr(kind, name) is not getattr(OneShotAgent, name, None)
    ]


def subclass(kind: type[OneShotAgent], members: Mapping[str, Any]) -> type[OneShotAgent]:
    """A class that passes for `kind` and has these methods, or values, instead."""
    named = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    return type(kind.__name__, (kind,), {**members, **named})
