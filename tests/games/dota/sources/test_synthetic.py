"""Made-up matches: whole, repeatable, at one with themselves, as likely to be won as they say."""

import numpy as np
import pytest

from tests.games.dota.small_matches import made_up
from understudy.games.dota.sources import synthetic
from understudy.games.dota.sources.synthetic import (
    DRIFT,
    END,
    LONGEST,
    LUCK,
    SHORTEST,
    STEP_STD,
    World,
    generate,
    true_chance,
)
from understudy.games.dota.sources.tables import RECORDINGS


def test_the_tables_are_whole_and_the_same_seed_gives_them_again():
    (first,), (again,) = (list(generate(World(seed=4), 20)) for _ in range(2))
    for table in RECORDINGS:
        rows = first.tables[table.name]
        table.check(rows.schema, table.name)
        rows.validate(full=True)
        assert len(rows) and rows.equals(again.tables[table.name])
    other = next(iter(generate(World(seed=5), 20)))
    assert not other.tables["events"].equals(first.tables["events"])


def test_matches_come_out_as_often_as_the_truth_says():
    chance, won = [], []
    strengths = World().strengths()
    for batch in generate(World(), 3000):
        matches = batch.tables["matches"].to_pandas().set_index("match_id")
        state = batch.tables["state_team_minute"].to_pandas()
        state = state[state.t == 15 * 60]
        match = matches.loc[state.match_id]
        gap = strengths[match.radiant_team_id - 1] - strengths[match.dire_team_id - 1]
        chance += true_chance(15, state.radiant_gold_adv.to_numpy(), gap).tolist()
        won += match.radiant_win.tolist()
    chance, won = np.array(chance), np.array(won)
    for low in np.arange(0, 1, 0.2):
        chosen = (chance >= low) & (chance < low + 0.2)
        error = won[chosen].mean() - chance[chosen].mean()
        assert abs(error) < 3.5 * np.sqrt(0.25 / chosen.sum())


def test_the_truth_is_even_at_even_and_certain_at_the_end():
    assert float(true_chance(10, 0.0, 0.0)) == pytest.approx(0.5)
    assert true_chance(LONGEST - 1, 30_000.0, 0.0) > 0.999
    np.testing.assert_allclose(true_chance(20, 3000.0, 0.7) + true_chance(20, -3000.0, -0.7), 1.0)
    assert true_chance(10, 2000.0, 1.0) > true_chance(10, 2000.0, 0.0) > 0.5


@pytest.fixture(scope="module")
def tables():
    return {name: table.to_pandas() for name, table in made_up(40).items()}


@pytest.mark.parametrize(
    ("minute", "advantage", "difference"), [(5, 1500, 0.6), (30, -4000, 0.0), (70, 2500, -1.0)]
)
def test_the_truth_is_what_playing_on_gives(minute, advantage, difference):
    """Walk on from the state 40,000 times, as the module's first lines say."""
    rng = np.random.default_rng(1)
    lead, won, going = np.full(40_000, float(advantage)), np.zeros(40_000), np.ones(40_000, bool)
    for now in range(minute + 1, LONGEST + 1):
        lead += DRIFT * difference + STEP_STD * rng.normal(size=40_000)
        over = going & (now >= SHORTEST) & ((rng.random(40_000) < END) | (now == LONGEST))
        won[over] = (lead + LUCK * rng.normal(size=40_000) > 0)[over]
        going &= ~over
    assert not going.any()
    assert float(true_chance(minute, advantage, difference)) == pytest.approx(won.mean(), abs=0.01)


def test_the_truth_takes_arrays_of_any_shape():
    minute, lead = np.array([[10], [40]]), np.array([-1000.0, 0.0, 2000.0])
    found = true_chance(minute, lead, 0.3)
    assert found.shape == (2, 3) and (np.diff(found, axis=1) > 0).all()
    for row, column in np.ndindex(2, 3):
        alone = true_chance(minute[row, 0], lead[column], 0.3)
        assert found[row, column] == pytest.approx(float(alone))


def test_leads_are_what_the_players_have(tables):
    players, teams = tables["state_player_minute"], tables["state_team_minute"]
    for name in ("gold", "xp"):
        sign = np.where(players.slot_idx < 5, 1, -1)
        lead = (sign * players[name]).groupby([players.match_id, players.t]).sum()
        assert lead.tolist() == teams[f"radiant_{name}_adv"].tolist()


def test_a_match_is_as_long_as_it_says_and_nothing_happens_after_it(tables):
    matches = tables["matches"].set_index("match_id")
    rows = tables["state_team_minute"].groupby("match_id").size()
    assert (matches.n_min == rows).all() and (matches.duration == 60 * (rows - 1)).all()
    assert matches.n_min.min() > SHORTEST and matches.n_min.max() <= LONGEST + 1
    ends = matches.duration.loc[tables["events"].match_id].to_numpy()
    assert (tables["events"].t <= ends).all() and (tables["events"].t >= 0).all()
    assert (matches.radiant_team_id != matches.dire_team_id).all()
    assert (np.diff(matches.start_time) > matches.duration[:-1]).all()


def test_ten_different_heroes_and_five_a_side(tables):
    players = tables["players"]
    assert (players.groupby("match_id").hero_id.nunique() == 10).all()
    assert (players.team == players.slot_idx // 5).all()


def test_a_ward_is_gone_where_it_was_placed_and_by_its_handle(tables):
    events = tables["events"]
    placed = events[events.event_type == "ward_obs_place"].set_index(["match_id", "value"])
    gone = events[events.event_type == "ward_obs_left"].set_index(["match_id", "value"])
    assert placed.index.is_unique and len(gone) > 100
    was = placed.loc[gone.index]
    assert (was.x == gone.x).all() and (was.y == gone.y).all() and (was.t < gone.t).all()


def test_patches_follow_each_other_evenly():
    patch = made_up(30, patches=(55, 57, 60))["matches"]["patch"].to_pylist()
    assert patch == [55] * 10 + [57] * 10 + [60] * 10


def test_batches_follow_each_other_without_a_gap(monkeypatch):
    monkeypatch.setattr(synthetic, "MATCHES_PER_BATCH", 7)
    batches = list(generate(World(seed=1), 20))
    numbers = [n for batch in batches for n in batch.tables["matches"]["match_id"].to_pylist()]
    assert [len(batch.tables["matches"]) for batch in batches] == [7, 7, 6]
    assert numbers == list(range(numbers[0], numbers[0] + 20))
    assert len({batch.source for batch in batches}) == 3 and list(generate(World(), 0)) == []
