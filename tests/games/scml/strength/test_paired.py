"""Rows that compare, against a search through all pairs of rows."""

from collections import Counter
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from tests.games.scml.results import FOUR, Tournament, scores, table
from understudy.games.scml.strength.paired import LEVEL_NAMES, PairedComparisons, Rows

COLUMNS = ("field", "seed", "slot", "run", "player", "score")


@pytest.fixture(scope="module")
def results():
    """Incomplete blocks, several runs, and two fields that share seeds."""
    both = Tournament(FOUR, configurations=12, competitors=3, runs=2).play(1)
    other = Tournament(FOUR, configurations=6, competitors=2).play(2)
    field = other.schema.get_field_index("field")
    other = other.set_column(field, other.schema.field("field"), pa.array(["g"] * len(other)))
    together = pa.concat_tables([both, other])
    return together.take(np.random.default_rng(0).permutation(len(together))[:200])


def pairs_of(results):
    """Every two rows of different players in the same slot of the same configuration."""
    rows = [tuple(row[name] for name in COLUMNS) for row in results.to_pylist()]
    for one, other in combinations(rows, 2):
        if one[:3] == other[:3] and one[4] != other[4]:
            yield tuple(sorted((one, other), key=lambda row: row[4]))


def test_comparisons_are_all_pairs_of_rows_that_share_a_slot(results):
    rows = Rows.read(results)
    met = PairedComparisons.within(rows)
    found = Counter(zip(met.one.tolist(), met.other.tolist(), strict=True))
    assert set(found.values()) == {1}
    assert len(found) == len(list(pairs_of(results))) > 100
    assert (rows.block[met.one] == rows.block[met.other]).all()
    assert (rows.player[met.one] < rows.player[met.other]).all()
    ends = met.ends[met.pair]
    assert (ends[:, 0] == rows.player[met.one]).all() and (
        ends[:, 1] == rows.player[met.other]
    ).all()


def test_duels_are_comparisons_with_the_same_random_state(results):
    rows = Rows.read(results)
    met = PairedComparisons.within(rows)
    count, wins, gaps = (part.sum(axis=0) for part in met.duels(rows))
    expected = {}
    for one, other in pairs_of(results):
        if one[3] == other[3]:
            duel = expected.setdefault((one[4], other[4]), [])
            duel.append((one[5] > other[5], one[5] - other[5]))
    for index, (first, second) in enumerate(met.ends):
        duels = expected[rows.names[first], rows.names[second]]
        assert count[index] == len(duels)
        assert wins[index] == sum(won for won, _ in duels)
        assert gaps[index] == pytest.approx(sum(gap for _, gap in duels))


def test_a_tie_is_half_a_win():
    rows = Rows.read(scores((1, 0, "a", 2), (1, 0, "b", 2)))
    count, wins, gaps = PairedComparisons.within(rows).duels(rows)
    assert (count.tolist(), wins.tolist(), gaps.tolist()) == ([[1]], [[0.5]], [[0]])


def test_equations_by_hand():
    """Slot 0: a 4, b 1, c 1 (mean 2); slot 1: a 3, b 5 (mean 4), at another level."""
    rows = [
        {"slot": 0, "player": player, "score": score}
        for player, score in (("a", 4.0), ("b", 1.0), ("c", 1.0))
    ]
    rows += [
        {"slot": 1, "level": 1, "player": player, "score": score}
        for player, score in (("a", 3.0), ("b", 5.0))
    ]
    read = Rows.read(table(rows))
    met = PairedComparisons.within(read)
    whole, first = met.equations(read), met.equations(read, level=0)
    assert met.ends.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert whole.links[0] == pytest.approx([1 / 3 + 1 / 2, 1 / 3, 1 / 3])
    assert whole.gains[0] == pytest.approx([2 - 1, -1 + 1, -1])
    assert first.links[0] == pytest.approx([1 / 3] * 3)
    assert first.gains[0] == pytest.approx([2, -1, -1])


def test_nobody_gains_against_nobody(results):
    """Gains of a configuration add up to nothing; so do a Laplacian's rows."""
    rows = Rows.read(results)
    assert PairedComparisons.within(rows).equations(rows).gains.sum(axis=1) == pytest.approx(
        0, abs=1e-9
    )


def test_who_never_meets_anybody_is_still_there():
    rows = Rows.read(scores((1, 0, "a", 2), (1, 1, "b", 3), (2, 0, "a", 4)))
    met = PairedComparisons.within(rows)
    assert (len(met.one), met.ends.shape) == (0, (0, 2))
    assert rows.sums(rows.score).tolist() == [[2, 3], [4, 0]]
    assert (rows.num_configurations, rows.names) == (2, ["a", "b"])


def test_fields_may_share_a_seed_and_still_have_configurations_of_their_own():
    rows = Rows.read(table([{"player": "a", "field": "f"}, {"player": "b", "field": "g"}]))
    assert rows.num_configurations == 2 and len(PairedComparisons.within(rows).one) == 0


def test_levels_are_first_middle_and_last_however_many_there_are():
    places = [(0, 2), (1, 2), (0, 4), (1, 4), (2, 4), (3, 4)]
    rows = Rows.read(table([{"level": level, "levels": levels} for level, levels in places]))
    assert [LEVEL_NAMES[level] for level in rows.level] == [
        "first", "last", "first", "middle", "middle", "last",
    ]  # fmt: skip


def test_background_agents_do_not_compare_and_scores_must_be_numbers():
    rows = [{"player": "a"}, {"player": "b", "competes": False}]
    assert Rows.read(table(rows)).names == ["a"]
    with pytest.raises(ValueError, match="not finite"):
        Rows.read(table([{"score": float("nan")}]))
    assert Rows.read(table([{"score": float("nan"), "competes": False}])).num_configurations == 0
