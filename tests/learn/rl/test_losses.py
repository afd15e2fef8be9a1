"""The objectives of reinforcement learning against slow and obvious versions of themselves."""

import math
from dataclasses import replace

import pytest
import torch

from tests.learn.rl.toy_play import (
    HEADS,
    MATCHES,
    STEPS,
    by_hand,
    toy_learner,
    toy_play,
    toy_policy,
)
from understudy.learn.rl.actor_critic import ActorCritic
from understudy.learn.rl.losses.common import OnlineObjective, effective_samples, mean_of
from understudy.learn.rl.losses.ppo import PPO, normalised
from understudy.learn.rl.losses.vtrace import OffPolicy
from understudy.learn.rl.returns import gae, lambda_returns, upgo, vtrace

GROUPS = (("move", "turn"), ("fire",))
NONE = dict.fromkeys(
    ("policy_weight", "upgo_weight", "value_weight", "kl_weight", "entropy_weight"), 0.0
)


def only(name, **settings):
    """An off-policy objective of one part."""
    return OffPolicy(**NONE | {f"{name}_weight": 1.0}, **settings)


def same(one, other):
    torch.testing.assert_close(one, other, rtol=0, atol=1e-10)


def gradient(loss, learner):
    learner.zero_grad()
    loss.backward()
    weights = [*learner.parameters()]
    found = [torch.zeros_like(w) if w.grad is None else w.grad for w in weights]
    return torch.cat([g.flatten() for g in found])


def same_gradient(objective, expected, learner, play):
    """Equal value, and equal gradient: a target that leaks gradient shows here."""
    found = objective(learner, play).value
    same(found, expected)
    same(gradient(found, learner), gradient(expected, learner))


def log_probs(policy, play):
    """[T B H], one distribution at a time."""
    rows = [
        [
            torch.stack([head.log_prob(play.action[t, b, k]) for k, head in enumerate(heads)])
            for b in range(MATCHES)
            for heads in [by_hand(policy, play, t, b)]
        ]
        for t in range(STEPS)
    ]
    return torch.stack([torch.stack(row) for row in rows])


def values(learner, play):
    """What the policy itself foresees, [T+1 B]."""
    return torch.stack([learner.policy(seen).value for seen in play.observation])


def scene(learner, play):
    value = values(learner, play).detach()
    return play.reward, play.discount, value[:-1], value[-1]


# --- V-trace and UPGO ----------------------------------------------------------------------------


def test_the_policy_gradient_weighs_each_group_by_its_own_ratio():
    learner, play = toy_learner(), toy_play()
    now = log_probs(learner.policy, play)
    expected = 0.0
    for heads in ([0, 1], [2]):
        own, played = now[..., heads].sum(2), play.log_prob[..., heads].sum(2)
        traced = vtrace(own.detach() - played, *scene(learner, play), lambda_=0.9, rho_max=1.2)
        expected = expected - (traced.advantage * own).sum() / (STEPS * MATCHES)
    same_gradient(only("policy", groups=GROUPS, lambda_=0.9, rho_max=1.2), expected, learner, play)


def test_without_groups_each_head_is_one():
    learner, play = toy_learner(), toy_play()
    alone = only("policy", groups=(("fire",), ("turn",), ("move",)))
    same(only("policy")(learner, play).value, alone(learner, play).value)
    together = only("policy", groups=(("move", "turn", "fire"),))(learner, play).value
    assert abs(together.item() - alone(learner, play).value.item()) > 1e-3


def test_upgo_weighs_each_group_by_its_own_clipped_ratio():
    learner, play = toy_learner(), toy_play()
    now = log_probs(learner.policy, play)
    reward, discount, value, bootstrap = scene(learner, play)
    gain = upgo(reward, discount, value, bootstrap) - value
    expected = 0.0
    for heads in ([0, 1], [2]):
        own, played = now[..., heads].sum(2), play.log_prob[..., heads].sum(2)
        ratio = (own.detach() - played).exp().clamp(max=1.2)
        expected = expected - (ratio * gain * own).sum() / (STEPS * MATCHES)
    same_gradient(only("upgo", groups=GROUPS, rho_max=1.2), expected, learner, play)


