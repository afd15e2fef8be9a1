"""Splits: whoever is trained on is not tested on, and mistakes name the file and the cure."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.data.files import ASIDE
from understudy.errors import InputError
from understudy.games.dota.features.samples import Outline
from understudy.games.dota.value import splits
from understudy.games.dota.value.splits import Split


def outline(patches):
    number = np.arange(len(patches)) + 500
    return Outline(number, np.sort(np.array(patches, np.int64)), 10 * number)


PATCHES = st.lists(st.integers(50, 60), min_size=4, max_size=60)


@given(PATCHES, st.sampled_from(["patch", "time"]))
@settings(max_examples=60)
def test_every_match_since_goes_to_one_part_and_later_parts_are_later(patches, by):
    matches = outline(patches)
    try:
        split = (splits.by_patch if by == "patch" else splits.by_time)(matches)
    except InputError:
        return  # too few matches for three parts
    kept = matches.match_id[matches.patch >= splits.SINCE]
    joined = np.concatenate([split.train, split.val, split.test])
    newest = matches.match_id[matches.patch == matches.patch.max()]
    np.testing.assert_array_equal(joined, kept)
    assert split.train.max() < split.val.min() and split.val.max() < split.test.min()
    if by == "patch":
        np.testing.assert_array_equal(split.test, newest)


def test_an_older_patch_as_the_test_leaves_newer_ones_out():
    split = splits.by_patch(outline([54] * 20 + [55] * 5 + [56] * 5), test=55, val_share=0.25)
    assert (len(split.train), len(split.val), len(split.test)) == (15, 5, 5)
    assert split.test.tolist() == [520, 521, 522, 523, 524]
    split = splits.by_patch(outline([54] * 20 + [55] * 5 + [56] * 5), since=55)
    assert (len(split.train), len(split.val), len(split.test)) == (4, 1, 5)


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: splits.by_time(outline([57])), "no match to train on; more matches or another"),
        (lambda: splits.by_time(outline([53] * 9)), "no match to train on"),
        (lambda: splits.by_time(outline([57] * 3)), "no match to val on"),
        (lambda: splits.by_patch(outline([56, 57])), "no match to train on"),
        (lambda: splits.by_patch(outline([56] * 9), 57), "no match of 7.38 to test on; there are"),
        (lambda: splits.by_patch(outline([53] * 9 + [57])), "no match of 7.35 or later before"),
        (lambda: Split(*np.array([[1], [2], [1]])), "a match is in two of train, val and test"),
    ],
)
def test_a_split_that_cannot_be_says_what_is_missing(make, line):
    with pytest.raises(InputError) as failure:
        make()
    assert str(failure.value).startswith(line)


@given(st.integers(1, 40), st.integers(0, 5), st.integers(0, 5))
@settings(max_examples=40)
def test_a_draw_parts_the_matches_and_keeps_their_order(size, seed, turn):
    matches = np.arange(100, 160)
    drawn, others = splits.draw(matches, size, seed, turn)
    assert len(drawn) == size and (np.diff(drawn) > 0).all() and (np.diff(others) > 0).all()
    assert sorted([*drawn, *others]) == matches.tolist()
    again, _ = splits.draw(matches, size, seed, turn)
    np.testing.assert_array_equal(drawn, again)


def test_other_turns_and_seeds_draw_others():
    matches = np.arange(1000)
    drawn = {tuple(splits.draw(matches, 25, seed, turn)[0]) for seed in (0, 1) for turn in (0, 1)}
    assert len(drawn) == 4


def test_files_of_a_split_by_hand(tmp_path):
    split = Split(np.array([5, 3]), np.array([9]), np.arange(100, 225))
    paths = splits.write_split(tmp_path, split, seed=0)
    assert [path.stem for path in paths] == [
        *("train", "val", "test", "test_calib_25", "test_eval_25")
    ]
    assert (tmp_path / "train.txt").read_text() == "5\n3\n"
    again = splits.read_split(tmp_path)
    assert all(np.array_equal(vars(again)[name], part) for name, part in vars(split).items())
    drawn, others = (
        list(splits.numbers_in(tmp_path / f"test_{part}_25.txt")) for part in ("calib", "eval")
    )
    assert [len(drawn), len(others)] == [25, 100] and sorted(drawn + others) == list(
        range(100, 225)
    )


def test_a_file_that_cannot_be_read_names_the_command_that_makes_it(tmp_path):
    with pytest.raises(InputError, match=r"train\.txt is missing.* understudy split dota"):
        splits.read_split(tmp_path)
    (tmp_path / "train.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"train\.txt is not a text in UTF-8"):
        splits.read_split(tmp_path)
    (tmp_path / "train.txt").write_text("12\n-3\n")
    with pytest.raises(InputError, match=r"train\.txt: '-3' is no match number"):
        splits.read_split(tmp_path)
    (tmp_path / "empty.txt").write_text("\n \n")
    assert list(splits.numbers_in(tmp_path / "empty.txt")) == []


def test_files_for_few_matches_are_read_as_they_were_written(tmp_path):
    split = splits.Split(np.arange(5), np.arange(5, 8), np.arange(8, 140))
    splits.write_split(tmp_path, split, seed=3)
    few = splits.read_few_shot(tmp_path)
    assert list(few) == [25]
    calibrate, evaluate = few[25]
    assert len(calibrate) == 25 and len(evaluate) == 107
    assert {*calibrate.tolist(), *evaluate.tolist()} == {*range(8, 140)}
    names = {path.name for path in splits.split_files(tmp_path)}
    assert {"train.txt", "test_calib_25.txt", "test_eval_25.txt"} <= names
    (tmp_path / "test_eval_25.txt").write_text("8\n9\n" + "".join(f"{k}\n" for k in calibrate[:1]))
    with pytest.raises(InputError, match="share a match"):
        splits.read_few_shot(tmp_path)
    (tmp_path / "test_eval_25.txt").unlink()
    assert splits.read_few_shot(tmp_path) == {}


@pytest.mark.parametrize("written", range(5))
def test_whoever_is_stopped_leaves_no_parts_of_two_splits(written, tmp_path, monkeypatch):
    splits.write_split(tmp_path, splits.Split(*np.split(np.arange(300), [60, 90])), seed=3)
    puts, done = splits.write_text, []

    def stopped(path, text):
        if len(done) == written:
            raise KeyboardInterrupt
        done.append(path)
        puts(path, text)

    monkeypatch.setattr(splits, "write_text", stopped)
    other = splits.Split(*np.split(np.arange(150), [15, 20]))
    with pytest.raises(KeyboardInterrupt):
        splits.write_split(tmp_path, other, seed=4)
    with pytest.raises(InputError, match="is missing"):
        splits.read_split(tmp_path)


def test_of_an_earlier_split_nothing_stays(tmp_path):
    (tmp_path / f"test.txt.7{ASIDE}").write_text("1\n")  # its writer was killed
    splits.write_split(tmp_path, splits.Split(*np.split(np.arange(300), [60, 90])), seed=3)
    paths = splits.write_split(tmp_path, splits.Split(*np.split(np.arange(60), [6, 9])), seed=4)
    assert sorted(paths) == sorted(tmp_path.iterdir())
