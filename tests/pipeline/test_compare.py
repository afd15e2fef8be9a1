"""Runs side by side: what differs, and who is stronger where something is shared."""

import json

import numpy as np
import pytest

from tests.report.test_hostile import leaves, put
from tests.small_runs import assert_refused, understudy
from tests.studio.small_run import model, small_run, stage
from understudy.data.results import FEWEST_SEEDS, pair_results, paired_scores
from understudy.data.runs import Run
from understudy.data.shards import shard_path, write_shard
from understudy.pipeline.report import compared, subjects_of

ARENA = pair_results("arena")


def results(rows):
    """Rows of (player, opponent, seed, slot, score)."""
    player, opponent, seed, slot, score = zip(*rows, strict=True)
    return ARENA.build(
        {
            "match": [f"m{number}" for number in range(len(rows))],
            "seed": np.array(seed),
            "player": list(player),
            "slot": np.array(slot, np.int8),
            "opponent": list(opponent),
            "score": np.array(score, np.float32),
            "steps": np.ones(len(rows), np.int32),
            "ending": ["kill"] * len(rows),
        }
    )


def test_a_pair_is_the_difference_at_the_same_seed_slot_and_opponent():
    mine = results([("x", "e", seed, seed % 2, 1.0) for seed in range(8)])
    theirs = results(
        [("y", "e", seed, seed % 2, (-1.0, 0.0)[seed % 2]) for seed in range(2, 20)]
        + [("y", "e", seed, 1 - seed % 2, 1.0) for seed in range(8)]  # the other slot
        + [("y", "other", seed, seed % 2, 1.0) for seed in range(8)]  # another opponent
    )
    (found,) = paired_scores(mine, theirs, "x", "y")
    # Seeds 2 to 7: three even ones with a gap of 2, three odd ones with a gap of 1.
    assert (found.against, found.gap.value, found.gap.n) == ("e", 1.5, 6)
    assert 1 <= found.gap.low < 1.5 < found.gap.high <= 2
    (back,) = paired_scores(theirs, mine, "y", "x")
    assert back.gap.value == -1.5


def test_what_shares_too_little_is_not_compared():
    mine = results([("x", "e", seed, 0, 1.0) for seed in range(FEWEST_SEEDS - 1)])
    theirs = results([("y", "e", seed, 0, 0.0) for seed in range(50)])
    assert list(paired_scores(mine, theirs, "x", "y")) == []


@pytest.fixture
def runs(tmp_path):
    one = small_run(tmp_path / "a", learning_rate=0.1, nested={"width": 3})
    other = small_run(tmp_path / "b", learning_rate=0.2, nested={"width": 4})
    for run, score in ((one, 1.0), (other, -1.0)):
        folder = stage(run.result("met"), "compete", seed=0, rules="same")
        rows = [("imitate", "expert", seed, 0, score) for seed in range(9)]
        write_shard(shard_path(folder, ARENA, "00000"), results(rows))
    return one, other


def panels_of(*places):
    return {panel.title: panel for panel in compared(subjects_of(places))}


def test_the_page_tells_what_differs_and_nothing_else(runs):
    found = panels_of(*(run.folder for run in runs))["What differs"].html
    for words in ("learning_rate", "nested.width", "0.1", "0.2", ">3<", ">4<"):
        assert words in found
    assert "steps" not in found


def test_strengths_are_paired_where_settings_are_equal(runs):
    one, other = runs
    found = panels_of(one.folder, other.folder)["Who is stronger"]
    assert 'data-value="2.0"' in found.html
    stage(other.result("met"), "compete", seed=0, rules="others")
    assert "Who is stronger" not in panels_of(one.folder, other.folder)


def test_models_are_compared_alone_and_curves_lie_over_each_other(runs):
    one, other = runs
    model(one, "second", steps=20)
    found = panels_of(one.model("imitate"), one.model("second"))
    assert found["Curves"].html.count('data-name="imitate"') == 2
    assert found["Curves"].html.count('data-name="second"') == 2
    both = panels_of(one.model("imitate"), other.model("imitate"))
    assert 'data-name="a/models/imitate"' in both["Curves"].html


def test_the_command_writes_one_page(runs, tmp_path):
    page = tmp_path / "c.html"
    done = understudy("compare", *(run.folder for run in runs), "-o", page)
    assert (done.code, done.out.strip()) == (0, str(page))
    assert "a beside b" in page.read_text()


HEAD = {"accuracy": 0.5, "majority": 0.25, "majority_legal": 0.375, "log_loss": 1.0}
EVALUATION = {"steps": 10, "seconds": 1.0, "val": {"loss": 2.0}, "test": {"heads": {"move": HEAD}}}


def test_the_gain_is_over_the_better_of_both_majorities(runs):
    path = runs[0].model("imitate") / "evaluation.json"
    path.write_text(json.dumps(EVALUATION))
    html = panels_of(*(run.folder for run in runs))["How they ended"].html
    assert all(f'data-value="{value}"' in html for value in (0.5, 0.375, 0.125))


@pytest.mark.parametrize("place", [place for place in leaves(EVALUATION) if place[-1] is not None])
def test_a_word_for_a_number_of_an_evaluation_is_one_line(runs, tmp_path, place):
    path = runs[0].model("imitate") / "evaluation.json"
    path.write_text(json.dumps(put(EVALUATION, place, "much")))
    done = understudy("compare", *(run.folder for run in runs), "-o", tmp_path / "c.html")
    assert_refused(done, path, "Expected", "got 'str'", f"$.{place[0]}", "Train it again")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nowhere", "there is no run"),
        ("a", "name two runs"),
        ("a/recordings", "is not a run"),
    ],
)
def test_what_cannot_be_compared_is_refused(runs, tmp_path, name, words):
    assert Run(tmp_path / "a").folder.is_dir()
    done = understudy("compare", tmp_path / name, "-o", tmp_path / "c.html")
    assert_refused(done, words)
    assert not (tmp_path / "c.html").exists()
