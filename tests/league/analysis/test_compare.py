"""Leagues compared in one field."""

import pytest

from tests.league import rps
from tests.league.toy_league import play, season
from understudy.data.players import PlayerRef
from understudy.errors import InputError
from understudy.league.analysis.compare import Field

ROCK, PAPER, SCISSORS = (PlayerRef(move) for move in ("rock", "paper", "scissors"))


class Named:
    """The toy, whose scripted players go by their last name."""

    @staticmethod
    def play(pairings):
        scripts = {f"{p}.{m}": m for p in ("all", "some", "one") for m in rps.MOVES}
        renamed = [
            pairing.__class__(
                tuple(PlayerRef(scripts.get(o.name, o.name), o.weights) for o in pairing.players),
                pairing.seeds,
            )
            for pairing in pairings
        ]
        rows = play(renamed).to_pylist()
        at = 0
        for pairing in pairings:
            for sides in (pairing.players, pairing.players[::-1]):
                for _ in pairing.seeds:
                    for slot in (0, 1):
                        rows[at]["player"] = sides[slot].name
                        rows[at]["opponent"] = sides[1 - slot].name
                        at += 1
        return rps.table(rps.RESULTS, [tuple(row.values()) for row in rows])


def field(folder, populations, **changes):
    settings = {
        "populations": populations,
        "reference": SCISSORS,
        "matches": 100,
        "seed": 0,
        "folder": folder,
        "results": rps.RESULTS,
    }
    return Field(**settings | changes)


def test_a_whole_population_beats_a_part_of_it(tmp_path):
    everybody, some = (SCISSORS, PAPER, ROCK), (SCISSORS, PAPER)
    found = field(tmp_path, {"all": everybody, "some": some}).compare(Named.play)
    # two moves against three: 2/3 of a win for those with all (see test_mixture)
    assert found["relative_population_performance"]["all - some"] == pytest.approx(2 / 3, abs=0.05)


def test_main_agents_are_rated_on_one_scale(tmp_path):
    found = field(tmp_path, {"all": (ROCK,), "some": (PAPER,)}).compare(Named.play)
    ratings = found["ratings"]
    assert set(ratings) == {"all", "some"}
    assert ratings["all"]["value"] > ratings["some"]["value"] - 400  # a circle: near each other
    assert ratings["all"]["low"] < ratings["all"]["value"] < ratings["all"]["high"]


def test_leagues_of_one_game_can_be_compared(tmp_path):
    small = {"rounds": 2, "matches": 10, "agent_steps": 60}
    populations = {}
    for name in ("quick", "quick-self-play"):
        league = season(tmp_path / name, name, **small)
        state = league.run()
        mains = [*state.roster.snapshots("main"), state.roster.mains()[0].version]
        populations[name] = [league.player_ref(one) for one in dict.fromkeys(mains)]
    task = field(tmp_path / "compared", populations, reference=ROCK, matches=10)
    found = task.compare(play)
    assert 0 <= found["relative_population_performance"]["quick - quick-self-play"] <= 1
    assert task.compare(lambda pairings: pytest.fail("played twice")) == found


def test_other_players_in_the_same_folder_are_refused(tmp_path):
    field(tmp_path, {"all": (ROCK,), "some": (PAPER,)}).compare(Named.play)
    with pytest.raises(InputError, match="holds other work: populations of some was"):
        field(tmp_path, {"all": (ROCK,), "some": (SCISSORS,)}).compare(Named.play)
