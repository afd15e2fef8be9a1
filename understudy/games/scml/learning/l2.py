"""Train L2: predict at the start of a day what an expert will be after on the day."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import smooth_l1_loss

from understudy.data.arrays import Array
from understudy.games.scml.agent.checkpoint import About, feature_names
from understudy.games.scml.agent.numpy_networks import raw_goals
from understudy.games.scml.domain import BUCKETS, SIDES
from understudy.games.scml.learning.dataset import (
    DayStartRows,
    day_start_reader,
    horizons,
    moments,
    risk_of,
    streams,
)
from understudy.games.scml.learning.layer_recipe import LayerRecipe, begun, best, save_layer
from understudy.games.scml.learning.networks import GoalNetwork
from understudy.games.scml.learning.samples import DAY_START_SAMPLES
from understudy.learn.base import Loss
from understudy.learn.supervised.stream import Stream
from understudy.learn.supervised.task import TrainingTask

WHAT = ("units", "price")


class Targets(NamedTuple):
    """Goals as the network says them, each with where it counts, [B, buckets, 2]."""

    units: Float[Tensor, "B K 2"]
    price: Float[Tensor, "B K 2"]
    possible: Bool[Tensor, "B K 2"]
    wanted: Bool[Tensor, "B K 2"]
    """Anything is to be traded: only there has a price a meaning."""


def targets(batch: DayStartRows) -> Targets:
    """log(1 + units), and prices in tenths over the trading price."""
    goals = batch.goals.view(len(batch.goals), -1, 2, 2)
    possible = batch.possible.view(len(batch.goals), -1, 2)
    market = batch.scales[:, None, 1:3].clamp(min=1e-9)
    units, price = goals[..., 0], 10 * (goals[..., 1] / market - 1)
    return Targets(units.log1p(), price, possible, possible & (units > 0))


@dataclass(frozen=True, kw_only=True)
class GoalRecipe(LayerRecipe):
    """Train L2 by gradient descent."""

    goals: Literal["goals", "intent"] = "goals"
    """What came of the day (the seed's second version), or the first offers in each negotiation."""
    hidden: tuple[int, ...] = (128, 128)
    """Widths of the hidden layers. More or wider: finer goals, slower."""
    price_share: float = 0.3
    """How much prices count beside units."""
    more_for_more: float = 1.0
    """How much more a goal counts for each e-fold of its units: most goals are 0."""

    layer = "l2"
    plays = False
    table = DAY_START_SAMPLES
    measure = ("players", "goals", "price_share", "more_for_more")

    def prepare(
        self, samples: Path, init: Path | None, seed: int, device: torch.device
    ) -> TrainingTask[GoalNetwork, DayStartRows]:
        """DayStarts, and the goals of the day."""
        splits = streams(day_start_reader(self.goals), samples, self, seed, device)
        network = GoalNetwork(self.hidden, seed)
        network.standard.set(*moments(splits["train"], lambda batch: batch.x))
        usual = mean_goals(splits["train"])
        known = horizons(self.table, samples, self)
        risk = risk_of(samples, self.table)
        about = About(features=feature_names(), goals=True, horizons=known, risk=risk)
        return TrainingTask(
            game=self.table.game,
            optimizer=self,
            identity=f"l2 {self.hidden} {feature_names()}",
            network=begun(network, "l2", init),
            splits=splits,
            loss=self.loss,
            score=lambda network, split: evaluate(self, network, splits[split], usual),
            save=lambda folder, network, name: save_layer(folder / name, "l2", network, about),
            load=lambda folder: best(GoalNetwork(self.hidden, None), "l2", folder),
            facts={"rows": splits["train"].rows},
        )

    def loss(self, network: GoalNetwork, batch: DayStartRows) -> Loss:
        """Of units where a goal is possible, of prices where there is one."""
        predicted = network(batch.x).view(len(batch.x), -1, 2, 2)
        target = targets(batch)
        # More units weigh more: most buckets are empty on most days.
        weight = target.possible * (1 + self.more_for_more * target.units)
        units = _mean(smooth_l1_loss(predicted[..., 0], target.units, reduction="none"), weight)
        price = _mean(
            smooth_l1_loss(predicted[..., 1], target.price, reduction="none"), target.wanted.float()
        )
        return Loss(units + self.price_share * price, {"units": units, "price": price})


def _mean(values: Tensor, weight: Tensor) -> Tensor:
    return (values * weight).sum() / weight.sum().clamp(min=1)


# --- how good it is ------------------------------------------------------------------------------


@dataclass(frozen=True)
class GoalScore:
    """How L2 fares on one split."""

    rows: int
    loss: float
    raw: dict[str, dict[str, dict[str, float]]]
    """units and price -> ours, always the training's mean, yesterday's, and for units nothing at
    all -> mean absolute error, root mean square error, both in raw units, and relative to the
    mean target."""
    buckets: dict[str, dict[str, float]]
    """By side and days ahead: mean units and our mean absolute error."""

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    def metrics(self, split: str) -> dict[str, float]:
        """Flat, as they are logged."""
        flat = {f"{split}/loss": self.loss}
        for what, guesses in self.raw.items():
            for who, errors in guesses.items():
                flat[f"{split}/{what}_mae/{who}"] = errors["mae"]
        return flat


class _Goals(NamedTuple):
    """Of a whole split, [rows, buckets, 2 sides, units and price]."""

    true: Array
    ours: Array
    before: Array
    possible: Array
    loss: float


@torch.no_grad()
def _read(recipe: GoalRecipe, network: GoalNetwork, stream: Stream[DayStartRows]) -> _Goals:
    parts: list[tuple[Array, ...]] = []
    loss = 0.0
    for batch in stream.in_order(16_384):
        loss += recipe.loss(network, batch).value.item() * len(batch.x)
        ours = raw_goals(network(batch.x).cpu().numpy(), batch.scales.cpu().numpy())
        compared = (batch.goals.cpu().numpy(), ours, batch.before.cpu().numpy())
        goals = (values.reshape(len(ours), -1, 2, 2) for values in compared)
        parts.append((*goals, batch.possible.cpu().numpy().reshape(len(ours), -1, 2)))
    true, ours, before, possible = map(np.concatenate, zip(*parts, strict=True))
    return _Goals(true, ours, before, possible, loss / stream.rows)


def evaluate(
    recipe: GoalRecipe, network: GoalNetwork, stream: Stream[DayStartRows], usual: Array
) -> GoalScore:
    """Errors in raw units; units where a goal is possible, prices where something is wanted.

    `usual` is the mean of each goal in training.
    """
    goals = _read(recipe, network, stream)
    wanted = goals.possible & (goals.true[..., 0] > 0)
    raw = {}
    for index, what in enumerate(WHAT):
        counts = goals.possible if what == "units" else wanted
        mean = np.broadcast_to(usual[..., index], goals.true.shape[:-1])
        guesses = {
            "ours": goals.ours[..., index],
            "mean": mean,
            "yesterday": np.where(goals.before[..., 1] > 0, goals.before[..., index], mean),
        }
        guesses |= {"nothing": np.zeros_like(mean)} if what == "units" else {}
        true = goals.true[..., index][counts]
        raw[what] = {who: _errors(guess[counts], true) for who, guess in guesses.items()}
    return GoalScore(len(goals.true), goals.loss, raw, _by_bucket(goals))


def mean_goals(train: Stream[DayStartRows]) -> Array:
    """By goal: the mean of what counts, [buckets, 2 sides, units and price]."""
    batches = [(batch.goals, batch.possible) for batch in train.in_order(16_384)]
    goals, can = (torch.cat(part).cpu().numpy() for part in zip(*batches, strict=True))
    true, possible = goals.reshape(len(goals), -1, 2, 2), can.reshape(len(can), -1, 2)
    counts = np.stack([possible, possible & (true[..., 0] > 0)], axis=3)
    total = (true * counts).sum(axis=0)
    return np.asarray(total / np.maximum(counts.sum(axis=0), 1))


def _errors(guess: Array, true: Array) -> dict[str, float]:
    off = guess - true
    mean = float(np.abs(true).mean()) if len(true) else 0.0
    mae = float(np.abs(off).mean()) if len(true) else 0.0
    rmse = float(np.sqrt((off**2).mean())) if len(true) else 0.0
    return {"mae": mae, "rmse": rmse, "mean_target": mean, "relative": mae / max(mean, 1e-9)}


def _by_bucket(found: _Goals) -> dict[str, dict[str, float]]:
    rows = {}
    for side, word in enumerate(SIDES):
        for bucket, (first, last) in enumerate(BUCKETS):
            counts = found.possible[:, bucket, side]
            true, ours = (g[:, bucket, side, 0][counts] for g in (found.true, found.ours))
            rows[f"{word} {first}-{last}"] = {
                "mean_target": float(true.mean()) if len(true) else 0.0,
                "mae": float(np.abs(ours - true).mean()) if len(true) else 0.0,
            }
    return rows
