"""The ways we train for the arena. `docs/log.md` says what came of each."""

from dataclasses import replace
from typing import Final

from understudy.games.arena.data.encode import MOVES
from understudy.games.arena.data.manner import MANNER
from understudy.games.arena.play.batched import BatchedArena
from understudy.learn.recipe import Recipe
from understudy.learn.rl.env import SELF
from understudy.learn.rl.losses.ppo import PPO
from understudy.learn.rl.losses.vtrace import OffPolicy
from understudy.learn.rl.recipe import START, RLRecipe
from understudy.learn.supervised.awr import AdvantageWeighted
from understudy.learn.supervised.cloning import Cloning
from understudy.learn.supervised.recipe import PolicyRecipe

imitate = PolicyRecipe(
    description="clone the recorded decisions; the teacher of all that follows",
    decisions=MOVES,
    objective=Cloning(),
    statistic=MANNER,
    steps=6_000,
    hidden=(256, 256),
    batch_size=2_048,
    learning_rate=2e-3,
    evaluate_every=500,
    checkpoint_every=500,
)
imitate_small = replace(
    imitate,
    description="the same with 64 x 2 units: plays as well, learns on at a quarter of the cost",
    hidden=(64, 64),
    learning_rate=4e-3,
)
imitate_quick = replace(
    imitate_small,
    description="the same in under a minute, for demos and tests",
    steps=1_500,
    evaluate_every=300,
    checkpoint_every=300,
)
awr = replace(
    imitate,
    description="on from a clone: decisions count by how much better than expected it ended (AWR)",
    objective=AdvantageWeighted(),
    start="imitate",
    steps=3_000,
    learning_rate=1e-3,
    evaluate_every=250,
    checkpoint_every=250,
)
awr_quick = replace(
    awr,
    description="the same in under a minute, for demos and tests",
    start="imitate-quick",
    steps=1_500,
    learning_rate=2e-3,
)

GROUPS = (("move_x", "move_y"), ("aim_x", "aim_y"), ("fire",), ("ability",), ("interact",))

refine = RLRecipe(
    description="make a clone stronger by playing, kept near to it (V-trace, UPGO, TD(lambda), KL)",
    decisions=MOVES,
    make=BatchedArena,
    start="imitate-small",
    objective=OffPolicy(
        groups=GROUPS,
        lambda_=0.95,
        value_lambda=0.95,
        value_weight=1.0,
        upgo_weight=0.2,
        kl_weight=1e-3,
        entropy_weight=2e-3,
    ),
    opponents=((SELF, 0.3), ("expert", 0.35), (START, 0.35)),
    iterations=2_300,
    rollouts=2,
    updates=4,
    matches=512,
    steps=32,
    critic=(64, 64),
    critic_first=10,
    learning_rate=4e-4,
    log_every=20,
    checkpoint_every=50,
)
refine_quick = replace(
    refine,
    description="the same in under a minute, for demos and tests",
    start="imitate-quick",
    iterations=60,
    critic_first=5,
    log_every=10,
    checkpoint_every=25,
)
refine_ppo = replace(
    refine,
    description="the same by PPO: play of the newest policy, used twice",
    objective=PPO(value_weight=1.0, kl_weight=1e-3, entropy_weight=2e-3),
    ahead=False,
    uses=2.0,
    updates=8,
    iterations=1_300,
)
refine_card = replace(
    refine_ppo,
    description="the same with thousands of matches at once, for --device cuda: under a minute",
    matches=4_096,
    updates=32,
    critic_first=4,
    learning_rate=6e-4,
    iterations=240,
    log_every=5,
    checkpoint_every=50,
)

RECIPES: Final[dict[str, Recipe]] = {
    "imitate": imitate,
    "imitate-quick": imitate_quick,
    "imitate-small": imitate_small,
    "awr": awr,
    "awr-quick": awr_quick,
    "refine": refine,
    "refine-quick": refine_quick,
    "refine-ppo": refine_ppo,
    "refine-card": refine_card,
}
