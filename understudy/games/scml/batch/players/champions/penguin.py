"""Penguin (scml_agents, first in the Standard track of 2024): keeps seven tenths of its lines busy.

From the third day on it accepts no sale for the day itself: where it means to ask whether there is
room today, it asks how much was sold for day 0 or 1.
"""

from typing import Final

from understudy.games.scml.batch import speech
from understudy.games.scml.batch.dice import shuffle
from understudy.games.scml.batch.kernels import kernel
from understudy.games.scml.batch.players import partners
from understudy.games.scml.batch.players.champions import bundles

THRESHOLD: Final = 0
"""What it keeps: units above its needs that are still good enough."""


@kernel
def join(fixed, world, me):  # type: ignore[no-untyped-def]
    """All partners are alike."""
    world.kept[me, THRESHOLD] = 1.0
    for place in range(world.notes.shape[1]):
        world.notes[me, place, bundles.RANK] = 1.0


@kernel
def evening(fixed, world, me):  # type: ignore[no-untyped-def]
    """The threshold grows with the lines."""
    world.kept[me, THRESHOLD] = fixed.lines[me] * bundles.THRESHOLD_SHARE


@kernel
def first_proposals(fixed, world, me):  # type: ignore[no-untyped-def]
    """For today, then for the days to come, at the best prices."""
    places, units_of = world.list_a, world.list_f
    for side in range(2):
        count = partners.gather_met(world, me, side == 0, places)
        _deal_out_today(fixed, world, me, side == 0, places, count, units_of)
    for side in range(2):
        count = partners.gather_met(world, me, side == 0, places)
        _offer(fixed, world, me, side == 0, places, count, units_of, True)


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
    if not buys:
        has_room = speech.sold_for(world, me, world.day) <= fixed.lines[me]
        needs *= speech.sold_for(world, me, 1 if has_room else 0) > 0
    if needs > 0:
        count = partners.gather_heard(world, me, buys, True, places)
        threshold = world.kept[me, THRESHOLD]
        bits = bundles.best_bundle(world, me, places, count, needs, threshold)
        if bits:
            left = bundles.accept_bundle(world, me, places, count, bits)
            bundles.offer_ahead(fixed, world, me, buys, places, left, True)
            return
    count, units_of = partners.gather_unanswered(world, me, buys, places), world.list_f
    _deal_out_today(fixed, world, me, buys, places, count, units_of)
    _offer(fixed, world, me, buys, places, count, units_of, False)


@kernel
def _deal_out_today(fixed, world, me, buys, places, count, units_of):  # type: ignore[no-untyped-def]
    """Over some of the partners."""
    chosen, needs = world.list_d, bundles.needed(fixed, world, me, buys, world.day)
    for index in range(count):
        chosen[index] = places[index]
        units_of[places[index]] = 0
    if count > 0 and needs > 0:
        shuffle(world, me, chosen, count)
        asked = max(1, int(bundles.TODAY_SHARE * count))
        bundles.deal_out(fixed, world, me, needs, chosen, asked, units_of)


@kernel
def _offer(fixed, world, me, buys, places, count, units_of, is_first):  # type: ignore[no-untyped-def]
    left = bundles.offer_today(fixed, world, me, buys, places, count, units_of, is_first, 0.0, 0.0)
    bundles.offer_ahead(fixed, world, me, buys, places, left, True)
