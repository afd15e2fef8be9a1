"""Whom a league begins with where nobody is named."""

from dataclasses import replace

import pytest

from understudy.data import manifests
from understudy.data.runs import Run
from understudy.pipeline.game import load
from understudy.pipeline.players import default_start


@pytest.fixture
def run(tmp_path):
    return Run(tmp_path / "run")


def trained(run, *names):
    for name in names:
        run.model(name).mkdir(parents=True)
        (run.model(name) / "weights.safetensors").touch()


def begins(run, **more):
    return default_start(load("arena"), run, run.league("quick"), **more)


@pytest.mark.parametrize(
    ("there", "wanted"),
    [
        ((), "imitate-small"),  # which is refused with what there is
        (("imitate-small", "imitate"), "imitate-small"),
        (("imitate",), "imitate"),
        (("imitate-quick", "awr", "mine"), "imitate-quick"),
        (("imitate-quick", "imitate"), "imitate"),  # in the game's order
        (("awr", "refine", "mine"), "imitate-small"),  # no clones
    ],
)
def test_the_usual_clone_or_else_one_that_is_there(run, there, wanted):
    trained(run, *there)
    assert begins(run) == wanted


def test_a_model_that_is_not_ready_is_none(run):
    run.model("imitate").mkdir(parents=True)
    trained(run, "imitate-quick")
    assert begins(run) == "imitate-quick"


def test_what_was_begun_goes_on_though_the_usual_clone_comes_later(run):
    trained(run, "imitate")
    manifests.begin(run.league("quick"), "league", {"start": begins(run)})
    trained(run, "imitate-small")
    assert begins(run) == "imitate"
    assert begins(run, resume=False) == "imitate-small"  # --fresh


def test_a_game_without_clones_begins_with_its_first_player(run):
    arena = load("arena")
    assert arena.league is not None
    hooks = replace(arena.league(), start=None)
    trained(run, "imitate")
    game = replace(arena, league=lambda: hooks)
    assert default_start(game, run, run.league("quick")) == next(iter(arena.players))
