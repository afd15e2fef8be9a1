"""Made-up matches: whole, repeatable, and as likely to be won as they say."""

import numpy as np
import pytest

from understudy.games.dota.sources.synthetic import LONGEST, World, generate, true_chance
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
