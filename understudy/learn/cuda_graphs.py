"""Work on a graphics card whose many small steps are recorded once and replayed as one.

A small network on a fast card spends nearly all its time being told what to do next. A CUDA graph
is told once. Shapes are fixed in it, so there is one graph for each set of shapes.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

Function = Callable[[Sequence[Tensor]], Sequence[Tensor]]

_WARM_UP = 3  # runs before recording, as torch asks for: libraries set themselves up in them


class Graphed:
    """A function of tensors on a card, replayed. What it gives is overwritten by the next call.

    The function must do the same whatever is in the tensors, and not wait for the card. What it
    changes besides (weights, moments of an optimiser) must stay where it is in memory; `rewind` is
    called with what `remember` gave after the first runs, which are not meant to count.
    """

    def __init__(
        self,
        function: Function,
        *,
        remember: Callable[[], object] = lambda: None,
        rewind: Callable[[object], None] = lambda _: None,
    ) -> None:
        self._function, self._remember, self._rewind = function, remember, rewind
        self._graphs: dict[
            tuple[torch.Size, ...],
            tuple[torch.cuda.CUDAGraph, Sequence[Tensor], Sequence[Tensor]],
        ] = {}

    def __call__(self, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        """What the function gives for these."""
        key = tuple(tensor.shape for tensor in tensors)
        if key not in self._graphs:
            self._graphs[key] = self._record(tensors)
        graph, inputs, outputs = self._graphs[key]
        for place, tensor in zip(inputs, tensors, strict=True):
            place.copy_(tensor, non_blocking=True)
        graph.replay()
        return outputs

    def _record(
        self, tensors: Sequence[Tensor]
    ) -> tuple[torch.cuda.CUDAGraph, Sequence[Tensor], Sequence[Tensor]]:
        inputs = [tensor.clone() for tensor in tensors]
        before = self._remember()
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(_WARM_UP):
                self._function(inputs)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        # Others may use the card meanwhile: only this thread's work is recorded.
        with torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
            outputs = self._function(inputs)
        self._rewind(before)
        return graph, inputs, outputs


@contextmanager
def own_stream(device: str) -> Iterator[None]:
    """Let this thread's work on the card go beside that of others; all is done at the end."""
    stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
    with torch.cuda.stream(stream):
        yield
        stream.synchronize()


def sent(tensor: Tensor, device: torch.device) -> Tensor:
    """The tensor there; the processor goes on while it travels."""
    if device.type != "cuda":
        return tensor
    return tensor.pin_memory().to(device, non_blocking=True)
