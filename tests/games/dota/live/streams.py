"""Recorded matches told again as a running client would."""

from functools import cache

import pyarrow.compute as pc

from tests.games.dota.small_matches import made_up
from understudy.games.dota.advice.match_context import MatchContext
from understudy.games.dota.live.gsi import read_post
from understudy.games.dota.live.match import LiveMatch
from understudy.games.dota.live.posts import posts_of

NOW = 1_740_060_000


@cache
def recorded_match(place=0):
    """A made-up match of some length, as recordings hold it."""
    tables = made_up(6, seed=5)
    number = tables["matches"]["match_id"][place].as_py()
    own = {name: rows.filter(pc.equal(rows["match_id"], number)) for name, rows in tables.items()}
    return MatchContext(own, None)


def told_again(context, player=None, kept=lambda clock: True):
    """The live match of all its posts, or of those whose clock is `kept`."""
    match = None
    for post in posts_of(context, player):
        report = read_post(post, lambda: NOW)
        if kept(report.clock):
            match = match or LiveMatch(report.source, report.match_id)
            match.add(report)
    return match
