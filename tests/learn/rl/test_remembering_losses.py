"""The gradient of a loss through memory and plans, against finite differences and slow loops.

All in float64, on sequences in whose middle matches begin, from a memory that is not nothing.
"""

from dataclasses import replace

import pytest
import torch

from tests.learn.rl.toy_play import FEATURES, HEADS, MATCHES, STEPS, toy_play
from understudy.learn.policy import FactoredPolicy, PolicyShape
from understudy.learn.rl.actor_critic import ActorCritic
from understudy.learn.rl.losses.ppo import PPO
from understudy.learn.rl.losses.vtrace import OffPolicy
from understudy.learn.rl.returns import gae, lambda_returns, upgo, vtrace

SHAPE = PolicyShape(FEATURES, HEADS, (6,), memory=3, plans=2, plan_width=2)
V_TRACE = OffPolicy(
    groups=(("move", "turn"), ("fire",)), rho_max=1.2, c_max=0.8, kl_weight=0.3, entropy_weight=0.2
)
PROXIMAL = PPO(clip=0.3, normalise=False, kl_weight=0.3, entropy_weight=0.2)
objectives = pytest.mark.parametrize("objective", [V_TRACE, PROXIMAL], ids=["v-trace", "ppo"])


def policy_of(seed):
    policy, chance = FactoredPolicy(SHAPE, seed).double(), torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in policy.parameters():
            weight.normal_(0.0, 0.6, generator=chance)
    return policy


def scene():
    """A learner with a teacher, and play in which one match was cut short."""
    chance = torch.Generator().manual_seed(5)

    def memory():
        return torch.randn(MATCHES, 3, generator=chance, dtype=torch.float64)

    play, first = toy_play(), torch.zeros(STEPS + 1, MATCHES, dtype=torch.bool)
    first[1:] = play.discount == 0
    truncated, counts = play.truncated.clone(), play.counts.clone()
    truncated[1, 0], counts[2, 0] = True, False
    discount = play.discount.clone()
    discount[1, 0], discount[2, 0], first[3, 0] = 0.9, 0.0, True
    plan = torch.randint(2, (STEPS + 1, MATCHES), generator=chance).to(torch.int16)
    told = {"first": first, "truncated": truncated, "counts": counts, "discount": discount}
    play = play._replace(**told, plan=plan, memory=memory(), teacher_memory=memory())
    assert first[:-1].any() and not first[:-1].all(0).any()
    return ActorCritic(policy_of(0), teacher=policy_of(1)), play


def remembered(policy, play, memory):
    """What the policy makes of each state, [T + 1, B], one by one with torch's own unit."""
    cell = torch.nn.GRUCell(6, 3).double()
    own = {"ih": policy.core.seen, "hh": policy.core.kept}
    weights = {f"weight_{k}": x.weight for k, x in own.items()}
    weights |= {f"bias_{k}": x.bias for k, x in own.items()}
    states = []
    for b in range(play.size):
        before = memory[b : b + 1]
        for t in range(play.steps + 1):
            if play.first[t, b]:
                before = torch.zeros(1, 3, dtype=torch.float64)
            plan = torch.eye(2, dtype=torch.float64)[int(play.plan[t, b])]
            seen = torch.cat([play.observation[t, b], plan])[None]
            hidden = policy.torso((seen - policy.mean) / policy.std)
            before = torch.func.functional_call(cell, weights, (hidden, before))
            states.append(hidden + policy.recalled(before))
    return torch.stack(states).view(play.size, play.steps + 1, -1).transpose(0, 1)


def heads_of(policy, states, play):
    """One distribution of torch's own per head, [T B ...]."""
    logits = policy.options(states[:-1])
    logits = torch.where(play.legal, logits, -torch.inf)
    return [torch.distributions.Categorical(logits=x) for x in logits.split([3, 4, 2], -1)]


def average(values, play):
    return (values * play.counts).sum() / play.counts.sum()


