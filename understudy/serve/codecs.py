"""Between a game and a policy: observations as features and masks, options as the game's actions.

A codec also says how a decision is written down so that `record GAME --logs` reads it.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from understudy.data.arrays import Array, Bools, Float32s
from understudy.export.numpy_policy import head_without_option
from understudy.learn.policy_shape import PolicyShape
from understudy.serve.messages import Asked, MessageError

Seen = tuple[Float32s, Bools]
"""Features [F] and which options are legal [O]."""


class Codec(Protocol):
    """What a game's observations and actions are."""

    live: bool
    """Matches are written as feedback streams and a manifest; else as logs of a plain game."""

    def see(self, asked: Asked, step: int) -> Seen:
        """What a policy reads of a message; MessageError where that cannot be."""
        ...

    def say(self, options: Array) -> dict[str, Any]:
        """Chosen options [H] in the game's own words."""
        ...


class PlainCodec:
    """Features as they are, as a list or by name; options by head."""

    live = False

    def __init__(self, shape: PolicyShape) -> None:
        self.features, self.heads = shape.features, dict(shape.heads)

    def see(self, asked: Asked, step: int) -> Seen:
        """A list in the order of the features, or an object by their names."""
        given = asked.observation
        if isinstance(given, dict):
            if missing := [name for name in self.features if name not in given]:
                raise MessageError(f"observation lacks {', '.join(missing[:3])}")
            given = [given[name] for name in self.features]
        return numbers(given, len(self.features)), legal_of(asked, self.heads)

    def say(self, options: Array) -> dict[str, Any]:
        """The option of each head."""
        return dict(zip(self.heads, options.tolist(), strict=True))


class ArenaCodec:
    """Views or features of the arena; actions as vectors and flags."""

    live = True

    def __init__(self, shape: PolicyShape) -> None:
        from understudy.games.arena.codec.features import FEATURES

        self.heads = shape.heads
        self.width = len(FEATURES)
        self.see(Asked(observation={"position": [0, 0], "health": 100}), 0)  # compiles

    def see(self, asked: Asked, step: int) -> Seen:
        """The fields of a view as an object, or the features as a list; the mask by the rules."""
        from understudy.games.arena.codec import features as codec

        view = self._view(asked.observation, step)
        given = asked.observation
        exact = isinstance(given, list) and len(given) == self.width
        seen = numbers(given, self.width) if exact else codec.features(view)[0]
        legal = codec.legal(view)[0] if asked.legal is None else legal_of(asked, self.heads)
        return seen, legal

    @staticmethod
    def _view(observation: Any, step: int) -> Float32s:
        from understudy.games.arena.data.log_lines import LineError, finite, view_of
        from understudy.games.arena.data.logs import work_out_reach
        from understudy.games.arena.data.tables import RECORDED_VIEW
        from understudy.games.arena.sim.rules import MAX_STEPS

        try:
            fields = finite(view_of(observation), RECORDED_VIEW)
        except (LineError, TypeError, RecursionError) as failure:
            raise MessageError(str(failure)) from failure
        view = np.array([[*fields, max(MAX_STEPS - step, 0)]], np.float32)
        work_out_reach(view)
        return view

    def say(self, options: Array) -> dict[str, Any]:
        """As `docs/arena-logs.md` has them."""
        from understudy.games.arena.codec.actions import ABILITIES, decode
        from understudy.games.arena.sim import rules as r

        done = decode(options).astype(float).tolist()
        return {
            "move": [done[r.MOVE_X], done[r.MOVE_Y]],  # not rounded: so they are read back exactly
            "aim": [done[r.AIM_X], done[r.AIM_Y]],
            "fire": bool(done[r.FIRE]),
            "interact": bool(done[r.INTERACT]),
            "ability": ABILITIES[int(done[r.ABILITY])],
        }


def codec_for(game: str, shape: PolicyShape) -> Codec:
    """How a game is spoken with."""
    return ArenaCodec(shape) if game == "arena" else PlainCodec(shape)


def numbers(given: Any, width: int) -> Float32s:
    """So many finite numbers."""
    if not isinstance(given, list) or len(given) != width:
        size = f"{len(given)} entries" if isinstance(given, list) else type(given).__name__
        raise MessageError(f"observation is {size}, not a list of {width} numbers")
    try:
        found = np.array(given, np.float32)
    except (ValueError, TypeError, OverflowError) as failure:
        raise MessageError("observation holds what is no number") from failure
    if found.shape != (width,) or not np.isfinite(found).all():
        raise MessageError("observation holds what is no finite number")
    return found


def legal_of(asked: Asked, heads: Mapping[str, int]) -> Bools:
    """The mask that was sent, which leaves something to choose; all options where none was."""
    options = sum(heads.values())
    if asked.legal is None:
        return np.ones(options, bool)
    if len(asked.legal) != options:
        raise MessageError(f"legal has {len(asked.legal)} entries, not {options}")
    legal = np.array(asked.legal, bool)
    if (head := head_without_option(legal[None], heads)) is not None:
        raise MessageError(f"legal leaves no option of {head}")
    return legal


def by_head(values: Array, heads: Mapping[str, int]) -> dict[str, list[float]]:
    """Numbers of all options side by side, head by head."""
    found, first = dict[str, list[float]](), 0
    for head, size in heads.items():
        found[head] = [round(value, 6) for value in values[first : first + size].tolist()]
        first += size
    return found
