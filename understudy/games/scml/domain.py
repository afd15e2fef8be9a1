"""The words of SCML, each defined once: tracks and their rules, offers, answers, goals, safety."""

from dataclasses import dataclass
from typing import Final, Literal

from understudy.errors import InputError

Track = Literal["std", "oneshot"]


@dataclass(frozen=True)
class Rules:
    """One track's rules. The rest of the engine is the same for both."""

    perishable: bool
    """What is left of a day's input is thrown away, at a cost, instead of stored."""
    horizon: int
    """Deliveries can be agreed for today and this many days ahead."""
    quantity_factor: int
    """An offer can be for this many days' work of a factory."""
    price_share: float | None
    """Offers may be this far from the trading price, as a share of it. None: one of the two whole
    numbers around it."""


RULES: Final[dict[Track, Rules]] = {
    # STD_DEFAULT_PARAMS of scml.std.world
    "std": Rules(perishable=False, horizon=10, quantity_factor=3, price_share=0.1),
    # SCML2024OneShotWorld and the defaults of SCMLBaseWorld
    "oneshot": Rules(perishable=True, horizon=0, quantity_factor=1, price_share=None),
}


LINES: Final = 10
"""Production lines of every factory in the league, and so the most it can make in a day."""
ROUNDS: Final = 20
"""Of a negotiation; two speak in each."""
HORIZON: Final = RULES["std"].horizon
DAYS: Final = HORIZON + 1
"""Today and the days ahead; where a world has fewer, the rest is empty."""

Offer = tuple[int, int, int]
"""Quantity, delivery day, unit price."""
RESPONSES: Final = ("accept", "reject", "end")
"""What can be done in a negotiation; to reject is to make an offer."""
ACCEPT, REJECT, END = range(3)
CALLS: Final = ("first_proposals", "counter_all", "propose", "respond")
"""How a decision is asked for: of all negotiations at once, or negotiation by negotiation."""
FIRST_PROPOSALS, COUNTER_ALL, PROPOSE, RESPOND = range(4)
SIDES: Final = ("buying", "selling")
BUYING, SELLING = range(2)

GOALS: Final = ("buy_quantity", "buy_price", "sell_quantity", "sell_price")
"""Of each of four delivery buckets."""
BUCKETS: Final = ((0, 0), (1, 2), (3, 5), (6, 10))
"""Days ahead, first and last."""
NUM_GOALS: Final = len(BUCKETS) * len(GOALS)

RISK: Final = 0.5
"""That the player L1Risk takes: see `SafetySettings`."""
BUY_SHARE: Final = 0.95
SELL_SHARE: Final = 1.05
"""Of the trading price, in L1's baseline."""


@dataclass(frozen=True)
class SafetySettings:
    """How careful L1 is."""

    reserve: float = 0.1
    """Share of the initial balance that purchases never touch."""
    conserves: bool = False
    """Production takes from stock. So it does not in scml, but in worlds that mend that."""
    risk: float = 0.0
    """The chance, from 0 to 1, that a day's exogenous supply falls short of what is counted on. 0:
    only what is known counts. Up: more can be promised early, and more of it may not be made."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.risk <= 1.0:
            raise InputError(f"a risk is a chance from 0 to 1, not {self.risk:g}")

    @property
    def numbers(self) -> "tuple[float, bool, float]":
        """As compiled code is told."""
        return float(self.reserve), self.conserves, float(self.risk)


def track_named(name: str) -> Track:
    """A track by its name on the command line."""
    for track in RULES:
        if track == name:
            return track
    raise InputError(f"there is no track '{name}'; there is {', '.join(RULES)}")
