"""Strength: what slots are worth drops out, and intervals are as wide as they should be."""

import json
import time

import numpy as np
import pyarrow as pa
import pytest
from negmas.helpers.numeric import truncated_mean

from tests.games.scml.results import FOUR, Tournament, scores, table
from understudy.data.stats import Estimate, resample_weights
from understudy.errors import InputError
from understudy.games.scml.strength.effects import Equations, official_score, official_scores
from understudy.games.scml.strength.strength import Strength, assess, compare


def found(strength):
    return {player.player: player for player in strength.players}


def adjusted(strength):
    return {player.player: player.adjusted.value for player in strength.players}


# Adjusted scores


def test_worked_example():
    # slot 0: a 3, b 1 (a gains 1, b loses 1); slot 1: a 10, b 6 (2 and -2): a +1.5, b -1.5
    results = scores((1, 0, "a", 3), (1, 0, "b", 1), (1, 1, "a", 10), (1, 1, "b", 6))
    strength = assess(results)
    assert adjusted(strength) == pytest.approx({"a": 1.5, "b": -1.5})
    assert found(strength)["a"].mean.value == 6.5
    pair = compare(strength, "b", "a")
    assert (pair.difference.value, pair.win_rate.value, pair.rows) == (-3, 0, 2)


def test_worked_example_of_a_chain():
    # a is 2 above b, b is 3 above c, a and c never meet: (7, 1, -8) / 3
    results = scores((1, 0, "a", 5), (1, 0, "b", 3), (2, 0, "b", 13), (2, 0, "c", 10))
    strength = assess(results)
    assert adjusted(strength) == pytest.approx({"a": 7 / 3, "b": 1 / 3, "c": -8 / 3})
    pair = compare(strength, "a", "c")
    assert (pair.rows, pair.difference, pair.win_rate) == (0, None, None)
    assert pair.adjusted.value == pytest.approx(5)
    assert pair.beats is None


def test_with_complete_blocks_it_is_the_score_above_the_mean_of_the_slot():
    results = Tournament(FOUR, competitors=4, runs=2).play()
    score = results["score"].to_numpy()
    player = np.array(results["player"].to_pylist())
    keys = zip(results["seed"].to_pylist(), results["slot"].to_pylist(), strict=True)
    block = np.array([f"{seed}/{slot}" for seed, slot in keys])
    above = score - np.array([score[block == name].mean() for name in block])
    expected = {name: above[player == name].mean() for name in FOUR}
    strength = assess(results, resamples=10)
    assert adjusted(strength) == pytest.approx(expected)
    pair = compare(strength, "ace", "dud")
    assert pair.difference.value == pytest.approx(expected["ace"] - expected["dud"])
    assert pair.difference.value == pytest.approx(pair.adjusted.value)


def test_it_is_the_least_squares_effect_of_the_player():
    """The definition, with a column per block and per player: slow and obvious."""
    results = Tournament(FOUR, competitors=2, runs=2).play(3)
    results = results.take(np.random.default_rng(1).permutation(len(results))[:150])  # lose some
    columns = [results[name].to_pylist() for name in ("seed", "slot", "player", "score")]
    blocks = sorted(set(zip(*columns[:2], strict=True)))
    names = sorted(FOUR)
    design = np.zeros((len(results), len(blocks) + len(names)))
    for row, (seed, slot, player, _) in enumerate(zip(*columns, strict=True)):
        design[row, blocks.index((seed, slot))] = 1
        design[row, len(blocks) + names.index(player)] = 1
    effect = np.linalg.lstsq(design, np.array(columns[3]), rcond=None)[0][len(blocks) :]
    expected = dict(zip(names, effect - effect.mean(), strict=True))
    assert adjusted(assess(results, resamples=10)) == pytest.approx(expected)


def test_known_effects_are_recovered_from_incomplete_blocks():
    effects = {f"p{index}": value for index, value in enumerate(np.linspace(-0.5, 0.5, 7))}
    strength = assess(Tournament(effects, configurations=200, competitors=3).play(5))
    assert adjusted(strength) == pytest.approx(effects, abs=0.03)
    assert [player.player for player in strength.players] == sorted(effects, reverse=True)
    for player in strength.players:
        assert player.adjusted.low < player.adjusted.value < player.adjusted.high
        assert player.adjusted.high - player.adjusted.low < 0.08


def test_a_player_of_good_slots_is_not_better_for_it():
    # The raw mean of `lucky` is far above; in the same slots it is a little below.
    rows = []
    for seed in range(30):
        rows += [(seed, 0, "lucky", 2.0), (seed, 0, "fair", 2.1)]
        rows += [(seed, 1, "fair", 0.5), (seed, 1, "other", 0.4)] if seed % 3 else []
    strength = assess(scores(*rows))
    assert found(strength)["lucky"].mean.value > found(strength)["fair"].mean.value
    assert adjusted(strength)["lucky"] < adjusted(strength)["fair"]
    assert compare(strength, "lucky", "fair").beats is False
    assert compare(strength, "fair", "lucky").beats is True


