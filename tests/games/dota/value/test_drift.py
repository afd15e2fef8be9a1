"""When not to trust a model: each verdict at its border, and which matches are watched."""

import numpy as np
import pytest

from tests.games.dota.small_matches import blank_samples
from understudy.data.stats import logistic
from understudy.errors import InputError
from understudy.games.dota.features.samples import Samples
from understudy.games.dota.value.checkpoint import NAMES, ValueModel
from understudy.games.dota.value.drift import RANGED, drift, ranges, verdict, watch
from understudy.games.dota.value.linear import Linear
from understudy.games.dota.value.metrics import log_losses
from understudy.games.dota.value.symmetric import symmetric


@pytest.mark.parametrize(
    ("matches", "slope", "excess_low", "word"),
    [
        (29, (0.1, 0.2), 9.0, "too few to say (29 of 30)"),
        (30, (0.9, 1.1), -0.1, "trust"),
        (30, (0.5, 0.74), -0.1, "do not trust: train again on this patch"),
        (30, (0.5, 0.75), -0.1, "calibrate: too sure"),
        (30, (1.26, 1.9), -0.1, "do not trust: train again on this patch"),
        (30, (1.25, 1.9), -0.1, "calibrate: too timid"),
        (30, (0.9, 0.99), -0.1, "calibrate: too sure"),
        (30, (1.0, 1.2), 0.0, "trust"),
        (30, (0.9, 1.1), 0.01, "calibrate: too sure"),
    ],
)
def test_verdicts_at_their_borders(matches, slope, excess_low, word):
    assert verdict(matches, *slope, excess_low) == word


def watched(matches=40, rows=3, patches=(57, 58), seed=0):
    """Matches of two patches; Radiant wins by a lead that the model reads."""
    rng = np.random.default_rng(seed)
    lead = rng.normal(0, 3000, matches).repeat(rows)
    won = (rng.random(matches) < logistic(lead[::rows] / 1000)).repeat(rows).astype(float)
    found = blank_samples(
        np.arange(matches).repeat(rows),
        {"y_win": won},
        t=np.tile(60 * np.arange(rows), matches),
        t_min=np.tile(np.arange(rows), matches),
        radiant_gold_adv=lead,
    )
    patch = np.array(patches)[(np.arange(matches) * len(patches) // matches).repeat(rows)]
    return Samples(found.features, found.match_id, patch, found.start_time, found.labels)


def model(feature_ranges, patches=("7.38",)):
    weights = np.zeros(len(NAMES) + 1)
    weights[NAMES.index("gold")] = 1.0
    return ValueModel(
        Linear(symmetric, {"y_win": weights}, np.ones(len(weights))), patches, feature_ranges
    )


def test_ranges_are_the_least_and_most_of_training():
    rows = watched()
    found = ranges(rows)
    assert set(found) == {*RANGED} and found["t_min"] == (0.0, 2.0)
    lead = rows.column("radiant_gold_adv")
    assert found["radiant_gold_adv"] == (lead.min(), lead.max())
    assert model(found).out_of_range(rows) == []


def test_a_line_per_patch_by_hand():
    rows = watched()
    chance = np.full(len(rows), 0.8)
    first, second = drift(rows, chance, {"t_min": (0.0, 1.0)}, draws=20)
    assert (first["patch"], second["patch"]) == ("7.38", "7.39")
    assert first["matches"] == second["matches"] == 20
    assert first["out_of_range"] == pytest.approx(1 / 3)  # the row of minute 2
    won = rows.labels["y_win"][rows.patch == 57]
    loss = log_losses(won, chance[:60]).mean()
    expected = -(0.8 * np.log(0.8) + 0.2 * np.log(0.2))
    assert first["log_loss"] == pytest.approx(loss)
    assert first["excess"] == pytest.approx(loss - expected)
    assert first["excess_low"] <= first["excess"] <= first["excess_high"]
    assert first["verdict"] == "too few to say (20 of 30)"
    assert drift(rows, chance, {"t_min": (0.0, 1.0)}, draws=20) == [first, second]
    again = drift(rows, chance, {"t_min": (0.0, 1.0)}, draws=20, seed=1)
    assert again[0]["slope"] == first["slope"] and again[0]["slope_low"] != first["slope_low"]


def test_matches_draw_together_whatever_their_length():
    """A match with more rows weighs no more."""
    rows = watched(60, patches=(57,))
    more = rows.where(np.concatenate([np.arange(len(rows)), np.flatnonzero(rows.match_id < 9)] * 2))
    value = model({})
    (one,), (other,) = (drift(part, value.chance(part), {}, draws=10) for part in (rows, more))
    for name in ("slope", "slope_low", "excess", "excess_high", "matches"):
        assert other[name] == pytest.approx(one[name], rel=1e-6)


def test_what_a_model_was_trained_on_is_not_watched(tmp_path):
    rows = watched()
    value = model(ranges(rows), patches=("7.37", "7.38"))
    judged = watch(value, rows, tmp_path)
    assert judged["left_out"] == 0 and judged["trained_on"] == ["7.37", "7.38"]
    assert [line["matches"] for line in judged["drift"]] == [20, 20]
    (tmp_path / "splits").mkdir()
    (tmp_path / "splits/train.txt").write_text("".join(f"{k}\n" for k in range(25)) + "999\n")
    judged = watch(value, rows, tmp_path)
    assert judged["left_out"] == 25
    assert [(line["patch"], line["matches"]) for line in judged["drift"]] == [("7.39", 15)]
    (tmp_path / "splits/train.txt").write_text("".join(f"{k}\n" for k in range(40)))
    with pytest.raises(InputError, match="all matches of this run were trained on"):
        watch(value, rows, tmp_path)
