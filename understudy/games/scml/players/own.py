"""Agents that people bring along: what they must be, found out before any world is played."""

import contextlib
import inspect
import io
import warnings
from collections.abc import Iterator
from typing import Any

from understudy.data.own_code import OwnCode, load_own, one_line
from understudy.errors import InputError
from understudy.games.scml.domain import Track


def check_agent(code: OwnCode, track: Track) -> None:
    """Refuse what cannot be imported, is no agent of the track, or cannot be made.

    Standard admits agents of OneShot, as the league does. The other way round only ours can play:
    theirs ask the simulator for what OneShot does not have.
    """
    from scml.oneshot.agent import OneShotAgent
    from scml.std.agent import StdAgent

    from understudy.games.scml.agent.hrl import HRLAgent

    with silence():
        kind = load_own(code)
        if not (inspect.isclass(kind) and issubclass(kind, OneShotAgent)):
            raise InputError(
                f"{code.title} is no SCML agent, but {_described(kind)}; {_CURE[track]}"
            )
        if track == "oneshot" and issubclass(kind, StdAgent) and not issubclass(kind, HRLAgent):
            raise InputError(f"{code.title} is an agent of Standard, not OneShot; {_CURE[track]}")
        if inspect.isabstract(kind):
            missing = ", ".join(sorted(vars(kind)["__abstractmethods__"]))
            raise InputError(f"{code.title} is not complete: it lacks {missing}")
        try:
            kind()
        except Exception as error:
            raise InputError(f"{code.title} fails in __init__: {one_line(error, code)}") from error


_CURE: dict[Track, str] = {
    "std": "derive it from scml.std.StdAgent or StdSyncAgent",
    "oneshot": "derive it from scml.oneshot.OneShotAgent or OneShotSyncAgent",
}


def _described(thing: Any) -> str:
    if not inspect.isclass(thing):
        return f"of type {type(thing).__name__}"
    bases = ", ".join(base.__name__ for base in thing.__bases__)
    return f"a class derived from {bases}"


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Agents print and warn when they are imported."""
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield
