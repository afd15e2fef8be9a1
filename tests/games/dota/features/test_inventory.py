"""What things cost, what is left to pay, and what a player can pay by then."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.games.dota.small_matches import late_match, small_match, small_timeline
from understudy.games.dota import facts
from understudy.games.dota.features import inventory
from understudy.games.dota.features.inventory import (
    START,
    GoldEstimate,
    Inventory,
    depth,
    item_keys,
    needs,
)


@pytest.mark.parametrize("earlier", [False, True])
def test_parts_and_recipe_pay_for_the_whole(earlier):
    known = facts.items()
    for key, parts in needs(earlier).items():
        assert sum(cost for _, cost in parts) >= known[key].cost, key
        recipe = [cost for part, cost in parts if part == f"recipe_{key}"]
        assert all(cost > 0 for cost in recipe) and len(recipe) <= 1
        if recipe:
            assert sum(cost for _, cost in parts) == known[key].cost, key


def test_a_match_of_an_earlier_patch_builds_from_the_parts_of_its_time():
    assert facts.made_of(False)["orchid"] == ("oblivion_staff", "claymore")
    assert facts.made_of(True)["orchid"] == ("oblivion_staff", "cornucopia")
    assert facts.made_of(True)["manta"] == facts.made_of(False)["manta"]  # the same in both
    then, now = Inventory(earlier=True), Inventory()
    for key in ("oblivion_staff", "cornucopia"):
        then.add(key)
        now.add(key)
    number = item_keys().index("orchid")
    share = 1 - then.still_takes("orchid")[0] / inventory.costs(earlier=True)[number]
    assert then.still_takes("orchid")[1] == ["orchid", "recipe_orchid"]
    assert then.progress[number] == pytest.approx(share) and share > now.progress[number]
    then.add("orchid")
    assert not then.loose["cornucopia"]
    now.add("orchid")
    assert now.loose["cornucopia"] == 1
    cornucopia = item_keys().index("cornucopia")
    assert inventory.goes_into(earlier=True)[number, cornucopia] == 1
    assert not inventory.goes_into()[:, cornucopia].any()


@pytest.mark.parametrize("earlier", [False, True])
def test_what_is_begun_is_paid_for_in_shares(earlier):
    held = Inventory(earlier)
    for key, parts in needs(earlier).items():
        for part, _ in parts[:1]:
            held.add(part)
        assert held.progress.min() >= 0 and held.progress.max() <= 1, key


def test_depth_is_one_more_than_that_of_the_deepest_part():
    assert depth("ogre_axe") == depth("item of tomorrow") == 0
    assert depth("sange") == 1 and depth("sange_and_yasha") == 2
    for key, parts in needs().items():
        assert depth(key) == 1 + max(depth(part) for part, _ in parts)


def test_items_of_a_decision_are_sold_and_dear_and_no_recipes():
    for key, cost in zip(item_keys(), inventory.costs(), strict=True):
        item = facts.items()[key]
        assert item.cost == cost >= inventory.MIN_COST and not item.neutral
        assert not key.startswith("recipe_")
    assert len(set(item_keys())) == len(item_keys()) > 100
    assert "tango" not in item_keys() and "recipe_black_king_bar" not in item_keys()


LEAVES = sorted(key for key in facts.items() if key not in needs())


@given(st.lists(st.sampled_from(LEAVES), max_size=15), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_parts_may_be_bought_in_any_order(keys, rng):
    mixed = list(keys)
    rng.shuffle(mixed)
    one, other = Inventory(), Inventory()
    for key, another in zip(keys, mixed, strict=True):
        one.add(key)
        other.add(another)
    assert one.spent == other.spent == sum(facts.items()[key].cost for key in keys)
    np.testing.assert_array_equal(one.progress, other.progress)
    np.testing.assert_array_equal(one.owned, other.owned)
    for key in ("ultimate_scepter", "sange_and_yasha", "black_king_bar"):
        assert one.still_takes(key)[0] == other.still_takes(key)[0] <= facts.items()[key].cost


def test_last_and_the_one_before_are_dearer_items_seen_for_the_first_time():
    bag, place = Inventory(), inventory.item_index()
    assert (bag.last, bag.before_last) == (inventory.NOTHING, inventory.NOTHING)
    bought = ("blink", "tango", "ogre_axe", "blink", "item of tomorrow")
    for key in bought:
        bag.add(key)
    assert (bag.last, bag.before_last) == (place["ogre_axe"], place["blink"])
    assert bag.spent == sum(facts.items()[key].cost for key in bought[:-1])


def test_a_part_used_twice_must_be_there_twice():
    key, parts = next(
        (key, [part for part, _ in parts])
        for key, parts in needs().items()
        if key in item_keys() and len(parts) > len({part for part, _ in parts})
    )
    double = next(part for part in parts if parts.count(part) > 1)
    bag, whole, cost = Inventory(), facts.items()[key].cost, facts.items()[double].cost
    left = []
    for _ in range(3):
        left.append(bag.still_takes(key)[0])
        bag.add(double)
    assert left == [whole, whole - cost, whole - 2 * cost]


# --- gold estimate --------------------------------------------------------------------------------


def test_gold_is_that_of_the_last_whole_minute():
    gold_estimate = GoldEstimate(small_timeline(small_match(minutes=10)))
    assert [gold_estimate.earned(0, 0, t) for t in (-90, 0, 59, 60, 119, 120)] == [
        0,
        0,
        0,
        100,
        100,
        200,
    ]
    assert gold_estimate.earned(0, 9, 10_000) == 900  # the last there is
    assert gold_estimate.left(0, 3, 60) == START + 100


@pytest.mark.parametrize("t", [0, 119, 120, 179, 180, 241])
def test_a_gold_estimate_does_not_look_ahead_where_the_first_minutes_were_missed(t):
    match = small_timeline(late_match(120, minutes=10))
    seen = match.players["gold"][match.t <= t, 0]
    assert GoldEstimate(match).earned(0, 0, t) == (
        seen[-1] if len(seen) else match.players["gold"][0, 0]
    )


def test_each_loss_is_by_what_was_earned_at_that_time():
    match = small_match(minutes=10)
    match["players"][5]["kills_log"] = [
        {"time": t, "key": "npc_dota_hero_antimage"} for t in (100, 300)
    ]
    gold_estimate = GoldEstimate(small_timeline(match))
    lost = (START + 100) / 40, (START + 500) / 40
    assert gold_estimate.left(0, 0, 301) == pytest.approx(START + 500 - sum(lost))
    assert gold_estimate.left(0, 0, 300) == pytest.approx(START + 500 - lost[0])
    assert gold_estimate.left(0, 5, 301) == START + 450  # killing costs nothing
