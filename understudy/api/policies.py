"""Trained policies that act: observations and masks in, options out, in numpy and without torch."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.errors import InputError
from understudy.export.numpy_policy import Decided, NumpyPolicy, head_without_option, read_policy

if TYPE_CHECKING:
    from understudy.learn.policy import FactoredPolicy

Numbers = np.ndarray[Any, np.dtype[Any]]


class Policy:
    """What training left in a model's folder.

    `features` and `heads` say what it reads and chooses. One with a memory keeps it from one call
    to the next: `reset()` before another match.
    """

    def __init__(self, folder: Path, seed: int = 0) -> None:
        """Read it; `seed` is that of its draws."""
        self.folder = folder
        self._numpy: NumpyPolicy = read_policy(folder)
        self.features: tuple[str, ...] = tuple(self._numpy.shape.features)
        self.heads: dict[str, int] = dict(self._numpy.shape.heads)
        self._rng = np.random.default_rng(seed)
        self._memory: Any = None
        self._plan: Any = None

    def __repr__(self) -> str:
        heads = ", ".join(f"{name} {size}" for name, size in self.heads.items())
        return f"Policy({str(self.folder)!r}: {len(self.features)} features; {heads})"

    @property
    def network(self) -> "FactoredPolicy":
        """The same weights as a network of torch, to train on or to look into."""
        from understudy.learn import policy

        return policy.load_policy(self.folder)

    def reset(self, seed: int | None = None) -> None:
        """Forget the match; with a seed, its draws begin anew."""
        self._memory = self._plan = None
        if seed is not None:
            self._rng = np.random.default_rng(seed)

    def act(self, observation: Any, mask: Any = None, *, greedy: bool = False) -> Numbers:
        """The option of each head, [H] or, for observations [N, F], [N, H].

        `mask` has a truth for each option of all heads, [O] or [N, O]; without one all are legal.
        Draws by its probabilities; `greedy` takes the likeliest.
        """
        found = self.decide(observation, mask)
        action = found.action
        if greedy:
            borders = self._numpy.borders[1:-1]
            parts = np.split(found.probabilities, borders, axis=1)
            action = np.stack([part.argmax(axis=1) for part in parts], axis=1)
        return np.asarray(action[0] if np.ndim(observation) == 1 else action)

    def decide(self, observation: Any, mask: Any = None) -> Decided:
        """For observations [N, F] (or one, [F]): options, probabilities and the expected outcome.

        What it draws here counts as played, as with `act`.
        """
        seen = _numbers(observation)
        options = sum(self.heads.values())
        legal = np.ones((len(seen), options), bool) if mask is None else _masks(mask)
        _check("observation", seen, (len(seen), len(self.features)))
        _check("mask", legal, (len(seen), options))
        if not np.isfinite(seen).all():
            raise InputError("the observation holds a number that is not finite")
        if (head := head_without_option(legal, self.heads)) is not None:
            raise InputError(f"the mask leaves no option of {head}")
        if self._memory is not None and len(self._memory) != len(seen):
            raise InputError("another number of matches than before: reset() begins them anew")
        uniform = self._rng.random((len(seen), len(self.heads)), np.float32)
        if (plans := self._numpy.shape.plans) and self._plan is None:
            self._plan = self._rng.integers(plans, size=len(seen))
        found = self._numpy.decide(seen, legal, uniform, self._plan, self._memory)
        self._memory = found.memory if self._numpy.shape.memory else None
        return found


def _check(what: str, found: Numbers, shape: tuple[int, int]) -> None:
    if found.shape != shape:
        raise InputError(f"the {what} has shape {found.shape}, not {shape}")


def _numbers(observation: Any) -> Numbers:
    try:
        return np.atleast_2d(np.asarray(observation, np.float32))
    except (TypeError, ValueError) as mistake:
        raise InputError(f"the observation is not rows of numbers: {mistake}") from mistake


def _masks(mask: Any) -> Numbers:
    return np.atleast_2d(np.asarray(mask, bool))


def load_policy(folder: str | Path, *, seed: int = 0) -> Policy:
    """The policy that training left in a model's folder, ready to act."""
    return Policy(Path(folder), seed)
