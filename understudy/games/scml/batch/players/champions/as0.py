"""AS0 (scml_agents, first in the Standard track of 2025): Penguin that prefers some partners.

It prefers those whose offers it took, gives way to them, and asks more of its partners as the end
draws near.
"""

from typing import Final

from understudy.games.scml.batch.dice import between, sample, shuffle
from understudy.games.scml.batch.kernels import kernel
from understudy.games.scml.batch.players import partners
from understudy.games.scml.batch.players.champions import bundles
from understudy.games.scml.batch.state import ACCEPT

LATE_SHARE: Final = min(0.9, bundles.TODAY_SHARE + 0.15)
POOR_SHARE: Final = max(0.5, bundles.TODAY_SHARE - 0.1)
"""Of its partners, asked for today near the end, and after losses."""
EXTRA: Final = 2
"""Others that it asks besides the preferred."""
BONUS: Final = 0.15
"""Given to a partner whose offers it always took, as a share of the price."""
URGENCY: Final = 0.1
"""Given to everybody near the end."""
LITTLE_STOCK, MUCH_STOCK = 0.3, 0.8
"""Of its lines: then a bundle can be larger, or must be smaller."""
LATE, MIDDLE = 0.3, 0.6
"""Of all days left."""
TREND: Final = 50.0
"""Change of its balance that makes it careful, or no longer so."""
BALANCES: Final = 5
"""That it remembers."""
THRESHOLD, IS_LATE, IS_POOR, NUM_BALANCES, BALANCE = range(5)
"""What it keeps; from BALANCE on, the latest balances."""
RANK, SPOKEN, TAKEN = bundles.RANK, bundles.RANK + 1, bundles.RANK + 2
"""Of each partner: the share of its offers that were taken, how many there were, and taken."""
UNKNOWN_RANK: Final = 0.5


@kernel
def join(fixed, world, me):  # type: ignore[no-untyped-def]
    """Nothing is known of anybody."""
    world.kept[me, THRESHOLD] = 1.0
    for place in range(world.notes.shape[1]):
        world.notes[me, place, RANK] = UNKNOWN_RANK


# --- the evening ---------------------------------------------------------------------------------


@kernel
def evening(fixed, world, me):  # type: ignore[no-untyped-def]
    """Stock, days left and balances decide how it goes on."""
    kept, base = world.kept[me], fixed.lines[me] * bundles.THRESHOLD_SHARE
    stock = world.stock[me] / max(1, fixed.lines[me])
    if stock < LITTLE_STOCK:
        base *= 1.5
    elif stock > MUCH_STOCK:
        base *= 0.7
    threshold, left = max(1, int(base)), (fixed.days - world.day) / fixed.days
    if left < LATE:
        threshold = int(threshold * 1.8)
        kept[IS_LATE] = 1.0
    elif left < MIDDLE:
        threshold = int(threshold * 1.3)
    kept[THRESHOLD] = threshold
    _remember_balance(world, me)


@kernel
def _remember_balance(world, me):  # type: ignore[no-untyped-def]
    kept, count = world.kept[me], int(world.kept[me, NUM_BALANCES])
    if count == BALANCES:
        for index in range(BALANCES - 1):
            kept[BALANCE + index] = kept[BALANCE + index + 1]
        count -= 1
    kept[BALANCE + count] = world.balance[me]
    count += 1
    kept[NUM_BALANCES] = count
    if count < 3:
        return
    end = BALANCE + count
    trend = (kept[end - 3] + kept[end - 2] + kept[end - 1]) / 3
    trend -= (kept[BALANCE] + kept[BALANCE + 1]) / 2
    if trend < -TREND:
        kept[IS_POOR] = 1.0
    elif trend > TREND:
        kept[IS_POOR] = 0.0


# --- talks ---------------------------------------------------------------------------------------


@kernel
def first_proposals(fixed, world, me):  # type: ignore[no-untyped-def]
    """For today, then to the preferred of the others for the days to come, at the best prices."""
    suppliers, buyers, units_of = world.list_a, world.list_b, world.list_f
    num_suppliers = partners.gather_met(world, me, True, suppliers)
    num_buyers = partners.gather_met(world, me, False, buyers)
    _deal_out_today(fixed, world, me, True, suppliers, num_suppliers, units_of)
    _deal_out_today(fixed, world, me, False, buyers, num_buyers, units_of)
    num_suppliers = _offer_today(fixed, world, me, True, suppliers, num_suppliers, units_of, True)
    num_buyers = _offer_today(fixed, world, me, False, buyers, num_buyers, units_of, True)
    num_suppliers = _prefer(fixed, world, me, suppliers, num_suppliers)
    num_buyers = _prefer(fixed, world, me, buyers, num_buyers)
    bundles.offer_ahead(fixed, world, me, True, suppliers, num_suppliers, False)
    bundles.offer_ahead(fixed, world, me, False, buyers, num_buyers, False)


