"""Recorded matches of competitive games, turned into agents that win.

What other programs may rely on, wherever it moves inside:

    import understudy

    understudy.record("arena", out="runs/arena", matches=2000)
    understudy.encode("arena", out="runs/arena")
    understudy.train("arena", "imitate", out="runs/arena")
    result = understudy.compete("arena", ["imitate", "expert"], out="runs/arena", matches=400)
    print(result.table())  # also to_frame(), report(), and as a table in a notebook
    policy = understudy.load_policy("runs/arena/models/imitate")
    policy.act(observation, mask)

Nothing is imported before it is asked for: torch and scml take seconds.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING

__all__ = [
    "ArenaEnv",
    "ArenaParallelEnv",
    "ArenaVectorEnv",
    "HRLAgent",
    "__version__",
    "compete",
    "encode",
    "league",
    "load_policy",
    "record",
    "replay",
    "train",
]

if TYPE_CHECKING:  # type checkers and editors read this; it must name what `_HOMES` names
    from understudy.api.pages import replay
    from understudy.api.policies import load_policy
    from understudy.api.stages import compete, encode, league, record, train
    from understudy.games.arena.env import ArenaEnv, ArenaParallelEnv, ArenaVectorEnv
    from understudy.games.scml.agent.hrl import HRLAgent

    __version__: str
else:
    _HOMES = {
        **dict.fromkeys(("compete", "encode", "league", "record", "train"), "api.stages"),
        "load_policy": "api.policies",
        "replay": "api.pages",
        **dict.fromkeys(("ArenaEnv", "ArenaParallelEnv", "ArenaVectorEnv"), "games.arena.env"),
        "HRLAgent": "games.scml.agent.hrl",
    }

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from importlib.metadata import version

            found = version("understudy")
        elif name in _HOMES:
            from importlib import import_module

            found = getattr(import_module(f"understudy.{_HOMES[name]}"), name)
        else:
            raise AttributeError(f"module 'understudy' has no attribute '{name}'")
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})

    class _Package(ModuleType):
        """`league` is a function to whoever asks here, though a room has that name, too."""

        def __setattr__(self, name: str, value: object) -> None:
            if not (name in _HOMES and isinstance(value, ModuleType)):
                super().__setattr__(name, value)

    sys.modules[__name__].__class__ = _Package
