"""Options that mean the same in every command, and how what was typed is read."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.errors import InputError
from understudy.pipeline.game import families, load, modules

if TYPE_CHECKING:  # heavy; `--help` must answer at once
    from understudy.data.runs import Run


def _games_like(incomplete: str) -> list[str]:
    """For the shell that completes what is typed."""
    known = [*modules(), *(f"{family}:" for family in families())]
    return [name for name in known if name.startswith(incomplete)]


def _recipes_like(context: typer.Context, incomplete: str) -> list[str]:
    """The recipes of the game that was typed before."""
    try:
        known = load(context.params["game"]).recipes()
    except Exception:  # no game of ours: there is nothing to complete, and nobody to tell
        return []
    return [name for name in known if name.startswith(incomplete)]


*_FIRST, _LAST = [*modules(), *(f"{family}:NAME" for family in families())]
GameArg = Annotated[
    str,
    typer.Argument(
        metavar="GAME",
        help=f"Which game: {', '.join(_FIRST)} or {_LAST}.",
        autocompletion=_games_like,
    ),
]
RecipeArg = Annotated[
    str,
    typer.Argument(
        metavar="RECIPE",
        help="How: a name from `understudy recipes GAME`.",
        autocompletion=_recipes_like,
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="Where to write: the run's folder. [default: runs/GAME]"),
]
MemoryOption = Annotated[
    int | None, typer.Option(help="Units of a recurrent core, for a policy without one.", min=1)
]
PlansOption = Annotated[
    int | None,
    typer.Option(help="Plans, for a policy without any; one is drawn for each match.", min=1),
]
StartOption = Annotated[
    str | None,
    typer.Option(
        "--from",
        help="The model to refine, of this run or a folder; or runs, by comma, whose samples to "
        "learn from.",
    ),
]
SharesOption = Annotated[
    str | None,
    typer.Option(
        help="Whom to meet when refining, by comma, each with its share: self=1,expert=2; "
        "self, start, players, models, FILE.py:POLICY. [default: the recipe's]"
    ),
]
InitOption = Annotated[
    Path | None, typer.Option(help="Begin with the weights of this model, not with new ones.")
]
ModelNameOption = Annotated[
    str | None, typer.Option(help="What to call the model. [default: the recipe's name]")
]
PseudoRewardOption = Annotated[
    float | None, typer.Option(help="Of the game's own, beside the score, when refining.")
]
SettingsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Another setting of the recipe, as `understudy recipes GAME RECIPE` lists them; may "
        "be given often.",
    ),
]
SeedOption = Annotated[int, typer.Option(help="Same seed, same numbers.", min=0, max=10**9)]
WorkersOption = Annotated[
    str | None,
    typer.Option(
        help="How many processes; 0: this one; tcp://HOST:PORT: a Dask cluster. "
        "[default: one per core]"
    ),
]
ResumeOption = Annotated[
    bool,
    typer.Option(
        "--resume/--fresh", help="Go on with what the same command began, or delete it first."
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
LimitOption = Annotated[
    float | None,
    typer.Option(help="Kill a task (a few matches) that takes longer, in seconds.", min=0.01),
]
MoreOption = Annotated[
    int | None, typer.Option(help="So many more than are recorded already, instead.", min=1)
]
OpenOption = Annotated[bool, typer.Option("--open", help="Show the page in the browser.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the table as JSON.")]


@dataclass(frozen=True)
class Working:
    """How a stage that plays matches works: options that stand together."""

    seed: SeedOption = 0
    workers: WorkersOption = None
    task_seconds: LimitOption = None
    resume: ResumeOption = True
    quiet: QuietOption = False

    def settings(self, limit: float | None = None) -> dict[str, Any]:
        """What the stages `record` and `compete` are told; the seed is in their schedule.

        `limit` is how long a task may take where nobody says so.
        """
        return {
            "worker": self.workers,
            "resume": self.resume,
            "seconds_per_task": self.task_seconds or limit,
            "quiet": self.quiet,
        }


AS_USUAL = Working()


def run_of(out: Path | None, game: str) -> "Run":
    """The run to work in."""
    from understudy.data.runs import Run

    return Run.of(game, out)


def names(text: str | None) -> list[str] | None:
    """A list given by comma."""
    return [name.strip() for name in text.split(",") if name.strip()] if text else None


def shares(text: str | None) -> tuple[tuple[str, float], ...] | None:
    """Names with their shares, given by comma: NAME or NAME=SHARE; without one it is 1."""
    found = list[tuple[str, float]]()
    for part in names(text) or ():
        name, _, share = part.partition("=")
        try:
            found.append((name.strip(), float(share or 1)))
        except ValueError as mistake:
            raise InputError(f"'{part}' is not NAME=SHARE with a number, as expert=2") from mistake
        if not 0 < found[-1][1] < float("inf"):
            raise InputError(f"the share of {name} must be above 0, not {share}")
    return tuple(found) or None
