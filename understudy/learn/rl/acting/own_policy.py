"""Somebody's own policy at play.

    def policy(observations, masks):            # or: (observations, masks, uniform)
        return options

Axes: n decisions at once, F features, H heads, O options of all heads side by side.
`observations` is float32 [n, F], `masks` bool [n, O]: which options are legal. `options` are whole
numbers [n, H], one option of every head; with one head [n] will do. Where a head has but one legal
option, as for whoever waits, that one is taken whatever is answered. Whoever wants chance takes it
from `uniform`, float32 [n, H] of [0, 1), so that the same match is played the same way again. A
class is made without arguments and then called likewise. It sees decisions of many matches at once
and must not count on their order: what it needs to know is in the observation.
"""

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from jaxtyping import Bool, Float32, Int64

from understudy.data.own_code import OwnCode, load_own, one_line
from understudy.errors import InputError
from understudy.learn.rl.env import Array


class OwnPolicy:
    """A function or class of somebody's own, asked as a trained policy is."""

    remembers = False

    def __init__(self, code: OwnCode, heads: Mapping[str, int]) -> None:
        self.code, self.heads = code, dict(heads)
        found = load_own(code)
        if inspect.isclass(found):
            try:
                found = found()
            except Exception as error:
                told = one_line(error, code)
                raise InputError(f"{code.title} fails in __init__: {told}") from error
        if not callable(found):
            raise InputError(f"{code.title} is no policy: it cannot be called")
        self._policy, self._takes_chance = found, _takes_chance(found, code)

    def act(self, seen: Iterable[Array], uniform: Any, which: Array, slot: Array) -> Array:
        """As `PolicyPlayer.act`; it makes no difference where it sits."""
        observation, legal = seen
        chance = uniform.cpu().numpy() if hasattr(uniform, "cpu") else uniform
        return self.choose(observation, legal, chance)

    def choose(
        self,
        observation: Float32[np.ndarray, "n F"],
        legal: Bool[np.ndarray, "n O"],
        uniform: Float32[np.ndarray, "n H"],
    ) -> Int64[np.ndarray, "n H"]:
        """Its options; InputError for what are none, or not legal ones."""
        given = (observation.copy(), legal.copy())  # it may write into them
        try:
            told = self._policy(*given, uniform) if self._takes_chance else self._policy(*given)
        except Exception as error:
            raise InputError(f"{self.code.title} fails: {one_line(error, self.code)}") from error
        return self._checked(told, legal)

    def _checked(self, told: Any, legal: Array) -> Array:
        options = np.asarray(told)
        if options.shape == (len(legal),) and len(self.heads) == 1:
            options = options[:, None]
        wanted = (len(legal), len(self.heads))
        if options.shape != wanted or not np.issubdtype(options.dtype, np.integer):
            raise InputError(
                f"{self.code.title} must answer with whole numbers {list(wanted)}, an option of "
                f"each of {', '.join(self.heads)}; it answered {options.dtype} "
                f"{list(options.shape)}"
            )
        options = options.astype(np.int64)
        first = 0
        for chosen, (head, size) in zip(options.T, self.heads.items(), strict=True):
            open_to = legal[:, first : first + size]
            forced = open_to.sum(axis=1) == 1
            chosen[forced] = open_to[forced].argmax(axis=1)
            wrong = ~_legal(chosen, open_to)
            if wrong.any():
                told = f"option {int(chosen[wrong][0])} of {head}, which is not legal there"
                raise InputError(f"{self.code.title} chose {told}")
            first += size
        return options


def _legal(chosen: Array, legal: Array) -> Array:
    """Whether each choice is legal; where nothing is, as in a match that has ended, anything."""
    known = (chosen >= 0) & (chosen < legal.shape[1])
    allowed = legal[np.arange(len(legal)), np.where(known, chosen, 0)]
    found: Array = known & (allowed | ~legal.any(axis=1))
    return found


def _takes_chance(policy: Any, code: OwnCode) -> bool:
    """Whether it wants random numbers; InputError where it takes neither two nor three things."""
    try:
        signature = inspect.signature(policy)
    except (TypeError, ValueError):  # compiled code tells nothing of itself
        return False
    for given in ((None, None, None), (None, None)):
        try:
            signature.bind(*given)
        except TypeError:
            continue
        return len(given) == 3
    raise InputError(
        f"{code.title}{signature} is no policy: it must take observations and masks, and may take "
        "uniform random numbers"
    )
