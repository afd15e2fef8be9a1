"""The command `tune`: better settings of a recipe, or what else a game can have tuned."""

import json as json_text
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

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

if TYPE_CHECKING:  # heavy; `--help` must answer at once
    from understudy.data.runs import Run
    from understudy.pipeline.tune import Study

TryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--try",
        metavar="NAME=LOW..HIGH",
        help="What to try, a range or NAME=ONE|OTHER; may be given often. "
        "[default: learning rates, a tenth to ten times]",
    ),
]


@dataclass(frozen=True)
class Judging:
    """What trials are judged by: options that stand together."""

    by: Annotated[
        str | None,
        typer.Option(
            help="What judges them: val, the validation split, or play, matches kept for that. "
            "[default: val; play for recipes that refine]"
        ),
    ] = None
    against: Annotated[
        str | None,
        typer.Option(
            help="Whom they meet with --by play, by comma. [default: what they begin as, and the "
            "scripted players]"
        ),
    ] = None
    matches: Annotated[int, typer.Option(help="Against each of those, for every trial.", min=2)] = (
        200
    )


@dataclass(frozen=True)
class Trained:
    """How every trial is trained, beside what is tried: options that stand together."""

    settings: SettingsOption = None
    init: InitOption = None
    start: StartOption = None
    device: Annotated[str, typer.Option(help="Where torch computes: cpu or cuda.")] = "cpu"


def tune(
    game: GameArg,
    recipe: RecipeArg,
    out: OutOption = None,
    tried: TryOption = None,
    trials: Annotated[
        int, typer.Option(help="Trainings in all; more than before adds to the study.", min=1)
    ] = 20,
    judging: Judging = Judging(),  # noqa: B008  it is frozen
    trained: Trained = Trained(),  # noqa: B008
    name: Annotated[
        str | None, typer.Option(help="What to call the study. [default: the recipe's name]")
    ] = None,
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
    working = Working(seed=seed, workers=workers, resume=resume, quiet=quiet)
    if (brought := games.commands(game).tuned.get(recipe)) is not None:
        _refuse_for(recipe, tried, judging, trained)
        brought(run, own, working)
        return
    _require_recipe(game, recipe, own)
    study = _study(game, run, recipe, tried, trials, judging, trained, name, working)
    from understudy.pipeline import tune as tune_stage

    found = tune_stage.tune(study, resume=resume, tell=None if quiet or json else _tell)
    if json:
        print(json_text.dumps(found, indent=2))
        return
    _say(game, run, recipe, found)


def _refuse_for(target: str, tried: Any, judging: Judging, trained: Trained) -> None:
    """InputError for what only recipes can be told."""
    given = {"--try": tried, "--set": trained.settings, "--by": judging.by, "--init": trained.init}
    given |= {"--from": trained.start, "--against": judging.against}
    for option in (one for one, value in given.items() if value is not None):
        raise InputError(f"'{target}' is no recipe and takes no {option}; leave it out")


def _require_recipe(game: str, recipe: str, own: Mapping[str, Any]) -> None:
    """InputError where there is no such recipe, or more was told than it takes."""
    known = [*load(game).recipes(), *games.commands(game).tuned]
    if recipe not in known:
        raise InputError(
            f"there is nothing to tune in '{recipe}'{did_you_mean(recipe, known)}; {game} has "
            f"{', '.join(known)}"
        )
    for option in own:
        dashed = option.replace("_", "-")
        raise InputError(f"--{dashed} is for scml steward, not for {game} {recipe}; leave it out")


def _study(
    game: str,
    run: "Run",
    recipe: str,
    tried: list[str] | None,
    trials: int,
    judging: Judging,
    trained: Trained,
    name: str | None,
    working: Working,
) -> "Study":
    from understudy.learn.recipe import TrainOptions
    from understudy.pipeline import tune as tune_stage

    return tune_stage.plan(
        load(game),
        run,
        recipe,
        tried=tried or (),
        settings=trained.settings or (),
        by=judging.by,
        against=names(judging.against) or (),
        options=TrainOptions(init=trained.init, start=trained.start),
        matches=judging.matches,
        trials=trials,
        seed=working.seed,
        device=trained.device,
        worker=working.workers,
        name=name,
    )


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
