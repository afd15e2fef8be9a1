"""What each negotiation of a joint decision is said to have earned."""

import numpy as np
import pytest
import torch

from understudy.games.scml.agent.checkpoint import read_checkpoint
from understudy.games.scml.agent.policy import CLONE
from understudy.games.scml.domain import REJECT
from understudy.games.scml.learning.online.experience import Experience, experience_of
from understudy.games.scml.learning.online.fields import Company, block_of
from understudy.games.scml.learning.online.learner import Learner
from understudy.games.scml.learning.online.player import Layers, Player, chosen_in
from understudy.games.scml.learning.online.rollout import Job, Rollout, collect
from understudy.games.scml.learning.online.settings import LearnerSettings, Rates
from understudy.games.scml.learning.online.worth.credit import Credit

START = read_checkpoint(CLONE)
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def rollout() -> Rollout:
    layers = {layer: dict(weights) for layer, weights in START.layers.items()}
    company = Company(most_days=12)
    return collect(
        Job(layers, START.about, company, block_of("train", 5), 0, 4, 1.0, False, goal_noise=0.0)
    )


@pytest.fixture(scope="module")
def seen(rollout: Rollout) -> Experience:
    return experience_of([rollout.played], CPU)


@pytest.fixture(scope="module")
def player() -> Player:
    return Player(Layers(START.layers, "residual"))


def offers_in(seen: Experience) -> torch.Tensor:
    """[decisions]: how many offers each makes."""
    turns = seen.turns(np.arange(len(seen.kept)))
    offered = (chosen_in(turns)[0] == REJECT).float()
    return torch.zeros(len(seen.kept)).index_add(0, turns.decision[turns.asked], offered)


def taught(player: Player, seen: Experience, came: torch.Tensor) -> Credit:
    """Credit that has learnt from what came of some decisions."""
    credit = Credit(player, 64, 0)
    descent = torch.optim.Adam(credit.parameters(), 3e-3)
    turns = seen.turns(np.arange(len(seen.kept)))
    for _ in range(200):
        loss = Credit.loss(came - credit(turns))
        descent.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        descent.step()
    return credit


def test_a_decision_is_worth_the_sum_of_its_negotiations_and_what_is_there_anyway(
    player: Player, seen: Experience
) -> None:
    credit = Credit(player, 16, 0)
    turns = seen.turns(np.arange(len(seen.kept)))
    each = credit._each(credit._read(turns), chosen_in(turns))
    rest = credit(turns) - torch.zeros(len(seen.kept)).index_add(
        0, turns.decision[turns.asked], each
    )
    alone = credit(turns._replace(asked=turns.asked[:0]))
    assert torch.allclose(rest, alone, atol=1e-6)


def test_what_each_negotiation_earned_is_found_from_sums_alone(
    player: Player, seen: Experience
) -> None:
    """Every offer is worth 1, whoever it is made to; only what came of whole decisions is told."""
    credit = taught(player, seen, offers_in(seen))
    judged = credit.judge(seen, player, player, torch.Generator().manual_seed(0))
    turns = seen.turns(np.arange(len(seen.kept)))
    offered = chosen_in(turns)[0] == REJECT
    sure = player.heads(turns)[0].exp().max(1).values > 0.9
    earned = judged.advantage[turns.row[turns.asked]]
    unsure = ~sure
    assert earned[unsure & offered].mean() > 0.5
    assert earned[unsure & ~offered].mean() < -0.5


def test_where_nothing_was_asked_nothing_was_earned(player: Player, seen: Experience) -> None:
    judged = Credit(player, 16, 0).judge(seen, player, player, torch.Generator().manual_seed(0))
    silent = torch.from_numpy(~seen.was_asked)
    assert (judged.advantage[silent] == 0).all()
    assert (judged.before[silent] == 0).all()
    assert (judged.before <= 0).all()


def test_the_log_probability_of_a_decision_is_the_sum_over_its_negotiations(
    player: Player, seen: Experience
) -> None:
    turns = seen.turns(np.arange(len(seen.kept)))
    found = player.evaluate_actions(turns, ordered=False)
    whole = torch.zeros(len(seen.kept)).index_add(0, turns.decision[turns.asked], found.talks)
    assert torch.allclose(found.offers, whole)
    judged = Credit(player, 16, 0).judge(seen, player, player, torch.Generator().manual_seed(0))
    assert torch.allclose(judged.before[turns.row[turns.asked]], found.talks, atol=1e-5)


def test_what_has_become_unlikely_counts_less(player: Player, seen: Experience) -> None:
    """Judged for another player than the one who drew."""
    credit = Credit(player, 16, 0)
    other = Player(Layers(START.layers, "residual"))
    with torch.no_grad():
        other.l3.response.bias += torch.tensor([2.0, -2.0, 0.0])
    draw = torch.Generator().manual_seed
    one, two = (credit.judge(seen, other, who, draw(0)) for who in (other, player))
    likelier = (
        credit.judge(seen, other, player, draw(0)).before
        - credit.judge(seen, player, player, draw(0)).before
    )
    less = likelier < -1
    assert less.any()
    assert (two.advantage[less].abs() <= one.advantage[less].abs() * 0.5).float().mean() > 0.9


def test_offers_that_pay_get_likelier(rollout: Rollout) -> None:
    """A learner whose credit knows that offers pay makes more of them."""
    settings = LearnerSettings(by_talk=True, epochs=4, batch_size=256, lambda_=0.0)
    learner = Learner(settings, START.layers, "residual", 0, CPU)
    seen = experience_of([rollout.played], CPU)
    learner.credit = taught(learner.player, seen, offers_in(seen))
    turns = seen.turns(np.arange(len(seen.kept)))
    before = learner.player.heads(turns)[0][:, REJECT].exp().mean()
    rates = Rates(learning_rates={"l3": 1e-3})
    learner.learn([rollout], learner.player.layers(), rates, np.random.default_rng(0))
    assert learner.player.heads(turns)[0][:, REJECT].exp().mean() > before + 0.02


def test_it_is_told_how_much_of_what_came_was_foreseen(rollout: Rollout) -> None:
    settings = LearnerSettings(by_talk=True, batch_size=256)
    learner = Learner(settings, START.layers, "residual", 0, CPU)
    rng = np.random.default_rng(0)
    found = learner.learn([rollout], {}, Rates(learning_rates={}), rng)
    assert -1 < found["credit_explains"] < 1


def test_only_ppo_judges_by_negotiation() -> None:
    with pytest.raises(ValueError, match="objective=ppo"):
        LearnerSettings(by_talk=True, objective="vtrace")
