"""Two ways to write an action, and the exact codec between them.

The rules take floats (`rules.ACTION`: move and aim as vectors, fire, interact, ability). A learner
chooses one option for each of HEADS. Every choice decodes to floats that encode to the same choice.
Aim levels are tangents, so that the 32 directions on the rim of the square are evenly spaced.
"""

from typing import Any, Final

import numpy as np

from understudy.games.arena.sim import rules as r

HEADS: Final = {
    "move_x": 9,
    "move_y": 9,
    "aim_x": 9,
    "aim_y": 9,
    "fire": 2,
    "ability": 3,
    "interact": 2,
}
ABILITIES: Final = ("none", "dash", "shield")

Actions = np.ndarray[Any, np.dtype[np.float32]]
Choices = np.ndarray[Any, np.dtype[np.int64]]

_STEPS = np.arange(-4, 5)
MOVE_LEVELS: Final = (_STEPS / 4).astype(np.float32)
AIM_LEVELS: Final = np.tan(_STEPS * np.pi / 16).astype(np.float32)
AIM_LEVELS[[0, 8]] = -1.0, 1.0  # exactly
_AIM_BORDERS = np.tan((_STEPS[:-1] + 0.5) * np.pi / 16).astype(np.float32)  # halfway by angle
# Where each head's value stands in rules.ACTION.
_PLACE = [r.MOVE_X, r.MOVE_Y, r.AIM_X, r.AIM_Y, r.FIRE, r.ABILITY, r.INTERACT]


def decode(choices: "np.ndarray[Any, Any]") -> Actions:
    """Choices [..., 7] in the order of HEADS -> floats [..., 7] in the order of rules.ACTION."""
    actions = np.empty(choices.shape, np.float32)
    actions[..., [r.MOVE_X, r.MOVE_Y]] = MOVE_LEVELS[choices[..., 0:2]]
    actions[..., [r.AIM_X, r.AIM_Y]] = AIM_LEVELS[choices[..., 2:4]]
    actions[..., _PLACE[4:]] = choices[..., 4:]
    return actions


def encode(actions: Actions) -> Choices:
    """The choices nearest to these floats; exact for floats that came from `decode`."""
    choices = np.empty(actions.shape, np.int64)
    move = np.clip(actions[..., [r.MOVE_X, r.MOVE_Y]], -1, 1)
    choices[..., 0:2] = np.rint(move * 4 + 4)
    choices[..., 2:4] = np.searchsorted(_AIM_BORDERS, _to_rim(actions[..., [r.AIM_X, r.AIM_Y]]))
    choices[..., 4:] = np.rint(actions[..., _PLACE[4:]])
    return choices


def _to_rim(aim: Actions) -> Actions:
    """Stretch aims that are not made of AIM_LEVELS until one coordinate is 1: finest there."""
    exact = np.isin(aim, AIM_LEVELS).all(axis=-1, keepdims=True)
    longest = np.abs(aim).max(axis=-1, keepdims=True)
    return np.where(exact | (longest == 0), aim, aim / np.maximum(longest, 1e-9))
