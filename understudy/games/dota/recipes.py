"""The ways we train on Dota. `docs/log.md` says what came of each."""

from dataclasses import replace

from understudy.games.dota.live.recipe import LiveRecipe
from understudy.games.dota.planning.recipe import WorldRecipe
from understudy.games.dota.policies.recipes import ItemRecipe, WardRecipe
from understudy.games.dota.value.recipe import ValueRecipe, quick_models
from understudy.learn.recipe import Recipe

value = ValueRecipe(
    description="win, gold and xp: train on earlier patches, test on the newest", split="patch"
)
value_time = replace(
    value, description="the same, tested on the last fifth of matches", split="time"
)
value_files = replace(value, description="the same, split as RUN/splits/*.txt say", split="files")
value_quick = replace(
    value_time,
    description="a small model comparison to try things out",
    models=quick_models(),
    turns=3,
)
items = ItemRecipe(description="what a player buys next, beside counts by hero and last item")
wards = WardRecipe(description="where the next observer ward goes, beside counts by side and time")
live = LiveRecipe(description="the chance by what a running match tells: for serve dota")
world = WorldRecipe(description="where a match may be in 1 to 10 minutes, and what plans came to")

RECIPES: dict[str, Recipe] = {
    "value": value,
    "value-time": value_time,
    "value-files": value_files,
    "value-quick": value_quick,
    "items": items,
    "wards": wards,
    "world": world,
    "live": live,
}
