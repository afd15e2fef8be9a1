"""Dota 2, as the pipeline knows it."""

from understudy.games.dota.features.encode import VALUE
from understudy.games.dota.sources.tables import RECORDINGS, RESULTS
from understudy.pipeline.game import Game, lazy

GAME = Game(
    name="dota",
    about="Dota 2, from recorded matches only",
    players={},
    recordings=RECORDINGS,
    results=RESULTS,
    samples=(VALUE,),
    play=None,
    encode=lazy("understudy.games.dota.features.encode:encode_recordings"),
    summarise=lazy("understudy.games.dota.features.encode:summarise"),
    recipes=lazy("understudy.games.dota.recipes:RECIPES"),
    panels=lazy("understudy.games.dota.report.panels:run_panels"),
    replay=lazy("understudy.games.dota.report.panels:match_page"),
    replay_file=lazy("understudy.games.dota.report.panels:file_page"),
    looks=lazy("understudy.games.dota.report.panels:looks"),
    read_logs=lazy("understudy.games.dota.sources.match_files:read_logs"),
    survey=lazy("understudy.games.dota.features.kept_ratings:survey"),
)