def test_levels_are_told_apart():
    rows = []
    for seed in range(20):
        for slot, (levels, level, gain) in enumerate(((3, 0, 0.2), (3, 1, 0.4), (3, 2, 0.6))):
            for player, sign in (("a", 1), ("b", -1)):
                rows.append({"seed": seed, "slot": slot, "level": level, "levels": levels})
                rows[-1] |= {"player": player, "score": level + sign * gain}
    strength = found(assess(table(rows)))
    assert {name: at.adjusted.value for name, at in strength["a"].levels.items()} == pytest.approx(
        {"first": 0.2, "middle": 0.4, "last": 0.6}
    )
    assert strength["b"].levels["last"].mean == pytest.approx(1.4)
    assert strength["b"].levels["last"].rows == 20
    assert strength["a"].adjusted.value == pytest.approx(0.4)


def test_of_two_levels_the_second_is_the_last():
    rows = [{"level": 1, "levels": 2}, {"level": 1, "levels": 3, "seed": 1}]
    assert list(found(assess(table(rows)))["a"].levels) == ["middle", "last"]


def test_a_level_without_links_has_no_adjusted_score():
    rows = [{"seed": s, "player": p, "level": 0} for s in range(4) for p in "ab"]
    rows += [{"seed": s, "player": "ab"[s % 2], "level": 1, "slot": 1} for s in range(4)]
    strength = found(assess(table(rows)))
    assert strength["a"].levels["first"].adjusted is not None
    assert strength["a"].levels["middle"].adjusted is None
    assert strength["a"].levels["middle"].mean == 1.0


# What must not matter


def test_what_a_slot_is_worth_does_not_matter():
    results = Tournament(FOUR).play()
    shift = np.random.default_rng(9).normal(0, 5, 1000)
    key = results["seed"].to_numpy() * 16 + results["slot"].to_numpy()
    score = results["score"].to_numpy() + shift[key]
    index = results.schema.get_field_index("score")
    moved = results.set_column(index, "score", pa.array(score))
    before, after = assess(results), assess(moved)
    assert adjusted(after) == pytest.approx(adjusted(before))
    for one, other in zip(before.pairs, after.pairs, strict=True):
        assert other.difference.plain() == pytest.approx(one.difference.plain())
        assert other.win_rate == one.win_rate
    for one, other in zip(before.players, after.players, strict=True):
        assert other.adjusted.plain() == pytest.approx(one.adjusted.plain())


def test_names_and_the_order_of_rows_do_not_matter():
    results = Tournament(FOUR).play()
    renamed = dict(zip(FOUR, ("z", "y", "x", "w"), strict=True))
    players = pa.array([renamed[name] for name in results["player"].to_pylist()])
    other = results.set_column(results.schema.get_field_index("player"), "player", players)
    other = other.take(np.random.default_rng(2).permutation(len(other)))
    before, after = found(assess(results)), found(assess(other))
    for old, new in renamed.items():
        assert after[new].adjusted.plain() == pytest.approx(before[old].adjusted.plain())
        assert after[new].official.plain() == pytest.approx(before[old].official.plain())
        assert after[new].win_rate == pytest.approx(before[old].win_rate)


def test_background_agents_do_not_count():
    results = Tournament(FOUR).play()
    background = table([{"player": "ace", "score": 9.0, "competes": False}] * 50)
    assert assess(pa.concat_tables([results, background])) == assess(results)


def test_the_same_seed_of_another_field_is_another_configuration():
    rows = [{"field": field, "player": p} for field in "fg" for p in "ab"]
    assert assess(table(rows)).configurations == 2


# Pairs


def test_pairs_are_seen_from_both_sides():
    strength = assess(Tournament(FOUR, runs=2).play())
    assert len(strength.pairs) == 4 * 3
    for pair in strength.pairs:
        back = compare(strength, pair.opponent, pair.player)
        assert back.difference.value == pytest.approx(-pair.difference.value)
        assert back.difference.low == pytest.approx(-pair.difference.high)
        assert back.win_rate.value == pytest.approx(1 - pair.win_rate.value)
        assert back.win_rate.low == pytest.approx(1 - pair.win_rate.high)
        assert (back.rows, back.configurations) == (pair.rows, pair.configurations)


