from collections import Counter

from understudy.data.splits import SPLITS, split_of, splits_of


def test_a_split_never_changes():
    """Samples on disk carry these; another rule would let training rows into the test split."""
    known = {"": "train", "日本": "train", "seed-105": "train", "seed-32": "test"}
    known |= {"seed-9": "train", "seed-21": "val", "seed-46": "val", "seed-15": "test"}  # borders
    assert {name: split_of(name) for name in known} == known


def test_shares_are_near_80_10_10():
    counts = Counter(splits_of(f"match-{number}" for number in range(20_000)))
    assert counts.keys() == set(SPLITS)
    assert abs(counts["train"] / 20_000 - 0.8) < 0.01
    assert abs(counts["val"] / 20_000 - 0.1) < 0.01


def test_a_group_stays_together_whatever_is_around_it():
    groups = ["a", "b", "a", "c", "b", "a"]
    found = splits_of(groups)
    assert found == [split_of(group) for group in groups]
    assert found == splits_of([*groups, "d", "e"])[:6]
