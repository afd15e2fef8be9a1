"""Equal random numbers for an agent in two simulators.

Agents draw random numbers, and so does negmas between their calls. So every call into an agent
starts from its own seed, made of the world's, the agent's place and the number of calls before.
Equal games then have equal numbers of calls.
"""

import functools
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from scml.oneshot.agent import OneShotAgent

from understudy.games.scml.engine.hosting.negotiators import takes
from understudy.games.scml.engine.hosting.wrapping import own_calls, subclass


def reseeded(
    kinds: Sequence[type[OneShotAgent]], seed: int
) -> tuple[list[int], list[type[OneShotAgent]]]:
    """Subclasses that seed before every call, and how often each has done so."""
    calls = [0] * len(kinds)
    return calls, [_subclass(kind, index, seed, calls) for index, kind in enumerate(kinds)]


def _subclass(
    kind: type[OneShotAgent], index: int, seed: int, calls: list[int]
) -> type[OneShotAgent]:
    def seeded(method: Any) -> Any:
        unknown = {name for name in ("dest", "source") if not takes(method, name)}

        @functools.wraps(method)
        def call(*arguments: Any, **named: Any) -> Any:
            if not unknown.isdisjoint(named):
                raise TypeError  # as the method would: negmas tries what an agent takes
            calls[index] += 1
            number = (seed * 1_000_003 + index * 7919 + calls[index] * 104_729) % 2**32
            random.seed(number)
            np.random.seed(number)
            return method(*arguments, **named)

        return call

    return subclass(kind, {name: seeded(getattr(kind, name)) for name in own_calls(kind)})
