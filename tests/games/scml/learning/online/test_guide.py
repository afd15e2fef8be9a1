"""What a guide decides, written down for one who learns."""

from dataclasses import fields, replace

import numpy as np
import pytest
import torch

from understudy.games.scml.agent.checkpoint import read_checkpoint
from understudy.games.scml.agent.policy import SHIPPED, HRLPolicy
from understudy.games.scml.batch.learnt.policy import ManyDecisions, play
from understudy.games.scml.batch.worlds import Worlds
from understudy.games.scml.learning.online.experience import experience_of
from understudy.games.scml.learning.online.fields import Company, block_of, layouts
from understudy.games.scml.learning.online.learner import Learner, LearnerSettings, Rates
from understudy.games.scml.learning.online.rollout import Guide, Job, Rollout, collect, seated
from understudy.games.scml.learning.online.rollout_buffer import GuideBuffer, Played, RolloutBuffer

START = read_checkpoint(SHIPPED).with_thrifty(None)
CPU = torch.device("cpu")
LAYERS = {layer: dict(weights) for layer, weights in START.layers.items()}


@pytest.fixture(scope="module")
def rollout() -> Rollout:
    guide = Guide(name="HorizonAwareClone", worlds=3)
    block, company = block_of("train", 3), Company(most_days=10)
    return collect(Job(LAYERS, START.about, company, block, 0, 2, 1.0, False, 0.0, guide=guide))


def test_who_is_guided_by_itself_sees_what_it_sees_anyway() -> None:
    """The same worlds, once played by the learner and once with itself as the guide."""
    policy = HRLPolicy(START)
    planned = layouts(Company(most_days=10, official=0.0), block_of("train", 3), 0, 2, 0)
    pages = []
    for buffer in (
        RolloutBuffer(policy, keep=1.0, samples_order=False),
        GuideBuffer(policy, policy, 2),
    ):
        play(Worlds(seated(planned)), [ManyDecisions(policy, explorer=buffer)])
        pages.append(buffer.played())
    for one in fields(Played):
        np.testing.assert_array_equal(*(getattr(page, one.name) for page in pages), one.name)


def test_a_guide_plays_at_its_places_in_worlds_of_its_own(rollout: Rollout) -> None:
    found = rollout.guided
    assert found is not None
    assert (found.level == 0).all()
    assert len(np.unique(found.world)) == 3
    assert found.view.shape[1] == rollout.played.view.shape[1]


def test_what_is_imitated_gets_likelier(rollout: Rollout) -> None:
    settings = LearnerSettings(epochs=3, critic_epochs=1, batch_size=64)
    learner = Learner(settings, START.layers, "residual", 0, CPU)
    guided = learner._guided([rollout])

    def likely() -> float:
        turns = guided.turns(np.arange(len(guided.kept)))
        with torch.no_grad():
            return float(learner.player.evaluate_actions(turns, ordered=False).offers.mean())

    before, rng = likely(), np.random.default_rng(0)
    rates = Rates(learning_rates={"l3": 3e-4})
    learner.learn([rollout], learner.player.layers(), replace(rates, guide_weight=1.0), rng)
    assert likely() > before + 0.05


def test_who_only_imitates_does_not_mind_how_it_went(rollout: Rollout) -> None:
    rates = Rates(learning_rates={"l3": 3e-4}, kl_weight=1.0, guide_weight=1.0, policy_weight=0.0)

    def learnt(final: float) -> np.ndarray:
        settings = LearnerSettings(epochs=1, critic_epochs=0, batch_size=64)
        learner = Learner(settings, START.layers, "residual", 0, CPU)
        went = rollout._replace(final=rollout.final * final)
        learner.learn([went], learner.player.layers(), rates, np.random.default_rng(0))
        return learner.player.layers()["l3"]["torso.0.weight"]

    one, other = learnt(1.0), learnt(-5.0)
    np.testing.assert_array_equal(one, other)
    assert not np.array_equal(one, START.layers["l3"]["torso.0.weight"])


def test_it_stays_what_it_was_but_where_the_guide_leads(rollout: Rollout) -> None:
    learner = Learner(LearnerSettings(), START.layers, "residual", 0, CPU)
    with torch.no_grad():
        learner.player.l3.response.bias += torch.tensor([1.0, 0.0, 0.0])
    seen = experience_of([rollout.played], CPU)
    turns = seen.turns(np.arange(len(seen.kept)))
    evaluated = learner.player.evaluate_actions(turns, ordered=False)
    free = torch.zeros(len(turns.asked), dtype=torch.bool)
    assert learner._kl(evaluated, turns, free, 1) > 0
    assert learner._kl(evaluated, turns, ~free, 1) == 0
