"""Train L4: a set network that weighs the negotiations of a decision as its teacher does."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from understudy.data.arrays import Array
from understudy.games.scml.agent.checkpoint import About, feature_names
from understudy.games.scml.agent.l4_priorities import teacher_scores
from understudy.games.scml.learning.dataset import (
    Reader,
    horizons,
    lists,
    moments,
    risk_of,
    streams,
)
from understudy.games.scml.learning.layer_recipe import LayerRecipe, begun, best, save_layer
from understudy.games.scml.learning.networks import PriorityNetwork
from understudy.games.scml.learning.samples import ROUND_SAMPLES
from understudy.games.scml.view import features as f
from understudy.games.scml.view import inputs
from understudy.learn.base import Loss
from understudy.learn.supervised.stream import Stream
from understudy.learn.supervised.task import TrainingTask

MAX_NEGOTIATIONS = 12
"""Of a decision; those beyond are left out of training."""


class DecisionRows(NamedTuple):
    """Joint decisions, each with its negotiations; K is MAX_NEGOTIATIONS."""

    thread: Float[Tensor, "B K F"]
    overall: Float[Tensor, "B G"]
    there: Bool[Tensor, "B K"]
    """Which of the K rows hold a negotiation."""
    score: Float[Tensor, "B K"]
    """The teacher's."""

    def take(self, rows: Tensor) -> "DecisionRows":
        """Some of the decisions."""
        return DecisionRows(*(x.index_select(0, rows) for x in self))


def decision_reader() -> Reader[DecisionRows]:
    """Joint decisions out of rows of negotiations."""
    keys = ("match", "slot", "moment")
    columns = (*keys, "static", "situation", "goal_hat", "scales", "thread")
    return Reader(ROUND_SAMPLES, columns, _decisions, keys, lambda rows: int(_is_new(rows).sum()))


def _is_new(rows: pa.Table) -> Array:
    """Where a decision's first row is."""
    new = np.ones(len(rows), bool)
    match = rows["match"].combine_chunks().dictionary_encode().indices.to_numpy()
    same = np.ones(max(len(rows) - 1, 0), bool)
    for key in (match, rows["slot"].to_numpy(), rows["moment"].to_numpy()):
        same &= key[1:] == key[:-1]
    new[1:] = ~same
    return new


def _decisions(rows: pa.Table) -> DecisionRows:
    new = _is_new(rows)
    number = np.cumsum(new) - 1
    index = np.arange(len(rows)) - np.flatnonzero(new)[number]
    kept = index < MAX_NEGOTIATIONS
    shape = int(new.sum()), MAX_NEGOTIATIONS
    thread, score = np.zeros((*shape, len(f.THREAD)), np.float32), np.zeros(shape, np.float32)
    there, at = np.zeros(shape, bool), (number[kept], index[kept])
    features = lists(rows, "thread")
    thread[at], score[at], there[at] = features[kept], teacher_scores(features)[kept], True
    first = rows.filter(pa.array(new))
    goals = inputs.goal_input(lists(first, "goal_hat"), lists(first, "scales"))
    overall = inputs.overall_input(lists(first, "static"), lists(first, "situation"), goals)
    return DecisionRows(*map(torch.from_numpy, (thread, overall, there, score)))


def scores(network: PriorityNetwork, batch: DecisionRows) -> Float[Tensor, "B K"]:
    """The network's, far below all others where there is no negotiation."""
    decision, index = batch.there.nonzero(as_tuple=True)
    negotiations = torch.cat([batch.thread[decision, index], batch.overall[decision]], 1)
    found = batch.score.new_full(batch.score.shape, -1e9)
    found[decision, index] = network(negotiations, decision, len(batch.there))
    return found


@dataclass(frozen=True, kw_only=True)
class PriorityRecipe(LayerRecipe):
    """Distil L4's teacher."""

    hidden: int = 64
    """Units of each layer. Up: nearer to the teacher, slower."""

    layer = "l4"
    plays = False
    table = ROUND_SAMPLES

    def prepare(
        self, samples: Path, init: Path | None, seed: int, device: torch.device
    ) -> TrainingTask[PriorityNetwork, DecisionRows]:
        """Joint decisions, and the teacher's scores of their negotiations."""
        splits = streams(decision_reader(), samples, self, seed, device)
        network = PriorityNetwork(self.hidden, seed)
        network.standard.set(*moments(splits["train"], _negotiations))
        known = horizons(self.table, samples, self)
        about = About(features=feature_names(), horizons=known, risk=risk_of(samples))
        return TrainingTask(
            game=self.table.game,
            optimizer=self,
            identity=f"l4 {self.hidden} {feature_names()}",
            network=begun(network, "l4", init),
            splits=splits,
            loss=self.loss,
            score=lambda network, split: evaluate(network, splits[split]),
            save=lambda folder, network, name: save_layer(folder / name, "l4", network, about),
            load=lambda folder: best(PriorityNetwork(self.hidden, None), "l4", folder),
            facts={"rows": splits["train"].rows},
        )

    def loss(self, network: PriorityNetwork, batch: DecisionRows) -> Loss:
        """How far the network's weights are from the teacher's, KL(teacher || network)."""
        return Loss(_divergence(scores(network, batch), batch).mean(), {})


def _negotiations(batch: DecisionRows) -> Tensor:
    decision, index = batch.there.nonzero(as_tuple=True)
    return torch.cat([batch.thread[decision, index], batch.overall[decision]], 1)


def _divergence(found: Float[Tensor, "B K"], batch: DecisionRows) -> Float[Tensor, " B"]:
    teacher = torch.where(batch.there, batch.score, -1e9).log_softmax(1)
    gap = torch.where(batch.there, teacher - found.log_softmax(1), 0.0)
    return (teacher.exp() * gap).sum(1)


@dataclass(frozen=True)
class PriorityScore:
    """How L4 fares on one split."""

    rows: int
    loss: float
    """Mean divergence from the teacher, in nats."""
    equal: float
    """The same for equal weights."""
    first: float
    """How often the teacher's first negotiation comes first, where there are at least two."""
    first_listed: float
    """The same for serving negotiations as they come."""

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    def metrics(self, split: str) -> dict[str, float]:
        """Flat, as they are logged."""
        return {f"{split}/{name}": float(value) for name, value in asdict(self).items()}


@torch.no_grad()
def evaluate(network: PriorityNetwork, stream: Stream[DecisionRows]) -> PriorityScore:
    """Over all decisions of a split."""
    totals = torch.zeros(5, dtype=torch.float64)
    for batch in stream.in_order(8_192):
        predicted = scores(network, batch)
        best = torch.where(batch.there, batch.score, -1e9).argmax(1)
        several = batch.there.sum(1) > 1
        totals += torch.stack(
            [
                _divergence(predicted, batch).sum(),
                _divergence(torch.where(batch.there, 0.0, -1e9), batch).sum(),
                ((predicted.argmax(1) == best) & several).sum(),
                ((best == 0) & several).sum(),
                several.sum(),
            ]
        ).cpu()
    mean = totals / stream.rows
    first, listed = (totals[2:4] / max(totals[4].item(), 1)).tolist()
    return PriorityScore(stream.rows, mean[0].item(), mean[1].item(), first, listed)