@pytest.mark.parametrize("objective", [only("policy"), only("upgo"), PPO(normalise=False)])
def test_what_went_well_becomes_more_likely(objective):
    learner, play = toy_learner(), toy_play(off=0.0, terminated=1.0)
    play = play._replace(reward=torch.full_like(play.reward, 5.0))
    before = log_probs(learner.policy, play).sum()
    optimizer = torch.optim.SGD([*learner.policy.options.parameters()], 1e-3)
    objective(learner, play).value.backward()
    optimizer.step()
    assert log_probs(learner.policy, play).sum() > before


# --- value, teacher, entropy ---------------------------------------------------------------------


def test_the_value_learns_lambda_returns():
    learner, play = toy_learner(), toy_play()
    target = lambda_returns(*scene(learner, play), lambda_=0.6)
    expected = 0.5 * (values(learner, play)[:-1] - target).square().mean()
    same_gradient(only("value", value_lambda=0.6), expected, learner, play)


def test_a_critic_sees_the_others_and_the_policy_does_not():
    learner, play = toy_learner(critic=True), toy_play()
    other = play._replace(others=play.others + 1)
    one, two = (learner.evaluate_actions(p, ask_teacher=False) for p in (play, other))
    assert (one.value != two.value).all() and (one.bootstrap != two.bootstrap).all()
    same(one.log_prob, two.log_prob)
    same(one.forecast, two.forecast)
    assert not any("critic" in name for name in learner.policy.state_dict())


def test_beside_a_critic_the_policys_own_guess_does_not_move_its_torso():
    learner = toy_learner(critic=True)
    only("value")(learner, toy_play()).value.backward()
    assert all((weight.grad == 0).all() for weight in learner.policy.torso.parameters())
    assert learner.policy.outcome.weight.grad.abs().sum() > 0


def test_a_critic_is_measured_on_the_policys_scale():
    learner, play = toy_learner(critic=True), toy_play()
    mean, std = learner.policy.mean, learner.policy.std
    seen = torch.cat([(play.observation - mean) / std, (play.others - mean) / std], 2)
    found = learner.evaluate_actions(play, ask_teacher=False)
    expected = torch.stack([learner.critic(rows) for rows in seen])
    same(torch.cat([found.value, found.bootstrap[None]]), expected)


@pytest.mark.parametrize("objective", [only("value", value_lambda=0.6), PPO(clip=9.0)])
def test_with_a_critic_both_guesses_learn_the_critics_target(objective):
    learner, play = toy_learner(critic=True), toy_play()
    output = learner.evaluate_actions(play, ask_teacher=False)
    lambda_ = getattr(objective, "value_lambda", objective.lambda_)
    value = output.value.detach()
    target = lambda_returns(play.reward, play.discount, value, output.bootstrap, lambda_=lambda_)
    errors = [(guess - target).square().mean() / 2 for guess in (output.value, output.forecast)]
    same(objective(learner, play).metrics["value"], sum(errors))


def test_the_teacher_holds_by_forward_divergence():
    learner, play = toy_learner(teacher=True), toy_play()
    expected = 0.0
    for t in range(STEPS):
        for b in range(MATCHES):
            for own, theirs in zip(
                by_hand(learner.policy, play, t, b),
                by_hand(learner.teacher, play, t, b),
                strict=True,
            ):
                possible = theirs.probs > 0
                ratio = (theirs.probs[possible] / own.probs[possible]).log()
                expected = expected + (theirs.probs[possible] * ratio).sum()
    same_gradient(only("kl"), expected / (STEPS * MATCHES), learner, play)


