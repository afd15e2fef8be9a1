"""The ways we train for SCML. `docs/log.md` says what came of each."""

from dataclasses import replace
from typing import Final

from understudy.games.scml.learning.dagger import DaggerRecipe
from understudy.games.scml.learning.hrl import WholeRecipe
from understudy.games.scml.learning.l2 import GoalRecipe
from understudy.games.scml.learning.l3 import OfferRecipe
from understudy.games.scml.learning.l4 import PriorityRecipe
from understudy.games.scml.learning.online.fields import Company
from understudy.games.scml.learning.online.learner import LearnerSettings, Rates
from understudy.games.scml.learning.online.recipe import OnlineRecipe
from understudy.games.scml.learning.online.rollout import Guide
from understudy.games.scml.learning.online.train import OnlineSettings, Stage
from understudy.learn.recipe import Recipe

l2 = GoalRecipe(
    description="L2: the day's goals, from what came of the day",
    steps=2_000,
    batch_size=1_024,
    evaluate_every=250,
)
l3 = OfferRecipe(
    description="L3 by cloning: residuals on L1's baseline (scheme E)",
    steps=4_000,
    batch_size=4_096,
    evaluate_every=500,
    checkpoint_every=500,
    window_rows=3_000_000,
)
l3_awr = replace(
    l3,
    description="L3 on from `l3`: decisions count by how much better they went than expected",
    kind="awr",
    start="l3",
    steps=500,
    learning_rate=3e-4,
)
l4 = PriorityRecipe(
    description="L4: a set network distilled from the heuristic teacher",
    steps=1_000,
    batch_size=1_024,
    evaluate_every=250,
)


def imitating(learning_rate: float) -> Rates:
    """L3 becomes what the guide does where that leads, and stays what it was elsewhere."""
    return Rates(
        learning_rates={"l3": learning_rate}, kl_weight=1.0, guide_weight=1.0, policy_weight=0.0
    )


online = OnlineRecipe(
    description="HRL-XF goes on learning by play: L4, then L3, then L2 and all with small steps",
    online=OnlineSettings(
        stages=(
            Stage(name="l4", iterations=10, rates=Rates(learning_rates={"l4": 3e-4})),
            Stage(
                name="l3", iterations=200, rates=Rates(learning_rates={"l3": 3e-4}, kl_weight=2e-3)
            ),
            Stage(
                name="all",
                iterations=40,
                rates=Rates(
                    learning_rates={"l2": 1e-5, "l3": 1e-4, "l4": 1e-4},
                    kl_weight=2e-3,
                    goal_noise=0.1,
                ),
            ),
        ),
        learner=LearnerSettings(entropy_weight=3e-3, batch_size=16_384),
        company=Company(past=0.1, conserved=0.1),
        worlds=1_536,
        rollouts=16,
        keep=1.0,
        critic_first=2,
        snapshot_every=20,
        most_past=5,
        choosing=3_072,
    ),
)

