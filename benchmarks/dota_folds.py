"""Six folds before both tests of the value model: where its settings are chosen.

    python benchmarks/dota_folds.py RUN [--only WORD ...] [--model FILE.py:NAME ...]

RUN holds recordings and samples. Matches of 7.35 and later lie in the order they began: three folds
end before 7.38 (train the first 181, 400, 590, test the rest), three before the test of
`value-time` (train 773, 1,323, 1,873, test the next 550). Rows and weights are the recipe's.

The statistic: log loss by fold less that of the model as it is, and pooled over the last three
folds, whose matches are apart, with 95 % by match. A variant earns a look at a test where the mean
of the six is better by .002 or more and five folds of six agree. The variants are those that were
tried and did not earn it (docs/log.md), and any value `Model` of a FILE.py of yours.
"""

import argparse
import runpy
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from dota_columns import Recorded, columns_tried
from dota_variants import fits_tried

from understudy.data.runs import Run
from understudy.data.stats import paired_difference
from understudy.games.dota.features.samples import Outline, Samples, read_samples
from understudy.games.dota.value import metrics
from understudy.games.dota.value.linear import Model, Seven
from understudy.games.dota.value.splits import SINCE
from understudy.games.dota.value.symmetric import Symmetric

TRAINED = (181, 400, 590, 773, 1323, 1873)
BEFORE, NEXT = 773, 550
"""Matches of 7.35 to 7.37, where the first three folds end; how many the others test on."""
FIRST, LAST = slice(0, 3), slice(3, 6)


def folds(matches: Outline) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Matches to train and to test on."""
    kept = matches.match_id[matches.patch >= SINCE]
    if len(kept) < TRAINED[-1] + NEXT:
        raise SystemExit(f"{len(kept)} matches of 7.35 and later; {TRAINED[-1] + NEXT} are needed")
    for trained in TRAINED:
        end = BEFORE if trained < BEFORE else trained + NEXT
        yield kept[:trained], kept[trained:end]


Parts = list[tuple[Samples, Samples]]


def losses(model: Model, parts: Parts) -> list[np.ndarray]:
    """Of each row of each fold's test."""
    fitted = (model.fit(train, train, 0) for train, _ in parts)
    return [
        metrics.log_losses(test.labels["y_win"], one.predict("y_win", test))
        for one, (_, test) in zip(fitted, parts, strict=True)
    ]


def line(name: str, found: list[np.ndarray], ours: list[np.ndarray], parts: Parts) -> str:
    """Means of the first and last three folds; differences to the model as it is."""
    means = np.array([one.mean() for one in found])
    gaps = means - [one.mean() for one in ours]
    numbers = np.concatenate([test.match_id for _, test in parts[LAST]])
    pooled = paired_difference(np.concatenate(found[LAST]), np.concatenate(ours[LAST]), numbers)
    folds_ = " ".join(f"{gap:+.4f}" for gap in gaps)
    return (
        f"{name:44s} {means[FIRST].mean():.4f} {means[LAST].mean():.4f}  {gaps.mean():+.4f} "
        f"better in {(gaps < 0).sum()}  {folds_}  {pooled.value:+.4f} "
        f"[{pooled.low:+.4f}, {pooled.high:+.4f}]"
    )


def asked(words: list[str]) -> dict[str, Model]:
    """Models of files."""
    found = {}
    for word in words:
        path, _, name = word.rpartition(":")
        found[word] = runpy.run_path(path)[name]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--only", nargs="+", help="variants whose names hold one of these")
    parser.add_argument("--model", nargs="+", default=[], metavar="FILE.py:NAME")
    options = parser.parse_args()
    run = Run(options.run)
    samples = read_samples(run.samples).begun()
    parts = [(samples.of(train), samples.of(test)) for train, test in folds(samples.outline())]
    models = asked(options.model)
    if options.only or not models:
        tried: dict[str, Model] = {**columns_tried(Recorded(run)), **fits_tried()}
        models |= {n: m for n, m in tried.items() if any(w in n for w in options.only or [""])}
    print("log loss: first three folds, last three; mean difference of six; by fold; last three")
    ours = losses(Symmetric(labels=()), parts)
    print(line("the model as it is", ours, ours, parts))
    print(line("LR-7", losses(Seven(), parts), ours, parts))
    for name, model in models.items():
        print(line(name, losses(model, parts), ours, parts), flush=True)
    print(f"{time.process_time():.0f} CPU s")


if __name__ == "__main__":
    main()
