"""Results of worlds that were never played: rows written by hand, or drawn with known effects."""

from dataclasses import dataclass

import numpy as np

from understudy.games.scml.recording.tables import RESULTS

PLAIN = {
    "match": "m", "seed": 0, "player": "a", "slot": 0, "score": 1.0, "run": 0, "field": "f",
    "level": 0, "levels": 3, "competes": True, "steps": 50, "bankrupt": False, "talks": 10,
    "agreements": 4, "promised": 20, "shortfall": 1, "sales": 5, "unsafe": 2, "over_lines": 1,
    "produced": 19, "faults": 0,
}  # fmt: skip


def table(rows):
    rows = [{**PLAIN, **row} for row in rows]
    return RESULTS.build({name: [row[name] for row in rows] for name in PLAIN})


def scores(*rows):
    """(configuration, slot, player, score) each."""
    return table([dict(zip(("seed", "slot", "player", "score"), row, strict=True)) for row in rows])


@dataclass(frozen=True)
class Tournament:
    """Results with known effects: competitors rotated through slots, as they are played."""

    effects: dict
    configurations: int = 40
    competitors: int = 3
    runs: int = 1
    noise: float = 0.1
    first_seed: int = 0
    taste: float = 0.05
    """How much a configuration suits one player more than another."""

    def play(self, seed=0):
        rng, rows = np.random.default_rng(seed), []
        for number in range(self.configurations):
            levels = int(rng.integers(2, 5))
            drawn = rng.permutation(list(self.effects))[: self.competitors].tolist()
            slots = rng.permutation(levels * 4)[: self.competitors].tolist()
            worth = {slot: rng.normal(1, 0.5) + (slot < 4) for slot in slots}
            suits = {player: rng.normal(0, self.taste) for player in drawn}
            for run in range(self.runs):
                for turn in range(self.competitors):
                    for index, slot in enumerate(slots):
                        player = drawn[(index + turn) % self.competitors]
                        score = worth[slot] + self.effects[player] + suits[player]
                        rows.append({
                            "match": f"{number}-{run}-{turn}", "seed": self.first_seed + number,
                            "run": run, "slot": slot, "level": slot // 4, "levels": levels,
                            "player": player, "score": score + rng.normal(0, self.noise),
                        })  # fmt: skip
        return table(rows)


FOUR = {"ace": 0.3, "bee": 0.1, "cat": 0.0, "dud": -0.4}
