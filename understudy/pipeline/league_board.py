"""A league for TensorBoard: ratings and training of every learner, round by round."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from understudy.data.runs import LeagueFolder
from understudy.data.stats import Estimate
from understudy.league.analysis.summary import ratings_of
from understudy.league.state import State
from understudy.learn import metrics_log


class LeagueBoard:
    """Is told of a league as it goes; begins with all that is known of earlier rounds."""

    def __init__(self, folder: Path) -> None:
        self._folder = LeagueFolder(folder).tensorboard
        self._written = 0
        self._board: Any = None

    def told(self, state: State) -> None:
        """Write down the rounds that are new."""
        if not state.history:
            return
        if self._board is None:
            shutil.rmtree(self._folder, ignore_errors=True)  # written again, from the history
            self._board = metrics_log.tensorboard(self._folder, 0)
        if self._board is None:
            return  # not installed
        ratings = ratings_of(state)
        for entry in state.history[self._written :]:
            for what, value in _scalars(entry, ratings).items():
                self._board.add_scalar(what, value, entry["round"])
        self._board.flush()
        self._written = len(state.history)

    def close(self) -> None:
        """Nothing more is told."""
        if self._board is not None:
            self._board.close()


def _scalars(entry: Mapping[str, Any], ratings: Mapping[str, Estimate]) -> dict[str, float]:
    """What one round says of every learner."""
    found = dict[str, float]()
    for name, learner in entry["learners"].items():
        version = learner["version"]
        values = {**entry["metrics"].get(version, {}), "nash share": entry["nash"].get(version, 0)}
        if version in ratings:
            values["rating"] = ratings[version].value
        if (worst := entry["worst"].get(name)) is not None:
            values["worst past"] = worst["mean"]
        found |= {
            f"{name}/{what}": float(value)
            for what, value in values.items()
            if isinstance(value, int | float)
        }
    return found
