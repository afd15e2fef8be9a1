"""What `train` can be asked of the supply chain alone."""

from typing import Annotated, Any

import typer

from understudy.errors import InputError


def train_options(
    game: str,
    expert: Annotated[
        str | None,
        typer.Option(
            help="SCML, dagger: who says what it would have done, a name or FILE.py:CLASS. "
            "[default: whom the samples are of]"
        ),
    ] = None,
) -> dict[str, Any]:
    """Which expert a recipe that asks one is to ask."""
    if expert is None:
        return {}
    if game != "scml":
        raise InputError(f"{game} has no recipe that asks an expert; leave out --expert")
    return {"expert": expert}
