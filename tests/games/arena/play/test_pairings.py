"""Many pairings at once end as they would one by one."""

import pytest

from understudy import games
from understudy.data.players import PlayerRef
from understudy.games.arena.data.tables import RESULTS
from understudy.games.arena.play import pairings
from understudy.games.arena.play.pairings import play_pairings
from understudy.league.interface import Pairing
from understudy.pipeline.league import play_pairings as one_by_one

BOTS = {name: PlayerRef(name) for name in ("expert", "rusher", "kiter")}


@pytest.fixture(scope="module")
def clones(tmp_path_factory):
    """Two networks that have learnt nothing."""
    from understudy.learn.policy import FactoredPolicy, save_policy

    shape = games.load("arena").recipe("imitate-quick").shape
    found = []
    for seed in (1, 2):
        folder = tmp_path_factory.mktemp("clones") / f"clone-{seed}"
        folder.mkdir()
        save_policy(folder, FactoredPolicy(shape, seed=seed))
        found.append(PlayerRef(folder.name, folder))
    return found


def some(pairs, seeds=(5, 10**18 + 3)):
    return [Pairing(pair, tuple(seed + 10 * n for seed in seeds)) for n, pair in enumerate(pairs)]


def test_bots_play_as_they_do_one_pair_after_the_other():
    pairs = [(BOTS["expert"], BOTS["rusher"]), (BOTS["kiter"], BOTS["expert"])]
    planned = some(pairs)
    assert play_pairings(planned).equals(
        one_by_one(games.load("arena"), planned), check_metadata=True
    )


def test_networks_play_as_they_do_one_pair_after_the_other(clones):
    """Their answers may differ in the last bit with the batch; here no match depends on that."""
    one, other = clones
    planned = some([(one, other), (other, BOTS["expert"]), (one, BOTS["rusher"])])
    assert play_pairings(planned).equals(one_by_one(games.load("arena"), planned))


def test_more_matches_than_fit_at_once(monkeypatch):
    planned = some([(BOTS["expert"], BOTS["rusher"])] * 3)
    whole = play_pairings(planned)
    monkeypatch.setattr(pairings, "MATCHES_AT_ONCE", 5)
    assert play_pairings(planned).equals(whole)


def test_no_pairings_no_rows():
    assert play_pairings([]).equals(RESULTS.arrow().empty_table(), check_metadata=True)
