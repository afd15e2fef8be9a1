"""A factory changes hands, all else equal; and the changes of HRL-XF that its benchmark makes."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from understudy.games.scml.agent.checkpoint import read_checkpoint
from understudy.games.scml.agent.policy import SHIPPED, HRLPolicy
from understudy.games.scml.batch.learnt.policy import ManyDecisions
from understudy.games.scml.batch.setup import Seat
from understudy.games.scml.batch.worlds import Worlds
from understudy.games.scml.tuning.report import comparison_lines
from understudy.games.scml.tuning.trials import RIVALS, layout, scores_in_hands, worlds_of

BENCHMARKS = Path(__file__).parents[4] / "benchmarks"
POLICY = HRLPolicy(read_checkpoint(SHIPPED).with_thrifty(None))


@pytest.fixture(scope="module")
def layers():
    return runpy.run_path(str(BENCHMARKS / "scml_layers.py"))


def layouts(count=3):
    """The shortest of some worlds."""
    found = [layout("official", None, 5, number) for number in range(40)]
    return sorted(found, key=lambda one: one.days)[:count]


def test_who_was_there_scores_as_before_and_another_does_not():
    drawn = layouts()
    worlds = Worlds(worlds_of(drawn))
    worlds.play()
    mine = [one.mine for one in drawn]
    before = worlds.scores[np.arange(len(drawn)), mine]
    found = scores_in_hands(drawn, [Seat(name) for name in (*RIVALS, "DoNothing")])
    for index, one in enumerate(drawn):
        own = RIVALS.index(one.players[one.mine])
        assert found[own, index] == before[index]
    assert (found[-1] != before).all()


def test_a_factory_lies_where_competitors_are_seated():
    drawn = [layout("official", None, 5, number, ("AS0",)) for number in range(200)]
    assert {one.players[one.mine] for one in drawn} == {"AS0"}
    assert {one.place for one in drawn} == {"first", "middle", "last"}
    assert {layout("official", "last", 5, number).place for number in range(20)} == {"last"}


def test_differences_are_paired_and_by_place():
    scores = {"a": np.array([1.0, 2.0, 3.0, 5.0]), "b": np.array([1.5, 2.5, 2.0, 4.0])}
    found = comparison_lines(scores, "a", ["first", "first", "last", "last"])
    assert found[0] == "| | all, 4 worlds | first, 2 worlds | last, 2 worlds |"
    assert found[2] == "| a | 2.750 | 1.500 | 4.000 |"
    assert found[3].startswith("| b | -0.2500 [")
    assert found[3].endswith("| +0.5000 [+0.5000, +0.5000] | -1.0000 [-1.0000, -1.0000] |")


def test_a_layer_that_is_not_changed_plays_as_shipped(layers):
    never = layers["Changed"](POLICY, layers["Guarded"], 0.0)
    hands = [Seat(None, policy=index) for index in range(2)]
    shipped, guarded = scores_in_hands(layouts(), hands, [ManyDecisions(POLICY), never])
    assert shipped.tolist() == guarded.tolist()


def test_a_guard_that_is_never_sure_plays_as_l1(layers):
    always = layers["Changed"](POLICY, layers["Guarded"], 2.0)
    always._rank = layers["Ordered"](POLICY, "teacher")._rank
    hands = [Seat("L1"), Seat(None), Seat("Steward")]
    l1, guarded, steward = scores_in_hands(layouts(), hands, [always])
    assert l1.tolist() == guarded.tolist() != steward.tolist()


def test_every_change_changes_something(layers):
    learnt = layers["variants"]()
    hands = [Seat(None, policy=index) for index in range(len(learnt))]
    shipped, *changed = scores_in_hands(layouts(3), hands, list(learnt.values())).tolist()
    for name, scores in zip(list(learnt)[1:], changed, strict=True):
        assert scores != shipped, name


def test_scores_are_dealt_out_within_a_decision(layers):
    given, first = np.array([0.5, 0.1, 0.9, 3.0, 4.0]), np.array([0, 3, 5])
    found = layers["_dealt_out"](given, np.array([7.0, 9.0, 8.0, 1.0, 0.0]), first)
    assert found.tolist() == [0.1, 0.9, 0.5, 4.0, 3.0]
