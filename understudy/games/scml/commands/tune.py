"""`tune scml`: better numbers for a scripted player."""

from pathlib import Path
from typing import Annotated

import typer

from understudy.errors import InputError
from understudy.terminal.options import AS_USUAL, OutOption, Working, run_of


def tune(
    player: Annotated[str, typer.Argument(help="Whose numbers: steward.")],
    out: OutOption = None,
    place: Annotated[str, typer.Option(help="Its place in the chain: first, middle, last.")] = (
        "first"
    ),
    field: Annotated[str, typer.Option(help="Its company: official, champions, both.")] = "both",
    generations: Annotated[int, typer.Option(help="How often the best plan is changed.")] = 8,
    candidates: Annotated[int, typer.Option(help="Plans tried in a generation.")] = 16,
    worlds: Annotated[int, typer.Option(help="Worlds of a generation, and to confirm.")] = 1024,
    start: Annotated[
        Path | None, typer.Option(help="A numbers.json to begin with. [default: the original]")
    ] = None,
    working: Working = AS_USUAL,
) -> None:
    """Search better numbers for a scripted player, in compiled worlds; confirm them in others.

    Writes OUT/tuning/PLAYER-PLACE-FIELD/numbers.json. The same command goes on with a search that
    was broken off.

    Example: understudy tune scml steward --place first --field official
    """
    from understudy.games.scml.tuning.report import confirmed_line, generation_line, told_of
    from understudy.games.scml.tuning.search import Settings, search
    from understudy.games.scml.tuning.trials import field_named

    if player.lower() != "steward":
        raise InputError(f"there is nothing to tune in '{player}'; there is steward")
    begun = tuple(sorted(told_of(start, place).items())) if start is not None else ()
    how = generations, candidates, worlds, working.seed, begun
    settings = Settings(field_named(field), place, *how)
    folder = run_of(out, "scml").folder / "tuning" / f"steward-{place}-{field}"
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