@kernel
def counter_all(fixed, world, me):  # type: ignore[no-untyped-def]
    """Supplies, then sales."""
    _answer(fixed, world, me, True)
    _answer(fixed, world, me, False)
    bundles.reject_with_offers(world, me)


@kernel
def _answer(fixed, world, me, buys):  # type: ignore[no-untyped-def]
    bundles.accept_ahead(fixed, world, me, buys)
    places, needs = world.list_a, bundles.needed(fixed, world, me, buys, world.day)
    _note_taken(world, me, places, partners.gather_heard(world, me, buys, False, places), False)
    if needs > 0:
        count = partners.gather_heard(world, me, buys, True, places)
        threshold = world.kept[me, THRESHOLD] * (2.0 if world.kept[me, IS_LATE] else 1.0)
        bits = bundles.best_bundle(world, me, places, count, needs, threshold)
        if bits:
            left = bundles.accept_bundle(world, me, places, count, bits)
            count = partners.gather_heard(world, me, buys, True, world.list_b)
            _note_taken(world, me, world.list_b, count, True)
            bundles.offer_ahead(fixed, world, me, buys, places, left, False)
            return
    count, units_of = partners.gather_unanswered(world, me, buys, places), world.list_f
    _deal_out_today(fixed, world, me, buys, places, count, units_of)
    left = _offer_today(fixed, world, me, buys, places, count, units_of, False)
    bundles.offer_ahead(fixed, world, me, buys, places, left, False)


@kernel
def _note_taken(world, me, places, count, refusals_too):  # type: ignore[no-untyped-def]
    """Whose offers it takes; of those for days to come, it does not note which it refuses."""
    for index in range(count):
        notes = world.notes[me, places[index]]
        is_taken = world.answer[me, places[index]] == ACCEPT
        if is_taken or refusals_too:
            notes[SPOKEN] += 1.0
            notes[TAKEN] += 1.0 if is_taken else 0.0
            notes[RANK] = notes[TAKEN] / notes[SPOKEN]


@kernel
def _offer_today(fixed, world, me, buys, places, count, units_of, is_first):  # type: ignore[no-untyped-def]
    urgency = URGENCY if world.kept[me, IS_LATE] else 0.0
    return bundles.offer_today(
        fixed, world, me, buys, places, count, units_of, is_first, BONUS, urgency
    )


@kernel
def _share(world, me):  # type: ignore[no-untyped-def]
    """Of its partners, to be asked for today."""
    if world.kept[me, IS_LATE]:
        return LATE_SHARE
    return POOR_SHARE if world.kept[me, IS_POOR] else bundles.TODAY_SHARE


@kernel
def _prefer(fixed, world, me, places, count):  # type: ignore[no-untyped-def]
    """The best of these partners and two others; how many that are."""
    if count == 0:
        return 0
    bundles.rank(world, me, places, count)
    best, others = max(1, int(count * _share(world, me))), world.list_d
    for index in range(best, count):
        others[index - best] = places[index]
    extra = min(EXTRA, count - best)
    sample(world, me, others, count - best, extra, places[best:])
    return best + extra


@kernel
def _deal_out_today(fixed, world, me, buys, places, count, units_of):  # type: ignore[no-untyped-def]
    """Over some of the preferred partners."""
    chosen, needs = world.list_e, bundles.needed(fixed, world, me, buys, world.day)
    for index in range(count):
        chosen[index] = places[index]
        units_of[places[index]] = 0
    if count == 0 or needs <= 0:
        return
    count = _prefer(fixed, world, me, chosen, count)
    shuffle(world, me, chosen, count)
    count = max(1, int(_share(world, me) * count))
    if needs < count:
        asked = between(world, me, 1, needs)
        sample(world, me, chosen, count, asked, world.list_d)
        bundles.deal_out(fixed, world, me, needs, world.list_d, asked, units_of)
    else:
        bundles.deal_out(fixed, world, me, needs, chosen, count, units_of)
