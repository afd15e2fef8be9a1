"""A mixture: one of its players is drawn for every match, and the result is the mixture's."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from tests.small_runs import contents, rows
from understudy import games
from understudy.data.players import Mixture, PlayerRef
from understudy.data.results import win_rates
from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.pipeline.compete import compete
from understudy.pipeline.pairings import Fixture, to_compete, to_tune

CIRCLE = games.load("circle:0.8")
A, B, OTHER = PlayerRef("style-0"), PlayerRef("style-1"), PlayerRef("guesser")
HALF = Mixture("half", ((A, 0.5), (B, 0.5)))


def drawn(mixture, slot, seeds=2000):
    return np.array([mixture.drawn(seed, slot) == A for seed in range(seeds)])


def met(folder, *refs, workers=0, matches=240, **more):
    schedule = to_compete(CIRCLE, refs, matches=matches, **more)
    return compete(CIRCLE, Run(folder), schedule, worker=workers, quiet=True)


def results_of(found):
    return sorted(found.results.to_pylist(), key=lambda row: (row["match"], row["slot"]))


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_each_is_drawn_by_its_share_and_every_seat_for_itself(share):
    mixture = Mixture("m", ((A, share), (B, 1 - share)))
    here, there = drawn(mixture, 0), drawn(mixture, 1)
    for found in (here, there):
        assert found.mean() == pytest.approx(share, abs=0.045)  # four standard errors
        assert (found[1:] & found[:-1]).mean() == pytest.approx(share**2, abs=0.045)
    assert (here & there).mean() == pytest.approx(share**2, abs=0.045)
    assert (here == drawn(mixture, 0)).all()


def test_who_is_drawn_says_nothing_of_the_dice_it_plays_with():
    """Policies draw by seed and seat, too."""
    dice = np.array([np.random.default_rng((seed, 0)).random() for seed in range(2000)])
    assert abs(np.corrcoef(drawn(HALF, 0), dice)[0, 1]) < 0.09


@pytest.mark.parametrize("shares", [((A, 1.0),), ((A, 1.0), (B, 0.0)), ((B, 0.0), (A, 1.0))])
def test_a_mixture_of_one_plays_as_that_one(shares, tmp_path):
    alone, mixed = (
        met(tmp_path / name, one, OTHER) for name, one in (("a", A), ("m", Mixture(A.name, shares)))
    )
    before, after = contents(alone.folder), contents(mixed.folder)
    assert before.pop("manifest.json") != after.pop("manifest.json")
    assert before == after


def test_results_are_the_mixtures_and_recordings_tell_who_played(tmp_path):
    found = met(tmp_path, HALF, OTHER, keep=4)
    assert {(row["player"], row["opponent"]) for row in results_of(found)} == {
        ("half", "guesser"), ("guesser", "half")
    }  # fmt: skip
    played = rows(found.folder, "matches")
    assert {frozenset((row["player_0"], row["player_1"])) for row in played} == {
        frozenset((one.name, OTHER.name)) for one in (A, B)
    }
    ours = {row["match"]: row for row in results_of(found) if row["player"] == "half"}
    for row in played:
        slot = ours[row["match"]]["slot"]
        assert row[f"player_{slot}"] == HALF.drawn(row["seed"], slot).name
        assert row["score"] == ours[row["match"]]["score"] * (1 if slot == 0 else -1)
    filmed = {row["match"] for row in rows(found.folder, "steps")}
    assert sorted(ours[match]["slot"] for match in filmed) == [0] * 4 + [1] * 4


def test_every_match_is_the_one_that_its_player_would_have_played(tmp_path):
    scores = {
        (ref.name, row["seed"], row["slot"]): row["score"]
        for ref in (A, B)
        for row in results_of(met(tmp_path / ref.name, ref, OTHER))
        if row["player"] == ref.name
    }
    found = [row for row in results_of(met(tmp_path / "m", HALF, OTHER)) if row["player"] == "half"]
    assert len(found) == 240
    for row in found:
        who = HALF.drawn(row["seed"], row["slot"])
        assert row["score"] == scores[who.name, row["seed"], row["slot"]]


def test_two_mixtures_and_a_player_of_theirs_may_meet(tmp_path):
    like = replace(HALF, name="like")
    rates = win_rates(met(tmp_path, HALF, like, A, matches=100).results)
    assert {(rate.player, rate.opponent): rate.matches for rate in rates} == {
        (one, other): 100
        for one in ("half", "like", A.name)
        for other in ("half", "like", A.name)
        if one != other
    }
    points = {(rate.player, rate.opponent): rate.points.value for rate in rates}
    for one, other in points:
        assert points[one, other] + points[other, one] == pytest.approx(1)


def test_workers_and_a_kill_change_nothing(tmp_path):
    refs = (HALF, OTHER)
    here, there = met(tmp_path / "a", *refs), met(tmp_path / "b", *refs, workers=2)
    assert contents(here.folder) == contents(there.folder)
    before = contents(here.folder)
    for path in sorted(here.folder.glob("*.parquet"))[::2]:
        path.unlink()
    again = met(tmp_path / "a", *refs)
    assert contents(again.folder) == before


def test_other_shares_are_other_work(tmp_path):
    met(tmp_path, HALF, OTHER)
    with pytest.raises(InputError, match="holds other work: players of half was"):
        met(tmp_path, Mixture("half", ((A, 0.4), (B, 0.6))), OTHER)


def test_trials_meet_a_mixture(tmp_path):
    schedule = to_tune(CIRCLE, A, [HALF], matches=60)
    played = [CIRCLE.play(fixture) for fixture in schedule.fixtures.values()]
    fixtures = schedule.fixtures.values()
    booked = pa.concat_tables(f.booked(p.results) for f, p in zip(fixtures, played, strict=True))
    assert {row["opponent"] for row in booked.to_pylist()} == {"half", A.name}
    assert len(booked) == 120


def test_a_fixture_of_players_is_booked_as_it_is():
    found = CIRCLE.play(Fixture((A, OTHER), (1, 2))).results
    assert Fixture((A, OTHER), (1, 2)).booked(found) is found