def test_pairs_need_the_same_slot_and_random_state_and_ties_count_half():
    rows = [
        {"player": "a", "score": 2.0}, {"player": "b", "score": 1.0},
        {"player": "a", "score": 1.0, "run": 1}, {"player": "b", "score": 1.0, "run": 1},
        {"player": "a", "score": 7.0, "run": 2},  # b has not played this one
        {"player": "a", "score": 0.0, "seed": 1}, {"player": "b", "score": 4.0, "seed": 1},
        {"player": "a", "score": 9.0, "slot": 3}, {"player": "b", "score": 0.0, "slot": 4},
    ]  # fmt: skip
    pair = compare(assess(table(rows)), "a", "b")
    assert (pair.rows, pair.configurations) == (3, 2)
    assert pair.difference.value == pytest.approx((1 + 0 - 4) / 3)
    assert pair.win_rate.value == pytest.approx(1.5 / 3)


def test_win_rate_against_the_field():
    rows = [(seed, 0, "abc"[index], 3 - index) for seed in range(5) for index in range(3)]
    strength = found(assess(scores(*rows)))
    assert [strength[name].win_rate.value for name in "abc"] == [1, 0.5, 0]
    assert strength["a"].win_rate.low == pytest.approx(0.722, abs=0.001)  # ten of ten: Wilson
    assert strength["c"].win_rate.high == pytest.approx(0.278, abs=0.001)
    assert (strength["a"].win_rate.high, strength["c"].win_rate.low) == (1, 0)


# Intervals


@pytest.mark.parametrize("configurations", [4, 12, 60])
def test_intervals_hold_the_truth_about_as_often_as_they_say(configurations):
    held, tries = 0, 0
    for seed in range(60):
        design = Tournament(FOUR, configurations, 4, noise=0.3, taste=0.2)
        strength = assess(design.play(seed), resamples=200, seed=seed)
        for player in strength.players:
            tries += 1
            held += player.adjusted.low <= FOUR[player.player] <= player.adjusted.high
    assert 0.89 <= held / tries <= 0.995


def test_configurations_are_drawn_whole():
    """Many runs of few configurations are not many observations."""
    few = Tournament(FOUR, configurations=8, competitors=4, runs=10, taste=0.3).play()
    many = Tournament(FOUR, configurations=80, competitors=4, runs=1, taste=0.3).play()
    wide, narrow = (found(assess(results))["ace"].adjusted for results in (few, many))
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)


def test_one_configuration_gives_no_interval():
    strength = assess(Tournament(FOUR, configurations=1, competitors=4, runs=3).play())
    for player in strength.players:
        for estimate in (player.adjusted, player.mean, player.official, player.win_rate):
            assert not estimate.bounded
    assert not compare(strength, "ace", "dud").difference.bounded
    assert not compare(strength, "ace", "dud").adjusted.bounded
    assert compare(strength, "ace", "dud").beats is None


def test_a_rare_player_gets_no_interval_and_takes_none_from_the_others():
    often = Tournament({"a": 0.1, "b": -0.1}, configurations=30, competitors=2).play()
    once = scores((99, 0, "a", 1.0), (99, 0, "rare", 11.0))
    strength = found(assess(pa.concat_tables([often, once])))
    assert not strength["rare"].adjusted.bounded
    assert strength["a"].adjusted.value == pytest.approx(-3.27, abs=0.1)
    assert strength["a"].adjusted.high - strength["a"].adjusted.low < 0.2


def test_a_link_of_one_configuration_gives_no_interval():
    """Two pairs that met often within, once across: across nothing is sure."""
    left = Tournament({"a": 0.1, "b": -0.1}, configurations=30, competitors=2).play()
    right = Tournament({"c": 0.1, "d": -0.1}, 30, competitors=2, first_seed=100).play()
    bridge = scores((999, 0, "b", 1.0), (999, 0, "c", 3.0))
    strength = assess(pa.concat_tables([left, right, bridge]))
    assert strength.groups == 1
    assert not compare(strength, "b", "c").adjusted.bounded
    assert not compare(strength, "a", "c").adjusted.bounded
    assert compare(strength, "a", "b").difference.bounded


# Groups


@pytest.mark.parametrize("seed", range(20))
def test_groups_are_chains_of_shared_slots_the_largest_first(seed):
    rng = np.random.default_rng(seed)
    ends = np.stack(np.triu_indices(9, 1), axis=1)
    links = (rng.random((2, len(ends))) < 0.06).astype(float)
    met = ends[links.sum(axis=0) > 0].tolist()
    group = list(range(9))  # whoever met shares the lesser number, until nobody moves
    for _ in range(9):
        for one, other in met:
            group[one] = group[other] = min(group[one], group[other])
    named = sorted({*group}, key=lambda name: (-group.count(name), name))
    found = Equations(ends, links, np.zeros((2, 9))).groups
    assert found.tolist() == [named.index(name) for name in group]


# The official score


