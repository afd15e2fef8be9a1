"""Logs of a plain game, read as `record GAME --logs` reads them."""

from understudy.data.samples import decisions
from understudy.games.two_player.logs import read_logs
from understudy.games.two_player.plain import plain_game


def read_plain(folder, shape):
    """Matches and steps of logs of a game with a policy's features and heads."""
    told = decisions("toy", "moves", 1, dict.fromkeys(shape.features, ""), shape.heads)
    game = plain_game(
        name="toy",
        about="",
        players={"random": ""},
        decisions=told,
        make=lambda *_: None,
        recipes=dict,
    )
    (part,) = read_logs(*game.recordings, told, folder)
    assert part.rejected == []
    keys = ("match", "player_0", "player_1", "score")
    outline = [{key: row[key] for key in keys} for row in part.tables["matches"].to_pylist()]
    return outline, part.tables["steps"].to_pylist()
