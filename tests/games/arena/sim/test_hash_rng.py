"""Numbers that look random, depend on what they are for alone, and are the same everywhere."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.games.arena.sim.hash_rng import mix, uniform

few = settings(max_examples=100, deadline=None, derandomize=True)
words = st.integers(0, 2**32 - 1)
MASK = 2**32 - 1


def unmix(value):
    """`mix` backwards: each xor-shift is undone by itself, each odd factor by its inverse."""
    value ^= (value >> 15) ^ (value >> 30)
    value = (value * pow(0x735A2D97, -1, 2**32)) & MASK
    value ^= (value >> 15) ^ (value >> 30)
    value = (value * pow(0x21F0AAAD, -1, 2**32)) & MASK
    return value ^ (value >> 16)


def draws(seeds=(0,), steps=(0,), slots=(0,), purposes=(0,)):
    """All combinations, flat."""
    return np.array(
        [uniform(a, b, c, d) for a in seeds for b in steps for c in slots for d in purposes]
    )


@few
@given(words)
def test_mix_can_be_undone_so_no_two_numbers_become_one(value):
    mixed = mix(value)
    assert 0 <= mixed <= MASK
    assert unmix(mixed) == value


@few
@given(words)
def test_one_bit_more_or_less_turns_about_half_of_the_bits(value):
    turned = [(mix(value) ^ mix(value ^ 1 << bit)).bit_count() for bit in range(32)]
    assert 13 < np.mean(turned) < 19 and min(turned) > 2


@few
@given(
    seed=st.integers(0, 2**62),
    step=st.integers(0, 600),
    slot=st.integers(0, 1),
    purpose=st.integers(0, 31),
)
def test_a_draw_is_what_its_definition_says_in_plain_python(seed, step, slot, purpose):
    def plain(value):
        return mix.py_func(value)

    value = plain(plain(seed & MASK) ^ (seed >> 32))
    value = plain(value ^ (step * 64 + purpose * 2 + slot))
    drawn = uniform(seed, step, slot, purpose)
    assert drawn == uniform.py_func(seed, step, slot, purpose) == value / 2**32
    assert 0 <= drawn < 1


@pytest.mark.parametrize(
    "axis",
    [
        {"seeds": range(20_000)},
        {"seeds": range(0, 20_000 << 32, 1 << 32)},  # seeds that differ in their upper half only
        {"seeds": range(40), "steps": range(500)},
        {"seeds": range(500), "slots": (0, 1), "purposes": range(20)},
    ],
)
def test_draws_are_spread_evenly_and_know_nothing_of_their_neighbours(axis):
    drawn = draws(**axis)
    assert len(drawn) == 20_000
    assert abs(drawn.mean() - 1 / 2) < 4 * (1 / 12 / 20_000) ** 0.5
    assert abs(drawn.var() - 1 / 12) < 0.003
    count = np.bincount((drawn * 100).astype(int), minlength=100)
    assert ((count - 200) ** 2 / 200).sum() < 160  # chi squared, 99 degrees: 1 in 10,000
    for lag in (1, 2, 3, 64, 500):
        assert abs(np.corrcoef(drawn[:-lag], drawn[lag:])[0, 1]) < 0.03
    pairs = np.histogram2d(drawn[:-1], drawn[1:], bins=10)[0]
    assert ((pairs - 199.99) ** 2 / 199.99).sum() < 160


def test_every_match_step_player_and_purpose_draws_its_own_number():
    # Purposes and slots must not run over into the next step.
    drawn = draws(seeds=(0, 1, 2**40), steps=range(601), slots=(0, 1), purposes=range(16))
    assert len(np.unique(drawn)) > len(drawn) - 5  # 57,696 of 2**32: a coincidence is expected
    one = draws(steps=range(601), slots=(0, 1), purposes=range(32))
    assert len(np.unique(one)) == len(one)  # within a match it is a bijection
