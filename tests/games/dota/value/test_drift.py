"""When not to trust a model: each verdict at its border, and which matches are watched."""

import numpy as np
import pytest

from tests.games.dota.small_matches import blank_samples
from understudy.data.stats import Estimate, logistic
from understudy.errors import InputError
from understudy.games.dota.features.samples import ALL_NAMES, Samples
from understudy.games.dota.value.checkpoint import NAMES, ValueModel
from understudy.games.dota.value.drift import RANGED, drift, ranges, verdict, watch
from understudy.games.dota.value.linear import Linear
from understudy.games.dota.value.metrics import log_losses
from understudy.games.dota.value.symmetric import symmetric


@pytest.mark.parametrize(
    ("matches", "slope", "helps", "word"),
    [
        (29, (0.15, 0.1, 0.2), True, "too few to say (29 of 30)"),
        (30, (1.0, 0.9, 1.1), False, "trust"),
        (30, (0.6, 0.5, 0.74), False, "do not trust: train again on this patch"),
        (30, (0.6, 0.5, 0.75), True, "calibrate: too sure"),
        (30, (1.5, 1.26, 1.9), True, "do not trust: train again on this patch"),
        (30, (1.5, 1.25, 1.9), True, "calibrate: too timid"),
        (30, (1.5, 1.25, 1.9), False, "trust"),
    ],
)
def test_verdicts_at_their_borders(matches, slope, helps, word):
    assert verdict(matches, Estimate(*slope), helps) == word


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


def test_matches_draw_together_and_rows_weigh_alike():
    """Every row thrice is the same; a few matches thrice as long are not."""
    rows = watched(60, patches=(57,))
    value = model({})
    thrice = rows.where(np.tile(np.arange(len(rows)), 3))
    longer = rows.where(np.r_[np.arange(len(rows)), np.tile(np.flatnonzero(rows.match_id < 9), 2)])
    (one,), (same,), (other,) = (
        drift(part, value.chance(part), {}, draws=10) for part in (rows, thrice, longer)
    )
    for name in ("slope", "slope_low", "excess", "calibrating", "calibrating_error", "matches"):
        assert same[name] == pytest.approx(one[name], rel=1e-6)
    assert other["matches"] == 60 and other["slope"] != pytest.approx(one["slope"], rel=1e-3)


def test_calibrating_is_advised_where_it_helps_matches_left_out():
    rng = np.random.default_rng(1)
    score = rng.normal(0, 2, 900).repeat(3)
    won = (rng.random(900) < logistic(score[::3])).repeat(3).astype(float)
    rows = blank_samples(np.arange(900).repeat(3), {"y_win": won}, t=60)
    (right,) = drift(rows, logistic(score), {}, draws=50)
    (timid,) = drift(rows, logistic(score / 1.3), {}, draws=50)
    assert right["verdict"] == "trust" and right["calibrating"] < 2 * right["calibrating_error"]
    assert timid["verdict"] == "calibrate: too timid" and timid["calibrating"] > 0


def test_changes_are_watched_as_well_as_levels():
    rows = watched()
    rows.features[:, ALL_NAMES.index("gold_adv_change_1")] = 500
    value = model(ranges(rows))
    rows.features[3, ALL_NAMES.index("gold_adv_change_1")] = 501
    assert value.out_of_range(rows) == [
        "the change of the lead in gold over 1 min is beyond the 500 to 500 of training"
    ]


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
