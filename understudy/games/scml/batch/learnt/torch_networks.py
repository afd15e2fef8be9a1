"""L3 of many decisions on a device: what `networks.ManyOffers` computes, in torch.

Features go there and scores come back, twice a turn; the rest of a decision stays compiled.
"""

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import layer_norm, scaled_dot_product_attention

from understudy.data.arrays import Array, Float32s, Int32s, Ints
from understudy.games.scml.agent.numpy_transformer import HEADS, HistoryWeights
from understudy.games.scml.batch.learnt.networks import STATE, THREAD, ManyOffers
from understudy.games.scml.view.observe import Observed


class TorchOffers:
    """The weights of a `ManyOffers` on a device."""

    def __init__(self, offers: ManyOffers, device: str) -> None:
        self._device = torch.device(device)
        self._history = HistoryWeights(*(self._there(part) for part in offers.history))  # type: ignore[arg-type]
        self._mean, self._inverse = self._there(offers.mean), self._there(offers.inverse)
        self._of_state, self._of_thread = map(self._there, (offers.of_state, offers.of_thread))
        self._of_turn, self._of_history = map(self._there, (offers.of_turn, offers.of_history))
        self._bias, self._second = map(self._there, (offers.bias, offers.second))
        self._second_bias = self._there(offers.second_bias)
        self._heads = self._there(offers.heads_weight), self._there(offers.heads_bias)
        self._offer = self._there(offers.offer_weight), self._there(offers.offer_bias)

    def _there(self, values: Array) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(self._device, non_blocking=True)

    @torch.inference_mode()
    def before_turns(self, seen: Observed, goals: Float32s, state_of: Ints) -> Tensor:
        """The first layer's sum of all that is known before the first turn, [negotiations, ...]."""
        temporal = seen.temporal.reshape(len(seen.temporal), -1)
        state = np.concatenate([seen.static, temporal, seen.situation, goals], axis=1)
        of_state = self._standard(state, 0, STATE) @ self._of_state + self._bias
        known = self._standard(seen.thread, STATE, THREAD) @ self._of_thread
        known += of_state[self._there(state_of)]
        spoken = np.flatnonzero(seen.length)
        if len(spoken):
            ends = self._ends(seen.history[spoken], seen.length[spoken])
            known.index_add_(0, self._there(spoken), ends @ self._of_history)
        return known

    def _standard(self, x: Float32s, first: int, stop: int) -> Tensor:
        return ((self._there(x) - self._mean[first:stop]) * self._inverse[first:stop]).clamp(
            -10, 10
        )

    @torch.inference_mode()
    def heads(self, known: Tensor, rows: Ints, turn: Float32s) -> Float32s:
        """Scores of responses and days, and what an offer is made of, [rows, ...]."""
        x = (self._there(turn) @ self._of_turn + known[self._there(rows)]).relu()
        x = torch.addmm(self._second_bias, x, self._second).relu()
        weight, bias = self._heads
        return np.asarray(torch.addmm(bias, x, weight).cpu().numpy())

    @torch.inference_mode()
    def offer_heads(self, on_day: Float32s) -> Float32s:
        """Scores of units and prices, [rows, ...]."""
        weight, bias = self._offer
        return np.asarray(torch.addmm(bias, self._there(on_day), weight).cpu().numpy())

    def _ends(self, history: Float32s, length: Int32s) -> Tensor:
        """The last offer's view of each negotiation, all cut to the longest."""
        w, longest = self._history, int(length.max())
        offers, count = self._there(history[:, :longest]), self._there(length.astype(np.int64))
        # Positions count back from the last offer; what lies after it is never looked at.
        ago = (count[:, None] - 1 - torch.arange(longest, device=self._device)).clamp(min=0)
        x = offers @ w.offer + w.offer_bias + w.ago[ago] + w.ago_bias
        for layer in range(len(w.mix)):
            x = self._layer(x, w, layer)
        width = x.shape[2:]
        last = x[torch.arange(len(x), device=self._device), count - 1]
        return layer_norm(last, width)

    def _layer(self, x: Tensor, w: HistoryWeights, layer: int) -> Tensor:
        negotiations, longest, width = x.shape
        mixed = layer_norm(x, (width,)) @ w.mix[layer] + w.mix_bias[layer]
        parts = mixed.view(negotiations, longest, 3, HEADS, width // HEADS).permute(2, 0, 3, 1, 4)
        query, key, value = parts
        seen = scaled_dot_product_attention(query, key, value, is_causal=True)
        seen = seen.transpose(1, 2).reshape(negotiations, longest, width)
        x = x + (seen @ w.out[layer] + w.out_bias[layer])
        wide = (layer_norm(x, (width,)) @ w.up[layer] + w.up_bias[layer]).relu()
        return x + (wide @ w.down[layer] + w.down_bias[layer])
