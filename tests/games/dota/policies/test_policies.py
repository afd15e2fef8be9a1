"""Next items and ward spots: what a decision knows, and that policies learn known choices."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from tests.games.dota.small_matches import made_up, put, small_match, small_tables
from understudy import games
from understudy.data import shards
from understudy.data.runs import Run, read_manifest
from understudy.errors import InputError
from understudy.games.dota import facts
from understudy.games.dota.features import inventory
from understudy.games.dota.policies import next_item, purchases, recipes
from understudy.games.dota.policies import wards as ward_spots
from understudy.games.dota.report.terminal import print_evaluation
from understudy.games.dota.sources.synthetic import World, generate
from understudy.games.dota.sources.tables import RECORDINGS
from understudy.pipeline import encode as encode_stage
from understudy.pipeline import import_matches as import_matches_stage
from understudy.pipeline import train as train_stage
from understudy.pipeline.game import Imported

KEYS = inventory.item_keys()


def bought(*things):
    match = small_match()
    match["players"][0]["purchase_log"] = [{"time": t, "key": key} for t, key in things]
    return purchases.decisions(small_tables(match))


def test_a_decision_knows_only_earlier_seconds():
    # 100 s: a part; 200 s: the other part, the recipe and the whole, all at once.
    rows = bought(
        (100, "ogre_axe"),
        (200, "mithril_hammer"),
        (200, "recipe_black_king_bar"),
        (200, "black_king_bar"),
        (300, "blink"),
    )
    names = [KEYS[k] for k in rows.chosen]
    assert names == ["ogre_axe", "mithril_hammer", "black_king_bar", "blink"]
    king_bar, axe = KEYS.index("black_king_bar"), KEYS.index("ogre_axe")
    share = inventory.costs()[axe] / inventory.costs()[king_bar]
    assert rows.progress[:, king_bar] == pytest.approx([0, share, share, 0])
    assert rows.last.tolist()[:3] == [inventory.NOTHING, axe, axe]
    assert rows.owned[:, axe].tolist() == [False, True, True, True]
    # 600 at the horn and 100 earned by 100 s, nothing spent before the axe.
    assert rows.cash[0] == 700 and rows.cash[1] == 900 - inventory.costs()[axe]
    assert rows.hero.tolist() == [1] * 4 and rows.slot.tolist() == [0] * 4


def test_an_item_is_decided_on_once_and_unknown_ones_never():
    rows = bought((100, "blink"), (200, "blink"), (250, "item_of_the_future"), (300, "tango"))
    assert [KEYS[k] for k in rows.chosen] == ["blink"]


def usual_buys(count, seed=0):
    """Hero 1 buys `after` what it bought last, hero 2 the other way round."""
    rng = np.random.default_rng(seed)
    size = len(KEYS)
    hero, last = rng.integers(1, 3, count), rng.integers(0, 4, count)
    chosen = np.where(hero == 1, last + 10, last + 20)
    owned = np.zeros((count, size), bool)
    owned[np.arange(count), last] = True
    return purchases.Decisions(
        match_id=np.arange(count) // 5,
        start_time=np.zeros(count, np.int64),
        slot=np.zeros(count, np.int64),
        hero=hero,
        t=rng.integers(0, 2000, count),
        chosen=chosen,
        last=last,
        before_last=np.full(count, inventory.NOTHING),
        owned=owned,
        progress=np.zeros((count, size), np.float32),
        wanted=np.zeros((count, size), np.float32),
        cash=np.full(count, 9000.0),
        rank=np.zeros(count, np.int64),
        mates=np.zeros((count, size), np.int64),
        foes=np.zeros((count, size), np.int64),
        earlier=np.zeros(count, bool),
    )


def test_the_policy_learns_what_is_usual_and_never_proposes_what_is_owned():
    policy = next_item.fit(usual_buys(400, 1), usual_buys(200, 2))
    rows = usual_buys(100, 3)
    chance = policy.chances(rows)
    assert (next_item.ranks(chance, rows.chosen) == 0).all()
    assert not chance[rows.owned].any()
    np.testing.assert_allclose(chance.sum(axis=1), 1)


def test_a_new_hero_gets_what_everybody_buys():
    policy = next_item.fit(usual_buys(400, 1), usual_buys(200, 2))
    rows = usual_buys(50, 3)
    rows.hero[:] = 499
    chance = policy.chances(rows)
    places = np.argsort(-chance, axis=1)[:, :2]
    assert all(
        {row.last[0] + 10, row.last[0] + 20} == set(top)
        for row, top in zip(
            (rows.where(slice(k, k + 1)) for k in range(50)), places.tolist(), strict=True
        )
    )


def test_ties_count_against_a_policy():
    assert next_item.ranks(np.full((1, 4), 0.25), np.array([0])).tolist() == [3]
    chance = np.array([[0.1, 0.6, 0.3]])
    assert [int(next_item.ranks(chance, np.array([k]))[0]) for k in range(3)] == [2, 0, 1]


def wards(count, seed):
    rng = np.random.default_rng(seed)
    team, band = rng.integers(2, size=count), rng.integers(3, size=count)
    cell = 40 + 100 * team + 7 * band + rng.integers(2, size=count)
    even = np.ones(count, np.int64)
    life = np.full(count, 360.0)
    outline = (np.arange(count), team, 300 * band, cell, even, 3 * even, life, 57 * even)
    nobody = (np.full((count, 2, width), np.nan, np.float32) for width in (4, 3))
    return ward_spots.Placements(*outline, *nobody)


def test_ward_spots_find_where_wards_go():
    spots = ward_spots.fit(wards(2000, 0), wards(500, 1))
    assert spots.weights.sum() == pytest.approx(1)
    rows = wards(200, 2)
    chance = spots.chances(rows)
    np.testing.assert_allclose(chance.sum(axis=1), 1)
    assert (next_item.ranks(chance, rows.cell) < 2).all()
    assert chance[np.arange(200), rows.cell].mean() > 0.4


def test_cells_and_blurring():
    x = np.array([64.0, 191.9, 10.0, 128.0])
    assert ward_spots.cell_of(x, x).tolist() == [0, 1023, 0, 16 * 32 + 16]
    assert ward_spots.centre_of(0) == (66.0, 66.0)
    table = np.zeros((1, ward_spots.SIZE))
    table[0, 500] = 3
    soft = ward_spots.blurred(table, 1.0)
    assert soft.sum() == pytest.approx(3) and soft.argmax() == 500 and soft[0, 501] > 0.1


def test_placements_know_the_state_before_and_the_life_of_a_ward():
    match = small_match(minutes=12)
    match["radiant_gold_adv"] = [0, 0, 5000] + [-5000] * 10
    ward = {"time": 170, "x": 100.0, "y": 120.0, "ehandle": 9}
    match["players"][6]["obs_log"] = [ward]
    match["players"][6]["obs_left_log"] = [{**ward, "time": 300, "attackername": "npc"}]
    rows = ward_spots.placements(small_tables(match))
    assert len(rows) == 1 and rows.team.tolist() == [1]
    assert rows.ahead.tolist() == [0]  # Dire is behind at 120 s; at 180 s it will be ahead
    assert rows.life.tolist() == [130] and rows.towers.tolist() == [3]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    run, game = Run(tmp_path_factory.mktemp("dota")), games.load("dota")
    import_matches_stage.take_in(game, run, generate(World(), 120), {"synthetic": 120})
    encode_stage.encode(game, run, options={"horizon": 180}, worker=0, quiet=True)
    return run


@pytest.mark.parametrize("recipe", ["items", "wards"])
def test_policies_are_trained_judged_printed_and_read_back(run, recipe, capsys):
    evaluation = train_stage.train(games.load("dota"), run, recipe)
    for scores in evaluation["policy"].values():
        assert scores["hit@1"]["ours"] <= scores["hit@5"]["ours"] <= 1
    inputs = read_manifest(run.model(recipe))["inputs"]
    read = {table.name for table in RECORDINGS}
    assert {name.split("-")[0] for name in inputs} == {f"recordings/{name}" for name in read}
    print_evaluation(evaluation)
    assert "hit@20" in capsys.readouterr().out
    if recipe == "items":
        policies = recipes.load_items(run.model("items") / recipes.ITEMS_FILE)
        for policy in (policies.next, policies.goal):
            assert len(policy.weights) == len(next_item.FREQUENCY_TABLES) + len(next_item.OTHERS)
            np.testing.assert_allclose(policy.chances(usual_buys(20)).sum(axis=1), 1)
        assert policies.kept.any()
    else:
        model = recipes.load_wards(run.model("wards") / recipes.WARDS_FILE)["obs"]
        assert model.fates.stands.min() >= 90 and model.fates.stands.max() <= 360
        assert (model.fates.taken >= 0).all() and (model.fates.taken <= 1).all()
        for near in (None, model.asked):
            chances = model.spots.chances(wards(5, 0), near)
            np.testing.assert_allclose(chances.sum(axis=1), 1, rtol=1e-5)


def test_a_missing_policy_says_how_to_train_it(tmp_path):
    with pytest.raises(InputError, match="understudy train dota items"):
        recipes.load_items(tmp_path / "items.npz")


def test_decisions_of_all_shards_are_joined_and_matches_lie_by_their_beginning(tmp_path):
    tables = made_up(6)
    numbers = tables["matches"]["match_id"].to_numpy()
    begun = put(tables["matches"], start_time=[50, 40, 30, 20, 10, 10])
    for key, chosen in (("1", numbers[:2]), ("2", numbers[2:])):
        for table in RECORDINGS:
            rows = begun if table.name == "matches" else tables[table.name]
            kept = np.flatnonzero(np.isin(rows["match_id"].to_numpy(), chosen))
            path = shards.shard_path(tmp_path / "recordings", table, key)
            path.parent.mkdir(exist_ok=True)
            shards.write_shard(path, rows.take(kept))
    folder = tmp_path / "recordings"
    outline = recipes.outline_of(folder)
    assert outline.match_id.tolist() == numbers[[4, 5, 3, 2, 1, 0]].tolist()
    found, whole = recipes.gathered(folder, purchases.decisions), purchases.decisions(tables)
    np.testing.assert_array_equal(found.chosen, whole.chosen)
    np.testing.assert_array_equal(found.owned, whole.owned)


@pytest.mark.parametrize(
    ("recipe", "what"), [("items", "purchase of a dearer item"), ("wards", "observer ward")]
)
def test_what_nobody_did_cannot_be_learned(recipe, what, tmp_path):
    run, game, tables = Run(tmp_path), games.load("dota"), made_up(10)
    tables["events"] = tables["events"].slice(0, 0)
    nothing = [Imported("made up", tables, [])]
    import_matches_stage.take_in(game, run, nothing, {})
    encode_stage.encode(game, run, options={"horizon": 180}, worker=0, quiet=True)
    with pytest.raises(InputError, match=f"too few matches with a {what} to split"):
        train_stage.train(game, run, recipe)


def test_a_kind_of_item_that_nobody_bought_has_no_score(tmp_path, capsys):
    """Parts left out of every match: the other figures stand, and the kind is said to be empty."""
    run, game, tables = Run(tmp_path), games.load("dota"), made_up(10)
    events = tables["events"]
    whole = [key for key, item in facts.items().items() if item.components]
    bought = pc.equal(events["event_type"], "purchase")
    kept = pc.or_(pc.invert(bought), pc.is_in(events["key"], pa.array(whole)))
    tables["events"] = events.filter(kept)
    import_matches_stage.take_in(game, run, [Imported("made up", tables, [])], {})
    encode_stage.encode(game, run, options={"horizon": 180}, worker=0, quiet=True)
    scores = train_stage.train(game, run, "items")["policy"]
    assert scores["parts"] == {"decisions": 0}
    assert scores["completed items"] == scores["all items"] and scores["all items"]["decisions"] > 0
    print_evaluation({"policy": scores, "counts": "hero and last item"})
    printed = capsys.readouterr().out
    assert "parts: no decision in later matches, so no score" in printed and "nan" not in printed
