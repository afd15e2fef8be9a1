"""What learning from samples minimises: settings that can be called."""

from dataclasses import Field
from typing import Any, ClassVar, Protocol, runtime_checkable

from understudy.learn.base import Loss
from understudy.learn.policy import FactoredPolicy
from understudy.learn.supervised.dataset import Batch


@runtime_checkable
class Objective(Protocol):
    """A frozen dataclass that turns a policy and a batch into a loss."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    by_outcome: ClassVar[bool]
    """Whether it can learn only where outcomes differ."""

    def __call__(self, policy: FactoredPolicy, batch: Batch) -> Loss:
        """The mean loss of the batch."""
        ...
