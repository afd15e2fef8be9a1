"""Samples, or play, to a model: weights, metrics, evaluation; and a model judged again."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy import workers
from understudy.data.players import PlayerRef
from understudy.data.runs import Run, TuningFolder, begin, finish, read_manifest
from understudy.data.splits import SPLITS
from understudy.errors import InputError
from understudy.learn.recipe import Judged, Progress, Recipe, TrainingJob, TrainOptions
from understudy.learn.settings import as_recorded, changed
from understudy.pipeline.encode import gather_from
from understudy.pipeline.game import Game, load
from understudy.pipeline.players import resolve
from understudy.pipeline.tasks import Workers

if TYPE_CHECKING:
    from understudy.learn.supervised.recipe import PolicyRecipe


def train(
    game: Game,
    run: Run,
    recipe: str,
    *,
    settings: Iterable[str] = (),
    name: str | None = None,
    options: TrainOptions | None = None,
    seed: int = 0,
    device: str = "cpu",
    worker: Workers = None,
    resume: bool = True,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Train a recipe on what it reads of the run, in the way the options ask for; its evaluation.

    `settings` are others than the recipe's, each NAME=VALUE; `name` is the model's, if not the
    recipe's. Both are in the manifest with all other settings.
    The manifest names and hashes every file that is read; when one has changed since, the training
    begun with it does not go on. Where and on how many workers a recipe plays changes nothing.
    """
    from understudy.learn.base import usable_device  # torch takes seconds to import

    usable_device(device)  # these refuse before the model's folder is claimed, or deleted
    game.require()
    workers.parse(worker)
    out = _model(game, run, recipe, name)
    chosen = asked_for(game, run, recipe, settings, options or TrainOptions())
    job = TrainingJob(run=run, out=out, seed=seed, device=device, workers=worker, progress=progress)
    return fitted(game, recipe, chosen, job, "train", resume=resume)


def asked_for(
    game: Game, run: Run, recipe: str, settings: Iterable[str], options: TrainOptions
) -> Recipe:
    """The recipe with the options and settings that were told; runs to learn from are gathered."""
    known = game.recipe(recipe)
    if options.opponents is not None:
        options = replace(options, opponents=_met(game, run, options.opponents))
    if runs := _runs(options.start):
        gather_from(game, run, runs, lambda one: one.samples, game.samples, resume=True)
        options = replace(options, start=None)
    chosen = changed(known.with_options(recipe, options), settings, f"{game.name} {recipe}")
    if options.start in game.players:
        raise InputError(
            f"'{options.start}' is scripted and cannot be refined; name a trained model"
        )
    return chosen


def fitted(
    game: Game, name: str, recipe: Recipe, job: TrainingJob, stage: str, *, resume: bool = True
) -> dict[str, Any]:
    """Train into the job's folder, with a manifest that names all that is read; the evaluation."""
    run = job.run
    read = {run.place(path): path for paths in recipe.inputs(run).values() for path in paths}
    settings = {"game": game.name, "recipe": name, "seed": job.seed, **recipe.settings()}
    begin(job.out, stage, settings, inputs=read, resume=resume)
    evaluation = recipe.fit(job)
    finish(job.out, evaluation=evaluation)
    return evaluation


def _model(game: Game, run: Run, recipe: str, name: str | None) -> Path:
    """Where the model goes; InputError where its name cannot be one, or is somebody else's."""
    if name is None or name == recipe:
        return run.model(recipe)
    if name in game.players or name in game.recipes():
        raise InputError(f"--name {name}: that is a player or recipe of {game.name}; take another")
    return run.named_model(name)


def _runs(start: str | None) -> list[str]:
    """What was named if it is runs with samples; none if it is a model."""
    named = [part.strip() for part in start.split(",")] if start else []
    runs = [Run(Path(name)) for name in named]
    are_runs = all(one.samples.is_dir() and not any(one.folder.glob("weights.*")) for one in runs)
    return named if are_runs else []


def _met(
    game: Game, run: Run, told: Iterable[tuple[str | PlayerRef, float]]
) -> tuple[tuple[str | PlayerRef, float], ...]:
    """Opponents by name as a recipe knows them: those with weights or code as what they are."""
    from understudy.learn.rl.env import SELF
    from understudy.learn.rl.recipe import START

    found = list[tuple[str | PlayerRef, float]]()
    for one, share in told:
        if isinstance(one, str) and one not in (SELF, START):
            ref = resolve(game, run, one)
            one = ref if ref.weights is not None or ref.code is not None else ref.name
        found.append((one, share))
    return tuple(found)


# --- Judging again ----------------------------------------------------------------------------


def evaluate(
    model: Path, *, split: str = "val", samples: Run | None = None, device: str = "cpu"
) -> dict[str, Any]:
    """What a model is worth on a split of its run's samples, or of another run's; by split.

    The recipe is the one in the model's manifest, with the settings it was trained with.
    """
    if split not in SPLITS:
        raise InputError(f"there is no split '{split}'; there is {', '.join(SPLITS)}")
    game, recipe, manifest = trained_with(model)
    run = samples or run_of_model(model)
    judged = _judged(game, recipe, model)
    seed = int(manifest["settings"].get("seed", 0))
    return judged.judge(TrainingJob(run=run, out=model, seed=seed, device=device), split)


def trained_with(model: Path) -> tuple[Game, Recipe, dict[str, Any]]:
    """The game and recipe of a model with the settings of its training, and its manifest."""
    manifest = read_manifest(model) if model.is_dir() else None
    if manifest is None or "recipe" not in manifest["settings"]:
        raise InputError(
            f"{model} is not the folder of a trained model. Train one: understudy train GAME "
            "RECIPE; it lies in RUN/models/RECIPE"
        )
    settings = manifest["settings"]
    game, name = load(settings["game"]), settings["recipe"]
    return game, as_recorded(game.recipe(name), settings, f"{game.name} {name}"), manifest


def run_of_model(model: Path) -> Run:
    """The run that a model is of."""
    return TuningFolder.run_of(model) or Run(model.resolve().parent.parent)


def _judged(game: Game, recipe: Recipe, model: Path) -> Judged:
    """Who can judge: the recipe, or for a policy that was refined by play one that clones."""
    from understudy.learn.rl.recipe import RLRecipe

    if isinstance(recipe, Judged):
        return recipe
    if isinstance(recipe, RLRecipe):
        return _cloning(recipe)
    raise InputError(
        f"{model} is not judged by samples. What its training found out is in its evaluation.json; "
        f"who is stronger: understudy compete {game.name}"
    )


def _cloning(refined: Any) -> "PolicyRecipe":
    """How well a policy still foretells recorded decisions, whatever it was refined for."""
    from understudy.learn.supervised.cloning import Cloning
    from understudy.learn.supervised.recipe import PolicyRecipe

    about = refined.description
    return PolicyRecipe(
        description=about, decisions=refined.decisions, objective=Cloning(), steps=1
    )
