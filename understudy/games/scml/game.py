"""The supply chain, as the pipeline knows it."""

from understudy.games.scml.learning.samples import SAMPLES
from understudy.games.scml.players.resolve import known_players
from understudy.games.scml.recording.tables import RECORDINGS, RESULTS
from understudy.pipeline.game import Game, lazy

GAME = Game(
    name="scml",
    about="factories in a supply chain negotiate what to buy and sell",
    players=known_players(),
    recordings=RECORDINGS,
    results=RESULTS,
    samples=SAMPLES,
    play=lazy("understudy.games.scml.tournament.play:play"),
    alone=lazy("understudy.games.scml.tournament.isolation:isolated"),
    encode=lazy("understudy.games.scml.learning.encode:encode"),
    summarise=lazy("understudy.games.scml.learning.encode:summarise"),
    recipes=lazy("understudy.games.scml.recipes:RECIPES"),
    panels=lazy("understudy.games.scml.report.panels:panels"),
    replay=lazy("understudy.games.scml.report.world_page:match_page"),
    looks=lazy("understudy.games.scml.report.looks:looks"),
    live=lazy("understudy.games.scml.live.match:live"),
    read_logs=lazy("understudy.games.scml.recording.tracker.files:read_logs"),
    fill=lazy("understudy.games.scml.learning.backfill:fill_in"),
    league=lazy("understudy.games.scml.league.recipes:league"),
    needs=("scml", "negmas"),
)
