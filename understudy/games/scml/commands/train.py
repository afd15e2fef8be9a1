"""What `train` can be asked of the supply chain alone."""

from typing import Annotated, Any

import typer

from understudy.errors import InputError
from understudy.games.scml.commands.encode import checked_risk


def train_options(
    game: str,
    expert: Annotated[
        str | None,
        typer.Option(
            help="SCML, dagger: who says what it would have done, a name or FILE.py:CLASS. "
            "[default: whom the samples are of]"
        ),
    ] = None,
    risk: Annotated[
        float | None,
        typer.Option(
            help="SCML, online: the risk L1 takes with supplies to come, 0 to 1. "
            "[default: that of the weights to begin with]"
        ),
    ] = None,
) -> dict[str, Any]:
    """Which expert a recipe that asks one is to ask, and the risk of one that plays."""
    given = {"expert": expert, "risk": risk}
    told = {name: value for name, value in given.items() if value is not None}
    if told and game != "scml":
        purpose = "asks an expert" if "expert" in told else "takes a risk"
        raise InputError(f"{game} has no recipe that {purpose}; leave out --{next(iter(told))}")
    if risk is not None:
        checked_risk(risk)
    return told
