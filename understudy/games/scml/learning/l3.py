"""Train L3: clone the recorded decisions, or those among them that turned out well."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy, smooth_l1_loss

from understudy.data.arrays import Array
from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.games.scml.agent.checkpoint import (
    About,
    Checkpoint,
    feature_names,
    read_checkpoint,
    write_checkpoint,
)
from understudy.games.scml.agent.l3_offers import HEADS, Scheme, price_of, units_of
from understudy.games.scml.domain import RESPONSES
from understudy.games.scml.learning.dataset import (
    RoundRows,
    horizons,
    moments,
    offer_limits,
    risk_of,
    round_reader,
    streams,
)
from understudy.games.scml.learning.layer_recipe import (
    GOALS_FILE,
    LayerRecipe,
    begun,
    best,
    first_weights,
    weights_of,
)
from understudy.games.scml.learning.networks import OfferNetwork
from understudy.games.scml.learning.samples import ROUND_SAMPLES
from understudy.learn.base import Loss
from understudy.learn.recipe import Inputs, TrainingJob
from understudy.learn.supervised.awr import advantage_weights
from understudy.learn.supervised.loop import train
from understudy.learn.supervised.stream import Stream
from understudy.learn.supervised.task import TrainingTask

NEVER = -1e9
"""Logit of what L1 forbids."""
HEAD_NAMES = ("response", "day", "units", "price")
Kind = Literal["cloning", "awr"]
Layers = Mapping[str, Mapping[str, Array]]
NO_LAYERS: Layers = {}


class Logits(NamedTuple):
    """Of each head, the last two for the day that was chosen; with what L1 forbids at NEVER."""

    response: Float[Tensor, "B 3"]
    day: Float[Tensor, "B D"]
    units: Float[Tensor, "B U"]
    price: Float[Tensor, "B P"]
    values: Float[Tensor, "B 2"]


def logits(network: OfferNetwork, rows: RoundRows) -> Logits:
    """Given the day of the recorded offer."""
    hidden = network(rows.x, rows.history, rows.length)
    left = rows.left.gather(1, rows.day[:, None])[:, 0]
    on_day = network.on(hidden, rows.day, left)
    return Logits(
        _masked(network.response(hidden), rows.legal[:, : len(RESPONSES)]),
        _masked(network.day(hidden), rows.legal[:, len(RESPONSES) :]),
        _masked(network.units(on_day), rows.allowed),
        network.price(on_day),
        network.values(hidden),
    )


def _masked(scores: Float[Tensor, "B O"], legal: Bool[Tensor, "B O"]) -> Float[Tensor, "B O"]:
    return torch.where(legal, scores, NEVER)


@dataclass(frozen=True, kw_only=True)
class OfferRecipe(LayerRecipe):
    """Train L3 by gradient descent."""

    scheme: Scheme = "residual"
    """Offers as steps away from L1's baseline (scheme E), or as they are (scheme F)."""
    kind: Kind = "cloning"
    """Every recorded decision alike, or by how much better it went than expected (AWR)."""
    hidden: tuple[int, ...] = (256, 256)
    """Widths of the hidden layers. More or wider: finer play, slower to train and to run."""
    width: int = 32
    """Of the transformer that reads the offers made. Up: finer, slower."""
    depth: int = 2
    """Of the same, in blocks."""
    temperature: float = 1.0
    """AWR: by how many standard deviations a decision must have gone better to count e times."""
    most_weight: float = 10.0
    """AWR: no decision counts more often than this."""
    day_share: float = 0.3
    """AWR: how much the day's gain counts beside the negotiation's."""

    layer = "l3"
    table = ROUND_SAMPLES
    measure = ("players", "scheme", "kind", "temperature", "most_weight", "day_share")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.temperature <= 0:
            raise ValueError(f"temperature must be above 0, got {self.temperature}")

    def inputs(self, run: Run) -> Inputs:
        """The samples, the L2 whose goals are in them, and the weights to begin with."""
        goals = run.samples / GOALS_FILE
        return {**super().inputs(run), "goals": [goals] if goals.is_file() else []}

    def fit(self, job: TrainingJob) -> dict[str, Any]:
        """Train L3, and keep the other layers of the model it goes on from."""
        init = first_weights(job.run, self.start, self.init)
        others = {} if init is None else dict(read_checkpoint(init).layers)
        others.pop("l3", None)
        return train(
            lambda device: self.prepare(job.run.samples, init, job.seed, device, others), job
        )

    def prepare(
        self,
        samples: Path,
        init: Path | None,
        seed: int,
        device: torch.device,
        others: Layers = NO_LAYERS,
    ) -> TrainingTask[OfferNetwork, RoundRows]:
        """Decisions about one negotiation each; `others` are layers to keep beside L3."""
        splits = streams(round_reader(self.scheme), samples, self, seed, device)
        network = self._network(seed)
        network.standard.set(*moments(splits["train"], lambda batch: batch.x))
        goals = samples / GOALS_FILE
        if init is not None and read_checkpoint(init).about.goals != goals.is_file():
            raise InputError(
                f"{init} and the samples differ in whether they know L2's goals. Fill them "
                f"in: understudy encode scml --goals {init}; or begin with other weights"
            )
        if goals.is_file():  # the L2 it is trained with, so that it can play
            others = {**others, "l2": read_checkpoint(goals).layers["l2"]}
        about = About(
            features=feature_names(),
            scheme=self.scheme,
            goals=goals.is_file(),
            horizons=horizons(self.table, samples, self),
            risk=risk_of(samples),
        )
        counts = count_choices(self.scheme, splits["train"])

        def save(folder: Path, network: OfferNetwork, name: str) -> None:
            write_checkpoint(
                folder / name, Checkpoint({**others, "l3": weights_of(network)}, about)
            )

        return TrainingTask(
            game=self.table.game,
            optimizer=self,
            identity=f"l3 {self.scheme} {self.hidden} {self.width} {self.depth} {feature_names()}",
            network=begun(network, "l3", init),
            splits=splits,
            loss=self.loss,
            score=lambda network, split: evaluate(self, network, splits[split], counts),
            save=save,
            load=lambda folder: best(self._network(None), "l3", folder),
            facts={"rows": splits["train"].rows},
        )

    def _network(self, seed: int | None) -> OfferNetwork:
        return OfferNetwork(self.scheme, self.hidden, self.width, self.depth, seed)

    def loss(self, network: OfferNetwork, batch: RoundRows) -> Loss:
        """Mean negative log-likelihood of the decisions, and the error of the values."""
        found = logits(network, batch)
        by_head = _log_losses(found, batch)
        value_error = smooth_l1_loss(found.values, batch.gains, beta=0.1)
        weight, metrics = self._weights(found, batch)
        total = sum((by_head[name] * weight).mean() for name in HEAD_NAMES)
        metrics |= {name: loss.mean() for name, loss in by_head.items()}
        return Loss(total + value_error, metrics | {"value_error": value_error})

    def _weights(
        self, found: Logits, batch: RoundRows
    ) -> tuple[Float[Tensor, " B"], dict[str, Tensor]]:
        """How much each decision counts: all alike, or by how much better it went than expected."""
        if self.kind == "cloning":
            return torch.ones_like(batch.gains[:, 0]), {}
        # The advantage: values are learnt by their own loss, not through the weights.
        better = batch.gains - found.values.detach()
        by_negotiation, by_day = (_measured(better[:, k], batch.limits[:, 0] > 0) for k in (0, 1))
        advantage = by_negotiation + self.day_share * by_day
        weight, clipped = advantage_weights(advantage, self.temperature, self.most_weight)
        return weight, {"most_weight": clipped}


