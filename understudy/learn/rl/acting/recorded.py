"""Policies that act on a card, as graphs that were recorded once and serve rollout after rollout.

Graphs have fixed shapes: however many decisions there are, they are padded to a multiple of BLOCK.
"""

import threading
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import pad

from understudy.learn.cuda_graphs import Graphed
from understudy.learn.policy import Acted, FactoredPolicy
from understudy.learn.rl.acting.opponents import Choose, Weights, unpacked

BLOCK = 512

_known = threading.local()  # by thread: two threads must not fill in the same graph's inputs


def recorded_player(name: str, weights: Weights, device: str) -> tuple[FactoredPolicy, Choose]:
    """The policy there, and how it acts; recorded once for each thread, name and shape."""
    key = (name, device, weights.shape.to_json())
    players = _known.__dict__.setdefault("players", {})
    policy = unpacked(weights).to(device)
    if key not in players:
        players[key] = policy, Graphed(lambda tensors: policy.act(*tensors))
    kept, graph = players[key]
    kept.load_state_dict(policy.state_dict())

    def choose(*tensors: Tensor) -> Acted:
        rows = len(tensors[0])
        return Acted(*(x[:rows] for x in graph(_padded(tensors, -rows % BLOCK))))

    return kept, choose


def _padded(tensors: Sequence[Tensor], more: int) -> list[Tensor]:
    """With so many rows more, in which everything is legal and nothing matters."""
    if not more:
        return list(tensors)
    return [pad(x, (0, 0, 0, more), value=float(x.dtype == torch.bool)) for x in tensors]