@pytest.mark.parametrize("seed", range(20))
def test_the_official_score_is_that_of_the_tournament(seed):
    rng = np.random.default_rng(seed)
    values = rng.standard_t(1.5, int(rng.integers(1, 60)))
    values = values.round(1) if seed % 2 else values  # ties
    assert official_score(values) == pytest.approx(truncated_mean(values), rel=1e-12)


def test_the_official_score_cuts_above_only():
    values = np.array([-50.0, 1, 1, 2, 2, 3, 3, 50])
    assert official_score(values) == pytest.approx(-38 / 7)
    assert official_score(np.full(5, 1.1)) == pytest.approx(1.1)


def test_resampled_official_scores_are_those_of_the_repeated_rows():
    rng = np.random.default_rng(4)
    values, configuration = rng.standard_t(1.2, 37).round(1), rng.integers(0, 9, 37)
    weight = resample_weights(9, 50, 0)
    weight[7] = 0
    expected = [
        truncated_mean(np.repeat(values, row[configuration].astype(int))) if row.any() else np.nan
        for row in weight
    ]
    np.testing.assert_allclose(official_scores(values, weight, configuration), expected, atol=1e-12)


# Rates, borders, forms


def test_rates_are_of_totals():
    rows = [
        {"bankrupt": True, "talks": 10, "agreements": 5, "sales": 4, "unsafe": 1, "over_lines": 0},
        {"talks": 30, "agreements": 5, "sales": 6, "unsafe": 1, "over_lines": 2, "faults": 3},
        {"player": "idle", "talks": 0, "sales": 0, "promised": 0, "shortfall": 0},
    ]
    rows[0] |= {"promised": 10, "shortfall": 3}
    strength = found(assess(table(rows)))
    rates = strength["a"].rates
    assert (rates.bankrupt, rates.faults) == (0.5, 1.5)
    assert (rates.agreement, rates.unsafe, rates.over_lines) == (0.25, 0.2, 0.2)
    assert rates.shortfall == pytest.approx(4 / 30)
    idle = strength["idle"].rates
    assert (idle.agreement, idle.shortfall, idle.unsafe, idle.over_lines) == (None,) * 4


def test_nobody_and_somebody_alone():
    assert assess(table([{"competes": False}])) == Strength(0, 0, 0, (), ())
    alone = assess(table([{"seed": seed, "score": 1.0 + seed} for seed in range(20)]))
    (player,) = alone.players
    assert (player.adjusted, player.win_rate, alone.pairs) == (Estimate(0.0), None, ())
    assert player.mean.low < player.mean.value < player.mean.high
    assert not player.levels["first"].adjusted.bounded


def test_players_that_never_share_a_slot_are_not_compared():
    left = Tournament({"a": 0.5, "b": 0.1, "e": 0.0}, competitors=3).play()
    right = Tournament({"c": 9.0, "d": 8.0}, competitors=2, first_seed=100).play()
    strength = assess(pa.concat_tables([right, left]))
    assert strength.groups == 2
    assert {p.player: p.group for p in strength.players} == {"a": 0, "b": 0, "e": 0, "c": 1, "d": 1}
    assert [p.player for p in strength.players] == ["a", "b", "e", "c", "d"]
    assert adjusted(strength)["c"] + adjusted(strength)["d"] == pytest.approx(0)
    assert adjusted(strength)["c"] == pytest.approx(0.5, abs=0.05)
    assert found(strength)["c"].adjusted.bounded
    assert found(strength)["c"].levels["first"].adjusted is not None
    with pytest.raises(InputError, match="a and c cannot be compared"):
        compare(strength, "a", "c")


def test_an_unknown_player_is_named():
    with pytest.raises(InputError, match="no results of 'magic'; there are ace, bee"):
        compare(assess(Tournament(FOUR).play(), resamples=5), "ace", "magic")


def test_scores_must_be_numbers():
    with pytest.raises(ValueError, match="not finite"):
        assess(table([{"score": float("nan")}]))


@pytest.mark.parametrize("configurations", [1, 12])
def test_what_is_written_as_json_reads_the_same(configurations):
    strength = assess(Tournament(FOUR, configurations).play(), resamples=50)
    text = json.dumps(strength.to_json(), allow_nan=False)
    assert Strength.from_json(json.loads(text)) == strength


def test_the_same_seed_gives_the_same_intervals():
    results = Tournament(FOUR).play()
    assert assess(results, seed=3) == assess(results, seed=3)
    assert assess(results, seed=3) != assess(results, seed=4)


def test_a_season_is_assessed_in_seconds():
    effects = {f"p{index}": index / 45 for index in range(45)}
    results = Tournament(effects, configurations=500, competitors=4).play()
    begun = time.process_time()
    strength = assess(results)
    assert strength.worlds == 2000
    assert time.process_time() - begun < 10  # 2 s on a quiet machine
