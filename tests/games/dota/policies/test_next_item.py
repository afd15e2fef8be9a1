"""Decisions to buy and the policy of the next item, beside counts and chances by hand."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from tests.games.dota.small_matches import made_up, put, small_match, small_tables
from understudy.errors import InputError
from understudy.games.dota.features.inventory import NOTHING, START, costs, item_index, item_keys
from understudy.games.dota.policies import next_item, purchases, recipes
from understudy.games.dota.policies.next_item import (
    BAND,
    FREQUENCY_TABLES,
    OTHERS,
    PRIOR,
    ItemPolicies,
    NextItem,
)
from understudy.games.dota.policies.purchases import completed, decisions

SIZE = len(item_keys())


@pytest.fixture(scope="module")
def rows():
    return decisions(made_up(12))


def bought(**logs):
    """Decisions of one match; `slot_3=[(t, key), ...]` is what slot 3 bought."""
    match = small_match(minutes=12)
    match["players"][0]["purchase_log"] = []
    for name, things in logs.items():
        log = [{"time": t, "key": key} for t, key in things]
        match["players"][int(name[-1])]["purchase_log"] = log
    return decisions(small_tables(match))


# --- decisions -----------------------------------------------------------------------------------


def test_players_decide_for_themselves():
    found = bought(slot_2=[(100, "blink"), (200, "ogre_axe")], slot_8=[(150, "blink")])
    when = zip(found.slot.tolist(), found.t.tolist(), strict=True)
    choices = dict(zip(when, (item_keys()[k] for k in found.chosen), strict=True))
    assert choices == {(2, 100): "blink", (2, 200): "ogre_axe", (8, 150): "blink"}
    assert found.hero[found.slot == 8].tolist() == [9] and set(found.match_id.tolist()) == {7}
    axe = found.where(found.t == 200)
    assert axe.last.tolist() == [item_index()["blink"]] and axe.before_last.tolist() == [NOTHING]
    assert axe.cash.tolist() == [START + 300 - costs()[item_index()["blink"]]]


@pytest.mark.parametrize("t", [300, 700, 1200])
def test_a_decision_does_not_change_with_what_comes_after(t):
    tables = made_up(4)
    before = decisions(tables)
    events, players = tables["events"], tables["state_player_minute"]
    late = events["t"].to_numpy() > t
    keys = np.where(late, "rapier", np.array(events["key"].to_pylist(), object))
    gold = players["gold"].to_numpy() * np.where(players["t"].to_numpy() > t, 3, 1)
    changed = {"events": put(events, key=keys.tolist())}
    changed["state_player_minute"] = put(players, gold=gold)
    after = decisions(tables | changed)
    one, other = before.where(before.t <= t), after.where(after.t <= t)
    assert len(one) > 20
    for name, values in vars(one).items():
        np.testing.assert_array_equal(values, getattr(other, name), err_msg=name)


def test_no_purchase_is_no_decision_and_parts_are_told_from_wholes():
    assert len(bought()) == 0 and bought().owned.shape == (0, SIZE)
    whole = completed()
    assert whole[item_index()["black_king_bar"]] and not whole[item_index()["ogre_axe"]]


def test_what_is_built_into_something_soon_is_a_part():
    """Fewer than twenty purchases: what it is made of decides; else what became of it."""
    size = 30
    chosen = np.tile([item_index()[key] for key in ("ogre_axe", "black_king_bar", "blink")], size)
    some = bought(slot_0=[(100, "ogre_axe")])
    many = purchases.joined([some] * len(chosen))
    t = np.tile([100, 400, 800], size)
    many = replace(many, chosen=chosen, t=t, match_id=np.repeat(np.arange(size), 3))
    kept = purchases.ends(many)
    axe, bar, dagger = chosen[:3]
    assert kept[bar] and kept[dagger] and not kept[axe]
    assert not kept[item_index()["mithril_hammer"]] and kept[item_index()["manta"]]
    late = replace(many, t=np.tile([100, 800, 900], size))  # 700 s after the axe: it was kept
    assert purchases.ends(late)[axe]
    led = purchases.towards(many, kept)
    assert led.chosen.tolist() == [bar, bar, dagger] * size and len(led) == 3 * size
    cut = purchases.towards(many.where(np.arange(3 * size) % 3 == 0), kept)
    assert len(cut) == 0  # an axe that led to nothing


def test_rank_and_what_others_have_are_known_strictly_before():
    match = small_match(minutes=12)
    for slot in (0, 3, 7):
        match["players"][slot]["purchase_log"] = [{"time": 300 + slot, "key": "blink"}]
    match["players"][3]["gold_t"] = [500 * k for k in range(13)]
    found = decisions(small_tables(match))
    dagger = item_index()["blink"]
    assert found.slot.tolist() == [0, 3, 7]
    assert found.mates[:, dagger].tolist() == [0, 1, 0]
    assert found.foes[:, dagger].tolist() == [0, 0, 2]
    assert found.rank.tolist() == [1, 0, 0]


# --- frequency tables ----------------------------------------------------------------------------


def test_counts_add_up_to_the_decisions(rows):
    frequencies = next_item.count(rows)
    for name in FREQUENCY_TABLES:
        assert sum(line.sum() for line in frequencies.counts[name].values()) == len(rows)
    everybody = frequencies.counts["everybody"][0]
    np.testing.assert_array_equal(everybody, np.bincount(rows.chosen, minlength=SIZE))
    band = frequencies.counts["time"][2]
    inside = rows.t // BAND == 2
    np.testing.assert_array_equal(band, np.bincount(rows.chosen[inside], minlength=SIZE))


def test_a_rare_row_leans_on_the_wider_table(rows):
    """(times chosen here + PRIOR times the wider chance) / (times here + PRIOR), row by row."""
    frequencies = next_item.count(rows)
    some = rows.where(slice(0, 40))
    found = frequencies.chances(some)
    for k in range(40):
        own = rows.hero == some.hero[k]
        wide = (np.bincount(rows.chosen, minlength=SIZE) + PRIOR / SIZE) / (len(rows) + PRIOR)
        np.testing.assert_allclose(found["everybody"][k], wide)
        counts = np.bincount(rows.chosen[own], minlength=SIZE)
        narrow = (counts + PRIOR * wide) / (own.sum() + PRIOR)
        np.testing.assert_allclose(found["hero"][k], narrow)
        own &= rows.last == some.last[k]
        counts = np.bincount(rows.chosen[own], minlength=SIZE)
        expected = (counts + PRIOR * narrow) / (own.sum() + PRIOR)
        np.testing.assert_allclose(found["hero, last"][k], expected)
    assert all(np.allclose(chance.sum(axis=1), 1) for chance in found.values())


def test_what_is_weighed_by_hand():
    """At 600 s an axe of 1,000 has been paid out of 1,600, then all of a Black King Bar."""
    parts = ("mithril_hammer", "recipe_black_king_bar")
    found = bought(slot_0=[(100, "ogre_axe"), (600, "blink"), *((610, key) for key in parts)])
    found = found.where(found.t >= 600)
    known = next_item.columns(next_item.count(found), found)
    assert known.shape == (len(found), SIZE, len(FREQUENCY_TABLES) + len(OTHERS))
    others = dict(zip(OTHERS, known[0, :, len(FREQUENCY_TABLES) :].T, strict=True))
    bar, axe = item_index()["black_king_bar"], item_index()["ogre_axe"]
    np.testing.assert_allclose(others["cost"], costs(earlier=True) / 1000)
    assert others["parts bought"][bar] == pytest.approx(costs()[axe] / costs()[bar])
    hammer = item_index()["mithril_hammer"]
    assert others["wanted"][hammer] == pytest.approx(costs()[axe] / costs()[bar])
    assert others["wanted at all"][[hammer, axe]].tolist() == [1, 0]
    assert others["can be paid"][axe] == (1000 <= 600 + 100)
    assert others["put together"][[bar, axe]].tolist() == [1, 0]
    assert others["missing gold"][bar] == pytest.approx((costs()[bar] - costs()[axe] - 600) / 1000)
    assert others["missing gold"][item_index()["blink"]] == pytest.approx((2250 - 600) / 1000)
    assert not others["all parts bought"].any()
    whole = bought(slot_0=[(50, "ogre_axe"), *((60, key) for key in parts), (90, "blink")])
    last = next_item.columns(next_item.count(whole), whole)[-1, bar, len(FREQUENCY_TABLES) :]
    assert last[:2].tolist() == [1, 1]


def test_weights_make_the_choices_likeliest():
    train, val = decisions(made_up(12)), decisions(made_up(3, seed=9))
    policy = next_item.fit(train, val)
    known = next_item.columns(next_item.count(train), val).astype(np.float64)
    start = np.zeros(known.shape[2])
    start[FREQUENCY_TABLES.index("hero, last")] = 1.0

    def loss(weights):
        score = np.where(val.owned, -np.inf, known @ weights)
        chosen = score[np.arange(len(val)), val.chosen]
        total = np.log(np.exp(score - chosen[:, None]).sum(axis=1))
        return total.sum() + ((weights - start) ** 2).sum() / 2

    best = minimize(loss, start, method="L-BFGS-B")
    assert loss(policy.weights) <= best.fun + 1e-3
    assert policy.frequencies.counts["everybody"][0].sum() == len(train) + len(val)


def test_chances_are_the_same_in_pieces(rows):
    policy = NextItem(
        next_item.count(rows), np.linspace(0.1, 0.4, len(FREQUENCY_TABLES) + len(OTHERS))
    )
    whole = policy.chances(rows)
    pieces = [policy.chances(rows.where(slice(k, k + 50))) for k in range(0, len(rows), 50)]
    np.testing.assert_allclose(np.concatenate(pieces), whole, rtol=1e-5)
    assert policy.chances(rows.where(slice(0, 0))).shape == (0, SIZE)
    counts = next_item.baseline(policy.frequencies, rows)
    np.testing.assert_allclose(counts.sum(axis=1), 1)
    assert not counts[rows.owned].any() and not whole[rows.owned].any()


# --- on disk and judged --------------------------------------------------------------------------


def test_policies_are_read_back_as_they_were_written(rows, tmp_path):
    kept = purchases.ends(rows)
    both = [
        NextItem(next_item.count(of), np.linspace(0, 1, len(FREQUENCY_TABLES) + len(OTHERS)))
        for of in (rows, purchases.towards(rows, kept))
    ]
    path = tmp_path / "items.npz"
    recipes.save_items(path, ItemPolicies(*both, kept))
    read = recipes.load_items(path)
    for policy, back in zip(both, (read.next, read.goal), strict=True):
        np.testing.assert_array_equal(back.chances(rows), policy.chances(rows))
    np.testing.assert_array_equal(read.kept, kept)
    arrays = dict(np.load(path))
    arrays["items"] = np.array(["item_of_yesterday"])
    np.savez(path, **arrays)
    with pytest.raises(InputError, match=r"items\.npz knows other items\. Train again: underst"):
        recipes.load_items(path)
    path.write_bytes(b"damaged")
    with pytest.raises(InputError, match=r"cannot be read .* Train it: understudy train dota item"):
        recipes.load_items(path)


def test_judged_by_hand():
    ours = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]])
    counts = np.array([[0.2, 0.5, 0.3], [0.3, 0.3, 0.4]])
    scores = recipes.judged(ours, counts, np.array([0, 1]), np.array([1, 2]), (1, 2))
    assert scores["decisions"] == 2
    assert (scores["hit@1"]["ours"], scores["hit@1"]["counts"]) == (0.5, 0.0)
    assert (scores["hit@2"]["ours"], scores["hit@2"]["counts"]) == (1.0, 0.0)  # 0.3 twice: a tie
    assert scores["hit@2"]["beside"]["mean"] == 1.0
    assert scores["log loss"]["ours"] == pytest.approx(-(np.log(0.7) + np.log(0.2)) / 2)
    gap = scores["log loss"]["ours"] - scores["log loss"]["counts"]
    assert scores["log loss"]["beside"]["mean"] == pytest.approx(gap)


def test_no_decision_has_no_score():
    nobody = np.zeros(0, np.int64)
    assert recipes.judged(np.zeros((0, 3)), np.zeros((0, 3)), nobody, nobody, (1, 2)) == {
        "decisions": 0
    }
