"""A match as advice sees it: where it and the models come from, and that sides are alike."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from tests.games.dota.small_matches import (
    known_of,
    late_match,
    made_up,
    small_match,
    small_tables,
    swap_sides,
)
from understudy import games
from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.games.dota.advice import buying, recommend, spots
from understudy.games.dota.advice.match_context import (
    SHIPPED,
    MatchContext,
    load_models,
    open_match,
    recorded,
)
from understudy.games.dota.sources.match_files import read_logs
from understudy.games.dota.sources.synthetic import World, generate
from understudy.games.dota.value.linear import Linear
from understudy.pipeline import import_matches


@pytest.fixture(scope="module")
def models():
    return load_models()


# --- models --------------------------------------------------------------------------------------


def put_models(folder, value="value"):
    for name, file in ((value, "model.json"), ("items", "items.npz"), ("wards", "wards.npz")):
        (folder / name).mkdir(parents=True)
        shutil.copy(SHIPPED / file, folder / name / file)
    return folder


@pytest.mark.parametrize("value", ["value", "value-time"])
def test_models_of_a_run_lie_in_a_folder_each(value, models, tmp_path):
    found = load_models(put_models(tmp_path, value))
    assert (
        found.value.patches == models.value.patches
        and found.value.feature_ranges == models.value.feature_ranges
    )
    np.testing.assert_array_equal(found.items.goal.weights, models.items.goal.weights)
    for kind in ("obs", "sen"):
        np.testing.assert_array_equal(found.wards[kind].asked, models.wards[kind].asked)


def test_a_missing_value_model_is_named_and_policies_come_with_the_program(models, tmp_path):
    for name in ("items", "wards"):
        shutil.rmtree(put_models(tmp_path / name) / name)
        found = load_models(tmp_path / name)
        assert set(found.wards) == set(models.wards)
        np.testing.assert_array_equal(found.items.goal.weights, models.items.goal.weights)
    shutil.rmtree(put_models(tmp_path / "none") / "value")
    with pytest.raises(InputError) as failure:
        load_models(tmp_path / "none")
    assert str(tmp_path / "none" / "value") in str(failure.value)
    assert str(failure.value).endswith("understudy train dota value")


# --- matches -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    run = Run(tmp_path_factory.mktemp("dota"))
    made = generate(World(seed=3), 9)
    import_matches.take_in(games.load("dota"), run, made, {"synthetic": 9})
    return run


def test_a_recorded_match_comes_with_what_earlier_ones_tell(run):
    number = 9_000_000_007
    context = open_match(f"{run.folder}/{number}")
    tables = made_up(9)
    assert context.strength == known_of(tables)[number] and context.strength.games >= 0
    assert context.outline["match_id"] == number and set(context.samples.match_id) == {number}
    assert all(set(rows["match_id"].to_pylist()) <= {number} for rows in context.tables.values())
    assert context.samples.column("strength_unsure")[0] == pytest.approx(context.strength.unsure)
    alone = MatchContext(context.tables, None).samples
    assert set(alone.column("strength_unsure")) == {2.0}
    with pytest.raises(InputError, match="recordings holds no match 5"):
        recorded(run, 5)


def test_of_a_file_with_many_matches_the_first_with_minutes_is_taken(tmp_path):
    path = tmp_path / "some.jsonl"

    def write(*matches):
        path.write_text("\n".join(map(json.dumps, matches)))
        return str(path)

    assert open_match(write(small_match(4), small_match(5))).outline["match_id"] == 4
    context = open_match(write(small_match(4, version=None), small_match(5), small_match(6)))
    assert context.outline["match_id"] == 5 and set(context.samples.match_id) == {5}
    with pytest.raises(InputError, match=r"some\.jsonl:1: its replay was never parsed"):
        open_match(write(small_match(4, version=None)))
    with pytest.raises(InputError, match=r"some\.jsonl holds no match"):
        open_match(write())


def test_a_recorded_match_without_minutes_says_so(tmp_path):
    (tmp_path / "4.json").write_text(json.dumps(small_match(4, version=None)))
    run = Run(tmp_path / "run")
    import_matches.take_in(games.load("dota"), run, read_logs(tmp_path / "4.json"), {})
    with pytest.raises(InputError, match="match 4 was never parsed: it has no minutes to advise"):
        recorded(run, 4)


def test_heroes_patches_and_minutes_that_are_not_usual():
    match = late_match(120, minutes=10, patch=99)
    match["players"][3]["hero_id"] = 9999
    match["players"][4]["hero_id"] = None
    context = MatchContext(small_tables(match), None)
    assert (context.hero(0), context.hero(3), context.hero(4)) == (
        "Anti-Mage",
        "hero 9999",
        "hero 0",
    )
    assert context.patch == "patch 99" and context.row_at(2) == 0 and context.row_at(12) == 10
    with pytest.raises(InputError, match="match 7 has no minute 1: it goes from 2 to 12"):
        context.row_at(1)


# --- sides ---------------------------------------------------------------------------------------


def fair(models):
    """The same models but for the constant that favours a side."""
    linear = models.value.linear
    weights = {label: np.append(values[:-1], 0.0) for label, values in linear.weights.items()}
    return replace(
        models,
        value=replace(models.value, linear=Linear(linear.columns, weights, linear.standard_errors)),
    )


def test_with_the_sides_swapped_everybody_is_told_the_same(models):
    tables = made_up(3)
    one = tables["matches"]["match_id"][1].as_py()
    mine = {name: rows.filter(rows["match_id"].to_numpy() == one) for name, rows in tables.items()}
    here, there = MatchContext(mine, None), MatchContext(swap_sides(mine), None)
    even = fair(models)
    row = here.row_at(14)
    assert even.value.chance(there.samples) == pytest.approx(
        1 - even.value.chance(here.samples), abs=1e-5
    )
    for slot in range(10):
        other = buying.item_lines(there, even, row, (slot + 5) % 10)
        for line, turned in zip(buying.item_lines(here, even, row, slot), other, strict=True):
            assert turned.pop("slot") == (line.pop("slot") + 5) % 10
            gains = ("gain", "error", "chance")
            assert [line.pop(k) for k in gains] == pytest.approx(
                [turned.pop(k) for k in gains], abs=1e-5
            )
            assert line.pop("model")[:3] == turned.pop("model")[:3] and line == turned
    objectives = [recommend.advise(context, even, 14).objectives for context in (here, there)]
    for line in objectives[0]:
        side = {"Radiant": "Dire", "Dire": "Radiant"}[line["side"]]
        (turned,) = [x for x in objectives[1] if (x["side"], x["take"]) == (side, line["take"])]
        assert turned["gain"] == pytest.approx(line["gain"], abs=1e-5)
        assert turned["why"] == line["why"]


# --- words ---------------------------------------------------------------------------------------


def advised(models, change=lambda match: None, minute=10, **options):
    match = small_match(minutes=20)
    change(match)
    return recommend.advise(MatchContext(small_tables(match), None), models, minute, **options)


def test_reasons_for_an_item_say_what_is_at_hand_and_when_the_rest_is(models):
    def poor(match):
        match["players"][0]["gold_t"] = [500] * 21
        match["players"][0]["purchase_log"] = [{"time": 5, "key": "ogre_axe"}]

    lines = advised(models, poor, player=0).items
    for line in lines:
        left = line["left_to_pay"]
        # Nothing is earned any more: nobody knows when the rest is there.
        short = f"{left - line['cash']:,} gold short"
        assert line["why"] == ("can be paid now" if left <= line["cash"] else short)
        assert line["next"] in {part["item"] for part in line["parts"]}
    assert {line["cash"] for line in lines} == {600 + 500 - 1000}


@pytest.mark.parametrize(
    ("player", "xp", "killed", "words"),
    [
        (1, {}, None, "0 levels ahead"),
        (1, {0: 240}, None, "1 level ahead"),
        (1, {7: 640}, None, "2 levels behind"),
        (8, {7: 640}, None, "2 levels ahead"),
        (1, {}, 5, "0 levels ahead, 1 more of theirs dead"),
        (8, {}, 5, "0 levels ahead, 1 more of ours dead"),
        (1, {}, 0, "0 levels ahead, 1 more of ours dead"),
    ],
)
def test_reasons_for_an_objective_are_levels_and_the_dead(player, xp, killed, words, models):
    def change(match):
        for slot, player in enumerate(match["players"]):
            player["xp_t"] = [xp.get(slot, 0)] * 21
            player["kills_log"] = []
        if killed is not None:
            key = "npc_dota_hero_antimage" if killed == 0 else "npc_dota_hero_drow_ranger"
            match["players"][5 - killed]["kills_log"] = [{"time": 599, "key": key}]

    found = advised(models, change, player=player).objectives
    assert found and {line["why"] for line in found} == {words}
    gains = [line["gain"] for line in found]
    assert gains == sorted(gains, reverse=True)


def test_the_models_order_takes_from_the_usual_six(models):
    usual, value = (advised(models, player=2, by=by).items for by in ("frequency", "value"))
    assert len(usual) == len(value) == buying.MOST_ITEMS
    assert [x["chance"] for x in usual] == sorted((x["chance"] for x in usual), reverse=True)
    assert [x["gain"] for x in value] == sorted((x["gain"] for x in value), reverse=True)
    assert value[0]["gain"] >= max(x["gain"] for x in usual)


def test_advice_on_the_first_minute(models):
    found = advised(models, minute=0)
    assert 0.2 < found.chance < 0.8 and len(found.wards) == 2 * sum(spots.MOST_SPOTS.values())
    assert not [line for line in found.objectives if line["take"] == "Roshan"]
    assert all(line["cash"] == 600 - 90 * (line["slot"] == 0) for line in found.items)
