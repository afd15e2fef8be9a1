"""Stands in for `games/scml/kernels.py` where there is no numba: nothing is compiled."""

from collections.abc import Callable
from typing import Any


def kernel(function: Callable[..., Any]) -> Any:
    """The function itself."""
    return function
