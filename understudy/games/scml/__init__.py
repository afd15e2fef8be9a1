"""SCML: factories in a supply chain negotiate what to buy and sell (ANAC's supply-chain league)."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.data.runs import Run
from understudy.games import Game, Played
from understudy.games.scml.learning.samples import SAMPLES
from understudy.games.scml.players.resolve import known_players
from understudy.games.scml.recording.tables import RECORDINGS, RESULTS

if TYPE_CHECKING:
    import pyarrow as pa

    from understudy.games.scml.tournament.design import WorldPlan
    from understudy.learn.recipe import Recipe
    from understudy.report.page import Panel

# scml and its agents import matplotlib, and negmas logs, below the home directory unless told not
# to. This runs before either is imported, because every module that imports them lies below here.
_SCRATCH = Path(tempfile.gettempdir()) / f"understudy-scml-{os.getuid()}"
os.environ.setdefault("MPLCONFIGDIR", str(_SCRATCH / "matplotlib"))
os.environ.setdefault("NEGMAS_LOG_BASE", str(_SCRATCH / "negmas"))


def _play(plans: "Sequence[WorldPlan]") -> Played:
    from understudy.games.scml.tournament.play import play

    return play(plans)


def _recipes() -> "Mapping[str, Recipe]":
    from understudy.games.scml.recipes import RECIPES

    return RECIPES


def _encode(
    recordings: "Mapping[str, pa.Table]", players: frozenset[str] | None
) -> "dict[str, pa.Table]":
    from understudy.games.scml.learning.encode import encode

    return encode(recordings, players)


def _summarise(
    recordings: "Mapping[str, pa.Table]", samples: "Mapping[str, pa.Table]"
) -> dict[str, float]:
    from understudy.games.scml.learning.encode import summarise

    return summarise(recordings, samples)


def _fill(samples: Path, checkpoint: Path) -> None:
    from understudy.games.scml.learning.backfill import fill_goals

    fill_goals(samples, samples, checkpoint)


def _panels(run: Run) -> "list[Panel]":
    from understudy.games.scml.report.panels import panels

    return panels(run)


def _replay(run: Run, match: str) -> str:
    from understudy.games.scml.report.viewer import world_page
    from understudy.games.scml.report.world_page import find_world

    return world_page(find_world(run, match))


GAME = Game(
    name="scml",
    about="factories in a supply chain negotiate what to buy and sell",
    players=known_players(),
    recordings=RECORDINGS,
    results=RESULTS,
    samples=SAMPLES,
    play=_play,
    encode=_encode,
    summarise=_summarise,
    recipes=_recipes,
    panels=_panels,
    replay=_replay,
    fill=_fill,
)
