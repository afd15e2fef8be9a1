"""What players say and look up: offers, answers, partners, commitments."""

from understudy.games.scml.batch.kernels import kernel
from understudy.games.scml.batch.state import CROWD, DAY, NOBODY, PRICE, REJECT, UNITS
from understudy.games.scml.domain import DAYS


@kernel
def is_supplier(place):  # type: ignore[no-untyped-def]
    """Whether the partner in this place sells to us; else it buys."""
    return place < CROWD


@kernel
def place_of(fixed, me, partner):  # type: ignore[no-untyped-def]
    """Where a partner lies among those of a factory."""
    level = fixed.level[partner]
    place = partner - fixed.first_of[level]
    return place if level < fixed.level[me] else CROWD + place


@kernel
def partner_at(fixed, me, place):  # type: ignore[no-untyped-def]
    """Which factory lies in a place."""
    if place < CROWD:
        return fixed.first_of[fixed.level[me] - 1] + place
    return fixed.first_of[fixed.level[me] + 1] + place - CROWD


@kernel
def propose(world, me, place, units, day, price):  # type: ignore[no-untyped-def]
    """An offer of a joint decision; 0 units: none, which ends the talk."""
    if not world.has_proposal[me, place]:
        world.has_proposal[me, place] = 1
        world.num_proposals[me] += 1
    world.proposal[me, place, UNITS] = units
    world.proposal[me, place, DAY] = day
    world.proposal[me, place, PRICE] = price


@kernel
def propose_at(world, me, place, units, day, price):  # type: ignore[no-untyped-def]
    """An offer at a price that need not be a whole number; then it is none."""
    whole = int(price)
    propose(world, me, place, units if whole == price else 0, day, whole)


@kernel
def counter(world, me, place, units, day, price):  # type: ignore[no-untyped-def]
    """Reject with an offer, in a joint decision."""
    world.answer[me, place] = REJECT
    propose(world, me, place, units, day, price)


@kernel
def clear_proposals(world, me):  # type: ignore[no-untyped-def]
    """Nothing is offered to anybody."""
    for place in range(world.has_proposal.shape[1]):
        world.has_proposal[me, place] = 0
    world.num_proposals[me] = 0


@kernel
def round_of(world, me, place):  # type: ignore[no-untyped-def]
    """The round of the talk with a partner."""
    return world.round[world.talk[me, place]]


@kernel
def speaks_to(world, me, place):  # type: ignore[no-untyped-def]
    """Whether the talk with a partner is still open."""
    return world.talk[me, place] != NOBODY and world.open[me, place] != 0


@kernel
def bought_for(world, me, day):  # type: ignore[no-untyped-def]
    """Units bought from others for a day to come."""
    return world.bought[me, day % DAYS] if world.day <= day <= world.day + DAYS - 1 else 0


@kernel
def sold_for(world, me, day):  # type: ignore[no-untyped-def]
    """Units sold to others for a day to come."""
    return world.sold[me, day % DAYS] if world.day <= day <= world.day + DAYS - 1 else 0


@kernel
def needed_sales(fixed, world, me):  # type: ignore[no-untyped-def]
    """Units in hand or on their way today that nobody has bought yet."""
    if fixed.level[me] == fixed.levels - 1:
        return 0
    today = world.day % DAYS
    needed = (
        world.supply_units[me]
        + world.stock[me]
        + world.bought[me, today]
        - world.sold[me, today]
        - world.sale_units[me]
    )
    return min(fixed.lines[me], needed) if fixed.perishable else needed


@kernel
def needed_supplies(fixed, world, me):  # type: ignore[no-untyped-def]
    """Units sold for today that are neither in hand nor on their way."""
    if fixed.level[me] == 0:
        return 0
    today = world.day % DAYS
    needed = (
        world.sale_units[me]
        + world.sold[me, today]
        - world.bought[me, today]
        - world.supply_units[me]
        - world.stock[me]
    )
    return min(fixed.lines[me], needed) if fixed.perishable else needed
