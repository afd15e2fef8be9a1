import json
from dataclasses import replace

import pytest

from tests.learn.toy_samples import TOY
from understudy.data.samples import decisions
from understudy.learn.recipe import Recipe


def test_a_recipe_tells_all_its_settings_but_not_its_description(recipe):
    assert isinstance(recipe, Recipe)
    settings = json.loads(json.dumps(recipe.settings()))
    assert settings["objective"] == {"name": "Cloning", "label_smoothing": 0, "value_weight": 0.1}
    assert settings["decisions"] == "arena.moves version 3"
    assert settings["heads"] == {"move": 3, "fire": 2}
    assert settings["steps"] == 12
    assert replace(recipe, description="other").settings() == recipe.settings()
    assert replace(recipe, warmup=4).settings() != recipe.settings()
    grown = replace(recipe, decisions=decisions("arena", "moves", 3, {"left": ""}, TOY.heads))
    assert grown.settings() != recipe.settings()


@pytest.mark.parametrize(
    "wrong", [{"steps": 0}, {"batch_size": 0}, {"patience": 0}, {"learning_rate": 0.0}]
)
def test_senseless_settings_are_refused(recipe, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        replace(recipe, **wrong)
