import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.games.arena.acting import random_actions
from understudy.games.arena.codec.actions import (
    ABILITIES,
    AIM_LEVELS,
    HEADS,
    MOVE_LEVELS,
    decode,
    encode,
)
from understudy.games.arena.sim import rules as r

few = settings(max_examples=200, deadline=None, derandomize=True)
unit = st.floats(-1, 1, width=32)


def action(**parts):
    """Floats as the rules take them, by name."""
    return np.array([parts.get(name, 0.0) for name in r.ACTION], np.float32)


def degrees_between(one, other):
    """The angles between vectors [..., 2]."""
    one, other = one.astype(np.float64), other.astype(np.float64)
    cross = one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0]
    return np.degrees(abs(np.arctan2(cross, (one * other).sum(axis=-1))))


def test_every_choice_survives_decoding_and_encoding():
    every = np.array(list(itertools.product(*(range(options) for options in HEADS.values()))))
    assert len(every) == 9**4 * 2 * 3 * 2
    assert np.array_equal(encode(decode(every)), every)


def test_every_part_of_an_action_has_its_own_head():
    for head, name in enumerate(HEADS):
        for option in range(HEADS[name]):
            choices = np.full(len(HEADS), 0)
            choices[:4] = 4  # the middle: no move, no aim
            idle = decode(choices)
            assert not idle.any()
            choices[head] = option
            changed = np.flatnonzero(decode(choices) != idle)
            assert set(changed) <= {r.ACTION.index(name)}


def test_worked_example():
    choices = np.array([[8, 2, 0, 4, 1, 2, 0]])  # east and a bit south; aim west; fire; shield
    expected = action(move_x=1, move_y=-0.5, aim_x=-1, fire=1, ability=r.SHIELD)
    assert decode(choices).tolist() == [expected.tolist()]
    assert ABILITIES[r.DASH] == "dash" and ABILITIES[r.SHIELD] == "shield"


def test_levels_are_the_same_both_ways_and_reach_the_rim():
    for levels in (MOVE_LEVELS, AIM_LEVELS):
        assert levels.dtype == np.float32
        assert np.array_equal(levels, -levels[::-1])
        assert (levels[0], levels[4], levels[8]) == (-1, 0, 1)
        assert (np.diff(levels) > 0).all()


def test_directions_on_the_rim_are_evenly_spaced():
    rim = [(x, y) for x in AIM_LEVELS for y in AIM_LEVELS if max(abs(x), abs(y)) == 1]
    angles = np.sort([np.degrees(np.arctan2(y, x)) for x, y in rim])
    assert len(angles) == 32
    np.testing.assert_allclose(np.diff(angles), 360 / 32, atol=1e-4)


def test_any_direction_is_kept_to_within_half_a_notch():
    angle = np.linspace(-np.pi, np.pi, 20_001)
    for length in (1.0, 0.3, 7.0):
        aim = (length * np.stack([np.cos(angle), np.sin(angle)], axis=1)).astype(np.float32)
        actions = np.zeros((len(aim), len(r.ACTION)), np.float32)
        actions[:, [r.AIM_X, r.AIM_Y]] = aim
        kept = decode(encode(actions))[:, [r.AIM_X, r.AIM_Y]]
        assert (abs(kept).max(axis=1) == 1).all()
        assert degrees_between(aim, kept).max() < 5.63


@few
@given(angle=st.floats(-np.pi, np.pi))
def test_any_unit_vector_is_kept_to_within_half_a_notch(angle):
    given_action = action(aim_x=np.cos(angle), aim_y=np.sin(angle))
    kept = decode(encode(given_action[None]))[0]
    where = [r.AIM_X, r.AIM_Y]
    assert degrees_between(given_action[where], kept[where]) < 5.63


@few
@given(move_x=unit, move_y=unit, aim_x=unit, aim_y=unit)
def test_encoding_again_changes_nothing(move_x, move_y, aim_x, aim_y):
    once = encode(action(move_x=move_x, move_y=move_y, aim_x=aim_x, aim_y=aim_y)[None])
    assert np.array_equal(encode(decode(once)), once)
    kept = decode(once)[0]
    assert abs(kept[r.MOVE_X] - move_x) <= 1 / 8 and abs(kept[r.MOVE_Y] - move_y) <= 1 / 8


@pytest.mark.parametrize("far", [1.5, 100.0, 3e38])
def test_a_move_beyond_the_border_is_a_move_to_the_border(far):
    kept = decode(encode(action(move_x=far, move_y=-far)[None]))[0]
    assert (kept[r.MOVE_X], kept[r.MOVE_Y]) == (1, -1)


def test_no_aim_stays_no_aim():
    assert not decode(encode(np.zeros((1, len(r.ACTION)), np.float32))).any()


def test_any_number_of_axes_is_welcome():
    actions = random_actions(np.random.default_rng(0), 3, 4, 2)
    assert actions.shape == (3, 4, 2, 7) and actions.dtype == np.float32
    flat = actions.reshape(-1, 7)
    assert np.array_equal(encode(actions).reshape(-1, 7), encode(flat))
    assert np.array_equal(decode(encode(flat)), flat)
    assert encode(actions[:0]).shape == (0, 4, 2, 7)
    assert np.array_equal(encode(flat[0]), encode(flat)[0])
