"""The seed's uplift of advice, free and feasible, beside the same with the gold paid.

    python benchmarks/dota_uplift.py RUN [--matches 100]

RUN has recordings and the models `value-time`, `items` and `wards`. Every tenth minute of the test
matches, for each player who buys a dearer item within five minutes. Free: whatever item raises the
model's chance most when "has it" is switched on. Feasible: the same among items that the gold at
hand pays. Paid: the item's gain beside the same gold spent as others spend it, the best of the six
most usual. hit@1: that is the item bought next.
"""

import argparse
from pathlib import Path

import numpy as np
from dota_advice import match_contexts, next_bought

from understudy.data.runs import Run
from understudy.data.stats import cluster_bootstrap
from understudy.games.dota import facts
from understudy.games.dota.advice import buying
from understudy.games.dota.advice.match_context import load_models
from understudy.games.dota.features.features import item_names
from understudy.games.dota.value.splits import read_split

EVERY = 10  # minutes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--matches", type=int, default=100, help="so many of the test matches")
    options = parser.parse_args()
    run = Run(options.run)
    models = load_models(run.models)
    test = read_split(run.model("value-time") / "splits").test[: options.matches]
    rows = [row for context in match_contexts(run, test) for row in of_match(context, models)]
    match_id = np.array([row[0] for row in rows])
    print(f"{len(rows):,} purchases in {len(np.unique(match_id))} matches never trained on")
    for name, k in (("free", 1), ("feasible", 3), ("paid", 5)):
        gain, hit = (np.array([row[k + j] for row in rows], float) for j in (0, 1))
        words = (
            f"{e.value:+.4f} ({e.low:+.4f} to {e.high:+.4f})"
            for e in (cluster_bootstrap(gain, match_id), cluster_bootstrap(hit, match_id))
        )
        print(f"  {name:10s} uplift {next(words)}   hit@1 {next(words)}")


def of_match(context, models):
    """(match, then gain and hit for free, feasible, paid)."""
    names = item_names()
    keys = [name.removeprefix("has_") for name in names]
    cost = np.array([facts.items()[key].cost for key in keys])
    for row in range(EVERY, len(context.timeline.t), EVERY):
        now = int(context.timeline.t[row])
        state = context.samples.where(np.array([row]))
        for slot in range(10):
            bought = next_bought(context, slot, now)
            if bought is None:
                continue
            sign = 1 - 2 * (slot // 5)
            held = buying.held_at(context, slot, now)
            states = state.altered([{name: sign} for name in names])
            chance = models.value.chance(states) - models.value.chance(state)[0]
            gain = sign * chance
            cash = context.gold_estimate.left(0, slot, now + 1) - held.spent
            lines = buying.item_lines(context, models, row, slot, "value")
            found = [context.outline["match_id"]]
            for allowed in (np.ones(len(keys), bool), cost <= max(cash, cost.min())):
                best = int(np.argmax(np.where(allowed, gain, -np.inf)))
                found += [gain[best], keys[best] == bought]
            yield (*found, lines[0]["gain"], lines[0]["key"] == bought)


if __name__ == "__main__":
    main()
