"""The ways we train for SCML. `docs/log.md` says what came of each."""

from dataclasses import replace
from typing import Final

from understudy.games.scml.learning.dagger import DaggerRecipe
from understudy.games.scml.learning.hrl import WholeRecipe
from understudy.games.scml.learning.l2 import GoalRecipe
from understudy.games.scml.learning.l3 import OfferRecipe
from understudy.games.scml.learning.l4 import PriorityRecipe
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

RECIPES: Final[dict[str, Recipe]] = {
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
    "hrl-xf": WholeRecipe(
        description="all of it: L2, its goals into the samples, L3, L4", l2=l2, l3=l3, l4=l4
    ),
    "hrl-xf-quick": WholeRecipe(
        description="the same in minutes, for demos and first looks",
        l2=replace(l2, steps=500),
        l3=replace(l3, steps=600, batch_size=1_024, hidden=(128, 128), evaluate_every=200),
        l4=replace(l4, steps=300, batch_size=256, evaluate_every=100),
    ),
    "hrl-xf-oneshot": WholeRecipe(
        description="all of it for OneShot, whose days are short: smaller, as the shipped weights",
        l2=replace(l2, steps=500),
        l3=replace(l3, steps=2_000, batch_size=1_024, hidden=(128, 128), evaluate_every=400),
        l4=replace(l4, steps=300, batch_size=256, evaluate_every=100),
    ),
    "dagger": DaggerRecipe(
        description="L3 on from `l3`: it plays, and learns what the expert would have done",
        l3=replace(l3, steps=1_000, learning_rate=5e-4),
    ),
    "dagger-oneshot": DaggerRecipe(
        description="the same for OneShot, on from `hrl-xf-oneshot`, with Matcher looking on",
        l3=replace(l3, steps=1_000, batch_size=1_024, hidden=(128, 128), learning_rate=5e-4),
        start="hrl-xf-oneshot",
        expert="Matcher",
        company="Rchan",
        track="oneshot",
    ),
}
