"""Models of running matches read what is told and nothing else."""

import json

import numpy as np
import pytest

from tests.games.dota.live.streams import recorded_match
from understudy.errors import InputError
from understudy.games.dota.features.encode import names_of as features_of
from understudy.games.dota.features.samples import ALL_NAMES, swapped
from understudy.games.dota.live.recipe import chance_of, fit_chance, rows_of
from understudy.games.dota.live.report import LIST, PLAYER, SPECTATOR
from understudy.games.dota.live.sight import (
    LIVE_FILE,
    TOLD,
    columns_of,
    load_live,
    names_of,
    save_live,
)

HIDDEN = {
    SPECTATOR: (*features_of("vision"), *features_of("strength"), *features_of("items")),
    LIST: (*features_of("vision"), *features_of("items"), *features_of("objectives"), "dead"),
}
HIDDEN[LIST] += ("radiant_xp_adv", "xp_adv_change_3")


@pytest.mark.parametrize("source", list(TOLD))
def test_no_column_moves_when_what_is_not_told_does(source):
    samples = recorded_match().samples
    other = samples.where(np.arange(len(samples)))
    for name in HIDDEN[source]:
        other.features[:, ALL_NAMES.index(name)] += 3
    np.testing.assert_array_equal(columns_of(source, other), columns_of(source, samples))
    assert columns_of(source, samples).shape[1] == len(names_of(source))


@pytest.mark.parametrize("source", list(TOLD))
def test_columns_of_both_sides_change_their_sign_when_the_sides_swap(source):
    samples = recorded_match().samples
    turned = columns_of(source, swapped(samples))
    np.testing.assert_allclose(turned, -columns_of(source, samples), atol=1e-6)


def test_the_fit_finds_weights_that_made_the_outcomes():
    rng = np.random.default_rng(0)
    columns = rng.normal(0, (1, 5), (4000, 2))
    won = (rng.random(4000) < chance_of(columns, np.array([1.0, -0.2, 0.5]))).astype(float)
    weights, errors = fit_chance(columns, won, np.arange(4000), 1e-6)
    assert (np.abs(weights - (1.0, -0.2, 0.5)) < 3.5 * errors).all()


def test_rows_are_those_whose_future_is_known_after_the_horn():
    context = recorded_match()
    rows = rows_of(context.tables)
    assert len(rows.won) == len(context.timeline.t) - 1 - 3
    assert rows.own.shape[1:] == (10, len(names_of(PLAYER)))
    assert set(rows.won.tolist()) == {float(context.outline["radiant_win"])}


def test_what_is_saved_is_read_back(tmp_path):
    fitted = {
        source: (np.arange(len(names_of(source)) + 1.0), np.ones(len(names_of(source)) + 1))
        for source in (PLAYER, *TOLD)
    }
    save_live(tmp_path, fitted, ["7.38"], 3, {"t_min": (1.0, 60.0)})
    model = load_live(tmp_path)
    np.testing.assert_array_equal(model.weights[LIST], fitted[LIST][0])
    assert model.patches == ("7.38",) and model.value(LIST).feature_ranges == {"t_min": (1, 60)}


def test_models_of_other_columns_are_refused(tmp_path):
    with pytest.raises(InputError, match="there are no live models"):
        load_live(tmp_path)
    content = {"format": 1, "sources": {}, "patches": [], "matches": 0, "seen": {}}
    (tmp_path / LIVE_FILE).write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"other columns. Train one: understudy train dota live"):
        load_live(tmp_path)


def test_a_lead_speaks_for_its_side():
    model = load_live()
    weights = dict(zip(names_of(SPECTATOR), model.weights[SPECTATOR], strict=False))
    assert weights["gold"] + weights["gold / root of time"] > 0 and weights["towers"] > 0
    own = dict(zip(names_of(PLAYER), model.weights[PLAYER], strict=False))
    at_30 = {name: own[name] + own[f"{name} x time"] for name in ("towers lost", "gold pace")}
    assert at_30["towers lost"] < 0 < at_30["gold pace"]
