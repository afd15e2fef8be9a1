"""Log-probabilities of joint decisions, and gradients."""

from dataclasses import replace
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from understudy.games.scml.agent.checkpoint import read_checkpoint
from understudy.games.scml.agent.policy import CLONE
from understudy.games.scml.batch.learnt import choices as c
from understudy.games.scml.domain import REJECT
from understudy.games.scml.learning.online.experience import Experience, experience_of, joined
from understudy.games.scml.learning.online.fields import Company, block_of, layouts
from understudy.games.scml.learning.online.learner import (
    Learner,
    LearnerSettings,
    Rates,
)
from understudy.games.scml.learning.online.player import Layers, Player, Turns
from understudy.games.scml.learning.online.returns import normalised
from understudy.games.scml.learning.online.rollout import Job, Rollout, collect, grouped
from understudy.games.scml.view import features as f
from understudy.games.scml.view import inputs

START = read_checkpoint(CLONE)
CPU = torch.device("cpu")


def job(worlds: int = 3, first: int = 0, **more: object) -> Job:
    told = {"keep": 1.0, "samples_order": True, "goal_noise": 0.1} | more
    layers = {layer: dict(weights) for layer, weights in START.layers.items()}
    company = Company(most_days=12)
    return Job(layers, START.about, company, block_of("train", 3), first, worlds, **told)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def rollout() -> Rollout:
    return collect(job())


@pytest.fixture(scope="module")
def player() -> Player:
    return Player(Layers(START.layers, "residual")).double()


def doubled(turns: Turns) -> Turns:
    return Turns(*(part.double() if part.is_floating_point() else part for part in turns))


@pytest.fixture(scope="module")
def seen(rollout: Rollout) -> Experience:
    return experience_of([rollout.played], CPU)


def test_without_memory_what_is_known_of_partners_moves_no_weight(rollout: Rollout) -> None:
    known = {f"thread.{name}" for name in f.MEMORY}
    rates = Rates(learning_rates={"l3": 1e-3, "l4": 1e-3})
    for memory in (True, False):
        settings = LearnerSettings(epochs=1, critic_epochs=0, batch_size=64, memory=memory)
        learner = Learner(settings, START.layers, "residual", 0, CPU)
        learner.learn([rollout], learner.player.layers(), rates, np.random.default_rng(0))
        for layer, name in (("l3", "torso.0.weight"), ("l4", "each.0.weight")):
            moved = learner.player.layers()[layer][name] != START.layers[layer][name]
            read = inputs.READ[layer]
            remembers = [feature in known for feature in read]
            assert moved[:, : len(read)][:, remembers].any() == memory
            assert moved[:, : len(read)][:, np.logical_not(remembers)].any()


def test_layers_that_were_kept_do_not_learn_on() -> None:
    """An earlier self among the rivals stays what it was, and so does who played."""
    learns = Player(Layers(START.layers, "residual"))
    kept = learns.layers()
    with torch.no_grad():
        for weight in learns.parameters():
            weight += 1.0
    for layer, weights in kept.items():
        for name, values in weights.items():
            np.testing.assert_array_equal(values, START.layers[layer][name])


def test_orders_of_a_decision_are_a_distribution(player: Player, seen: Experience) -> None:
    counts = np.diff(seen.first)
    some = np.flatnonzero(counts == 3)[:1]
    turns, total = doubled(seen.turns(some)), 0.0
    for order in permutations(range(3)):
        rows = torch.tensor(order)
        moved = turns._replace(**{n: getattr(turns, n)[rows] for n in ("thread", "turn", "view")})
        total += player.evaluate_actions(moved).order.exp().item()
    assert total == pytest.approx(1.0)


def test_choices_of_a_turn_are_a_distribution(player: Player, seen: Experience) -> None:
    """All responses, and for an offer all days, units and prices, as L1 lets them be drawn."""
    turns = doubled(seen.turns(np.arange(40)))
    heads = player.evaluate_actions(turns).heads
    for head in heads:
        assert torch.allclose(head.exp().sum(1), torch.ones(len(head)).double())
    legal = turns.legal[turns.asked]
    assert (heads[0].exp()[~legal] == 0).all()


def test_what_was_drawn_was_legal_and_likely(player: Player, rollout: Rollout) -> None:
    whole = experience_of([rollout.played], CPU)
    evaluated = player.evaluate_actions(doubled(whole.turns(np.arange(len(whole.kept)))))
    assert (evaluated.offers > -60).all()
    assert (evaluated.order > -60).all()
    turns = doubled(whole.turns(np.arange(len(whole.kept))))
    drawn = turns.drawn[turns.asked]
    offers = drawn[:, c.DRAWN_RESPONSE] == REJECT
    assert abs(surprise(evaluated.heads[1][offers], drawn[offers, c.DRAWN_DAY])) < 3


