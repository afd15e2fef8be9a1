"""Random numbers without a state: each is a hash of what it is for.

So a match's course cannot depend on its slot, on the batch it ran in, or on who ran it. The same
source gives the same numbers compiled and as plain Python: products stay below 2**63.
"""

from understudy.games.arena.kernels import kernel

_MASK = 0xFFFFFFFF


@kernel
def mix(value: int) -> int:
    """A bijection of 32-bit numbers that leaves no pattern (lowbias32, C. Wellons)."""
    value = value & _MASK
    value ^= value >> 16
    value = (value * 0x21F0AAAD) & _MASK
    value ^= value >> 15
    value = (value * 0x735A2D97) & _MASK
    return value ^ (value >> 15)


@kernel
def uniform(seed: int, step: int, slot: int, purpose: int) -> float:
    """A number in [0, 1) for this match, step, player and purpose."""
    value = mix(seed & _MASK)
    value = mix(value ^ ((seed >> 32) & _MASK))
    value = mix(value ^ ((step * 64 + purpose * 2 + slot) & _MASK))
    return value / 4294967296.0
