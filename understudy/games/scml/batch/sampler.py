"""Official worlds drawn by the thousand: scml's generator once more, compiled.

Draws the distribution of `engine/config.draw` (SCMLBaseWorld.generate with the defaults of a track)
from dice of its own, so not the same worlds. Tests compare every field of both.
"""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from understudy.data.arrays import Array, Floats, Ints
from understudy.errors import InputError
from understudy.games.scml.batch.dice import key_of, number_of
from understudy.games.scml.batch.kernels import kernel
from understudy.games.scml.batch.state import CROWD, FACTORIES, FIXED, LEVELS, MOST_DAYS
from understudy.games.scml.domain import LINES, RULES, Track

SUPPLY_LOW, SUPPLY_HIGH, SURE_LOW, SURE_HIGH, CAP, STORAGE_LOW, STORAGE_HIGH, DISPOSAL = range(8)
"""How a track's worlds are drawn: supply as a share of the lines, how predictable a factory's
trades are, the most units of one, the range of storage costs, the highest disposal cost."""
DRAWN: Final[dict[Track, tuple[float, ...]]] = {
    "std": (0.2, 1.0, 0.0, 0.7, math.inf, 0.01, 0.05, 0.0),
    "oneshot": (0.8, 1.0, 0.6, 0.9, LINES, 0.0, 0.0, 0.2),
}
FIRST_PRICE: Final = 10.0
_NATURE: Final = FACTORIES
"""Whose dice the worlds are drawn with: nobody's in it."""


class _Desk(NamedTuple):
    """Space to draw a world in."""

    rolled: Ints
    """The world's key, and how often its dice were rolled."""
    supplies: Ints
    """[MOST_DAYS, CROWD], of the first level."""
    sales: Ints
    totals: Ints
    """[2, MOST_DAYS]: what is supplied and sold in all."""
    cut: Ints
    """[5, CROWD]: shares of a total."""
    costs: Floats
    """[LEVELS, MOST_DAYS]: what a level's work costs, with its input."""
    prices: Floats
    """[LEVELS, MOST_DAYS]: what is asked for all its output."""


def sample(
    sizes: Sequence[Sequence[int]],
    days: Sequence[int],
    seeds: Sequence[int],
    track: Track = "std",
    *,
    conserve_stock: bool = False,
) -> Array:
    """Worlds of these sizes and days, one for each seed, [worlds] of dtype FIXED; nobody plays."""
    fixed, rules = np.zeros(len(seeds), FIXED), RULES[track]
    _check(sizes, days)
    fixed["seed"], fixed["days"] = seeds, days
    fixed["horizon"], fixed["perishable"] = rules.horizon, rules.perishable
    fixed["most_units"] = max(1, LINES * rules.quantity_factor)
    fixed["price_share"] = -1.0 if rules.price_share is None else rules.price_share
    fixed["conserves"] = conserve_stock
    fixed["levels"] = [len(size) for size in sizes]
    fixed["factories"] = [sum(size) for size in sizes]
    for row, size in zip(fixed, sizes, strict=True):
        row["first_of"] = np.cumsum([0, *size, *[0] * (LEVELS - len(size))])
        row["level"][: sum(size)] = np.repeat(np.arange(len(size)), size)
    fixed["lines"] = np.where(np.arange(FACTORIES) < fixed["factories"][:, None], LINES, 0)
    desk = _Desk(
        np.zeros(2, np.int64),
        np.zeros((MOST_DAYS, CROWD), np.int64),
        np.zeros((MOST_DAYS, CROWD), np.int64),
        np.zeros((2, MOST_DAYS), np.int64),
        np.zeros((5, CROWD), np.int64),
        np.zeros((LEVELS, MOST_DAYS)),
        np.zeros((LEVELS, MOST_DAYS)),
    )
    _draw_all(fixed, np.array(DRAWN[track]), desk)
    return fixed


def _check(sizes: Sequence[Sequence[int]], days: Sequence[int]) -> None:
    for size in sizes:
        if not 2 <= len(size) <= LEVELS or not 1 <= min(size) <= max(size) <= CROWD:
            raise InputError(f"no world of the compiled simulator has levels of {tuple(size)}")
    if max(days) > MOST_DAYS:
        raise InputError(f"the compiled world has at most {MOST_DAYS} days, not {max(days)}")


# --- compiled ------------------------------------------------------------------------------------


@kernel
def _draw_all(fixed, drawn, desk):  # type: ignore[no-untyped-def]
    for index in range(len(fixed)):
        world = fixed[index]
        desk.rolled[0], desk.rolled[1] = key_of(world.seed, _NATURE), 0
        _draw_costs(world, drawn, desk)
        _draw_trades(world, drawn, desk)
        _set_prices(world, desk)
        _set_balances(world, desk)
        _list_trades(world, desk)


