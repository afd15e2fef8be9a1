"""Units dealt out over partners by chance (scml.common.distribute, which many agents copy)."""

from understudy.games.scml.batch.dice import scatter, shuffle
from understudy.games.scml.batch.kernels import kernel


@kernel
def distribute(world, me, units, bins, count, fewest):  # type: ignore[no-untyped-def]
    """Units into the first `count` bins; where there are enough for all, no bin below `fewest`."""
    if units <= count:
        for index in range(count):
            bins[index] = 1 if index >= count - units else 0
        if units < count:
            shuffle(world, me, bins, count)
        return
    for index in range(count):
        bins[index] = fewest
    scatter(world, me, units - fewest * count, bins, count)


@kernel
def concentrate(world, me, units, bins, count, most, fewest):  # type: ignore[no-untyped-def]
    """The same over as few bins as possible, at most `most` in each."""
    for index in range(count):
        bins[index] = fewest if index < units else 0
    units -= fewest * min(units, count)
    for index in range(count):
        if units == 0:
            break
        more = min(most - bins[index], units)
        bins[index] += more
        units -= more
    shuffle(world, me, bins, count)
