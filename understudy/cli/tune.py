"""The command `tune`: better settings of a recipe, or what else a game can have tuned."""

import json as json_text
from typing import Annotated, Any

import typer

from understudy import games
from understudy.cli.commands import of_games
from understudy.errors import InputError, did_you_mean
from understudy.pipeline.game import load
from understudy.terminal.console import next_step, out_console
from understudy.terminal.options import (
    GameArg,
    InitOption,
    JsonOption,
    OutOption,
    QuietOption,
    RecipeArg,
    ResumeOption,
    SeedOption,
    SettingsOption,
    StartOption,
    WorkersOption,
    Working,
    names,
    run_of,
)

TryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--try",
        metavar="NAME=LOW..HIGH",
        help="What to try, a range or NAME=ONE|OTHER; may be given often. "
        "[default: learning rates, a tenth to ten times]",
    ),
]


def tune(
    game: GameArg,
    recipe: RecipeArg,
    out: OutOption = None,
    tried: TryOption = None,
    trials: Annotated[
        int, typer.Option(help="Trainings in all; more than before adds to the study.", min=1)
    ] = 20,
    by: Annotated[
        str | None,
        typer.Option(
            help="What judges them: val, the validation split, or play, matches kept for that. "
            "[default: val; play for recipes that refine]"
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            help="Whom they meet with --by play, by comma. [default: what they begin as, and the "
            "scripted players]"
        ),
    ] = None,
    matches: Annotated[
        int, typer.Option(help="Against each of those, for every trial.", min=2)
    ] = 200,
    settings: SettingsOption = None,
    name: Annotated[
        str | None, typer.Option(help="What to call the study. [default: the recipe's name]")
    ] = None,
    init: InitOption = None,
    start: StartOption = None,
    device: Annotated[str, typer.Option(help="Where torch computes: cpu or cuda.")] = "cpu",
    seed: SeedOption = 0,
    workers: WorkersOption = None,
    resume: ResumeOption = True,
    quiet: QuietOption = False,
    json: JsonOption = False,
    **told: Any,
) -> None:
    """Search better settings for a recipe, judged by validation, never by test (needs Optuna).

    `tune scml steward` searches numbers for a scripted player instead, in compiled worlds.
    The same command goes on with what was broken off, exactly as it would have.

    Examples:
        understudy tune arena imitate-quick --try learning_rate=1e-4..1e-2 --trials 12
        understudy tune arena refine-quick --try objective.entropy_weight=1e-3..1e-1 --trials 10
        understudy tune scml steward --place first --field official
    """
    run, own = run_of(out, game), of_games("tune", game, told)
    brought = games.commands(game).tuned
    if recipe in brought:
        given = {"--try": tried, "--set": settings, "--by": by, "--init": init, "--from": start}
        for option in (one for one, value in given.items() if value is not None):
            raise InputError(f"'{recipe}' is no recipe and takes no {option}; leave it out")
        working = Working(seed=seed, workers=workers, resume=resume, quiet=quiet)
        brought[recipe](run, own, working)
        return
    chosen = load(game)
    if recipe not in chosen.recipes():
        known = [*chosen.recipes(), *brought]
        raise InputError(
            f"there is nothing to tune in '{recipe}'{did_you_mean(recipe, known)}; {game} has "
            f"{', '.join(known)}"
        )
    if own:
        option = next(iter(own)).replace("_", "-")
        raise InputError(f"--{option} is for scml steward, not for {game} {recipe}; leave it out")
    from understudy.learn.recipe import TrainOptions
    from understudy.pipeline import tune as tune_stage

    study = tune_stage.plan(
        chosen,
        run,
        recipe,
        tried=tried or (),
        settings=settings or (),
        by=by,
        against=names(against) or (),
        options=TrainOptions(init=init, start=start),
        matches=matches,
        trials=trials,
        seed=seed,
        device=device,
        worker=workers,
        name=name,
    )
    found = tune_stage.tune(study, resume=resume, tell=None if quiet or json else _tell)
    if json:
        print(json_text.dumps(found, indent=2))
        return
    _say(game, run, recipe, found)


def _tell(trial: Any) -> None:
    """A line for one that is finished."""
    tried = "  ".join(f"{name} {_short(value)}" for name, value in trial.settings.items())
    came = f"{trial.value:.5f}" if trial.value is not None else f"failed: {trial.fault}"
    out_console.print(
        f"trial {trial.number:3d}  {tried}  {came}", highlight=False, markup=False, soft_wrap=True
    )


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _say(game: str, run: Any, recipe: str, found: dict[str, Any]) -> None:
    """The best, and how to look at it with what it was not chosen by."""
    model = run.folder / found["model"]
    best, measure = found["best"], "validation loss" if found["by"] == "val" else "points"
    before = f"; as the recipe is: {found['as_it_is']:.5f}" if found["as_it_is"] is not None else ""
    failed = f" ({found['failed']} failed)" if found["failed"] else ""
    print(
        f"best of {found['trials']} trials{failed}: trial {best['number']}, {measure} "
        f"{best['value']:.5f}{before}. Chosen as the best, it looks better than it is"
    )
    print(f"The model: {model}")
    told = " ".join(f"--set {one}" for one in found["set"])
    if told:
        next_step(run, game, f"train {game} {recipe} {told} --name {recipe}-tuned")
    if found["by"] == "val":
        next_step(run, game, f"evaluate {model} --split test")
    else:
        players = " ".join(list(load(game).players)[:2])
        next_step(run, game, f"compete {game} {model} {players}")
