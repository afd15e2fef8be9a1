"""`tune scml steward`: better numbers for a scripted player, in compiled worlds."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.errors import InputError
from understudy.pipeline.game import load

if TYPE_CHECKING:
    from understudy.data.runs import Run
    from understudy.terminal.options import Working

STEWARD = "steward"
_USUAL: dict[str, Any] = {
    **{"place": "first", "field": "both", "start": None},
    **{"generations": 8, "candidates": 16, "worlds": 1024},
}


def tune_options(
    game: str,
    place: Annotated[
        str | None,
        typer.Option(help="Of steward: first, middle or last in the chain. [default: first]"),
    ] = None,
    field: Annotated[
        str | None,
        typer.Option(help="Of steward: its company: official, champions, both. [default: both]"),
    ] = None,
    generations: Annotated[
        int | None,
        typer.Option(help="Of steward: how often the best plan is changed. [default: 8]"),
    ] = None,
    candidates: Annotated[
        int | None, typer.Option(help="Of steward: plans tried in a generation. [default: 16]")
    ] = None,
    worlds: Annotated[
        int | None,
        typer.Option(help="Of steward: worlds of a generation, and to confirm. [default: 1024]"),
    ] = None,
    numbers: Annotated[
        Path | None, typer.Option("--start", help="Of steward: a numbers.json to begin with.")
    ] = None,
) -> dict[str, Any]:
    """Options of `tune scml steward`; what was given of them."""
    told: dict[str, Any] = {"place": place, "field": field, "start": numbers}
    told |= {"generations": generations, "candidates": candidates, "worlds": worlds}
    return {name: value for name, value in told.items() if value is not None}


def tune_steward(run: "Run", told: dict[str, Any], working: "Working") -> None:
    """Search better numbers for Steward, in compiled worlds; confirm them in others.

    Writes OUT/tuning/steward-PLACE-FIELD/numbers.json. The same command goes on with a search that
    was broken off.
    """
    from understudy.games.scml.tuning.report import confirmed_line, generation_line, told_of
    from understudy.games.scml.tuning.search import Settings, search
    from understudy.games.scml.tuning.trials import field_named

    load("scml").require()
    chosen = {**_USUAL, **told}
    place, field, start = (chosen[name] for name in ("place", "field", "start"))
    if place not in ("first", "middle", "last"):
        raise InputError(f"--place {place}: Steward is first, middle or last in the chain")
    begun = tuple(sorted(told_of(start, place).items())) if start is not None else ()
    settings = Settings(
        field_named(field),
        place,
        chosen["generations"],
        chosen["candidates"],
        chosen["worlds"],
        working.seed,
        begun,
    )
    folder = run.tuning(f"{STEWARD}-{place}-{field}")
    found = search(
        settings,
        folder,
        worker=working.workers,
        resume=working.resume,
        quiet=working.quiet,
        tell=lambda generation: print(generation_line(generation), flush=True),
    )
    print(confirmed_line(place, found.confirmed))
    print(f"The numbers: {folder / 'numbers.json'}")
