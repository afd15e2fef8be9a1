"""The two global random states that agents and scml draw from."""

import contextlib
import random
from collections.abc import Iterator

import numpy as np


@contextlib.contextmanager
def random_state_kept() -> Iterator[None]:
    """Whatever the block draws, afterwards the random states are as before."""
    states = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