def by_hand(objective, learner, play):
    """The loss, put together from states that were reached one by one."""
    states = remembered(learner.policy, play, play.memory)
    heads = heads_of(learner.policy, states, play)
    advised = heads_of(
        learner.teacher, remembered(learner.teacher, play, play.teacher_memory), play
    )
    log_prob = torch.stack([h.log_prob(play.action[..., k]) for k, h in enumerate(heads)], 2)
    largest = torch.tensor([3.0, 4.0, 2.0], dtype=torch.float64).log()
    entropy = sum(h.entropy() / most for h, most in zip(heads, largest, strict=True)) / 3
    kl = sum(
        torch.where(t.probs > 0, t.probs * (t.logits - h.logits), 0.0).sum(-1)
        for t, h in zip(advised, heads, strict=True)
    )
    values = learner.policy.outcome(states)[..., 0]
    part = loss_of_ppo if isinstance(objective, PPO) else loss_of_vtrace
    loss = part(objective, play, log_prob, values)
    loss = loss - objective.entropy_weight * average(entropy, play)
    return loss + objective.kl_weight * average(kl, play)


def loss_of_vtrace(objective, play, log_prob, values):
    value, bootstrap = values[:-1], values[-1].detach()
    scene = (play.reward, play.discount, value.detach(), bootstrap)
    upgoing = upgo(*scene, truncated=play.truncated) - value.detach()
    target = lambda_returns(*scene, lambda_=objective.value_lambda, truncated=play.truncated)
    loss = objective.value_weight * average(0.5 * (value - target).square(), play)
    for members in ([0, 1], [2]):
        together = log_prob[..., members].sum(2)
        log_ratio = together.detach() - play.log_prob[..., members].sum(2)
        advantage = vtrace(
            log_ratio, *scene, rho_max=1.2, c_max=0.8, truncated=play.truncated
        ).advantage
        advantage = advantage + log_ratio.exp().clamp(max=1.2) * upgoing
        loss = loss - average(advantage * together, play)
    return loss


def loss_of_ppo(objective, play, log_prob, values):
    value, bootstrap = values[:-1], values[-1].detach()
    scene = (play.reward, play.discount, value.detach(), bootstrap)
    advantage = gae(*scene, lambda_=objective.lambda_, truncated=play.truncated)
    ratio = (log_prob - play.log_prob).sum(2).exp()
    surrogate = torch.minimum(ratio * advantage, ratio.clamp(0.7, 1.3) * advantage)
    error = 0.5 * (value - advantage - value.detach()).square()
    return objective.value_weight * average(error, play) - average(surrogate, play)


@objectives
def test_loss_and_gradient_are_those_of_states_reached_one_by_one(objective):
    learner, play = scene()
    found, expected = objective(learner, play).value, by_hand(objective, learner, play)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)
    weights = dict(learner.policy.named_parameters())
    both = (torch.autograd.grad(loss, weights.values()) for loss in (found, expected))
    for name, one, other in zip(weights, *both, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-11, msg=name)
        assert (one != 0).any(), name


def test_the_gradient_is_what_finite_differences_find():
    """Of what has no target in it: a proximal surrogate whose advantages do not hang on values."""
    objective = replace(PROXIMAL, value_weight=0.0, lambda_=1.0)
    learner, play = scene()
    over = play.discount.clone()
    over[-1] = 0.0  # nothing leans on a bootstrap
    play = play._replace(discount=over, truncated=play.truncated & False)
    with torch.no_grad():
        learner.policy.outcome.weight.zero_()  # nor on a value
        learner.policy.outcome.bias.zero_()
    named = learner.policy.named_parameters()
    weights = [weight for name, weight in named if not name.startswith("outcome")]
    gradients = torch.autograd.grad(objective(learner, play).value, weights)
    chance = torch.Generator().manual_seed(3)
    for weight, gradient in zip(weights, gradients, strict=True):
        way = torch.randn(weight.shape, generator=chance, dtype=torch.float64)
        ends = []
        for step in (1e-6, -1e-6):
            with torch.no_grad():
                weight += step * way
                ends.append(objective(learner, play).value.item())
                weight -= step * way
        slope = (ends[0] - ends[1]) / 2e-6
        assert slope == pytest.approx((gradient * way).sum().item(), rel=1e-5, abs=1e-7)


@objectives
def test_stored_memory_beginnings_and_plans_all_matter(objective):
    """Else a loss that ignored one of them would pass for right."""
    learner, play = scene()
    value = objective(learner, play).value
    for change in (
        {"memory": 0 * play.memory},
        {"teacher_memory": 0 * play.teacher_memory},
        {"first": play.first & False},
        {"plan": 1 - play.plan},
    ):
        changed = objective(learner, play._replace(**change)).value
        assert (changed - value).abs() > 1e-4, change
