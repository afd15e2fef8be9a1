"""Our best: symmetric regression for chances, and with symmetric trees for changes."""

from dataclasses import dataclass, field, replace

from understudy.data.arrays import Floats
from understudy.games.dota.features.samples import Samples
from understudy.games.dota.value.linear import CHANGES, Fitted
from understudy.games.dota.value.symmetric import Symmetric
from understudy.games.dota.value.trees import ODD, Trees


def _symmetric_trees() -> Trees:
    return Trees(
        ("t_min", "gold_total", *ODD),
        swap=True,
        depth=4,
        rows=0.6,
        columns=0.4,
        ridge=20.0,
        labels=CHANGES,
    )


@dataclass(frozen=True)
class Best:
    """Chances by symmetric regression; changes by a third of that and two of symmetric trees."""

    linear: Symmetric = field(default_factory=Symmetric)
    trees: Trees = field(default_factory=_symmetric_trees)

    def fit(self, train: Samples, val: Samples, seed: int) -> Fitted:
        """Both parts."""
        return Blend(self.linear.fit(train.begun(), val, seed), self.trees.fit(train, val, seed))

    def refit(self, fitted: Fitted, known: Samples, seed: int) -> Fitted:
        """The regression on more matches; the trees, which need some to stop by, stay."""
        assert isinstance(fitted, Blend)
        return Blend(self.linear.fit(known.begun(), known, seed), fitted.trees)

    def quick(self) -> "Best":
        """With fewer trees."""
        return replace(self, trees=replace(self.trees, rounds=20, rate=0.3))


@dataclass(frozen=True)
class Blend:
    """Two parts of one prediction."""

    linear: Fitted
    trees: Fitted

    def predict(self, label: str, samples: Samples) -> Floats:
        """The linear part alone for chances."""
        guess = self.linear.predict(label, samples)
        if label == "y_win":
            return guess
        return (guess + 2 * self.trees.predict(label, samples)) / 3
