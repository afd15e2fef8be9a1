"""The value model as JSON and a scorer in numpy: the same chances."""

import json

import numpy as np
import pytest

from tests.export.test_command import alone
from tests.small_runs import understudy
from understudy.export.value_model import columns, described
from understudy.games.dota.advice.match_context import SHIPPED
from understudy.games.dota.features.samples import ALL_NAMES, Samples
from understudy.games.dota.value.checkpoint import MODEL_FILE, load


@pytest.fixture(scope="module", name="samples")
def _samples():
    """States of all kinds, at all minutes."""
    rng = np.random.default_rng(3)
    features = rng.normal(0, 2, (60, len(ALL_NAMES))).astype(np.float32)
    for name, size in (("radiant_gold_adv", 6000), ("radiant_xp_adv", 6000)):
        features[:, ALL_NAMES.index(name)] *= size
    features[:, ALL_NAMES.index("gold_total")] = np.r_[0.0, 900.0, rng.uniform(1e3, 2e5, 58)]
    features[:, ALL_NAMES.index("t_min")] = np.r_[0.0, 0.5, 1.0, rng.uniform(0, 70, 57)]
    blank = np.zeros(60, np.int64)
    return Samples(features, blank, blank, blank, {})


def as_states(samples):
    return [
        dict(zip(ALL_NAMES, row, strict=True)) for row in samples.features.astype(float).tolist()
    ]


def test_the_scorer_says_what_the_model_says(samples, tmp_path):
    done = understudy("export dota shipped -o", tmp_path / "made")
    assert (done.code, done.err) == (0, "")
    lines = "\n".join(json.dumps(state) for state in as_states(samples))
    told = [float(line) for line in alone(tmp_path / "made" / "score.py", given=lines)]
    expected = load(SHIPPED / MODEL_FILE).chance(samples)
    assert expected.std() > 0.02  # they differ
    np.testing.assert_allclose(told, expected, atol=6e-5)  # it prints four digits


def test_its_numbers_are_exact_for_every_label(samples, tmp_path):
    model = load(SHIPPED / MODEL_FILE)
    content = described(model, "")
    namespace = {"__file__": str(tmp_path / "score.py"), "__name__": "score"}
    from understudy.export.value_model import _SCORER

    exec(compile(_SCORER.read_text(), "score.py", "exec"), namespace)
    for label in ("y_win", "y_dgold_adv", "y_dxp_adv"):
        found = namespace["predict"](content, as_states(samples), label)
        np.testing.assert_allclose(
            found, model.linear.predict(label, samples), rtol=1e-6, atol=1e-4
        )


def test_every_column_is_made_as_it_is_described(samples):
    model = load(SHIPPED / MODEL_FILE)
    assert len(columns()) == model.linear.columns(samples).shape[1]
    described_ = described(model, "")
    used = {name for one in described_["columns"] for name in one["features"]}
    assert used == set(described_["features"])
    turned = {one["when_sides_swap"] for one in described_["features"].values()}
    assert turned == {"changes its sign"}
