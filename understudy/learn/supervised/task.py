"""What the training loop is given: a network, its data, and what to do with them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from torch import nn

from understudy.learn.base import Loss
from understudy.learn.rates import require_stages
from understudy.learn.supervised.stream import WINDOW_ROWS, Rows, Stream

N = TypeVar("N", bound=nn.Module)
B = TypeVar("B", bound=Rows)


@dataclass(frozen=True, kw_only=True)
class OptimizerSettings:
    """Gradient descent: how long, how fast, how often to look. `loop.py` follows it."""

    steps: int
    """Up: longer training; `patience` may end it sooner."""
    batch_size: int = 2048
    """Up: smoother steps, each of which takes longer."""
    learning_rate: float = 1e-3
    """Up: faster at first, then unsteady."""
    weight_decay: float = 0.0
    """Up: smaller weights, less overfitting, blunter play."""
    warmup: int = 100
    """Steps over which the learning rate grows from near 0. Up: a gentler start."""
    cosine: bool = True
    """Let the learning rate fall to 0 along half a cosine; otherwise it stays."""
    rate_stages: tuple[float, ...] = ()
    """Instead of the cosine, by how much the learning rate is multiplied in each of so many equal
    parts of the training: 1,0.3,0.1. None: one part."""
    gradient_norm_max: float = 10.0
    """Down: a rare odd batch moves the weights less; far down, every batch does."""
    evaluate_every: int = 250
    """Steps between looks at the validation split. Down: a finer curve, more time spent on it."""
    checkpoint_every: int = 250
    """Steps between checkpoints. Down: less to repeat after a stop, more writing."""
    keep_every: int = 0
    """Steps between weights that are kept for good, in kept/, each a model that can play. 0: none.
    Changes nothing that is learnt."""
    patience: int | None = None
    """Evaluations without a better validation loss before stopping. None: never stop early."""
    players: tuple[str, ...] | None = None
    """Learn only from these players' decisions. None: from everybody's."""
    window_rows: int = WINDOW_ROWS
    """Rows held in memory. Up: better shuffling of samples that do not fit, more memory."""

    def __post_init__(self) -> None:
        for name in ("steps", "batch_size", "evaluate_every", "checkpoint_every", "window_rows"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        require_stages(self.rate_stages, self.keep_every)
        if self.learning_rate <= 0 or self.gradient_norm_max <= 0:
            raise ValueError("learning_rate and gradient_norm_max must be above 0")
        if self.patience is not None and self.patience < 1:
            raise ValueError(f"patience must be at least 1 or None, got {self.patience}")


@runtime_checkable
class ScoreLike(Protocol):
    """How a network fares on a split."""

    @property
    def loss(self) -> float:
        """The lowest on the validation split is kept."""
        ...

    def metrics(self, split: str) -> dict[str, float]:
        """Flat, as they are logged."""
        ...

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        ...


@dataclass(frozen=True, kw_only=True)
class TrainingTask(Generic[N, B]):
    """Fit a network N to batches B."""

    game: str
    """Whose samples these are."""
    optimizer: OptimizerSettings
    identity: str
    """All that decides which weights fit the network."""
    network: N
    """As it begins."""
    splits: Mapping[str, Stream[B]]
    """The rows of train, val and test."""
    loss: Callable[[N, B], Loss]
    """What to minimise."""
    score: Callable[[N, str], ScoreLike]
    """How a network fares on a split."""
    save: Callable[[Path, N, str], None]
    """Write weights whole, into a folder, under a name."""
    load: Callable[[Path], N]
    """Read the best weights of a folder."""
    facts: Mapping[str, Any]
    """What to tell of the training split."""
