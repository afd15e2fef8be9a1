"""A value model on disk, and the value delta it sees between two states."""

import json

import numpy as np
import pytest

from tests.games.dota.small_matches import blank_samples, made_up, samples_from
from understudy.errors import InputError
from understudy.games.dota.features.samples import swapped
from understudy.games.dota.value import checkpoint
from understudy.games.dota.value.blend import Blend
from understudy.games.dota.value.checkpoint import NAMES, ValueDelta, ValueModel
from understudy.games.dota.value.linear import Constant, Linear
from understudy.games.dota.value.symmetric import Symmetric, symmetric


def model(constant=0.0, standard_error=0.1, **weights):
    beta = np.zeros(len(NAMES) + 1)
    for name, weight in weights.items():
        beta[NAMES.index(name)] = weight
    beta[-1] = constant
    linear = Linear(symmetric, {"y_win": beta}, np.full(len(beta), standard_error))
    return ValueModel(linear, ("7.38",), {"t_min": (0.0, 60.0), "gold_total": (0.0, 9000.0)})


@pytest.mark.parametrize(
    ("gain", "error", "text"),
    [
        (0.0123, 0.004, "+1.2 ± 0.4"),
        (-0.5, 0.25, "-50.0 ± 25.0"),
        (-0.0001, 0.0, "+0.0 ± 0.0"),
        (0.0, 1.0, "+0.0 ± 100.0"),
    ],
)
def test_a_value_delta_in_words_never_says_less_than_nothing(gain, error, text):
    assert str(ValueDelta(gain, error)) == text


def test_a_value_delta_by_hand():
    value = model(kills=0.5)
    before, after = blank_samples([1, 1]), blank_samples([1, 1], kills=[2, -2])
    up, down = value.value_deltas(after, before, 0)
    chance = 1 / (1 + np.exp(-1))
    assert up.gain == pytest.approx(chance - 0.5) and down.gain == pytest.approx(0.5 - chance)
    middle = (chance + 0.5) / 2
    assert up.error == pytest.approx(middle * (1 - middle) * 0.1 * 2)  # two kills, 0.1 each
    assert value.value_deltas(before, before, 0)[0] == ValueDelta(0.0, 0.0)


def test_a_value_delta_for_dire_is_that_for_radiant_with_the_sides_swapped():
    value = model(kills=0.4, gold=0.7, towers=-0.2)
    before = blank_samples([1], kills=3, radiant_gold_adv=1500, t_min=10)
    after = blank_samples([1], kills=1, radiant_gold_adv=2500, towers_2=1, t_min=10)
    (radiant,) = value.value_deltas(after, before, 0)
    (dire,) = value.value_deltas(swapped(after), swapped(before), 1)
    assert dire.gain == pytest.approx(radiant.gain) and dire.error == pytest.approx(radiant.error)
    (other,) = value.value_deltas(after, before, 1)
    assert other.gain == -radiant.gain and other.error == radiant.error
    (back,) = value.value_deltas(before, after, 0)
    assert back.gain == -radiant.gain


def test_out_of_range_names_the_feature_and_its_range():
    inside = blank_samples([1, 1], t_min=[0, 60], gold_total=[9000, 0])
    assert model().out_of_range(inside) == []
    beyond = blank_samples([1, 1], t_min=[3, 61], gold_total=[-1, 0])
    assert model().out_of_range(beyond) == [
        "the minute is beyond the 0 to 60 of training",
        "all gold is beyond the 0 to 9,000 of training",
    ]


@pytest.fixture(scope="module")
def fitted():
    rows = samples_from(made_up(30)).begun()
    linear = Symmetric().fit(rows, rows, 0)
    return rows, Blend(linear, Constant().fit(rows, rows, 0))


def test_what_is_written_is_read_back_to_nine_digits(fitted, tmp_path):
    rows, blend = fitted
    checkpoint.save(tmp_path, blend, rows, seed=5)
    read = checkpoint.load(tmp_path / "model.json")
    for label, weights in blend.linear.weights.items():
        np.testing.assert_allclose(read.linear.weights[label], weights, rtol=1e-8)
    np.testing.assert_allclose(read.linear.standard_errors, blend.linear.standard_errors, rtol=1e-8)
    content = json.loads((tmp_path / "model.json").read_text())
    assert content["matches"] == 30 and content["seed"] == 5
    checkpoint.save(tmp_path / "again", blend, rows, seed=5)
    assert (tmp_path / "again/model.json").read_bytes() == (tmp_path / "model.json").read_bytes()
    assert [path.name for path in (tmp_path / "again").iterdir()] == ["model.json"]


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content | {"format": 1},
        lambda content: {name: part for name, part in content.items() if name != "seen"},
        lambda content: content | {"spread": ["much"]},
        lambda content: content | {"weights": None, "seen": []},
        lambda content: [content],
        lambda content: content | {"spread": [float("nan"), *content["spread"][1:]]},
        lambda content: content | {"weights": {"y_win": [float("inf")] * len(content["spread"])}},
    ],
)
def test_a_file_that_is_no_model_says_how_to_make_one(change, fitted, tmp_path):
    rows, blend = fitted
    checkpoint.save(tmp_path, blend, rows, seed=0)
    path = tmp_path / "model.json"
    content = {k: v for k, v in json.loads(path.read_text()).items() if k != "seal"}
    path.write_text(json.dumps(change(content)))
    with pytest.raises(InputError) as failure:
        checkpoint.load(path)
    told = ("is no value model this program reads (", "is damaged (")
    assert str(failure.value).startswith(tuple(f"{path} {words}" for words in told))
    assert str(failure.value).endswith("Train one: understudy train dota value")


def test_changes_have_the_errors_of_matches_that_were_left_out(fitted):
    rows, _ = fitted
    constant = np.zeros(len(NAMES) + 1)
    constant[-1] = 50.0
    linear = Linear(symmetric, dict.fromkeys(("y_dgold_adv", "y_dxp_adv"), constant))
    labels = {name: np.arange(100.0) for name in ("y_dgold_adv", "y_dxp_adv")}
    scored = blank_samples(np.arange(100), labels, t_min=np.repeat([5, 15], 50))
    missed = checkpoint.errors_of(Blend(linear, linear), scored)
    early, late = missed["y_dgold_adv"][:2]
    assert early == (round(0.1 * 49 - 50), round(0.9 * 49 - 50))
    assert late == (round(50 + 0.1 * 49 - 50), round(50 + 0.9 * 49 - 50))
    assert missed["y_dxp_adv"][4] == (round(0.1 * 99 - 50), round(0.9 * 99 - 50))  # all of them
    value = ValueModel(linear, (), {}, (), {name: tuple(x) for name, x in missed.items()})
    now = blank_samples([1], t_min=[19])
    assert value.changes_ahead(now)["y_dgold_adv"] == (50.0, 50.0 + late[0], 50.0 + late[1])
    assert model().changes_ahead(rows.where(np.array([0]))) == {}
