"""Secrets are never typed into a command line: others see it, shells and manifests keep it."""

import os
from pathlib import Path

import typer

from understudy.errors import InputError


def secret(where: str | None, option: str, variable: str) -> str | None:
    """What a file holds, or is answered where `where` is -, or an environment variable says."""
    if where is None:
        return os.environ.get(variable) or None
    if where == "-":
        return str(typer.prompt(option.lstrip("-"), hide_input=True, err=True)).strip()
    path = Path(where).expanduser()
    try:
        text = path.read_text().strip()
    except (OSError, ValueError):
        text = ""
    if not text or "\n" in text:  # not repeated: it may be the secret itself
        raise InputError(
            f"{option} names a file that holds one line, the secret, or is - to be asked for it; "
            f"what was given is neither. {variable} may hold the secret itself, but no command line"
        )
    return text
