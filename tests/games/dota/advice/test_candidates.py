"""What could be done: which items and objectives are possible, and beside what they are judged."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.games.dota.small_matches import small_match, small_tables
from understudy.data.stats import logistic
from understudy.games.dota import facts
from understudy.games.dota.advice import candidates
from understudy.games.dota.advice.buying import ORDERS
from understudy.games.dota.features import features, inventory
from understudy.games.dota.features.inventory import GoldEstimate, Inventory, item_index, item_keys
from understudy.games.dota.features.samples import ALL_NAMES, Samples
from understudy.games.dota.features.timeline import build_timeline
from understudy.games.dota.policies.next_item import FREQUENCY_TABLES, FrequencyTables
from understudy.games.dota.value import checkpoint
from understudy.games.dota.value.linear import Linear
from understudy.games.dota.value.symmetric import symmetric

INDEX = {name: number for number, name in enumerate(checkpoint.NAMES)}
COST = {key: item.cost for key, item in facts.items().items()}


def held(*keys):
    found = Inventory()
    for key in keys:
        found.add(key)
    return found


def model(**weights):
    """A value model that knows only some columns; each weight has an error of 0.1."""
    beta = np.zeros(len(checkpoint.NAMES) + 1)
    for name, weight in weights.items():
        beta[INDEX[name]] = weight
    linear = Linear(symmetric, {"y_win": beta}, np.full(len(beta), 0.1))
    return checkpoint.ValueModel(linear, ("7.38",), {})


def state():
    one = np.array([1])
    return Samples(np.zeros((1, len(ALL_NAMES)), np.float32), one, one, one, {})


def choices(value, bag, chance, team=0, most=6):
    chances = np.zeros(len(item_keys()))
    for key, share in chance.items():
        chances[item_index()[key]] = share
    found = candidates.item_choices(value, state(), bag, chances, ~bag.owned, team, most)
    return {choice.key: choice for choice in found}


# --- parts and gold ------------------------------------------------------------------------------


def test_an_item_takes_what_its_missing_parts_and_its_recipe_cost():
    assert held().still_takes("black_king_bar")[0] == COST["black_king_bar"]
    gold, things = held("ogre_axe").still_takes("black_king_bar")
    assert gold == COST["black_king_bar"] - COST["ogre_axe"]
    assert sorted(things) == ["black_king_bar", "mithril_hammer", "recipe_black_king_bar"]
    every = held("ogre_axe", "mithril_hammer", "recipe_black_king_bar")
    assert every.still_takes("black_king_bar") == (0, ["black_king_bar"])


def test_parts_of_parts_count_and_parts_that_were_used_do_not():
    axe = COST["ogre_axe"]
    deep = held(facts.items()["sange"].components[0])
    assert deep.still_takes("sange_and_yasha")[0] < COST["sange_and_yasha"]
    built = held("ogre_axe", "mithril_hammer", "recipe_black_king_bar", "black_king_bar")
    assert built.still_takes("ultimate_scepter")[0] == COST["ultimate_scepter"]
    assert held("ogre_axe").still_takes("ultimate_scepter")[0] == COST["ultimate_scepter"] - axe
    assert built.spent == COST["black_king_bar"]


@given(st.lists(st.sampled_from([*facts.items(), "item of tomorrow"]), max_size=25))
def test_progress_is_a_share_and_is_what_is_left_to_pay(keys):
    bag = held(*keys)
    assert ((bag.progress > -1e-9) & (bag.progress < 1 + 1e-9)).all()
    for number, key in enumerate(item_keys()):
        left, things = bag.still_takes(key)
        assert left == pytest.approx(COST[key] * (1 - bag.progress[number]), abs=1e-6)
        assert things[0] == key


def test_the_gold_estimate_falls_by_deaths_and_buybacks():
    match = small_match()
    match["players"][5]["kills_log"] = [{"time": 121, "key": "npc_dota_hero_antimage"}]
    match["players"][0]["buyback_log"] = [{"time": 130}]
    gold_estimate = GoldEstimate(build_timeline(small_tables(match)))
    net_worth = 600 + 200  # at two minutes
    assert gold_estimate.left(0, 0, 121) == net_worth
    assert gold_estimate.left(0, 0, 122) == net_worth - net_worth / 40
    assert gold_estimate.left(0, 0, 131) == pytest.approx(
        net_worth - net_worth / 40 - 200 - net_worth / 13
    )
    assert gold_estimate.left(0, 1, 131) == net_worth


# --- items ---------------------------------------------------------------------------------------


def test_to_have_bought_something_is_no_gain_by_itself():
    """Where every item is as good for its gold, no item gains."""
    value = model(has_blink=2.25, has_ogre_axe=1.0, has_mithril_hammer=1.6)
    assert COST["blink"] == 2250 and COST["ogre_axe"] == 1000 and COST["mithril_hammer"] == 1600
    found = choices(value, held(), {"blink": 0.5, "ogre_axe": 0.3, "mithril_hammer": 0.2})
    assert all(choice.value_delta.gain == pytest.approx(0, abs=1e-6) for choice in found.values())


def test_an_item_is_judged_beside_the_same_gold_spent_as_others_do():
    """A worked example: 2,250 gold are half a dagger and 1.125 axes."""
    found = choices(model(has_blink=1.0), held(), {"blink": 0.5, "ogre_axe": 0.5})
    gold = 0.5 * 2250 + 0.5 * 1000
    others = 2250 * 0.5 / gold  # daggers that 2,250 gold become
    expected = logistic(np.array(1.0)) - logistic(np.array(others))
    assert found["blink"].value_delta.gain == pytest.approx(float(expected), rel=1e-5)
    assert found["ogre_axe"].value_delta.gain < 0


def test_what_is_paid_for_says_nothing_about_spending():
    """Nearly all take what costs nothing more; the gold of the rest goes as they spend it."""
    parts = facts.items()["ultimate_scepter"].components
    found = choices(
        model(has_blink=1.0, has_mithril_hammer=1600 / 2250),
        held(*parts),
        {"ultimate_scepter": 1 - 2e-9, "blink": 1e-9, "mithril_hammer": 1e-9},
    )
    assert found["ultimate_scepter"].left == 0
    for key in ("blink", "mithril_hammer"):  # alike for their gold
        assert found[key].value_delta.gain == pytest.approx(0, abs=1e-6)
        assert found[key].value_delta.error < 1


def test_dire_sees_the_same_as_radiant():
    value = model(has_blink=0.7, has_ogre_axe=-0.3)
    one = choices(value, held(), {"blink": 0.6, "ogre_axe": 0.4}, team=0)
    other = choices(value, held(), {"blink": 0.6, "ogre_axe": 0.4}, team=1)
    for key in one:
        assert one[key].value_delta.gain == pytest.approx(other[key].value_delta.gain)
        assert one[key].value_delta.error == pytest.approx(other[key].value_delta.error)


def test_missing_parts_are_bought_with_an_item():
    found = choices(model(has_mithril_hammer=1.0), held(), {"black_king_bar": 0.5, "blink": 0.5})
    assert found["black_king_bar"].value_delta.gain > 0
    found = choices(
        model(has_mithril_hammer=1.0),
        held("mithril_hammer"),
        {"black_king_bar": 0.5, "blink": 0.5},
    )
    assert found["black_king_bar"].value_delta.gain == pytest.approx(0, abs=1e-9)


def test_the_order_is_what_others_buy_or_what_the_model_likes():
    found = choices(model(has_blink=0.3), held(), {"ogre_axe": 0.6, "blink": 0.4})
    assert list(found) == ["ogre_axe", "blink"]
    by_value = sorted(found.values(), key=ORDERS["value"])
    assert [choice.key for choice in by_value] == ["blink", "ogre_axe"]
    assert sorted(by_value, key=ORDERS["frequency"]) == list(found.values())


def test_what_is_owned_or_was_never_bought_so_early_is_impossible():
    size = len(item_keys())
    early, late = np.zeros(size), np.zeros(size)
    early[item_index()["ogre_axe"]] = early[item_index()["blink"]] = 1
    late[item_index()["rapier"]] = 1
    counts = {name: {0: early} for name in FREQUENCY_TABLES} | {"time": {1: early, 6: late}}
    frequencies = FrequencyTables(counts)

    def names(bag, t):
        allowed = candidates.possible(frequencies, bag, t)
        return {key for key in item_keys() if allowed[item_index()[key]]}

    assert names(held(), 0) == set()
    assert names(held(), 600) == {"ogre_axe", "blink"}
    assert names(held("blink"), 600) == {"ogre_axe"}
    assert names(held("blink"), 1800) == {"ogre_axe", "rapier"}


# --- objectives ----------------------------------------------------------------------------------


def allowed_after(*fallen, now=1500, team=0, roshan=()):
    side = ("badguys", "goodguys")[team]
    raw = small_match(minutes=now // 60 + 1)
    raw["objectives"] = [
        {"time": 60 + k, "type": "building_kill", "key": f"npc_dota_{side}_{name}"}
        for k, name in enumerate(fallen)
    ]
    raw["objectives"] += [
        {"time": t, "type": "CHAT_MESSAGE_ROSHAN_KILL", "team": 2} for t in roshan
    ]
    match = build_timeline(small_tables(raw))
    return {one.name: one for one in candidates.objectives(match, now, team)}


@pytest.mark.parametrize("team", [0, 1])
def test_nothing_behind_what_stands_may_be_taken(team):
    towers = [f"tower{tier}_mid" for tier in (1, 2, 3)]
    lanes = {"tier 1 tower, top", "tier 1 tower, bot", "Roshan"}
    assert set(allowed_after(team=team)) == {*lanes, "tier 1 tower, mid"}
    assert set(allowed_after(*towers[:2], team=team)) == {*lanes, "tier 3 tower, mid"}
    open_base = {*lanes, "melee barracks, mid", "range barracks, mid", "tower before the Ancient"}
    assert set(allowed_after(*towers, team=team)) == open_base
    fell = allowed_after(*towers, "melee_rax_mid", "tower4", team=team)
    assert set(fell) == open_base - {"melee barracks, mid"}
    fell = allowed_after(*towers, "tower4", "tower4", team=team)
    assert set(fell) == open_base - {"tower before the Ancient"}
    own = ("goodguys", "badguys")[team]
    assert set(allowed_after(f"x_{own}", team=team)) == {*lanes, "tier 1 tower, mid"}


def test_a_lane_says_what_stands_on_both_sides():
    found = allowed_after("tower1_mid", "tower1_top", "tower2_top", "tower3_top", "melee_rax_top")
    assert found["tier 2 tower, mid"].lane == "theirs: tier 2 3; ours: tier 1 2 3"
    assert found["range barracks, top"].lane == "theirs: range barracks; ours: tier 1 2 3"
    assert found["Roshan"].lane == ""


@pytest.mark.parametrize(
    ("now", "died", "there", "caution"),
    [
        (540, (), False, ""),
        (600, (), True, ""),
        (1500, (1100,), False, ""),
        (1500, (1000,), True, "may not be back yet"),
        (1500, (840,), True, ""),
        (1500, (300, 1100), False, ""),
    ],
)
def test_roshan_must_be_alive(now, died, there, caution):
    found = allowed_after(now=now, roshan=died)
    assert ("Roshan" in found) == there
    if there:
        assert found["Roshan"].caution == caution


def test_every_change_is_of_a_feature_that_is_there():
    changes = [
        one.changes for one in allowed_after("tower1_mid", "tower2_mid", "tower3_mid").values()
    ]
    for change in (*changes, candidates.WARD):
        assert set(change) <= set(ALL_NAMES)
        turned = candidates.for_side(change, 1)
        assert {n: -x if n not in features.EVEN else x for n, x in change.items()} == turned


def test_items_in_the_shop_have_a_place():
    assert inventory.needs()["black_king_bar"][-1] == ("recipe_black_king_bar", 1450)
    assert [item_keys()[n] for n in item_index().values()] == list(item_keys())