def surprise(head: torch.Tensor, chosen: torch.Tensor) -> float:
    """The mean log-probability of what is drawn is minus the entropy: standard errors off it."""
    drawn = head.gather(1, chosen[:, None])[:, 0]
    expected = (head.exp() * head.clamp(min=-99)).sum(1)
    spread = (head.exp() * (head.clamp(min=-99) - expected[:, None]).square()).sum().sqrt()
    return float(((drawn - expected).sum() / spread).detach())


def test_responses_are_as_likely_as_they_were_drawn() -> None:
    whole = experience_of([collect(job(response_temperature=3.0)).played], CPU)
    turns = doubled(whole.turns(np.arange(len(whole.kept))))
    chosen = turns.drawn[turns.asked, c.DRAWN_RESPONSE]
    off = {
        temperature: surprise(
            Player(Layers(START.layers, "residual", temperature)).double()._heads(turns)[0], chosen
        )
        for temperature in (3.0, 1.0)
    }
    assert abs(off[3.0]) < 3 < -off[1.0]  # by the other one hardly any of it is likely


def test_a_learner_reads_responses_by_its_temperature() -> None:
    """What it has just played is as likely before it learns: all ratios are 1."""
    rollout = collect(job(response_temperature=0.3))
    settings = LearnerSettings(epochs=1, critic_epochs=0, response_temperature=0.3)
    learner = Learner(settings, START.layers, "residual", 0, CPU)
    assert {one.response_temperature for one in (learner.player, learner._start)} == {0.3}
    rates = Rates(learning_rates={"l3": 1e-9}, kl_weight=1.0)
    found = learner.learn([rollout], learner.player.layers(), rates, np.random.default_rng(0))
    assert found["moved"] == pytest.approx(0, abs=1e-5)
    assert found["kl"] == pytest.approx(0, abs=1e-5)


def test_ratios_begin_at_1_however_long_ago_it_was_played(rollout: Rollout) -> None:
    """Held near who played, a learner that has moved on would be dragged back by luck alone."""
    settings = LearnerSettings(epochs=1, critic_epochs=0, batch_size=10**6)
    learner = Learner(settings, START.layers, "residual", 0, CPU)
    acted, rates = learner.player.layers(), Rates(learning_rates={"l3": 1e-9})
    with torch.no_grad():
        learner.player.l3.response.bias += torch.tensor([1.0, 0.0, -1.0])
    found = learner.learn([rollout], acted, rates, np.random.default_rng(0))
    assert found["moved"] == found["clipped"] == 0
    seen = experience_of([rollout.played], CPU)
    now, weight = learner._beginning(learner._played_by(acted), seen, False)
    drawn = learner._log_probs(learner._played_by(acted), seen, False)
    assert torch.equal(weight, (now - drawn).sum(1).exp().clamp(max=1))
    assert 0 < weight.min() < 0.9


def test_a_world_is_the_same_whatever_is_played_beside_it(rollout: Rollout) -> None:
    alone = collect(job(1, first=1)).played
    beside = rollout.played
    rows = beside.world == 1
    np.testing.assert_array_equal(alone.day, beside.day[rows])
    np.testing.assert_array_equal(alone.booked, beside.booked[rows])
    np.testing.assert_array_equal(alone.central, beside.central[rows])


def test_what_is_not_learnt_from_changes_nothing_of_play(rollout: Rollout) -> None:
    fewer = collect(job(keep=0.3))
    np.testing.assert_array_equal(fewer.scores, rollout.scores)
    assert 0.2 < fewer.played.kept.mean() < 0.4
    assert set(fewer.played.decision) == set(np.flatnonzero(fewer.played.kept))


def test_decisions_are_told_apart_by_the_field_of_their_world(rollout: Rollout) -> None:
    planned = layouts(job().company, job().block, 0, 3, 0)
    fields = ("official", "champions", "official")
    told = [replace(one, field=field) for one, field in zip(planned, fields, strict=True)]  # type: ignore[arg-type]
    played = grouped(rollout.played, told)
    np.testing.assert_array_equal(played.group >= 3, played.world == 1)
    np.testing.assert_array_equal(played.group % 3, played.level)


def test_advantages_have_the_same_spread_in_each_group() -> None:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 6, 600)
    advantage = rng.normal(group, 0.1 + group)
    found = normalised(advantage, group)
    for number in range(6):
        assert found[group == number].mean() == pytest.approx(0, abs=1e-9)
        assert found[group == number].std() == pytest.approx(1, abs=1e-6)
    # In one group with another the quiet one is drowned.
    assert normalised(advantage, group % 3)[group == 0].std() < 0.5


