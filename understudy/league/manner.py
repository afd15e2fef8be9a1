"""How a learner learns, beside the usual way of its game."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Manner:
    """Rates and tether are shares of what is usual in the game."""

    rate: float = 1.0
    """Of the learning rate, when a lesson begins."""
    rate_end: float = 1.0
    """Of the learning rate, when it ends; it changes along a line."""
    tether: float = 1.0
    """Of the pull towards the imitation. 0: free, which may end far from how people play."""
    draw: float = 0.0
    """What a drawn match is worth, between a lost one, -1, and a won one, 1. At 0 a learner that
    cannot win yet may learn to stall, and never find out how to win."""

    def __post_init__(self) -> None:
        if not (self.rate > 0 and self.rate_end >= 0 and self.tether >= 0 and abs(self.draw) <= 1):
            raise ValueError(f"rate must be above 0, the others not below, draw within 1: {self}")

    def slowed(self, first: float, last: float) -> "Manner":
        """The same with these shares of its rates left."""
        return replace(self, rate=self.rate * first, rate_end=self.rate_end * last)


USUAL = Manner()
