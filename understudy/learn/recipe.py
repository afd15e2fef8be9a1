"""One way to train something, as one value."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from understudy.data.samples import Decisions
from understudy.learn.batches import WINDOW_ROWS
from understudy.learn.objectives import Objective
from understudy.learn.policy import PolicyShape

Progress = Callable[[int, int, Mapping[str, float]], None]
"""Told after each step: the step, how many there will be, the latest measurements."""


@runtime_checkable
class Recipe(Protocol):
    """What `understudy train` needs of a recipe."""

    @property
    def description(self) -> str:
        """One line for a person who chooses."""
        ...

    def settings(self) -> dict[str, Any]:
        """All that decides what comes out, as plain values, for the manifest."""
        ...

    def fit(
        self,
        samples: Path,
        out: Path,
        seed: int,
        *,
        device: str = "cpu",
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Train into the folder `out`, or go on there; returns the evaluation."""
        ...


@dataclass(frozen=True, kw_only=True)
class PolicyRecipe:
    """Train a policy by gradient descent. Derive a variant with `dataclasses.replace`."""

    description: str
    decisions: Decisions
    """The sample table it learns from."""
    objective: Objective
    steps: int
    """Up: longer training; `patience` may end it sooner."""
    hidden: tuple[int, ...] = (128, 128)
    """Widths of the hidden layers. More or wider: finer play, slower to train and to run."""
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
    gradient_norm_max: float = 10.0
    """Down: a rare odd batch moves the weights less; far down, every batch does."""
    evaluate_every: int = 250
    """Steps between looks at the validation split. Down: a finer curve, more time spent on it."""
    checkpoint_every: int = 250
    """Steps between checkpoints. Down: less to repeat after a stop, more writing."""
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
        if self.learning_rate <= 0 or self.gradient_norm_max <= 0:
            raise ValueError("learning_rate and gradient_norm_max must be above 0")
        if self.patience is not None and self.patience < 1:
            raise ValueError(f"patience must be at least 1 or None, got {self.patience}")

    @property
    def shape(self) -> PolicyShape:
        """Of the policy it trains."""
        return PolicyShape(self.decisions.features, self.decisions.heads, self.hidden)

    def settings(self) -> dict[str, Any]:
        """Everything but the description, which changes nothing."""
        table = self.decisions.table
        chosen = {name: getattr(self, name) for name in self.__dataclass_fields__}
        del chosen["description"]
        return chosen | {
            "decisions": f"{table.full_name} version {table.version}",
            "features": self.decisions.features,
            "heads": self.decisions.heads,
            "objective": {"name": type(self.objective).__name__, **asdict(self.objective)},
        }

    def fit(
        self,
        samples: Path,
        out: Path,
        seed: int,
        *,
        device: str = "cpu",
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Train into the folder `out`, or go on there; returns what `evaluation.json` holds."""
        from understudy.learn.fit import fit  # which imports this module

        return fit(self, samples, out, seed, device=device, progress=progress)