RECIPES: Final[dict[str, Recipe]] = {
    "hrl-xf": WholeRecipe(
        description="all of it: L2, its goals into the samples, L3, L4", l2=l2, l3=l3, l4=l4
    ),
    "l2": l2,
    "l2-intent": replace(
        l2,
        description="L2: the day's goals, from the first offer in each negotiation",
        goals="intent",
    ),
    "l3": l3,
    "l3-direct": replace(
        l3, description="L3 by cloning: offers as they are (scheme F)", scheme="direct"
    ),
    "l3-awr": l3_awr,
    "l4": l4,
    "hrl-xf-quick": WholeRecipe(
        description="the same in minutes, for demos and first looks",
        l2=replace(l2, steps=500),
        l3=replace(l3, steps=600, batch_size=1_024, hidden=(128, 128), evaluate_every=200),
        l4=replace(l4, steps=300, batch_size=256, evaluate_every=100),
    ),
    "hrl-xf-clone": WholeRecipe(
        description="a champion from its recordings, small enough to play as company in training",
        l2=replace(l2, steps=1_000),
        l3=replace(l3, steps=6_000, batch_size=1_024, hidden=(192, 192), evaluate_every=1_000),
        l4=replace(l4, steps=300, batch_size=256, evaluate_every=100),
    ),
    "hrl-xf-oneshot": WholeRecipe(
        description="all of it for OneShot, whose days are short: smaller, as the shipped weights",
        l2=replace(l2, steps=500),
        l3=replace(l3, steps=2_000, batch_size=1_024, hidden=(128, 128), evaluate_every=400),
        l4=replace(l4, steps=300, batch_size=256, evaluate_every=100),
    ),
    "online": online,
    "online-on": replace(
        online,
        description="on from the shipped weights: L3 alone, ever smaller steps, and their mean",
        start="shipped",
        online=replace(
            online.online,
            stages=(
                Stage(
                    name="l3",
                    iterations=60,
                    rates=Rates(learning_rates={"l3": 9e-4}, kl_weight=1e-3, rate_end=0.1),
                ),
            ),
            learner=replace(online.online.learner, epochs=2, response_temperature=0.25),
            company=Company(official=0.6, past=0.1, cloned=0.1, conserved=0.1),
            worlds=384,
            rollouts=1,  # few worlds at once take twice as long each
            critic_first=6,
            snapshot_every=50,
            averaging=0.9,
        ),
    ),
    "online-clones": replace(
        online,
        description="the same, a quarter of the rivals played by clones of champions of 2026",
        online=replace(online.online, company=replace(online.online.company, cloned=0.25)),
    ),
    "online-vtrace": replace(
        online,
        description="the same by V-trace",
        online=replace(online.online, learner=replace(online.online.learner, objective="vtrace")),
    ),
    "online-quick": replace(
        online,
        description="the same in minutes, for demos and first looks",
        online=replace(
            online.online.lasting(8),
            worlds=96,
            rollouts=2,
            keep=0.5,
            critic_first=1,
            choosing=192,
            learner=replace(online.online.learner, batch_size=2_048, epochs=2),
        ),
    ),
    "online-guided": replace(
        online,
        description="on from the shipped weights: a champion's clone is imitated where it is ahead",
        start="shipped",
        online=replace(
            online.online,
            stages=(
                Stage(name="imitate", iterations=13, rates=imitating(6e-4)),
                Stage(name="settle", iterations=6, rates=imitating(1.5e-4)),
            ),
            learner=LearnerSettings(batch_size=4_096, epochs=2),
            company=Company(
                cloned=0.3, conserved=0.05, places=("first", "middle", "first", "last")
            ),
            guide=Guide(name="HorizonAwareClone", worlds=40),
            worlds=128,
            rollouts=4,
            critic_first=0,
            thrifty=False,  # what it imitates is played there
        ),
    ),
    "online-oneshot": OnlineRecipe(
        description="OneShot's weights go on learning by play, in OneShot worlds",
        start="clone-oneshot",
        online=replace(
            online.online,
            company=Company(
                rivals=("AlmostEqual", "EqualDist", "Greedy"),
                places=("first", "last"),
                past=0.3,
                track="oneshot",
            ),
            worlds=256,
            rollouts=2,
            learner=replace(online.online.learner, batch_size=2_048, epochs=2),
        ),
    ),
    "dagger": DaggerRecipe(
        description="L3 on from `l3`: it plays, and learns what the expert would have done",
        l3=replace(l3, steps=1_000, learning_rate=5e-4),
    ),
    "dagger-oneshot": DaggerRecipe(
        description="the same for OneShot, on from `hrl-xf-oneshot`",
        l3=replace(l3, steps=1_000, batch_size=1_024, hidden=(128, 128), learning_rate=5e-4),
        start="hrl-xf-oneshot",
        company="Rchan",
        track="oneshot",
    ),
}
