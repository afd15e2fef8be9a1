"""A factory's dice: its n-th number is a hash of the world's seed, the factory and n.

So a world's course depends on nothing but its seed and the answers it gets. The same source gives
the same numbers compiled and as plain Python: products stay below 2**63. `reference/dice.py` hands
the same numbers to the agents that the players here are ports of.
"""

from typing import Final

from understudy.games.scml.batch.kernels import kernel

_MASK: Final = 0xFFFFFFFF
_STRIDE: Final = 0x9E3779B9
DRAWS: Final = 4
"""From one number, where many are needed: of up to 16 things, none is likelier by 2**-16."""


@kernel
def mix(value):  # type: ignore[no-untyped-def]
    """A bijection of 32-bit numbers that leaves no pattern (lowbias32, C. Wellons)."""
    value = value & _MASK
    value ^= value >> 16
    value = (value * 0x21F0AAAD) & _MASK
    value ^= value >> 15
    value = (value * 0x735A2D97) & _MASK
    return value ^ (value >> 15)


@kernel
def key_of(seed, factory):  # type: ignore[no-untyped-def]
    """What tells a factory's dice from all others', of 32 bits."""
    return mix(mix(seed & _MASK) ^ ((seed >> 32) & _MASK) ^ ((factory + 1) * _STRIDE & _MASK))


@kernel
def number_of(key, count):  # type: ignore[no-untyped-def]
    """The number `count` of these dice, of 32 bits."""
    return mix(mix(key ^ (count & _MASK)) + key)


@kernel
def pick_up(fixed, world, me):  # type: ignore[no-untyped-def]
    """The factory's dice, before the first roll."""
    world.dice[me], world.rolled[me] = key_of(fixed.seed, me), 0


@kernel
def roll(world, me):  # type: ignore[no-untyped-def]
    """The next number of 32 bits."""
    world.rolled[me] += 1
    return number_of(world.dice[me], world.rolled[me])


@kernel
def uniform(world, me):  # type: ignore[no-untyped-def]
    """The next number in [0, 1)."""
    return roll(world, me) / 4294967296.0


@kernel
def below(world, me, count):  # type: ignore[no-untyped-def]
    """The next of the whole numbers 0 to count - 1."""
    return (roll(world, me) * count) >> 32


@kernel
def between(world, me, low, high):  # type: ignore[no-untyped-def]
    """The next of the whole numbers low to high."""
    return low + below(world, me, high - low + 1)


@kernel
def shuffle(world, me, items, count):  # type: ignore[no-untyped-def]
    """Bring the first `count` items into a random order, from the back, as Python does."""
    number = 0
    for last in range(count - 1, 0, -1):
        # The high part of a product is drawn, the low part still good for another.
        number = (number & _MASK if (count - 1 - last) % DRAWS else roll(world, me)) * (last + 1)
        other = number >> 32
        items[last], items[other] = items[other], items[last]


@kernel
def scatter(world, me, units, bins, count):  # type: ignore[no-untyped-def]
    """Put each unit into one of the first `count` bins."""
    number = 0
    for unit in range(units):
        number = (number & _MASK if unit % DRAWS else roll(world, me)) * count
        bins[number >> 32] += 1


@kernel
def sample(world, me, items, count, wanted, drawn):  # type: ignore[no-untyped-def]
    """So many of the first `count` items into `drawn`; each gives its place to the last one."""
    for index in range(wanted):
        place = below(world, me, count - index)
        drawn[index] = items[place]
        items[place] = items[count - index - 1]
