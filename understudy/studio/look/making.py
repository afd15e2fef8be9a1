"""What is made in the process beside the studio: each a function of one plain argument."""

from pathlib import Path

from understudy.data.runs import Run
from understudy.pipeline.report import game_of
from understudy.report.page import Panel


def game_panels(folder: Path) -> list[Panel]:
    """What a game shows of a run in its report."""
    run = Run(folder)
    return game_of(run).panels(run)
