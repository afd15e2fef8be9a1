"""What training minimises. One file per objective: its settings, which can be called."""

from dataclasses import Field
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

from jaxtyping import Float
from torch import Tensor

from understudy.learn.batches import Batch
from understudy.learn.policy import FactoredPolicy


class Loss(NamedTuple):
    """The scalar to minimise, and what to log beside it."""

    value: Float[Tensor, ""]
    metrics: dict[str, Float[Tensor, ""]]


@runtime_checkable
class Objective(Protocol):
    """A frozen dataclass that turns a policy and a batch into a loss."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __call__(self, policy: FactoredPolicy, batch: Batch) -> Loss:
        """The mean loss of the batch."""
        ...