def test_a_student_that_is_its_teacher_is_left_alone():
    learner = ActorCritic(toy_policy(), teacher=toy_policy())
    loss = only("kl")(learner, toy_play()).value
    assert loss.item() == pytest.approx(0, abs=1e-12)
    assert gradient(loss, learner).abs().max() < 1e-12


def test_the_teacher_is_frozen():
    learner = toy_learner(teacher=True)
    assert not any(weight.requires_grad for weight in learner.teacher.parameters())
    assert len([*learner.parameters()]) == len([*learner.policy.parameters()])


def test_a_teacher_is_only_asked_for_where_it_matters():
    with pytest.raises(ValueError, match="no teacher to keep near to: set kl_weight to 0"):
        OffPolicy()(toy_learner(), toy_play())
    for objective in (OffPolicy(kl_weight=0.0), PPO()):
        assert "kl" not in objective(toy_learner(), toy_play()).metrics


@pytest.mark.parametrize("objective", [OffPolicy(kl_weight=2.0), PPO(kl_weight=2.0)])
def test_the_teacher_pulls_as_hard_as_its_weight_says(objective):
    learner, play = toy_learner(teacher=True), toy_play()
    without = replace(objective, kl_weight=0.0)(learner, play).value
    loss, metrics = objective(learner, play)
    same(loss - without, 2 * metrics["kl"])
    assert metrics["kl"] > 0


def test_entropy_is_a_share_of_what_is_possible():
    learner, play = toy_learner(), toy_play()
    expected = 0.0
    for t in range(STEPS):
        for b in range(MATCHES):
            for head, size in zip(by_hand(learner.policy, play, t, b), HEADS.values(), strict=True):
                share = -(head.probs * head.probs.clamp(min=1e-300).log()).sum() / math.log(size)
                expected = expected - share / len(HEADS)
    same_gradient(only("entropy"), expected / (STEPS * MATCHES), learner, play)
    policy = toy_policy(scale=0.0)
    everything = torch.ones(2, 9, dtype=torch.bool)
    even = policy.distribution(torch.zeros(2, 3).double(), everything)
    same(policy.layout.as_share(even.entropy_by_head()), torch.ones(2, 3).double())


def test_the_parts_add_up_by_their_weights():
    learner, play = toy_learner(teacher=True, critic=True), toy_play()
    weights = {"policy": 0.7, "upgo": 0.3, "value": 2.0, "kl": 0.11, "entropy": 0.13}
    objective = OffPolicy(**{f"{name}_weight": weight for name, weight in weights.items()})
    loss, metrics = objective(learner, play)
    signs = dict.fromkeys(weights, 1.0) | {"entropy": -1.0}
    same(loss, sum(signs[name] * weights[name] * metrics[name] for name in weights))


@pytest.mark.parametrize("objective", [OffPolicy(kl_weight=0.0), PPO()])
def test_entropy_is_sought_as_much_as_its_weight_says(objective):
    learner, play = toy_learner(), toy_play()
    without = replace(objective, entropy_weight=0.0)(learner, play).value
    loss, metrics = replace(objective, entropy_weight=2.0)(learner, play)
    same(loss - without, -2 * metrics["entropy"])


# --- heads that count per decision ---------------------------------------------------------------


def of_heads(learner, play, what):
    """Of each head, the mean over all steps and over those in which it has a choice, slowly."""
    everywhere = {head: [] for head in HEADS}
    decided = {head: [] for head in HEADS}
    for t in range(STEPS):
        for b in range(MATCHES):
            legal = play.legal[t, b].split([*HEADS.values()])
            own, theirs = by_hand(learner.policy, play, t, b), by_hand(learner.teacher, play, t, b)
            for k, (head, size) in enumerate(HEADS.items()):
                shares, logs = own[k].probs, own[k].probs.clamp(min=1e-300).log()
                value = -(shares * logs).sum() / math.log(size)
                if what == "kl":
                    possible = theirs[k].probs > 0
                    ratio = theirs[k].probs[possible].log() - logs[possible]
                    value = (theirs[k].probs[possible] * ratio).sum()
                everywhere[head].append(value)
                if legal[k].sum() > 1:
                    decided[head].append(value)
    return (
        {head: torch.stack(found).mean() for head, found in each.items()}
        for each in (everywhere, decided)
    )


