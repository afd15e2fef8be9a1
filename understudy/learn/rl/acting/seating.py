"""Who sits where when a learner plays N matches side by side.

A place for a match is either the learner's in every slot (self-play) or in one; which one depends
on the place. So each of the B trajectories belongs to one slot of one place, and matches follow
each other in it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from understudy.learn.rl.acting.opponents import Opponent
from understudy.learn.rl.env import SELF, Array


class Seating(NamedTuple):
    """Who learns where. Rows count the slots of all places: row = place * S + slot."""

    mirrored: int
    """The first so many places are self-play."""
    row: Array
    """Of each sequence, [B]."""
    place: Array
    """Of each sequence, [B]."""
    others: Array
    """The rows of the other slots at the same place, [B, S - 1]."""


def seating(matches: int, num_players: int, opponents: Sequence[Opponent]) -> Seating:
    """Share out the places: self-play by its probability, rounded; then slots in turn."""
    total = sum(opponent.probability for opponent in opponents)
    if total <= 0:
        raise ValueError("nobody to meet: the probabilities of all opponents are 0")
    alone = sum(opponent.probability for opponent in opponents if opponent.name == SELF)
    mirrored = round(matches * alone / total)
    if alone < total and mirrored == matches > 1:
        mirrored -= 1  # everybody is met
    both = np.arange(mirrored * num_players)
    place = np.arange(mirrored, matches)
    row = np.concatenate([both, place * num_players + place % num_players])
    at, slot = np.divmod(row, num_players)
    turn = np.arange(1, num_players)
    others = at[:, None] * num_players + (slot[:, None] + turn) % num_players
    return Seating(mirrored, row, at, others)
