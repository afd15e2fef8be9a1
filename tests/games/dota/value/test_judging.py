"""How models are compared: scores of made-up predictions by hand, and few matches of a patch."""

import numpy as np
import pytest

from tests.games.dota.small_matches import blank_samples
from understudy.data.stats import logistic
from understudy.games.dota.features.samples import Samples
from understudy.games.dota.value import metrics
from understudy.games.dota.value.calibration import METHODS
from understudy.games.dota.value.recipe import BASELINE, OURS, few_shot, judge
from understudy.games.dota.value.splits import LEFT


class Says:
    """Predicts by a function of the rows."""

    def __init__(self, chance, change=lambda rows: np.zeros(len(rows))):
        self.chance, self.change = chance, change

    def predict(self, label, samples):
        return (self.chance if label == "y_win" else self.change)(samples)


def rows_of(matches, rows=4, seed=0):
    """The lead decides; rows at minutes 0, 4, 8 …, changes twice the minute."""
    rng = np.random.default_rng(seed)
    lead = rng.normal(0, 2000, matches).repeat(rows)
    won = (rng.random(matches) < logistic(lead[::rows] / 1000)).repeat(rows).astype(float)
    minute = np.tile(4.0 * np.arange(rows), matches)
    labels = {"y_win": won, "y_dgold_adv": 2 * minute, "y_dxp_adv": -minute}
    return blank_samples(
        np.arange(matches).repeat(rows), labels, t=60 * minute, t_min=minute, radiant_gold_adv=lead
    )


def by_lead(rows):
    return logistic(rows.column("radiant_gold_adv") / 1000)


MODELS = {
    "even": Says(lambda rows: np.full(len(rows), 0.5)),
    BASELINE: Says(lambda rows: np.full(len(rows), 0.6)),
    OURS: Says(by_lead, lambda rows: 2 * rows.column("t_min") + 3),
}


def test_scores_by_hand():
    test = rows_of(50)
    found = judge(MODELS, test, seed=0)
    begun = test.begun()
    won = begun.labels["y_win"]
    assert found["rows"] == 150 and found["matches"] == 50
    even, baseline, ours = (found["line_up"][name] for name in ("even", BASELINE, OURS))
    assert even["log_loss"] == pytest.approx(np.log(2)) and even["auc"] == 0.5
    assert baseline["beside_bar"] == {"mean": 0.0, "low": 0.0, "high": 0.0}
    loss = -np.log(np.where(won == 1, 0.6, 0.4)).mean()
    assert even["beside_bar"]["mean"] == pytest.approx(np.log(2) - loss)
    assert ours["dgold_rmse"] == ours["dgold_mae"] == ours["dgold_rmse_begun"] == pytest.approx(3)
    minute = test.column("t_min")
    assert even["dxp_rmse"] == pytest.approx(np.sqrt((minute**2).mean()))
    assert even["dxp_mae"] == pytest.approx(minute.mean())
    assert even["dxp_rmse_begun"] == pytest.approx(np.sqrt((minute[minute > 0] ** 2).mean()))


def test_bands_part_the_rows_after_the_horn():
    found = judge(MODELS, rows_of(50), seed=0)["bands"]
    assert {name: band["rows"] for name, band in found.items()} == {
        "1-5": 50,
        "6-10": 50,
        "11-15": 50,
    }
    for band in found.values():
        assert band["log_loss"]["even"] == pytest.approx(np.log(2))
        assert set(band["auc"]) == {*MODELS}


def test_a_match_of_many_rows_weighs_as_much_by_match_and_more_by_row():
    short, long = rows_of(1), rows_of(1, rows=40)
    both = [np.concatenate([getattr(a, n) for a in (short, long)]) for n in ("features", "patch")]
    won = np.concatenate([np.ones(4), np.zeros(40)])
    labels = {"y_win": won, "y_dgold_adv": won, "y_dxp_adv": won}
    number = np.repeat([1, 2], [4, 40])
    score = judge(MODELS, Samples(both[0], number, both[1], number, labels), 0)["line_up"][BASELINE]
    lost, kept = -np.log(0.4), -np.log(0.6)
    assert score["log_loss_by_match"] == pytest.approx((lost + kept) / 2)
    assert score["log_loss"] == pytest.approx((3 * kept + 39 * lost) / 42)


def test_reliability_of_ours_is_kept():
    evaluation = judge(MODELS, rows_of(400), seed=0)
    assert (
        evaluation["calibration_error"]
        == metrics.calibration_error(evaluation["reliability"])
        < 0.1
    )
    assert sum(line["weight"] for line in evaluation["reliability"]) == pytest.approx(1)


def test_few_shots_are_tried_while_enough_matches_are_left():
    assert few_shot(MODELS[OURS], rows_of(LEFT + 24), 0, 2) == []
    table = few_shot(MODELS[OURS], rows_of(LEFT + 50), 0, 2)
    assert [line["matches"] for line in table] == [25, 50]
    for line in table:
        assert set(line) == {"matches", *METHODS} | {
            f"{what} {how}" for what in ("dgold", "dxp") for how in ("bias", "shrunk")
        }
        for name in {*line} - {"matches"}:
            assert line[name]["low"] <= line[name]["mean"] <= line[name]["high"]
        # Always 3 too much, in every match: a bias takes the whole error away.
        assert line["dgold bias"]["mean"] == pytest.approx(-3)
        assert -3 <= line["dgold shrunk"]["mean"] < -2.9
    assert few_shot(MODELS[OURS], rows_of(LEFT + 50), 0, 2) == table


def test_a_wrong_model_is_mended_by_few_matches_and_a_right_one_is_left_alone():
    timid = Says(lambda rows: logistic(rows.column("radiant_gold_adv") / 4000 + 1))
    (_, _, wrong) = few_shot(timid, rows_of(LEFT + 100), 0, 3)
    assert wrong["platt"]["mean"] < -0.02 and wrong["intercept"]["mean"] < 0
    assert wrong["cautious"]["mean"] < 0 < wrong["zero-shot"]["mean"]
    (_, _, right) = few_shot(MODELS[OURS], rows_of(LEFT + 100), 0, 3)
    assert right["cautious"]["mean"] == 0 and right["shrunk"]["high"] < 0.02