@pytest.mark.parametrize("loss", [OffPolicy(**NONE), PPO(value_weight=0.0)])
@pytest.mark.parametrize("what", ["entropy", "kl"])
def test_a_head_of_its_own_counts_per_decision(loss, what):
    learner, play = toy_learner(teacher=True), toy_play()
    everywhere, decided = of_heads(learner, play, what)
    assert (play.legal.split([*HEADS.values()], 2)[2].sum(2) > 1).double().mean() < 0.9
    expected = everywhere["move"] + everywhere["turn"] + 7 * decided["fire"]
    scale, sign = (3, -1) if what == "entropy" else (1, 1)
    own = {f"{what}_weight": 2.0, f"{what}_by_head": {"fire": 7.0}}
    with_it, without = (replace(loss, **each)(learner, play).value for each in (own, {}))
    same(with_it - without, sign * 2 * expected / scale)
    same(
        gradient(with_it, learner) - gradient(without, learner),
        gradient(sign * 2 * expected / scale, learner),
    )


def test_where_a_head_never_decides_nothing_is_asked_of_it():
    learner, play = toy_learner(), toy_play()
    play.legal[..., 8] = False
    plain = only("entropy")(learner, play).value
    own = only("entropy", entropy_by_head={"fire": 7.0})(learner, play).value
    same(own, plain)  # a forced choice has no entropy


def test_a_head_that_is_not_there_or_a_negative_factor_is_refused():
    with pytest.raises(ValueError, match="no head 'hat'; there is move, turn, fire"):
        only("entropy", entropy_by_head={"hat": 2.0})(toy_learner(), toy_play())
    for name in ("entropy_by_head", "kl_by_head"):
        with pytest.raises(ValueError, match=f"{name} must not be negative"):
            PPO(**{name: {"move": -1.0}})


# --- PPO -----------------------------------------------------------------------------------------


def test_ppo_is_the_clipped_surrogate():
    learner, play = toy_learner(), toy_play()
    reward, discount, value, bootstrap = scene(learner, play)
    advantage = gae(reward, discount, value, bootstrap, lambda_=0.8)
    target = advantage + value
    advantage = (advantage - advantage.mean()) / advantage.std(correction=0)
    ratio = (log_probs(learner.policy, play) - play.log_prob).sum(2).exp()
    gain = torch.stack([ratio * advantage, ratio.clamp(0.7, 1.3) * advantage]).min(0).values
    error = (values(learner, play)[:-1] - target).square().mean() / 2
    objective = PPO(clip=0.3, lambda_=0.8, value_weight=0.4)
    found, expected = objective(learner, play).value, -gain.mean() + 0.4 * error
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-7)  # for the 1e-8 in the spread
    assert 0.1 < ((ratio - 1).abs() > 0.3).double().mean() < 0.9
    share = ratio.sum().square() / ratio.square().sum() / ratio.numel()
    same(objective(learner, play).metrics["effective_samples"], share.detach())
    assert (gradient(found, learner) - gradient(expected, learner)).abs().max() < 1e-7


def test_the_effective_sample_size_is_a_share_of_what_counts():
    counts = torch.ones(2, 3, dtype=torch.bool)
    even = torch.full((2, 3), 1.7)
    same(effective_samples(even, counts), torch.tensor(1.0))
    lone = torch.tensor([[0.0, -99.0, -99.0], [-99.0, -99.0, -99.0]])
    same(effective_samples(lone, counts), torch.tensor(1 / 6))
    counts[1] = False
    same(
        effective_samples(torch.tensor([[0.0, 0.0, -99.0], [7.0, 8.0, 9.0]]), counts),
        torch.tensor(2 / 3),
    )


