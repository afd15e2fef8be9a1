"""One way to train something, as one value."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import torch
from torch import nn

from understudy.data.samples import Decisions
from understudy.data.splits import SPLITS
from understudy.learn.base import Loss, Progress
from understudy.learn.policy import FactoredPolicy, PolicyShape, load_policy, save_policy
from understudy.learn.supervised.dataset import Batch, Batches
from understudy.learn.supervised.evaluate import Score, evaluate
from understudy.learn.supervised.objective import Objective
from understudy.learn.supervised.stream import WINDOW_ROWS


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
class Descent:
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


@runtime_checkable
class Fitted(Protocol):
    """What `loop.py` needs to know of a recipe besides its `Descent`."""

    @property
    def descent(self) -> Descent:
        """The settings of the loop."""
        ...

    @property
    def game(self) -> str:
        """Whose samples it learns from."""
        ...

    @property
    def identity(self) -> str:
        """All that decides which weights fit the network."""
        ...

    def splits(self, samples: Path, seed: int, device: torch.device) -> Mapping[str, Any]:
        """A `Stream` for each of train, val and test."""
        ...

    def build(self, splits: Mapping[str, Any], seed: int) -> nn.Module:
        """The network, untrained."""
        ...

    def loss(self, network: Any, batch: Any) -> Loss:
        """What to minimise."""
        ...

    def score(self, network: Any, splits: Mapping[str, Any], split: str) -> ScoreLike:
        """Look at a split."""
        ...

    def save(self, folder: Path, network: Any, name: str) -> None:
        """Write its weights whole."""
        ...

    def load(self, folder: Path) -> nn.Module:
        """Read the best weights."""
        ...

    def facts(self, splits: Mapping[str, Any]) -> dict[str, Any]:
        """What to tell of the training split."""
        ...


@dataclass(frozen=True, kw_only=True)
class PolicyRecipe(Descent):
    """Train a policy by gradient descent. Derive a variant with `dataclasses.replace`."""

    description: str
    decisions: Decisions
    """The sample table it learns from."""
    objective: Objective
    hidden: tuple[int, ...] = (128, 128)
    """Widths of the hidden layers. More or wider: finer play, slower to train and to run."""

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
        from understudy.learn.supervised.loop import fit  # which imports this module

        return fit(self, samples, out, seed, device=device, progress=progress)

    # --- for the loop ----------------------------------------------------------------------------

    @property
    def descent(self) -> Descent:
        """The settings of the loop."""
        return self

    @property
    def game(self) -> str:
        """Whose samples it learns from."""
        return self.decisions.table.game

    @property
    def identity(self) -> str:
        """The shape of the policy."""
        return self.shape.to_json()

    def splits(self, samples: Path, seed: int, device: torch.device) -> dict[str, Batches]:
        """The rows of each split."""
        return {
            split: Batches(
                samples,
                self.decisions,
                split,
                batch_size=self.batch_size,
                seed=seed,
                players=self.players,
                window_rows=self.window_rows,
                device=device,
            )
            for split in SPLITS
        }

    def build(self, splits: Mapping[str, Batches], seed: int) -> FactoredPolicy:
        """First weights, and what inputs are measured against."""
        policy = FactoredPolicy(self.shape, seed)
        mean, spread = splits["train"].moments()
        policy.standardise(mean.cpu(), spread.cpu())
        return policy

    def loss(self, network: FactoredPolicy, batch: Batch) -> Loss:
        """The objective's."""
        return self.objective(network, batch)

    def score(self, network: FactoredPolicy, splits: Mapping[str, Batches], split: str) -> Score:
        """Beside what needs no network at all."""
        return evaluate(network, self.objective, splits[split], splits["train"].counts)

    def save(self, folder: Path, network: FactoredPolicy, name: str) -> None:
        """Write its weights whole."""
        save_policy(folder, network, name=name)

    def load(self, folder: Path) -> FactoredPolicy:
        """Read the best weights."""
        return load_policy(folder, self.decisions)

    def facts(self, splits: Mapping[str, Batches]) -> dict[str, Any]:
        """What there was to learn from."""
        return {"rows": splits["train"].rows, "forbidden": splits["train"].forbidden}