@kernel
def _uniform(world, desk, low, high):  # type: ignore[no-untyped-def]
    desk.rolled[1] += 1
    share = number_of(desk.rolled[0], desk.rolled[1]) / 4294967296.0
    return low + share * (high - low)


@kernel
def _below(world, desk, count):  # type: ignore[no-untyped-def]
    return int(_uniform(world, desk, 0.0, float(count)))


@kernel
def _normal(world, desk):  # type: ignore[no-untyped-def]
    """Box and Muller's, of two uniform numbers."""
    size = math.sqrt(-2.0 * math.log(1.0 - _uniform(world, desk, 0.0, 1.0)))
    return size * math.cos(2.0 * math.pi * _uniform(world, desk, 0.0, 1.0))


@kernel
def _draw_costs(world, drawn, desk):  # type: ignore[no-untyped-def]
    """A factory's private numbers."""
    for me in range(world.factories):
        world.cost[me] = (1 + _below(world, desk, 4)) * (world.level[me] + 1)
        penalty = _uniform(world, desk, 0.2, 1.0)
        disposal = _uniform(world, desk, 0.0, drawn[DISPOSAL])
        storage = _uniform(world, desk, drawn[STORAGE_LOW], drawn[STORAGE_HIGH])
        disposal_dev = _uniform(world, desk, 0.0, 0.02) * disposal
        penalty_dev = _uniform(world, desk, 0.0, 0.1) * penalty
        for day in range(world.days):
            world.disposal[me, day] = abs(_normal(world, desk) * disposal_dev + disposal)
            world.penalty[me, day] = abs(_normal(world, desk) * penalty_dev + penalty)
            world.storage[me, day] = storage


@kernel
def _draw_trades(world, drawn, desk):  # type: ignore[no-untyped-def]
    """How much comes in and goes out, in all and by factory."""
    for day in range(world.days):
        count = world.first_of[1]
        total = round(LINES * count * _uniform(world, desk, drawn[SUPPLY_LOW], drawn[SUPPLY_HIGH]))
        desk.totals[0, day] = total
        for level in range(world.levels):
            count = world.first_of[level + 1] - world.first_of[level]
            made = round(LINES * count * _uniform(world, desk, 0.8, 1.0))
            total = min(total, made)
        desk.totals[1, day] = total
    sure = _uniform(world, desk, drawn[SURE_LOW], drawn[SURE_HIGH])
    _distribute(world, desk, desk.totals[0], desk.supplies, world.first_of[1], sure, drawn[CAP])
    sure = _uniform(world, desk, drawn[SURE_LOW], drawn[SURE_HIGH])
    last = world.first_of[world.levels] - world.first_of[world.levels - 1]
    _distribute(world, desk, desk.totals[1], desk.sales, last, sure, drawn[CAP])
    for day in range(world.days):
        desk.totals[0, day] = 0
        for place in range(world.first_of[1]):
            desk.totals[0, day] += desk.supplies[day, place]


@kernel
def _distribute(world, desk, totals, found, count, sure, cap):  # type: ignore[no-untyped-def]
    """Each day's total over factories, which get alike shares every day if they are `sure` ones.

    scml's distribute_quantities.
    """
    usual, share, more, less, bound = (
        desk.cut[0],
        desk.cut[1],
        desk.cut[2],
        desk.cut[3],
        desk.cut[4],
    )
    mean = 0
    for day in range(world.days):
        mean += totals[day]
    mean = int(0.5 + mean / world.days)
    for place in range(count):
        bound[place] = 2**31 if math.isinf(cap) else int(cap)
    _cut(world, desk, mean, count, bound, usual)
    for day in range(world.days):
        total, room = totals[day], 0
        for place in range(count):
            share[place] = int(0.5 + usual[place] * (total / mean)) if mean > 0 else 0
            room += bound[place] - share[place]
        changes = max(0, min(total, int(0.5 + (1.0 - sure) * total), room))
        if mean > 0 and changes > 0:
            _shift(world, desk, share, more, less, bound, count, changes, cap)
        _mend(world, desk, share, more, less, count, cap)
        for place in range(count):
            found[day, place] = share[place]


@kernel
def _shift(world, desk, share, more, less, bound, count, changes, cap):  # type: ignore[no-untyped-def]
    """Take so many units from some and give them to others."""
    usual = bound[0]
    for place in range(count):
        bound[place] = 2**31
    _cut(world, desk, changes, count, bound, less)
    if not math.isinf(cap):
        for place in range(count):
            bound[place] = usual + less[place] - share[place]
    _cut(world, desk, changes, count, bound, more)
    for place in range(count):
        share[place] += more[place] - less[place]
        bound[place] = usual


