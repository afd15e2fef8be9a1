"""Who is around: built-ins, who order much at once, or champions, who order little.

Nobody says so. A first-level factory goes by the most that each of its buyers ever asked for, as
TunedSteward does, and plays by weights of their own while its buyers are thrifty.
"""

from typing import Final

from understudy.data.arrays import Array, Bools

LARGE: Final = 5
"""Units of an order that champions hardly ever ask for: TunedSteward's number, as the next is."""
EAGER_SHARE: Final = 0.34
"""Of the buyers that must have asked for a large order."""


def are_thrifty(asked: Array, buyers: Array | int) -> Bools:
    """Whether too few of so many buyers have ever asked for a large order, [...].

    `asked`, [..., buyers]: the most units that each asked for, until yesterday.
    """
    eager: Array = (asked >= LARGE).sum(axis=-1)
    return eager < EAGER_SHARE * buyers
