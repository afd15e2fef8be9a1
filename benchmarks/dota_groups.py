"""What each group of features adds to the chance of winning: our best without it.

    python benchmarks/dota_groups.py RUN

RUN holds samples of `understudy encode dota`. Both splits, paired differences in log loss by match
against the whole; above 0: the group helps.
"""

import sys
from pathlib import Path

import numpy as np

from understudy.data.stats import paired_difference
from understudy.games.dota.features.encode import names_of
from understudy.games.dota.features.samples import ALL_NAMES, Samples, read_samples
from understudy.games.dota.value import metrics, splits
from understudy.games.dota.value.linear import Seven
from understudy.games.dota.value.symmetric import Symmetric


def main() -> None:
    samples = read_samples(Path(sys.argv[1]) / "samples").begun()
    matches = samples.outline()
    for name, split in (("patch", splits.by_patch(matches)), ("time", splits.by_time(matches))):
        train, test = samples.of(split.train), samples.of(split.test)
        print(f"split by {name}: {len(split.train)} matches to train on, {len(split.test)} to test")
        whole = losses(train, test, [])
        print(f"  {'everything':14s} {whole.mean():.4f}")
        baseline = Seven().fit(train, train, 0).predict("y_win", test)
        report("LR-7", metrics.log_losses(test.labels["y_win"], baseline), whole, test)
        for group in ("strength", "items", "objectives", "skirmish", "vision"):
            report(f"no {group}", losses(train, test, names_of(group)), whole, test)
        last = test.of(matches.match_id[-len(matches.match_id) // 5 :])
        if name == "patch":
            late = losses(train, last, [])
            baseline = Seven().fit(train, train, 0).predict("y_win", last)
            report("last fifth", late, metrics.log_losses(last.labels["y_win"], baseline), last)


def losses(train: Samples, test: Samples, without) -> np.ndarray:
    """Of the model that sees 0 where these features are."""
    hidden = [ALL_NAMES.index(name) for name in without]
    parts = []
    for part in (train, test):
        features = part.features.copy()
        features[:, hidden] = 0
        parts.append(Samples(features, part.match_id, part.patch, part.start_time, part.labels))
    model = Symmetric().fit(parts[0], parts[0], 0)
    return metrics.log_losses(test.labels["y_win"], model.predict("y_win", parts[1]))


def report(name: str, one: np.ndarray, other: np.ndarray, test: Samples) -> None:
    gap = paired_difference(one, other, test.match_id)
    print(f"  {name:14s} {one.mean():.4f}  {gap.value:+.4f} ({gap.low:+.4f} to {gap.high:+.4f})")


if __name__ == "__main__":
    main()
