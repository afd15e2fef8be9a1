"""Play many pairings at once: a player decides for all its matches together, whoever it meets.

A league lets dozens of pairs meet for a few matches each. One pair after the other, as `play.play`
does it, nearly all the time goes into calling networks for a handful of rows.
"""

from collections.abc import Sequence

import pyarrow as pa

from understudy.data.players import PlayerRef
from understudy.games.arena.data.tables import RESULTS, results
from understudy.games.arena.play.play import play_matches
from understudy.league.interface import Pairing

MATCHES_AT_ONCE = 4096


def play_pairings(pairings: Sequence[Pairing]) -> pa.Table:
    """The results of all pairings, each seed from both sides; rows as `play.play` gives them."""
    num_players = [
        (one, other, seed)
        for pairing in pairings
        for one, other in _both_ways(pairing)
        for seed in pairing.seeds
    ]
    tables = [
        results(play_matches(num_players[first : first + MATCHES_AT_ONCE], keep=0)[0])
        for first in range(0, len(num_players), MATCHES_AT_ONCE)
    ]
    return pa.concat_tables([RESULTS.arrow().empty_table(), *tables])


def _both_ways(pairing: Pairing) -> tuple[tuple[PlayerRef, PlayerRef], tuple[PlayerRef, PlayerRef]]:
    one, other = pairing.players
    return (one, other), (other, one)
