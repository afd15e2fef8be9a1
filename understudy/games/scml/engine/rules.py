"""What differs between the two tracks of the league."""

from dataclasses import dataclass
from typing import Literal

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


RULES: dict[Track, Rules] = {
    # STD_DEFAULT_PARAMS of scml.std.world
    "std": Rules(perishable=False, horizon=10, quantity_factor=3, price_share=0.1),
    # SCML2024OneShotWorld and the defaults of SCMLBaseWorld
    "oneshot": Rules(perishable=True, horizon=0, quantity_factor=1, price_share=None),
}


def track_named(name: str) -> Track:
    """A track by its name on the command line."""
    for track in RULES:
        if track == name:
            return track
    raise InputError(f"there is no track '{name}'; there is {', '.join(RULES)}")
