"""PettingZoo's environments on the command line: as any game of two, after a look at each."""

from dataclasses import replace
from functools import wraps
from typing import Any

from understudy.errors import InputError
from understudy.games.two_player import commands as of_two
from understudy.pipeline.game import load
from understudy.terminal.commands import Command, Commands
from understudy.terminal.console import err_console


def commands_of(name: str) -> Commands:
    """All that one of them has."""
    found = of_two.commands_of(name)
    return replace(found, verbs={**found.verbs, "record": _warning(name, found.verbs["record"])})


def _warning(name: str, record: Command) -> Command:
    """`record` that says first whether what it does could be done again."""

    @wraps(record)
    def with_a_look(*given: Any, **told: Any) -> None:
        from understudy.games.pettingzoo.family import PettingZoo
        from understudy.games.two_player.hosted import replays_exactly
        from understudy.workers.attempt import line_of

        load(name)  # which refuses what is no game of ours
        try:
            exact = replays_exactly(PettingZoo(name.partition(":")[2]))
        except Exception as failure:
            raise InputError(f"{name} fails as it is played: {line_of(failure)}") from failure
        if not exact:
            err_console.print(
                f"{name} is not deterministic: the same seed and choices give another match. "
                "Training that was stopped goes on, but not exactly as it would have"
            )
        record(*given, **told)

    return with_a_look
