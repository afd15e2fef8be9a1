"""Samples, or play, to a model: weights, metrics, evaluation."""

from typing import Any

from understudy import workers
from understudy.data.runs import Run, begin, finish
from understudy.errors import InputError
from understudy.learn.recipe import Progress, TrainingJob, TrainOptions
from understudy.pipeline.game import Game
from understudy.pipeline.tasks import Workers


def train(
    game: Game,
    run: Run,
    recipe: str,
    *,
    options: TrainOptions | None = None,
    seed: int = 0,
    device: str = "cpu",
    worker: Workers = None,
    resume: bool = True,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Train a recipe on what it reads of the run, in the way the options ask for; its evaluation.

    The manifest names and hashes every file that is read; when one has changed since, the training
    begun with it does not go on. Where and on how many workers a recipe plays changes nothing.
    """
    from understudy.learn.base import usable_device  # torch takes seconds to import

    usable_device(device)  # these refuse before the model's folder is claimed, or deleted
    workers.parse(worker)
    options = options or TrainOptions()
    chosen = game.recipe(recipe).with_options(recipe, options)
    if options.start in game.players:
        raise InputError(
            f"'{options.start}' is scripted and cannot be refined; name a trained model"
        )
    read = {run.place(path): path for paths in chosen.inputs(run).values() for path in paths}
    out = run.model(recipe)
    settings = {"game": game.name, "recipe": recipe, "seed": seed, **chosen.settings()}
    begin(out, "train", settings, inputs=read, resume=resume)
    evaluation = chosen.fit(
        TrainingJob(run=run, out=out, seed=seed, device=device, workers=worker, progress=progress)
    )
    finish(out, evaluation=evaluation)
    return evaluation