def _measured(better: Float[Tensor, " B"], buys: Bool[Tensor, " B"]) -> Float[Tensor, " B"]:
    """In standard deviations of all that buy, or all that sell: purchases bring less surely."""
    found = torch.zeros_like(better)
    for side in (buys, ~buys):
        if side.sum() > 1:
            found[side] = better[side] / better[side].std().clamp(min=1e-6)
    return found


def _log_losses(found: Logits, batch: RoundRows) -> dict[str, Float[Tensor, " B"]]:
    """By head and row; 0 for the heads of an offer where none was made."""
    losses = {}
    for name in HEAD_NAMES:
        # Day, units and price are only known where an offer was made.
        loss = cross_entropy(getattr(found, name), getattr(batch, name), reduction="none")
        losses[name] = loss if name == "response" else torch.where(batch.offers, loss, 0.0)
    return losses


# --- how good it is ------------------------------------------------------------------------------


@dataclass(frozen=True)
class OfferScore:
    """How L3 fares on one split."""

    rows: int
    forbidden: int
    loss: float
    heads: dict[str, dict[str, float]]
    """Accuracy, that of the majority in training (of all and of legal options), log loss."""
    recall: dict[str, float]
    """By response: how often it is predicted where it was given."""
    raw: dict[str, dict[str, float]] = field(default_factory=dict)
    """Mean absolute error of units, days and price of offers: ours, L1's baseline, the last own
    offer again, and always the mean of the training split."""

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    def metrics(self, split: str) -> dict[str, float]:
        """Flat, as they are logged."""
        flat = {f"{split}/loss": self.loss}
        for head, score in self.heads.items():
            flat |= {f"{split}/{name}/{head}": value for name, value in score.items()}
        flat |= {f"{split}/recall/{name}": value for name, value in self.recall.items()}
        for what, errors in self.raw.items():
            flat[f"{split}/{what}_error"] = errors["ours"]
        return flat


