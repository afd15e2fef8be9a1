"""Matcher: a scripted player for SCML OneShot that matches the day's quantities.

In OneShot nothing lasts beyond the day: input that is not made into products is thrown away at a
cost, products that are promised and not made are paid for. In the morning a factory knows what the
outside world brings it (first level) or takes from it (last level), and must sell or buy just that
much. The two prices that an offer may have lie one apart: one unit too few or too many costs as
much as the better price gains on ten. So Matcher weighs totals: what the day is worth by units
traded, by the rules of `engine/factory.py`.

Of all ways to answer it takes the one with the best expected worth: which offers to accept, and
what to ask of the others. Two guesses go into that: how likely a partner takes what it is asked
for, and how likely a unit that is still missing is not found in the rounds that are left.

It tosses no coins and remembers nothing from one day to the next: sharing by what each partner took
on earlier days made it worse.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from negmas import ResponseType, SAOResponse, SAOState
from scml.oneshot import OneShotSyncAgent
from scml.oneshot.awi import OneShotAWI

from understudy.data.arrays import Array
from understudy.games.scml.domain import ROUNDS, Offer

FIRST_ASK: Final = 1.3
"""A buyer opens by asking its suppliers for so many times what it needs: some say no."""
UNMET_AT_FIRST: Final = (0.35, 0.5)
"""Buying, selling: chance that a unit still missing after the first answers is never found."""
UNMET_LATER: Final = (0.2, 0.3)
"""The same from then on; grows with the square of the rounds to certainty in the last."""
CROWDED: Final = (0.5, 2.0)
"""That chance goes with how much our level must trade beside the other one, within these bounds."""
TAKES_AT_FIRST: Final = (0.15, 0.45)
"""Buying, selling: chance that a partner takes our first answer, if that is for as many units as it
offered itself, or more."""
TAKES_LESS: Final = 0.6
"""That chance is so much smaller for every unit that we want less."""
TAKES_LATER: Final = 0.04
"""Who did not agree at first hardly ever takes a counter-offer."""
MOST_WEIGHED: Final = 8
"""Offers of which every subset is looked at; and subsets for which counter-offers are tried."""
MOST_UNITS: Final = 64
"""Totals are told apart up to here."""


@dataclass(frozen=True)
class Side:
    """One product that a factory trades today, as it stands."""

    sells: bool
    worth: Array
    """[MOST_UNITS]: profit of the day by units traded in all, each at our best price."""
    agreed: int
    """Units traded already."""
    price: int
    """Our best."""
    largest: int
    """The most units of an offer."""
    crowding: float
    """What our level has to trade, as a multiple of what the other one has."""

    def loss(self, offer: Offer) -> int:
        """What an offer costs us beside our best price."""
        return offer[0] * abs(offer[2] - self.price)

    def hoped(self, turn: int, partners: int) -> Array:
        """Worth by units if partners are left: some of what is missing may yet be found."""
        best = int(self.worth.argmax())
        unmet = chance_unmet(self.sells, turn, self.crowding) if partners else 1.0
        missing = self.worth[best] - self.worth[:best]
        return np.concatenate([self.worth[best] - unmet * missing, self.worth[best:]])


class Matcher(OneShotSyncAgent):
    """Trades what the day needs, neither more nor less."""

    def init(self) -> None:
        """Nothing lies on the table."""
        self._standing: dict[str, tuple[int, float]] = {}
        """What partners may still accept: units, and how likely they do."""

    def before_step(self) -> None:
        """A new day."""
        self._standing = {}

    def first_proposals(self) -> dict[str, Offer | None]:
        """Ask everybody for the same share, in all somewhat more than is needed."""
        made: dict[str, Offer | None] = dict.fromkeys(self.negotiators)
        for side, partners in self._sides(list(self.negotiators)):
            need = int(side.worth.argmax()) - side.agreed
            if need > 0:
                turn = self.awi.current_step % len(partners)  # who gets the odd unit changes
                shares = even_shares(round(need * FIRST_ASK), len(partners))
                for partner, units in zip(partners[turn:] + partners[:turn], shares, strict=True):
                    units = min(units, need, side.largest)
                    made[partner] = (units, self.awi.current_step, side.price)
        self._standing = {p: (o[0], TAKES_AT_FIRST[0]) for p, o in made.items() if o is not None}
        return made

    def counter_all(
        self, offers: Mapping[str, Offer | None], states: Mapping[str, SAOState]
    ) -> dict[str, SAOResponse]:
        """Accept the best offers together, ask the others for what is missing, or end."""
        turn = max(state.step for state in states.values())
        self._standing = {
            partner: asked
            for partner, asked in self._standing.items()
            if partner not in offers and self.get_nmi(partner) is not None
        }
        answers = dict.fromkeys(offers, SAOResponse(ResponseType.END_NEGOTIATION, None))
        for side, partners in self._sides(sorted(offers)):
            mine = self.awi.my_consumers if side.sells else self.awi.my_suppliers
            standing = [asked for partner, asked in self._standing.items() if partner in mine]
            heard = {partner: offers[partner] for partner in partners}
            accepted, asked = best_answer(side, heard, standing, turn)
            for partner in accepted:
                answers[partner] = SAOResponse(ResponseType.ACCEPT_OFFER, heard[partner])
            for partner, (units, chance) in asked.items():
                offer = (units, self.awi.current_step, side.price)
                answers[partner] = SAOResponse(ResponseType.REJECT_OFFER, offer)
                self._standing[partner] = units, chance
        return answers

    def _sides(self, partners: Sequence[str]) -> list[tuple[Side, list[str]]]:
        """What these partners trade with us, and who of them; in the league one side only."""
        awi = self.awi
        buys = [partner for partner in partners if partner in awi.my_suppliers]
        sells = [partner for partner in partners if partner in awi.my_consumers]
        found = ((side_of(awi, False), buys), (side_of(awi, True), sells))
        return [(side, names) for side, names in found if names]


def side_of(awi: OneShotAWI, sells: bool) -> Side:
    """Of what a factory sees now."""
    today = awi.current_step
    issues = awi.current_output_issues if sells else awi.current_input_issues
    price = int(issues[2].max_value if sells else issues[2].min_value)
    agreed = awi.total_sales_at(today) if sells else awi.total_supplies_at(today)
    supply, demand = (float(awi.exogenous_contract_summary[index][0]) for index in (0, -1))
    crowding = (supply / max(demand, 1.0)) if sells else (demand / max(supply, 1.0))
    return Side(
        sells=sells,
        worth=worth_of_units(awi, sells, price),
        agreed=int(agreed),
        price=price,
        largest=int(issues[0].max_value),
        crowding=float(np.clip(crowding, *CROWDED)),
    )


def worth_of_units(awi: OneShotAWI, sells: bool, price: int) -> Array:
    """A day's profit by units traded at a price, [MOST_UNITS]: the rules of `engine/factory.py`.

    The other side is what the outside world brings or takes; where it is negotiated, all lines.
    """
    units = np.arange(MOST_UNITS)
    if sells:
        bought = awi.current_exogenous_input_quantity if awi.is_first_level else awi.n_lines
        sold, income, spent = units, float(price), 0.0
    else:
        sold = awi.current_exogenous_output_quantity if awi.is_last_level else awi.n_lines
        bought, spent = units, float(price)
        paid = awi.current_exogenous_output_price / max(sold, 1)
        income = paid if awi.is_last_level else float(awi.current_output_issues[2].max_value)
    made = np.minimum(np.minimum(bought, sold), awi.n_lines)
    disposal = awi.current_disposal_cost * awi.trading_prices[awi.my_input_product]
    penalty = awi.current_shortfall_penalty * awi.trading_prices[awi.my_output_product]
    profit = (income - awi.profile.cost) * made - spent * units
    return np.asarray(profit - disposal * (bought - made) - penalty * (sold - made), np.float64)


def chance_unmet(sells: bool, turn: int, crowding: float) -> float:
    """How likely a unit that is missing after a turn is never found."""
    if turn <= 1:
        chance = UNMET_AT_FIRST[sells]
    else:
        later = UNMET_LATER[sells]
        chance = later + (1 - later) * (turn / (ROUNDS - 1)) ** 2
    return min(1.0, chance * crowding)


def chances_taken(sells: bool, turn: int, offered: int, most: int) -> Array:
    """How likely a partner takes 0, 1, ..., `most` units when it has offered so many itself."""
    if turn > (0 if sells else 1):  # the buyer opens, so its first answer comes a round later
        return np.full(most + 1, TAKES_LATER)
    return TAKES_AT_FIRST[sells] * TAKES_LESS ** np.maximum(offered - np.arange(most + 1), 0)


def even_shares(units: int, partners: int) -> list[int]:
    """At least one each, the odd ones first."""
    return [max(1, units // partners + (index < units % partners)) for index in range(partners)]


def best_answer(
    side: Side,
    offers: Mapping[str, Offer | None],
    standing: Sequence[tuple[int, float]],
    turn: int,
) -> tuple[tuple[str, ...], dict[str, tuple[int, float]]]:
    """Whose offers to accept, and whom to ask for how many units (and how likely they agree)."""
    chances = {
        partner: chances_taken(side.sells, turn, offer[0] if offer else 0, side.largest)
        for partner, offer in offers.items()
    }
    found: list[tuple[float, tuple[str, ...], dict[str, int]]] = []
    for accepted in promising(side, offers, len(standing), turn):
        taken = [offer for partner in accepted if (offer := offers[partner]) is not None]
        have = side.agreed + sum(quantity for quantity, _, _ in taken)
        others = [partner for partner in offers if partner not in accepted]
        hoped = side.hoped(turn, len(others) + len(standing))
        worth, asked = best_asks(
            hoped[have:], [chances[partner] for partner in others], standing, side.largest
        )
        worth -= sum(map(side.loss, taken))
        found.append((worth, accepted, dict(zip(others, asked, strict=True))))
    _, accepted, asks = max(found, key=lambda option: option[0])
    return accepted, {p: (units, float(chances[p][units])) for p, units in asks.items() if units}


def promising(
    side: Side, offers: Mapping[str, Offer | None], standing: int, turn: int
) -> list[tuple[str, ...]]:
    """The sets of offers that are worth most if accepted, without what the others may yet give."""
    there = {partner: offer for partner, offer in offers.items() if offer is not None}
    known = sorted(there, key=lambda p: (side.loss(there[p]) / there[p][0], p))[:MOST_WEIGHED]
    hoped = [side.hoped(turn, left) for left in range(len(offers) + standing + 1)]

    def worth(accepted: tuple[str, ...]) -> float:
        total = side.agreed + sum(there[partner][0] for partner in accepted)
        left = len(offers) + standing - len(accepted)
        return float(hoped[left][min(total, MOST_UNITS - 1)]) - sum(
            side.loss(there[partner]) for partner in accepted
        )

    sets = [chosen for size in range(len(known) + 1) for chosen in combinations(known, size)]
    sets = [s for s in sets if side.agreed + sum(there[p][0] for p in s) < MOST_UNITS]
    return sorted(sets, key=lambda accepted: -worth(accepted))[:MOST_WEIGHED]


def best_asks(
    worth: Array, chances: Sequence[Array], standing: Sequence[tuple[int, float]], largest: int
) -> tuple[float, list[int]]:
    """Expected worth, and units to ask of each partner (0: nothing); `worth` is by units more.

    Begins with even shares of what is missing; then each in turn gets what is best beside the rest.
    """
    reach = sum(units for units, _ in standing) + largest * len(chances) + 1
    worth = np.pad(worth, (0, max(0, reach + largest - len(worth))), mode="edge")
    nothing = np.zeros(reach)
    nothing[0] = 1.0
    for units, chance in standing:
        nothing = with_another(nothing, units, chance)
    missing = int(worth.argmax())
    asks = even_shares(missing, len(chances)) if missing and chances else [0] * len(chances)
    asks = [min(units, largest) for units in asks]
    expected = float(nothing @ worth[:reach])
    by_ask = np.lib.stride_tricks.sliding_window_view(worth, reach)[: largest + 1]
    for _ in range(2):
        for index, takes in enumerate(chances):
            others = nothing
            for other, units in enumerate(asks):
                if other != index and units:
                    others = with_another(others, units, chances[other][units])
            if_taken = by_ask @ others
            value = takes * if_taken + (1 - takes) * if_taken[0]
            asks[index] = int(value.argmax())
            expected = float(value[asks[index]])
    return expected, asks


def with_another(likely: Array, units: int, chance: float) -> Array:
    """How likely each total is, with one more who takes so many units or nothing."""
    shifted = np.zeros_like(likely)
    shifted[units:] = likely[: len(likely) - units]
    return np.asarray((1 - chance) * likely + chance * shifted)
