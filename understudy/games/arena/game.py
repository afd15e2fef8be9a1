"""The arena, as the pipeline knows it."""

from understudy.games.arena.data.encode import MOVES, encode, summarise
from understudy.games.arena.data.tables import MATCHES, RESULTS, STEPS
from understudy.games.arena.play.bots import BOTS
from understudy.pipeline.game import Game, lazy

GAME = Game(
    name="arena",
    about="a very fast two-player shooter",
    players={"expert": BOTS["expert"], **BOTS},
    recordings=(MATCHES, STEPS),
    results=RESULTS,
    samples=(MOVES.table,),
    play=lazy("understudy.games.arena.play.play:play"),
    encode=encode,
    summarise=summarise,
    recipes=lazy("understudy.games.arena.recipes:RECIPES"),
    panels=lazy("understudy.games.arena.panels:panels"),
    replay=lazy("understudy.games.arena.replay:match_page"),
    looks=lazy("understudy.games.arena.replay:looks"),
    live=lazy("understudy.games.arena.live:live"),
    read_logs=lazy("understudy.games.arena.data.logs:read_logs"),
    league=lazy("understudy.games.arena.league:league"),
)
