"""What `encode` can be asked of the supply chain alone."""

from typing import Annotated, Any

import typer

from understudy.errors import InputError


def encode_options(
    game: str,
    risk: Annotated[
        float | None,
        typer.Option(help="SCML: the risk L1 takes with supplies to come, 0 to 1. [default: 0]"),
    ] = None,
) -> dict[str, Any]:
    """The risk that the samples' players are to be seen with."""
    if risk is None:
        return {}
    if game != "scml":
        raise InputError(f"{game} knows no risk; leave out --risk")
    return {"risk": checked_risk(risk)}


def checked_risk(risk: float) -> float:
    """A risk as a person gave it."""
    if not 0.0 <= risk <= 1.0:
        raise InputError(f"--risk {risk:g}: a risk is a chance from 0 to 1")
    return risk
