import itertools

import numpy as np
import pytest
import torch

from tests.learn.toy_samples import TOY, toy_columns, write_toy
from understudy.data.samples import pack_legal
from understudy.errors import InputError
from understudy.learn.supervised import dataset as module
from understudy.learn.supervised.dataset import Batches

original = module._decode_shard
WINDOWS = [1_000, 200, 1]  # all rows at once; two shards at most; shard by shard


def batches(folder, split="train", *, batch_size=32, **settings):
    return Batches(folder, TOY, split, batch_size=batch_size, **settings)


def take(folder, number, step=0, **settings):
    return list(itertools.islice(batches(folder, **settings).from_step(step), number))


def row_numbers(found):
    return torch.cat([batch.reward for batch in found]).long().tolist()


def expected_rows(split):
    names = toy_columns(300)["split"]
    return [row for row in range(300) if names[row] == split]


@pytest.mark.parametrize("window_rows", WINDOWS)
def test_every_row_comes_once_per_epoch(samples, window_rows):
    rows = row_numbers(take(samples, 15, window_rows=window_rows))  # 15 * 32 = 2 * 240
    first, second = rows[:240], rows[240:]
    assert sorted(first) == sorted(second) == expected_rows("train")
    assert first != second
    assert first != sorted(first)


@pytest.mark.parametrize("window_rows", WINDOWS)
@pytest.mark.parametrize("step", [1, 7, 8, 20])
def test_going_on_from_a_step_is_the_same_as_never_having_stopped(samples, window_rows, step):
    unbroken = take(samples, step + 9, window_rows=window_rows)[step:]
    for one, other in zip(unbroken, take(samples, 9, step, window_rows=window_rows), strict=True):
        assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_two_readers_of_the_same_batches_do_not_disturb_each_other(samples):
    shared = batches(samples, window_rows=1)
    pairs = itertools.islice(zip(shared.from_step(0), shared.from_step(5), strict=True), 6)
    both = [row_numbers(side) for side in zip(*pairs, strict=True)]
    assert both[0] == row_numbers(take(samples, 6, window_rows=1))
    assert both[1] == row_numbers(take(samples, 6, 5, window_rows=1))


def test_the_order_hangs_on_the_seed(samples):
    assert row_numbers(take(samples, 3, seed=1)) == row_numbers(take(samples, 3, seed=1))
    assert row_numbers(take(samples, 3, seed=1)) != row_numbers(take(samples, 3, seed=2))


@pytest.mark.parametrize("split", ["train", "val", "test"])
@pytest.mark.parametrize("window_rows", WINDOWS)
def test_a_split_holds_its_own_rows_and_no_others(samples, split, window_rows):
    found = batches(samples, split, window_rows=window_rows)
    assert row_numbers(found.in_order(7)) == expected_rows(split)
    assert found.rows == len(expected_rows(split))


def test_no_more_rows_are_held_than_a_window(samples):
    found = batches(samples, window_rows=130)
    held = set()
    for _ in itertools.islice(found.from_step(0), 30):
        held.add(len(found._held[1].reward))
    assert max(held) <= 130
    assert len(held) > 1


def test_shards_come_in_another_order_each_epoch(samples):
    rows = torch.tensor(row_numbers(take(samples, 60, window_rows=1))).view(-1, 240)
    shard = torch.bucketize(rows, torch.tensor([149, 199]))
    assert len({tuple(epoch.unique_consecutive().tolist()) for epoch in shard}) > 2


def test_rows_that_all_fit_are_decoded_once(samples, monkeypatch):
    decoded = []
    monkeypatch.setattr(
        module, "_decode_shard", lambda path, *_: decoded.append(path.name) or original(path, *_)
    )
    take(samples, 40)
    assert decoded == [f"moves-00{number}.parquet" for number in range(3)]


