"""Clones of champions as company of a learner."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from understudy.data.runs import Run
from understudy.games.scml.agent.checkpoint import read_checkpoint
from understudy.games.scml.agent.policy import CLONES, SHIPPED
from understudy.games.scml.learning.online.fields import Company, block_of, layouts
from understudy.games.scml.learning.online.measure import Candidate, Seats, Taken, take
from understudy.games.scml.learning.online.rollout import Job, Rollout, collect, seated
from understudy.games.scml.recipes import RECIPES
from understudy.learn.recipe import TrainOptions

COMPANY = Company(cloned=0.5, official=0.3, most_days=8)
BLOCK = block_of("train", 7)


def test_they_take_their_share_of_the_rivals_seats_and_no_others() -> None:
    company = replace(COMPANY, past=0.4)
    plain = layouts(Company(official=0.3, most_days=8), BLOCK, 0, 150, 2)
    found = layouts(company, BLOCK, 0, 150, 2)
    assert [one.layout for one in found] == [one.layout for one in plain]  # the same worlds
    numbers = list[int]()
    for one in found:
        assert one.learners[one.layout.mine] == 0
        others = [seat for seat in one.learners if seat != one.layout.mine]
        assert {one.layout.players[seat] for seat in others} <= set(company.rivals)
        numbers += [one.learners[seat] for seat in others]
    rivals = sum(
        name in company.rivals and seat != one.layout.mine
        for one in found
        for seat, name in enumerate(one.layout.players)
    )
    shares = np.bincount(numbers) / rivals
    assert len(shares) == 3 + len(CLONES)
    assert shares[1:3].sum() == pytest.approx(0.4, abs=0.05)
    assert shares[3:].sum() == pytest.approx(0.6 * 0.5, abs=0.05)


def test_an_unknown_clone_and_another_track_are_refused() -> None:
    with pytest.raises(ValueError, match=r"no clones: Nobody; there is HorizonAwareClone"):
        Company(clones=("Nobody",))
    with pytest.raises(ValueError, match="Standard worlds only"):
        Company(cloned=0.1, track="oneshot")


def test_a_learner_may_begin_as_one(tmp_path: Path) -> None:
    for name, path in CLONES.items():
        told = RECIPES["online-clones"].with_options("online-clones", TrainOptions(start=name))
        assert told.inputs(Run(tmp_path)) == {"weights": [path]}
        read_checkpoint(path).needs("l2", "l3", "l4")


def played(first: int, worlds: int, company: Company = COMPANY) -> Rollout:
    start = read_checkpoint(SHIPPED)
    layers = {layer: dict(weights) for layer, weights in start.layers.items()}
    told = {"keep": 1.0, "samples_order": True, "goal_noise": 0.0, "past": (layers,)}
    return collect(Job(layers, start.about, company, BLOCK, first, worlds, **told))  # type: ignore[arg-type]


def test_a_world_with_clones_does_not_depend_on_those_beside_it() -> None:
    together, apart = played(0, 4), [played(0, 1), played(1, 3)]
    assert together.scores.tolist() == [score for one in apart for score in one.scores]
    assert len(together.final) == sum(len(one.final) for one in apart)
    without = played(0, 4, replace(COMPANY, cloned=0.0))
    assert together.scores.tolist() != without.scores.tolist()


def taken(candidate: Candidate, company: Company = COMPANY) -> Taken:
    return take(candidate, Seats(company, BLOCK, 0, 6))


def test_whoever_takes_the_seat_meets_the_same_clones() -> None:
    """A native player needs no policy; the clones around it keep theirs."""
    [clone, path] = next(iter(CLONES.items()))
    as_clone = taken(Candidate.read(clone, path))
    native = taken(Candidate("Steward"))
    assert (native.scores != taken(Candidate("Steward"), replace(COMPANY, cloned=0.0)).scores).any()
    assert (native.scores != as_clone.scores).any()
    planned = layouts(COMPANY, BLOCK, 0, 6, 0)
    assert {int(row["policy"].max()) for row in seated(planned)} == {1}
