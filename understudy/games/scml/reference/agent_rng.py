"""One stream of random numbers for all agents of a world in scml, as in our engine.

Our engine draws no random numbers, so there the agents' calls simply share the global streams. In
scml negmas draws in between. So the agents' random states are put in place before each call and
taken away after it.
"""

import functools
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from scml.oneshot.agent import OneShotAgent

from understudy.games.scml.engine.hosting.wrapping import own_calls, subclass


class Stream:
    """The agents' random states, from now on."""

    def __init__(self) -> None:
        self.raised_by: int | None = None
        """The factory whose agent raised last; scml does not say whose exception ended it."""
        self._inside = False
        self._leave()

    def _enter(self) -> None:
        random.setstate(self._states[0])
        np.random.set_state(self._states[1])

    def _leave(self) -> None:
        self._states = random.getstate(), np.random.get_state()

    def call(self, index: int, method: Any, arguments: Any, named: Any) -> Any:
        """The method's answer, drawn from this stream; calls inside of calls are part of them."""
        if self._inside:
            return method(*arguments, **named)
        self._inside = True
        self._enter()
        try:
            return method(*arguments, **named)
        except Exception:
            self.raised_by = index
            raise
        finally:
            self._leave()
            self._inside = False


def on_one_stream(kinds: Sequence[type[OneShotAgent]], stream: Stream) -> list[type[OneShotAgent]]:
    """Subclasses that draw from the stream."""
    return [_subclass(kind, index, stream) for index, kind in enumerate(kinds)]


def _subclass(kind: type[OneShotAgent], index: int, stream: Stream) -> type[OneShotAgent]:
    def drawing(method: Any) -> Any:
        @functools.wraps(method)
        def call(*arguments: Any, **named: Any) -> Any:
            return stream.call(index, method, arguments, named)

        return call

    # Making an agent draws, for its name, even where the class has nothing to add.
    names = {"__init__", *own_calls(kind)}
    return subclass(kind, {name: drawing(getattr(kind, name)) for name in names})