def test_only_the_named_players_are_kept(samples):
    rows = row_numbers(batches(samples, players=("camper",)).in_order(50))
    assert rows == [row for row in expected_rows("train") if row // 5 % 2]


def test_columns_arrive_where_they_belong(samples):
    (batch,) = batches(samples, "val").in_order(1_000)
    rows = expected_rows("val")
    shards = [toy_columns(150), toy_columns(50, 150), toy_columns(100, 200)]
    for name, tensor in {
        "left": batch.observation[:, 0],
        "ammo": batch.observation[:, 2],
        "move": batch.action[:, 0],
        "fire": batch.action[:, 1],
        "outcome": batch.outcome,
    }.items():
        column = np.concatenate([shard[name] for shard in shards])[rows]
        assert tensor.tolist() == pytest.approx(column.tolist())
    assert batch.action.dtype == torch.int64
    assert batch.legal[:, :4].all()
    assert torch.equal(batch.legal[:, 4], batch.observation[:, 2] > 0)


def test_a_batch_may_be_larger_than_the_split(samples):
    (batch,) = take(samples, 1, batch_size=300)
    rows = row_numbers([batch])
    assert sorted(rows[:240]) == expected_rows("train")
    assert len(rows) == 300


def test_choices_are_counted_option_by_option(samples):
    found = batches(samples)
    (batch,) = found.in_order(1_000)
    expected = [*batch.action[:, 0].bincount(minlength=3), *batch.action[:, 1].bincount()]
    assert found.counts.tolist() == [count.item() for count in expected]


def test_forbidden_choices_are_counted(tmp_path):
    columns = toy_columns(50)
    write_toy(tmp_path, [50])
    rows = [row for row in range(50) if columns["split"][row] == "train" and row % 7 == 0]
    assert batches(tmp_path).forbidden == len(rows) > 0


def test_a_choice_that_its_own_row_does_not_allow_is_refused(tmp_path):
    legal = np.ones((50, 5), bool)
    legal[:, 4] = False
    write_toy(tmp_path, [50], legal=pack_legal(legal))
    with pytest.raises(InputError) as error:
        batches(tmp_path)
    assert str(error.value) == (
        f"{tmp_path}/moves-000.parquet: 'legal' forbids an option chosen in 'fire'. "
        "Make it again: understudy encode arena --fresh"
    )


def test_no_samples_at_all_names_the_command_that_makes_them(tmp_path):
    with pytest.raises(InputError) as error:
        batches(tmp_path)
    assert str(error.value) == (
        f"{tmp_path} holds no arena.moves. Make some: understudy encode arena"
    )


def test_an_empty_split_names_the_cure(tmp_path):
    write_toy(tmp_path, [40])  # matches 0 to 7 are all training
    with pytest.raises(InputError) as error:
        batches(tmp_path, "val")
    assert str(error.value) == (
        f"{tmp_path}: no decision of arena.moves is in split 'val'. Record more matches "
        "(understudy record arena), then understudy encode arena"
    )


def test_an_unknown_player_is_answered_with_the_known_ones(samples):
    with pytest.raises(InputError, match=r"nothing by ghost; it has camper, hunter\. Name one"):
        batches(samples, players=("ghost",))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("move", 3, "column 'move' holds option 3, but its options are 0 to 2"),
        ("move", -1, "column 'move' holds option -1, but its options are 0 to 2"),
        ("right", np.nan, "column 'right' is not finite everywhere"),
        ("outcome", np.inf, "column 'outcome' is infinite somewhere"),
    ],
)
def test_values_that_cannot_be_learnt_from_are_refused(tmp_path, name, value, message):
    column = np.array(toy_columns(50)[name])
    column[2] = value
    write_toy(tmp_path, [50], **{name: column})
    with pytest.raises(InputError, match=message) as error:
        next(batches(tmp_path).from_step(0))
    assert str(error.value).endswith("Make it again: understudy encode arena --fresh")
    assert str(error.value).startswith(f"{tmp_path}/moves-000.parquet: ")


@pytest.mark.parametrize("window_rows", [1, 10**6])
def test_moments_are_those_of_all_rows(samples, window_rows):
    found = batches(samples, window_rows=window_rows)
    rows = torch.cat([batch.observation for batch in found.in_order(7)])
    mean, std = found.moments()
    torch.testing.assert_close(mean, rows.mean(0))
    torch.testing.assert_close(std, rows.std(0, correction=0))