class _Tally:
    """Sums over batches."""

    def __init__(self) -> None:
        self.totals: dict[str, Any] = {}

    def add(self, name: str, value: Any) -> None:
        self.totals[name] = self.totals.get(name, 0) + value

    def mean(self, name: str, count: str) -> float:
        return float(self.totals[name] / max(self.totals[count], 1))


def count_choices(scheme: Scheme, train: Stream[RoundRows]) -> dict[str, Tensor]:
    """How often each option was chosen in training, and the sum of all offers."""
    tally, sizes = _Tally(), HEADS[scheme]
    for batch in train.in_order(65_536):
        for name in HEAD_NAMES:
            chosen = getattr(batch, name)
            chosen = chosen if name == "response" else chosen[batch.offers]
            tally.add(name, torch.bincount(chosen, minlength=sizes[name]))
        tally.add("offers", batch.offers.sum())
        tally.add("done", (batch.done * batch.offers[:, None]).sum(0).double())
    return tally.totals


@torch.no_grad()
def evaluate(
    recipe: OfferRecipe,
    network: OfferNetwork,
    stream: Stream[RoundRows],
    counts: Mapping[str, Tensor],
) -> OfferScore:
    """Score L3 on a split, row by row as recorded; offers are compared on the recorded day.

    `counts` are the training's: see `count_choices`.
    """
    tally = _Tally()
    mean_offer = (counts["done"] / counts["offers"].clamp(min=1)).cpu().numpy()
    for batch in stream.in_order(16_384):
        output = logits(network, batch)
        tally.add("rows", len(batch.x))
        tally.add("loss", recipe.loss(network, batch).value.item() * len(batch.x))
        losses = _log_losses(output, batch)
        for name in HEAD_NAMES:
            _count_head(tally, name, output, batch, counts[name], losses[name])
        guess = output.response.argmax(1)
        for number, word in enumerate(RESPONSES):
            there = batch.response == number
            tally.add(f"is {word}", there.sum().item())
            tally.add(f"hit {word}", (there & (guess == number)).sum().item())
        _count_raw(tally, recipe.scheme, output, batch, mean_offer)
    heads = {
        name: {
            what: tally.mean(f"{name} {what}", f"{name} rows")
            for what in ("accuracy", "majority", "majority_legal", "log_loss")
        }
        for name in HEAD_NAMES
    }
    recall = {word: tally.mean(f"hit {word}", f"is {word}") for word in RESPONSES}
    raw = {
        what: {who: tally.mean(f"{what} {who}", "units rows") for who in RAW}
        for what in ("units", "days", "price")
    }
    rows = int(tally.totals["rows"])
    return OfferScore(rows, 0, tally.mean("loss", "rows"), heads, recall, raw)


RAW = ("ours", "baseline", "last", "mean")


def _count_head(
    tally: _Tally,
    name: str,
    found: Logits,
    batch: RoundRows,
    counts: Int[Tensor, " O"],
    losses: Float[Tensor, " B"],
) -> None:
    rows = torch.ones_like(batch.offers) if name == "response" else batch.offers
    scores, chosen = getattr(found, name)[rows], getattr(batch, name)[rows]
    share = counts.to(scores).expand_as(scores)
    legal = torch.where(scores > NEVER / 2, share, -1.0)
    for what, guess in (
        ("accuracy", scores.argmax(1)),
        ("majority", share.argmax(1)),
        ("majority_legal", legal.argmax(1)),
    ):
        tally.add(f"{name} {what}", (guess == chosen).sum().item())
    tally.add(f"{name} log_loss", losses.sum().item())
    tally.add(f"{name} rows", int(rows.sum()))


def _count_raw(
    tally: _Tally, scheme: Scheme, found: Logits, batch: RoundRows, mean_offer: Any
) -> None:
    """Errors in raw units, over the rows with an offer."""
    rows = batch.offers
    limits = offer_limits(batch.limits[rows].cpu().numpy(), batch.left[rows].cpu().numpy())
    done, last = batch.done[rows].cpu().numpy(), batch.last[rows].cpu().numpy()
    left, base = limits.on(batch.day[rows].cpu().numpy())
    chosen = {name: getattr(found, name)[rows].argmax(1).cpu().numpy() for name in HEAD_NAMES}
    first = np.argmax(limits.left > 0, axis=1)
    has_last = last[:, :1] > 0
    baseline = np.stack([base, first, limits.base_price], axis=1)
    guesses = {
        "ours": np.stack(
            [
                units_of(scheme, chosen["units"], left, base),
                chosen["day"],
                price_of(scheme, chosen["price"], limits.low, limits.high, limits.base_price),
            ],
            axis=1,
        ),
        "baseline": baseline,
        "last": np.where(has_last, last, baseline),
        "mean": np.broadcast_to(mean_offer, done.shape),
    }
    for who, guess in guesses.items():
        for index, what in enumerate(("units", "days", "price")):
            tally.add(f"{what} {who}", np.abs(guess[:, index] - done[:, index]).sum())
