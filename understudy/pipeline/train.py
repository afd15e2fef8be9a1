"""Samples, or play, to a model: weights, metrics, evaluation."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy import workers
from understudy.data import shards
from understudy.data.runs import Run, begin, finish
from understudy.errors import InputError
from understudy.pipeline.game import Game
from understudy.pipeline.tasks import Workers

if TYPE_CHECKING:  # torch takes seconds to import
    from understudy.learn.rl.recipe import Refinement

Progress = Callable[[int, int, Mapping[str, float]], None]


def train(
    game: Game,
    run: Run,
    recipe: str,
    *,
    seed: int = 0,
    init: Path | None = None,
    start: str | None = None,
    changes: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    device: str = "cpu",
    worker: Workers = None,
    resume: bool = True,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Train a recipe on the run's samples, from `init`'s weights if given; what came out.

    A recipe of refinement plays instead: it begins with the model `start`, acts on the workers,
    and may be told other numbers of iterations and the like (`changes`). `options` are the game's
    own, fields of its recipes.
    """
    from understudy.learn.base import usable_device
    from understudy.learn.rl.recipe import Refinement

    usable_device(device)
    chosen = game.recipe(recipe)
    if isinstance(chosen, Refinement):
        try:
            task = replace(chosen, **{"start": start or chosen.start, **(changes or {})})
        except ValueError as mistake:
            raise InputError(f"'{recipe}' cannot be changed like that: {mistake}") from mistake
        return _refine(game, run, recipe, task, seed, device, worker, resume, progress)
    if start is not None or changes:
        raise InputError(
            f"'{recipe}' learns from samples, not by playing; leave out --from and such"
        )
    if init is not None:
        if not hasattr(chosen, "init"):
            raise InputError(f"'{recipe}' begins anew and takes no weights; leave out --init")
        chosen = replace(chosen, init=init)  # type: ignore[type-var]
    if options:
        chosen = replace(chosen, **options)  # type: ignore[type-var]
    inputs = {
        path: table for table in game.samples for path in shards.shard_paths(run.samples, table)
    }
    for path, table in inputs.items():  # before the model's folder is claimed, or deleted
        shards.open_shard(path, table).close()
    out = run.model(recipe)
    settings = {"game": game.name, "recipe": recipe, "seed": seed, **chosen.settings()}
    begin(out, "train", settings, inputs=list(inputs), resume=resume)
    evaluation = chosen.fit(run.samples, out, seed, device=device, progress=progress)
    finish(out, evaluation=evaluation)
    return evaluation


def _refine(
    game: Game,
    run: Run,
    name: str,
    recipe: "Refinement",
    seed: int,
    device: str,
    worker: Workers,
    resume: bool,
    progress: Progress | None,
) -> dict[str, Any]:
    """Refine a model of the run, or one elsewhere, by playing."""
    from understudy.data.players import weights_digest
    from understudy.learn.rl.train import refine
    from understudy.pipeline.players import resolve

    workers.parse(worker)  # before anything is written
    found = resolve(game, run, recipe.start)
    if found.weights is None:
        raise InputError(
            f"'{recipe.start}' is scripted and cannot be refined; name a trained model"
        )
    weights_digest(found)  # which refuses a model without weights
    out = run.model(name)
    settings = {"game": game.name, "recipe": name, "seed": seed, **recipe.settings()}
    inputs = sorted(found.weights.glob("weights.*"))
    begin(out, "train", settings, inputs=inputs, resume=resume)
    evaluation = refine(
        recipe, found.weights, out, seed, device=device, workers=worker, progress=progress
    )
    finish(out, evaluation=evaluation)
    return evaluation
