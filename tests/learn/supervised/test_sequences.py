import itertools

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from tests.learn.toy_samples import TOY, write_matches
from understudy.learn.supervised.dataset import Batches
from understudy.learn.supervised.sequences import SequenceBatches, layout

WINDOWS = [10_000, 100, 1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_matches(tmp_path_factory.mktemp("matches"))


@pytest.fixture(scope="module")
def known(folder):
    """The (match, slot, step) of every row by its number."""
    paths = sorted(folder.glob("*.parquet"))
    rows = pa.concat_tables(pq.read_table(path) for path in paths).to_pylist()
    return {int(row["reward"]): row for row in rows}


def sequences(folder, steps=4, batch_size=3, burn_in=0, split="train", **settings):
    rows = Batches(folder, TOY, split, batch_size=1, **settings)
    return SequenceBatches(rows, steps=steps, batch_size=batch_size, burn_in=burn_in)


def epochs(found, number):
    """Batches that are whole epochs, three sequences each."""
    assert found.rows % found.batch_size == 0
    return list(itertools.islice(found.from_step(0), number * found.rows // found.batch_size))


def counted(batches):
    return torch.cat([batch.reward.T[batch.counts.T] for batch in batches]).long().tolist()


@pytest.mark.parametrize("burn_in", [0, 3])
@pytest.mark.parametrize("window_rows", WINDOWS)
def test_every_row_of_the_split_counts_once_per_epoch(folder, known, window_rows, burn_in):
    found = sequences(folder, burn_in=burn_in, batch_size=2, window_rows=window_rows)
    batches = epochs(found, 2)
    first, second = batches[: len(batches) // 2], batches[len(batches) // 2 :]
    expected = [number for number, row in known.items() if row["split"] == "train"]
    assert sorted(counted(first)) == sorted(counted(second)) == expected
    assert counted(first) != counted(second)


@pytest.mark.parametrize("burn_in", [0, 3])
@pytest.mark.parametrize("steps", [1, 4, 50])
def test_a_sequence_is_what_one_player_did_in_one_match_step_after_step(
    folder, known, steps, burn_in
):
    for batch in sequences(folder, steps, burn_in=burn_in).in_order(5):
        assert batch.observation.shape[0] == steps + burn_in
        for column in range(batch.reward.shape[1]):
            rows = [known[int(number)] for number in batch.reward[:, column]]
            counts, first = batch.counts[:, column], batch.first[:, column]
            last = int(counts.nonzero().max())
            assert len({(row["match"], row["slot"]) for row in rows}) == 1
            times = [row["step"] for row in rows]
            assert times[: last + 1] == list(range(times[0], times[0] + 2 * last + 1, 2))
            assert first.tolist() == [times[0] == 10, *[False] * (len(rows) - 1)]
            # After its end the last step is repeated, so that its mask is a real one.
            assert set(times[last:]) == {times[last]}
            assert not counts[last + 1 :].any()


def test_worked_example():
    """Seven decisions of one player, one of the other, cut into threes."""
    rows = pa.table({"match": ["a"] * 8, "slot": [0] * 7 + [1], "step": [*range(7), 0]})
    plain = layout(rows, 3)
    assert plain.rows.T.tolist() == [[0, 1, 2], [3, 4, 5], [6, 6, 6], [7, 7, 7]]
    assert plain.counts.T.astype(int).tolist() == [[1, 1, 1], [1, 1, 1], [1, 0, 0], [1, 0, 0]]
    assert plain.first.T.astype(int).tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 0], [1, 0, 0]]
    led = layout(rows, 3, burn_in=2)
    assert led.rows.T.tolist()[:3] == [[0, 1, 2, 2, 2], [1, 2, 3, 4, 5], [4, 5, 6, 6, 6]]
    assert led.counts.T.astype(int).tolist()[1:3] == [[0, 0, 1, 1, 1], [0, 0, 1, 0, 0]]
    assert led.first.T.astype(int).tolist()[:2] == [[1, 0, 0, 0, 0], [0] * 5]
    whole = layout(rows, 3, burn_in=4)  # reaches back to the match's beginning, not beyond
    assert whole.rows.T.tolist()[1] == [0, 1, 2, 3, 4, 5, 5]
    assert whole.first.T.astype(int).tolist()[1] == [1, 0, 0, 0, 0, 0, 0]


def test_players_and_matches_side_by_side_are_taken_apart():
    rows = pa.table({"match": ["b", "a"] * 4, "slot": [0, 1, 1, 0] * 2, "step": [5] * 4 + [6] * 4})
    found = layout(rows, 2)
    assert sorted(found.rows.T.tolist()) == [[0, 4], [1, 5], [2, 6], [3, 7]]
    assert found.counts.all() and found.first[0].all() and not found.first[1].any()


@pytest.mark.parametrize("window_rows", WINDOWS)
@pytest.mark.parametrize("step", [1, 5, 11])
def test_going_on_from_a_step_is_the_same_as_never_having_stopped(folder, window_rows, step):
    settings = {"burn_in": 2, "batch_size": 4, "window_rows": window_rows}
    unbroken = itertools.islice(sequences(folder, **settings).from_step(0), step, step + 7)
    again = itertools.islice(sequences(folder, **settings).from_step(step), 7)
    for one, other in zip(unbroken, again, strict=True):
        assert one.reward.shape == (6, 4)
        assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_the_order_hangs_on_the_seed(folder):
    one, same, other = (
        counted(itertools.islice(sequences(folder, seed=seed).from_step(0), 4))
        for seed in (1, 1, 2)
    )
    assert one == same != other


def test_no_more_steps_are_held_than_a_window(folder):
    found = sequences(folder, burn_in=1, window_rows=100)
    for _ in itertools.islice(found.from_step(0), 20):
        assert found._held[1].reward.numel() <= 100


def test_only_the_named_players_are_kept(folder, known):
    found = list(sequences(folder, players=("camper",)).in_order(100))
    expected = [n for n, row in known.items() if row["split"] == "train" and row["slot"] == 1]
    assert sorted(counted(found)) == expected


def test_columns_are_those_of_the_rows(folder):
    by_row = {}
    for batch in Batches(folder, TOY, "train", batch_size=1).in_order(1_000):
        by_row |= {
            int(row.reward): row
            for row in map(batch.take, torch.arange(len(batch.reward)).split(1))
        }
    (found,) = sequences(folder).in_order(1_000)
    assert found.action.dtype == torch.int64
    for t, column in found.counts.nonzero().tolist():
        row = by_row[int(found.reward[t, column])]
        for name in ("observation", "action", "legal", "outcome"):
            assert torch.equal(getattr(found, name)[t, column], getattr(row, name)[0])


@pytest.mark.parametrize("wrong", [{"steps": 0}, {"burn_in": -1}, {"batch_size": 0}])
def test_senseless_settings_are_refused(folder, wrong):
    with pytest.raises(ValueError, match="no "):
        sequences(folder, **wrong)
