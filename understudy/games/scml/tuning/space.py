"""What a search may try of Steward's numbers, by place in the chain."""

from collections.abc import Mapping
from typing import Final

from understudy.errors import InputError
from understudy.games.scml.players.steward_numbers import NEVER, PLACES

Values = Mapping[str, tuple[float, ...]]

SELLING: Final[Values] = {
    "filling_days": (0, 2, 4, 6, 8, 10, 14),
    "trial_days": (1, 2, 3, 5, 8, 11),
    "largest_deal": (4, 5, 6, 7, 8, 9, 10),
    "firm": (0, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15),
    "greedy_discount": (0.84, 0.86, 0.88, 0.9, 0.91, 0.92, 0.95, 1),
    "choosy": (0, 3, 6, 8, 10, 12, 14, 16, 18),
    "last_round": (15, 17, 18.5, 19.5, 22, 26, 30, 40),
    "fraction": (0.3, 0.5, 0.65, 0.8, 1, NEVER),
    "small_from": (8, 10, 12, 14, 15, 16, 17, 18, 19, NEVER),
    "small_units": (1, 2, 3, 4, 5),
    "soonest": (0, 1),
    "floor": (0.2, 0.4, 0.5, 0.6, 0.8, 1),
    "unknown_ask": (3, 5, 7, NEVER),
    "cheap_from": (8, 10, 12, 13, 14, 15, 16, 17, 18, NEVER),
}
BUYING: Final[Values] = {
    "bids_rise": (1, 2, 3, 5, 8, 12, 18),
    "ask_fold": (1, 2, 3, 4, 6, 8),
    "extra_units": (0, 1, 2, 3, 4, 6, 8, 12),
    "expected_use": (0.1, 0.2, 0.3, 0.5, 0.7, 1),
    "target": (7, 8, 9, 10, 11, 12, 14),
    "spendable": (0.3, 0.5, 0.7, 0.9),
}
SUPPLIED: Final[Values] = {"supply_share": (0, 0.3, 0.5, 0.7, 0.85, 1, 1.2)}
ORDERED: Final[Values] = {"order_margin": (0, 1, 2, 3, 4, 6)}
TELLING: Final[Values] = {
    "telling.large": (3, 4, 5, 6, 7, 8),
    "telling.eager_share": (0, 0.2, 0.34, 0.5, 0.7),
    "telling.watch_days": (0, 1, 2, 3, 5),
    "telling.first_way": (0, 1),
}


def choices(place: str) -> Values:
    """Values to choose from: alike in both ways, or in one, `thrifty.` or `eager.`."""
    if place == "last":  # it sells to the outside alone
        return {**BUYING, **ORDERED}
    own = {"first": {**SELLING, **SUPPLIED}, "middle": {**SELLING, **BUYING}}
    if place not in own:
        raise InputError(f"there is no place '{place}'; there is {', '.join(PLACES)}")
    ways = {f"{w}.{name}": v for w in ("thrifty", "eager") for name, v in own[place].items()}
    return {**own[place], **ways, **TELLING}
