"""Dota 2, from recordings only: what a minute of a match is worth, and what to do next.

`record` the tables, `opendota` one match of the API, `logs`, `layout`, `download` and `synthetic`
where matches come from, `facts` heroes, items and patches, `state` a match minute by minute,
`observe`, `deaths` and `strength` features, `encode` samples, `splits` who is trained on, `models`
and `value` the line-up, `next_item` and `ward_spots` the policies, `candidates`, `inventory` and
`recommend` advice, `panels` and `timeline` pages.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.data.runs import Run
from understudy.games import Awaited, Game
from understudy.games.dota.features.encode import HORIZON, VALUE
from understudy.games.dota.sources.tables import RECORDINGS, RESULTS

if TYPE_CHECKING:
    import pyarrow as pa

    from understudy.learn.recipe import Recipe
    from understudy.report.page import Panel


def _recipes() -> "Mapping[str, Recipe]":
    from understudy.games.dota.recipes import RECIPES

    return RECIPES


def _survey(folder: Path, keys: Sequence[str]) -> "dict[str, dict[str, pa.Table]]":
    from understudy.games.dota.features.team_rating import survey

    return survey(folder, keys)


def _encode(
    recordings: "Mapping[str, pa.Table]",
    players: frozenset[str] | None = None,
    horizon: int = HORIZON,
) -> "dict[str, pa.Table]":
    """A sample is of a whole match, so there are no players to choose."""
    from understudy.games.dota.features.encode import encode
    from understudy.games.dota.features.team_rating import STRENGTH, from_table

    return encode(recordings, from_table(recordings[STRENGTH]), horizon)


def _summarise(
    recordings: "Mapping[str, pa.Table]", samples: "Mapping[str, pa.Table]"
) -> dict[str, float]:
    from understudy.games.dota.features.encode import summarise

    return summarise(recordings, samples)


def _panels(run: Run) -> "list[Panel]":
    from understudy.games.dota.report.panels import run_panels

    return run_panels(run)


def _replay(run: Run, match: str) -> str:
    from understudy.errors import InputError
    from understudy.games.dota.advice.match_context import load_models, recorded
    from understudy.games.dota.report.panels import match_panels
    from understudy.report.page import page

    if not match.isdigit():
        raise InputError(f"a match of Dota goes by its number, not '{match}'")
    story = recorded(run, int(match))
    title = f"Match {match}, patch {story.patch}"
    return page(title, GAME.about, match_panels(story, load_models()))


def _read_logs(source: Path) -> Iterable[Awaited]:
    from understudy.games.dota.sources.match_files import read_logs

    return read_logs(source)


GAME = Game(
    name="dota",
    about="Dota 2, from recorded matches only",
    players={},
    recordings=RECORDINGS,
    results=RESULTS,
    samples=(VALUE,),
    play=None,
    encode=_encode,
    summarise=_summarise,
    recipes=_recipes,
    panels=_panels,
    replay=_replay,
    read_logs=_read_logs,
    survey=_survey,
)
