"""Train without a command: a recipe on a folder of samples."""

from understudy.data.runs import Run
from understudy.learn.recipe import TrainingJob


def fit(recipe, samples, out, seed=0, progress=None, workers=0):
    """Train on the samples of a run into any folder."""
    run = Run(samples.parent)
    assert run.samples == samples
    return recipe.fit(TrainingJob(run=run, out=out, seed=seed, workers=workers, progress=progress))