@kernel
def _cut(world, desk, total, count, most, found):  # type: ignore[no-untyped-def]
    """A total in units to places at random, none above its `most` (scml's integer_cut)."""
    for place in range(count):
        found[place] = 0
    for _ in range(total):
        able = 0
        for place in range(count):
            able += found[place] < most[place]
        if able == 0:
            return
        chosen = _below(world, desk, able)
        for place in range(count):
            if found[place] < most[place]:
                if chosen == 0:
                    found[place] += 1
                    break
                chosen -= 1


@kernel
def _mend(world, desk, share, change, bound, count, cap):  # type: ignore[no-untyped-def]
    """What somebody has below 0, or above the cap, the others lose or get."""
    for me in range(count):
        if share[me] < 0:
            errors, share[me] = -share[me], 0
            _spread(world, desk, share, change, bound, count, me, errors, -1, cap)
    for me in range(count):
        if share[me] > cap:
            errors, share[me] = share[me] - int(cap), int(cap)
            _spread(world, desk, share, change, bound, count, me, errors, 1, cap)


@kernel
def _spread(world, desk, share, change, bound, count, me, errors, sign, cap):  # type: ignore[no-untyped-def]
    """Give (1) or take (-1) units to or from the others, as far as they can."""
    able = 0
    for place in range(count):
        left = int(cap) - share[place] if sign > 0 else 2**31
        bound[place] = 0 if place == me else left
        able += bound[place]
    errors = min(errors, able)
    while errors > 0:
        _cut(world, desk, errors, count, bound, change)
        for place in range(count):
            fits = (
                share[place] >= change[place] if sign < 0 else share[place] + change[place] <= cap
            )
            if place != me and fits:
                share[place] += sign * change[place]
                errors -= change[place]


@kernel
def _set_prices(world, desk):  # type: ignore[no-untyped-def]
    """Catalog prices cover the dearest factory's costs and a margin, on the worst day."""
    world.catalog[0] = FIRST_PRICE
    for level in range(world.levels):
        margin, dearest = _uniform(world, desk, 0.1, 0.2), 0
        for me in range(world.first_of[level], world.first_of[level + 1]):
            dearest = max(dearest, world.cost[me])
        highest = 0.0
        for day in range(world.days):
            units = desk.totals[0, day]
            paid = desk.prices[level - 1, day] if level > 0 else FIRST_PRICE * units
            desk.costs[level, day] = paid + dearest * units
            desk.prices[level, day] = math.ceil(desk.costs[level, day] * (1.0 + margin))
            if day > level and units > 0:
                highest = max(highest, float(math.ceil(desk.prices[level, day] / units)))
        world.catalog[level + 1] = highest


@kernel
def _set_balances(world, desk):  # type: ignore[no-untyped-def]
    """Every factory of a level has the same share of what its level's work costs."""
    cash = _uniform(world, desk, 1.5, 2.5)
    for level in range(world.levels):
        total = 0.0
        for day in range(world.days):
            total += desk.costs[level, day]
        first, stop = world.first_of[level], world.first_of[level + 1]
        for me in range(first, stop):
            world.initial[me] = math.ceil(math.ceil(total / (stop - first)) * cash)


@kernel
def _list_trades(world, desk):  # type: ignore[no-untyped-def]
    """With the outside world, by day."""
    spread, trade = _uniform(world, desk, 0.1, 0.2), 0
    last = world.first_of[world.levels - 1]
    for day in range(world.days):
        world.trades_until[day] = trade
        units = desk.totals[0, day]
        for me in range(world.factories):
            supplies, sells = world.level[me] == 0, world.level[me] == world.levels - 1
            if supplies and desk.supplies[day, me] > 0:
                trade = _list_one(
                    world, desk, trade, me, 0, desk.supplies[day, me], FIRST_PRICE, spread
                )
            if sells and desk.sales[day, me - last] > 0 and units > 0:
                price = math.ceil(desk.prices[world.levels - 1, day] / units)
                sold = desk.sales[day, me - last]
                trade = _list_one(world, desk, trade, me, world.levels, sold, price, spread)
    for day in range(world.days, MOST_DAYS + 1):
        world.trades_until[day] = trade


@kernel
def _list_one(world, desk, trade, me, product, units, price, spread):  # type: ignore[no-untyped-def]
    world.trade_factory[trade], world.trade_product[trade] = me, product
    world.trade_units[trade] = units
    world.trade_price[trade] = int(0.5 + price + _normal(world, desk) * spread * price)
    return trade + 1
