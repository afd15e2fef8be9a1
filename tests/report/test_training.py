"""Panels of a training, from the lines it wrote."""

import math

import pytest

from understudy.report.training import training_panels

METRICS = [
    {"step": 0, "train/loss": 2.0, "learning_rate": 1e-3},
    {
        "step": 10,
        "train/loss": 1.5,
        "val/loss": 1.8,
        "val/accuracy/fire": 0.6,
        "val/majority/fire": 0.5,
    },
    {"step": 20, "train/loss": 1.2, "val/loss": 1.4},
    {"step": 20, "val/accuracy/fire": 0.75, "val/majority/fire": 0.5, "val/accuracy/<b>": 0.25},
    {
        "step": 30,
        "train/loss": 1.0,
        "val/loss": 1.6,
        "val/accuracy/fire": 0.9,
        "train/entropy": 0.1,
    },
]


def panel(panels, ending):
    (one,) = [panel for panel in panels if panel.title.endswith(ending)]
    return one.html


def test_there_is_a_panel_for_loss_accuracy_and_the_rest():
    titles = [panel.title for panel in training_panels("clone", METRICS)]
    assert titles == ["clone: loss", "clone: accuracy", "clone: other measures"]


def test_the_best_validation_step_is_marked():
    html = panel(training_panels("clone", METRICS), "loss")
    assert 'title="best: 1.4 at 20"' in html
    assert "<b>1.4</b><span>best validation loss</span>" in html


def test_accuracy_is_that_of_the_best_step_beside_its_majority():
    html = panel(training_panels("clone", METRICS), "accuracy")
    assert "at step 20" in html
    assert "fire, accuracy: 75.0\u00a0% (beside 50.0\u00a0%)" in html
    assert ">25.0\u00a0%</td>" in html  # the gain


def test_names_are_escaped():
    html = "".join(panel.html for panel in training_panels("clone", METRICS))
    assert "&lt;b&gt;" in html
    assert "<b>:" not in html


def test_train_and_validation_share_a_small_chart():
    lines = [
        {"step": s, "train/entropy": 1.0, "val/entropy": 2.0, "learning_rate": 0.1} for s in (1, 2)
    ]
    html = panel(training_panels("clone", lines), "other measures")
    assert html.count("<figure") == 2
    assert 'data-name="train"' in html
    assert 'data-name="val"' in html


def test_a_resumed_training_counts_a_step_once():
    lines = [
        {"step": 1, "val/loss": 0.1},
        {"step": 2, "val/loss": 0.5},
        {"step": 1, "val/loss": 0.9},
    ]
    assert 'title="best: 0.5 at 2"' in panel(training_panels("clone", lines), "loss")


def test_a_long_training_is_smoothed():
    lines = [{"step": s, "train/loss": float(s % 2)} for s in range(100)]
    assert 'class="faint"' in panel(training_panels("clone", lines), "loss")


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [{}],
        [{"train/loss": 1.0}],
        [{"step": math.nan, "val/loss": 1.0}],
        [{"step": 1, "val/loss": math.nan, "train/loss": math.inf}],
        [{"step": 1, "val/accuracy/fire": 0.5}],
        [{"step": 1, "val/accuracy/fire": math.nan}],
        [{"step": 5, "val/loss": 1.0}, {"step": 9, "val/loss": 2.0, "val/accuracy/fire": 0.5}],
    ],
)
def test_whatever_was_written_so_far_gives_panels(lines):
    assert training_panels("clone", lines)[0].title == "clone: loss"