def test_before_any_update_ppo_is_the_plain_policy_gradient():
    learner, play = toy_learner(), toy_play(off=0.0)
    advantage = gae(*scene(learner, play), lambda_=0.95)
    plain = -(advantage * log_probs(learner.policy, play).sum(2)).mean()
    found = PPO(normalise=False, value_weight=0.0)(learner, play).value
    same(gradient(found, learner), gradient(plain, learner))


def test_advantages_are_brought_to_mean_0_and_spread_1_over_what_counts():
    counts = torch.tensor([[True, True, False], [True, True, True]])
    advantage = torch.tensor([[1.0, 2.0, 99.0], [3.0, 4.0, 5.0]]).double()
    found = normalised(advantage, counts)[counts]
    assert found.mean().item() == pytest.approx(0, abs=1e-7)
    assert found.std(correction=0).item() == pytest.approx(1)


# --- both ----------------------------------------------------------------------------------------


BOTH = [OffPolicy(kl_weight=0.1), PPO(kl_weight=0.1, entropy_weight=0.1)]


@pytest.mark.parametrize("objective", BOTH)
def test_idle_steps_teach_nothing_but_the_value_they_show(objective):
    learner, play = toy_learner(teacher=True, critic=True), toy_play(terminated=0.0)
    play.truncated[2, 1], play.counts[3, 1] = True, False
    play.reward[3, 1] = play.discount[3, 1] = 0.0
    loss = objective(learner, play).value
    moved = play._replace(log_prob=play.log_prob.clone(), action=play.action.clone())
    moved.log_prob[3, 1] -= 1.0
    moved.action[3, 1] = 0
    same(objective(learner, moved).value, loss)
    shown = play._replace(observation=play.observation.clone())
    shown.observation[3, 1] += 1.0
    assert objective(learner, shown).value != loss


@pytest.mark.parametrize("objective", [only("policy"), only("upgo"), only("value"), PPO()])
def test_a_cut_is_heeded(objective):
    learner, play = toy_learner(), toy_play(terminated=0.0)
    loss = objective(learner, play).value
    play.truncated[1] = True
    assert objective(learner, play).value != loss


@pytest.mark.parametrize("objective", BOTH)
def test_sequences_do_not_know_of_each_other(objective):
    learner, play = toy_learner(teacher=True), toy_play()
    objective = replace(objective, normalise=False) if isinstance(objective, PPO) else objective
    parts = [objective(learner, play.take(torch.tensor([b]))).value for b in range(MATCHES)]
    same(torch.stack(parts).mean(), objective(learner, play).value)


def test_they_are_objectives():
    assert all(isinstance(objective, OnlineObjective) for objective in BOTH)


def test_nothing_counts_for_nothing():
    assert mean_of(torch.ones(2, 2), torch.zeros(2, 2, dtype=torch.bool)).item() == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"lambda_": 1.1},
        {"value_lambda": -0.1},
        {"kl_weight": -1.0},
        {"upgo_weight": -1.0},
        {"rho_max": -1.0},
    ],
)
def test_a_senseless_setting_of_off_policy_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        OffPolicy(**wrong)


@pytest.mark.parametrize("wrong", [{"clip": 0.0}, {"lambda_": 2.0}, {"entropy_weight": -0.1}])
def test_a_senseless_setting_of_ppo_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        PPO(**wrong)


@pytest.mark.parametrize("groups", [(("move",),), (("move", "turn"), ("fire", "move"))])
def test_groups_must_hold_every_head_once(groups):
    with pytest.raises(ValueError, match="each of move, turn, fire once"):
        OffPolicy(groups=groups, kl_weight=0.0)(toy_learner(), toy_play())
