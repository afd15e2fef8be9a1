"""A search: the same worlds for everybody, gone on with where it stopped, judged in others."""

import json

import numpy as np
import pytest

from tests.games.scml.tuning.toy import BEST
from understudy.errors import InputError
from understudy.games.scml.players.steward_numbers import PLACES, place_in_chain
from understudy.games.scml.tuning import search as tuning
from understudy.games.scml.tuning.report import told_of
from understudy.games.scml.tuning.space import choices
from understudy.games.scml.tuning.trials import Trial, field_named, layout, scores


def test_it_finds_what_is_best_and_says_what_that_is_worth(found, tmp_path):
    result = found()
    assert BEST.items() <= result.told.items()
    assert result.confirmed.low < 2 < result.confirmed.high
    written = json.loads((tmp_path / "a" / "numbers.json").read_text())
    assert written["numbers"] == {"first": result.told}
    assert told_of(tmp_path / "a" / "numbers.json", "first") == result.told
    assert told_of(tmp_path / "a" / "numbers.json", "last") == {}
    (tmp_path / "wrong.json").write_text('{"numbers": {"first": {"a": 1.0, "b": NaN}}}')
    with pytest.raises(InputError, match=r"wrong\.json: 'b' is no number"):
        told_of(tmp_path / "wrong.json", "first")


def test_what_was_begun_goes_on_as_if_never_stopped(found, tmp_path):
    whole = found("whole")
    found("part", generations=2)
    assert found("part") == whole
    for name in ("search.json", "numbers.json"):
        assert (tmp_path / "part" / name).read_text() == (tmp_path / "whole" / name).read_text()


def test_another_search_is_not_mixed_in(found):
    found()
    with pytest.raises(InputError, match="other settings"):
        found(worlds=32)


def test_what_gains_nothing_is_not_taken(found, monkeypatch):
    luck = np.random.default_rng(0).normal(size=1000).tolist()
    monkeypatch.setattr(tuning, "scores", lambda trial: luck[trial.first : trial.last])
    result = found("none")
    assert result.told == {} and result.confirmed.value == 0


@pytest.mark.parametrize("name", ["generations", "candidates", "worlds"])
def test_nothing_to_search_with_is_refused(found, name):
    with pytest.raises(InputError, match=f"--{name} must be at least 1"):
        found(**{name: 0})


@pytest.mark.parametrize("field", ["official", "champions", "both"])
@pytest.mark.parametrize("place", PLACES)
def test_the_factory_that_changes_hands_is_in_its_place(field, place):
    for number in range(20):
        one = layout(field, place, 3, number)
        levels = [level for level, size in enumerate(one.sizes) for _ in range(size)]
        assert place_in_chain(levels[one.mine], len(one.sizes)) == place
        assert len(one.players) == len(levels)
        assert one == layout(field, place, 3, number) != layout(field, place, 4, number)


def test_a_trial_is_the_same_however_it_is_cut():
    told = {"cheap_from": 15}
    whole = scores(Trial("both", "first", 9, 0, 6, told))
    assert whole == [
        *scores(Trial("both", "first", 9, 0, 1, told)),
        *scores(Trial("both", "first", 9, 1, 6, told)),
    ]
    assert whole != scores(Trial("both", "first", 9, 0, 6, {}))


def test_every_choice_can_be_told():
    for place in PLACES:
        for name, values in choices(place).items():
            assert len(scores(Trial("champions", place, 1, 0, 1, {name: values[0]}))) == 1, name


def test_wrong_names_are_one_line(tmp_path):
    with pytest.raises(InputError, match="no place 'top'"):
        choices("top")
    with pytest.raises(InputError, match="no field 'amateurs'"):
        field_named("amateurs")
    (tmp_path / "x.json").write_text("[]")
    with pytest.raises(InputError, match=r"x\.json is damaged .* should be a numbers\.json"):
        told_of(tmp_path / "x.json", "first")
