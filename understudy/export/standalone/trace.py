"""Stands in for `agent/trace.py`: an exported agent writes down nothing."""

from typing import Any

Trace = Any
Turn = Any


class Notes:
    """Refuses to be made."""

    def __init__(self, *_: Any) -> None:
        raise ValueError("an exported agent writes no trace")

    def write(self, *_: Any) -> None:
        """Never comes to pass."""


def turn_of(*_: Any) -> Any:
    """Never comes to pass."""
