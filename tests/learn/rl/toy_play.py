"""Random sequences of play, and small learners to judge them; all in float64."""

import torch

from understudy.learn.policy import FactoredPolicy, PolicyShape
from understudy.learn.rl.actor_critic import ActorCritic, Critic
from understudy.learn.rl.trajectories import Trajectories

FEATURES, HEADS = ("left", "right", "ammo"), {"move": 3, "turn": 4, "fire": 2}
STEPS, MATCHES = 5, 4


def toy_policy(seed=0, hidden=(6,), scale=3.0):
    """With logits far enough apart to matter."""
    policy = FactoredPolicy(PolicyShape(FEATURES, HEADS, hidden), seed).double()
    policy.standardise(torch.full((3,), 0.1), torch.tensor([1.0, 2.0, 0.5]))
    with torch.no_grad():
        policy.options.weight.normal_(0, scale / 3, generator=torch.Generator().manual_seed(seed))
    return policy


def toy_learner(*, critic=False, teacher=False, seed=0):
    """A critic sees one other player."""
    return ActorCritic(
        toy_policy(seed),
        teacher=toy_policy(seed + 1) if teacher else None,
        critic=Critic(2 * len(FEATURES), (5,), seed).double() if critic else None,
    )


def toy_play(seed=0, *, off=0.5, terminated=0.2):
    """Random choices, whose log-probabilities are those of `toy_policy(seed)`, moved by `off`."""
    rng = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(*shape, generator=rng, dtype=torch.float64)

    legal = torch.rand(STEPS, MATCHES, sum(HEADS.values()), generator=rng) < 0.8
    legal[..., [0, 3, 7]] = True
    observation, uniform = normal(STEPS + 1, MATCHES, 3), torch.rand(20, 3, generator=rng)
    distribution = toy_policy(seed).distribution(
        observation[:-1].flatten(0, 1), legal.flatten(0, 1)
    )
    action = distribution.sample(uniform.double())
    played = distribution.log_prob_by_head(action).detach().view(STEPS, MATCHES, 3)
    over = torch.rand(STEPS, MATCHES, generator=rng) < terminated
    return Trajectories(
        observation=observation,
        others=normal(STEPS + 1, MATCHES, 3),
        first=torch.zeros(STEPS + 1, MATCHES, dtype=torch.bool),
        plan=torch.zeros(STEPS + 1, MATCHES, dtype=torch.int16),
        legal=legal,
        action=action.view(STEPS, MATCHES, 3),
        log_prob=played + off * normal(STEPS, MATCHES, 3),
        reward=normal(STEPS, MATCHES),
        discount=torch.where(over, 0.0, 0.9).double(),
        truncated=torch.zeros(STEPS, MATCHES, dtype=torch.bool),
        counts=torch.ones(STEPS, MATCHES, dtype=torch.bool),
        memory=torch.zeros(MATCHES, 0, dtype=torch.float64),
        teacher_memory=torch.zeros(MATCHES, 0, dtype=torch.float64),
        version=torch.zeros(MATCHES, dtype=torch.long),
    )


def by_hand(policy, play, t, b):
    """One categorical distribution per head, of torch's own make."""
    logits = policy(play.observation[t, b][None]).logits[0]
    logits = torch.where(play.legal[t, b], logits, -torch.inf)
    return [torch.distributions.Categorical(logits=part) for part in logits.split([3, 4, 2])]
