"""Play worlds and boil all that happens in them down to digests; run by itself, print them.

`test_exact.py` runs this as plain Python, with a file of worlds, and compares.
"""

import hashlib
import sys

import numpy as np
from numba import config

from understudy.games.scml.batch.state import WORLD
from understudy.games.scml.batch.worlds import Log, advance_all, found_all


class Row:
    """A record whose fields are attributes, as numba sees it."""

    def __init__(self, row):
        self.__dict__["_row"] = row

    def __getattr__(self, name):
        return self._row[name]

    def __setattr__(self, name, value):
        self._row[name] = value


def digests(worlds):
    """One per world: its contracts, days, profits, balances and prices."""
    state, log = np.zeros(len(worlds), WORLD), Log.of(len(worlds), max(worlds["days"]))
    records = worlds, state
    if config.DISABLE_JIT:
        records = [Row(row) for row in worlds], [Row(row) for row in state]
    found_all(*records)
    waits = np.zeros(len(worlds), np.bool_)
    advance_all(*records, log.contracts, log.days, log.profits, log.decisions, 1000, waits)
    assert (state["signed"] > 0).all()
    parts = (log.contracts, log.days, log.profits, state["balance"], state["price"])
    return [
        hashlib.sha256(b"".join(part[index].tobytes() for part in parts)).hexdigest()
        for index in range(len(worlds))
    ]


if __name__ == "__main__":
    print("plain" if config.DISABLE_JIT else "compiled", *digests(np.load(sys.argv[1])))