def test_rollouts_are_joined_with_their_own_worlds(rollout: Rollout) -> None:
    both, played = joined([rollout, rollout]), rollout.played
    count, kept = len(played.world), int(played.kept.sum())
    assert both.world[count] == played.world[0] + 3
    assert len(both.final) == 2 * count
    # Seen as one, each decision has the same negotiations as alone.
    alone, twice = experience_of([played], CPU), experience_of([played, played], CPU)
    assert list(twice.kept) == [*alone.kept, *(alone.kept + count)]
    one, other = alone.turns(np.arange(kept)), twice.turns(np.arange(kept, 2 * kept))
    assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("objective", ["ppo", "vtrace"])
def test_gradients_are_those_of_finite_differences(objective: str, seen: Experience) -> None:
    settings = LearnerSettings(objective=objective)  # type: ignore[arg-type]
    learner = Learner(settings, START.layers, "residual", 0, CPU)
    learner.player.double()
    turns = doubled(seen.turns(np.arange(30)))
    advantage = torch.linspace(-1, 1, 30).double()
    weight = learner.player.l3.response.weight
    evaluated = learner.player.evaluate_actions(turns)
    before = (evaluated.offers + evaluated.order).detach() - torch.linspace(-0.1, 0.1, 30)
    kept = (evaluated.offers + evaluated.order - before).exp().clamp(max=1.0).detach()

    def loss() -> torch.Tensor:
        found = learner.player.evaluate_actions(turns)
        log_ratio = found.offers + found.order - before
        if objective == "vtrace":  # its weights are constants to the gradient
            return -(kept * advantage * log_ratio).mean()
        return learner._surrogate(log_ratio, advantage)[0]

    (gradient,) = torch.autograd.grad(loss(), weight)
    at = tuple(divmod(int(gradient.abs().argmax()), weight.shape[1]))
    step = 1e-6
    with torch.no_grad():
        weight[at] += step
        above = loss().item()
        weight[at] -= 2 * step
        below = loss().item()
        weight[at] += step
    assert gradient[at].item() == pytest.approx((above - below) / (2 * step), rel=1e-4)


def test_it_finds_the_best_play_of_a_toy() -> None:
    """One negotiation, three responses; to end is worth 1, all else nothing: it learns to end."""
    settings = LearnerSettings(epochs=2, critic_epochs=1, batch_size=64, central=False)
    learner = Learner(settings, START.layers, "residual", 0, CPU)
    rates = Rates(learning_rates={"l3": 1e-3})
    base = collect(job(1, samples_order=False, goal_noise=0.0)).played
    rng = np.random.default_rng(0)
    rows = np.flatnonzero(base.was_asked & base.legal.all(1))[:1].repeat(256)
    for _ in range(40):
        played = _toy(base, rows, learner.player, rng)
        score = (played.drawn[:, c.DRAWN_RESPONSE] == 2).astype(float)
        what = SimpleNamespace(played=played, final=score, scores=score)
        learner.learn([what], learner.player.layers(), rates, rng)  # type: ignore[list-item]
    turns = experience_of([_toy(base, rows, learner.player, rng)], CPU).turns(np.arange(1))
    assert learner.player.evaluate_actions(turns).heads[0].exp()[0, 2] > 0.95


def _toy(base, rows, player, rng):  # type: ignore[no-untyped-def]
    """So many worlds of one decision about one negotiation, drawn as the player thinks."""
    count = np.arange(len(rows))
    decision = base.decision[rows]
    toy = replace(
        base,
        world=count,
        factory=0 * count,
        day=0 * count,
        level=0 * count,
        group=0 * count,
        booked=0.0 * count,
        money=0.0 * count,
        state=base.state[decision],
        central=base.central[decision],
        kept=np.ones(len(rows), np.bool_),
        decision=count,
        **{n: getattr(base, n)[rows] for n in ("thread", "turn", "view", "left", "legal")},
        drawn=base.drawn[rows].copy(),
        was_asked=base.was_asked[rows],
        day_decision=base.day_decision[:0],
        day_start=base.day_start[:0],
        goals=base.goals[:0],
    )
    with torch.no_grad():
        chance = (
            player.evaluate_actions(experience_of([toy], CPU).turns(np.arange(1))).heads[0].exp()[0]
        )
    toy.drawn[:, c.DRAWN_RESPONSE] = rng.choice(3, len(rows), p=(chance / chance.sum()).numpy())
    return toy
