"""Do those who buy what the policy proposes fare better than others in the same state?

    python benchmarks/dota_advice.py RUN

RUN has samples and the models `value-time` and `items`. Each first purchase of a dearer item in the
test matches either was the policy's first choice or not. What came of it is the result for the
buyer's side less the chance the value model gave that side at the last whole minute, so states are
matched by their chance; the value model's own opinion of the item is never asked. Intervals are
drawn by match. Buyers differ in more than their purchase, so this is no proof of cause.
"""

import sys
from pathlib import Path

import numpy as np

from understudy.data.runs import Run
from understudy.games.dota import next_item, policies, purchases, saved
from understudy.games.dota.samples import read_samples
from understudy.games.dota.splits import read_split


def main() -> None:
    run = Run(Path(sys.argv[1]))
    test = read_split(run.model("value-time") / "splits").test
    samples = read_samples(run.samples).of(test)
    chance = saved.load(run.model("value-time") / "model.json").chance(samples)
    rows = policies.gathered(run.recordings, purchases.decisions)
    rows = rows.where(np.isin(rows.match_id, test))
    policy = policies.load_items(run.model("items") / policies.ITEMS_FILE)
    rank = next_item.ranks(policy.chances(rows), rows.chosen)
    key = samples.match_id * 1000 + (samples.column("t") // 60).astype(int)
    place = dict(zip(key.tolist(), range(len(key)), strict=True))
    wanted = rows.match_id * 1000 + np.maximum(rows.t // 60, 1)
    found = np.array([place.get(number, -1) for number in wanted.tolist()])
    known = found >= 0
    dire = rows.slot[known] >= 5
    said, won = chance[found[known]], samples.labels["y_win"][found[known]]
    beyond = np.where(dire, (1 - won) - (1 - said), won - said)
    followed, match_id = rank[known] == 0, rows.match_id[known]
    whole = purchases.completed()[rows.chosen[known]]
    print(f"{known.sum():,} purchases in {len(np.unique(match_id))} matches never trained on")
    for name, kept in (("all items", whole | True), ("completed items", whole)):
        mean, low, high = compared(beyond[kept], followed[kept], match_id[kept])
        share = followed[kept].mean()
        print(
            f"  {name:16s} followed {share:.1%}; won beyond expectation, followers less others: "
            f"{mean:+.4f} ({low:+.4f} to {high:+.4f})"
        )


def compared(beyond, followed, match_id, draws: int = 2000) -> tuple[float, float, float]:
    """Mean of those who followed less that of the others, with an interval by match."""
    _, place = np.unique(match_id, return_inverse=True)
    sums = [np.bincount(place, beyond * who) for who in (followed, ~followed)]
    counts = [np.bincount(place, who.astype(float)) for who in (followed, ~followed)]
    size = len(sums[0])
    drawn = np.random.default_rng(0).multinomial(size, np.full(size, 1 / size), draws)
    means = [(drawn @ s) / (drawn @ c) for s, c in zip(sums, counts, strict=True)]
    low, high = np.quantile(means[0] - means[1], [0.025, 0.975])
    whole = [s.sum() / c.sum() for s, c in zip(sums, counts, strict=True)]
    return float(whole[0] - whole[1]), float(low), float(high)


if __name__ == "__main__":
    main()
