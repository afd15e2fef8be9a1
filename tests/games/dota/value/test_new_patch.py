"""Matches of a patch that was never trained on, with things nobody has seen: the same commands."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from tests.small_runs import understudy
from understudy.games.dota import facts
from understudy.games.dota.sources.synthetic import World, generate

NEW = facts.patch_number("7.39")
MATCHES = 150


def of_the_new_patch(tables):
    """New heroes and items, some without a hero, and gaps in the new patch's tables."""
    matches = tables["matches"]
    new = matches.filter(pc.equal(matches["patch"], NEW))["match_id"].to_pylist()

    def changed(name, column, rows, value):
        table, place = tables[name], tables[name].schema.get_field_index(column)
        values = pc.if_else(rows, pa.scalar(value, table.schema.field(column).type), table[column])
        tables[name] = table.set_column(place, table.schema.field(column), values)

    def within(name, numbers):
        return pc.is_in(tables[name]["match_id"], value_set=pa.array(numbers, pa.int64()))

    heroes = tables["players"]["hero_id"]
    changed("players", "hero_id", pc.and_(within("players", new), pc.less(heroes, 20)), 199)
    changed("players", "hero_id", within("players", new[:1]), None)
    bought = pc.equal(tables["events"]["key"], "blink")
    changed("events", "key", pc.and_(within("events", new), bought), "item_of_tomorrow")
    for name, gone in (("events", new[3:5]), ("drafts", new[:9]), ("teamfights", new[5:9])):
        tables[name] = tables[name].filter(pc.invert(within(name, gone)))
    lost = within("teamfight_players", new[5:9])
    tables["teamfight_players"] = tables["teamfight_players"].filter(pc.invert(lost))
    return tables


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("new_patch")
    (batch,) = generate(World(patches=(56, 57, NEW)), MATCHES)
    for name, table in of_the_new_patch(dict(batch.tables)).items():
        pq.write_table(table, folder / f"{name}.parquet")
    run = folder / "run"
    assert understudy("record dota --tables", folder, "--out", run).code == 0
    done = understudy("encode dota --workers 0 --quiet", "--out", run)
    assert done.code == 0 and "7.39\N{NO-BREAK SPACE}33.3%" in done.out
    done = understudy("train dota value-quick --quiet --test-patch 7.39", "--out", run)
    assert (done.code, done.err) == (0, "")
    (folder / "printed.txt").write_text(done.out)
    return run


def test_training_on_earlier_patches_and_testing_on_the_new_one(run):
    evaluation = json.loads((run / "models/value-quick/evaluation.json").read_text())
    split = evaluation["split"]
    assert split["test"] == {"matches": MATCHES // 3, "patches": ["7.39"]}
    assert split["train"]["patches"] == ["7.37", "7.38"] and split["val"]["patches"] == ["7.38"]
    assert set(evaluation["line_up"]) == {"constant", "LR-7", "XGBoost v0", "XGBoost v1", "best"}
    for score in evaluation["line_up"].values():
        assert np.isfinite(list(score["beside_bar"].values())).all()
        assert np.isfinite(score["log_loss"]) and np.isfinite(score["dxp_rmse"])
    assert evaluation["line_up"]["best"]["auc"] > 0.6
    assert [line["patch"] for line in evaluation["drift"]] == ["7.38", "7.39"]


def test_what_is_printed_fits_eighty_columns(run):
    printed = (run.parent / "printed.txt").read_text().splitlines()
    *lines, folder = [line for line in printed if not line.startswith("Next: ")]
    assert max(map(len, lines)) <= 80 and not any("…" in line for line in lines)
    assert folder.startswith(str(run))
    assert "model comparison: train 90 (7.37-7.38), val 10 (7.38), test 50 (7.39)" in lines[0]


def test_a_test_patch_must_be_there_and_have_earlier_ones(run):
    done = understudy("train dota value --quiet --test-patch 7.40", "--out", run)
    assert done.code == 2
    assert "no match of 7.40 to test on; there are 7.37, 7.38, 7.39" in done.err
    done = understudy("train dota value-time --quiet --test-patch 7.37", "--out", run)
    assert done.code == 2 and "no match of 7.35 or later before 7.37" in done.err
    done = understudy("train dota value --quiet --test-patch 9.99", "--out", run)
    assert done.code == 2 and "there is no patch '9.99'; the newest known is 7.41" in done.err
    done = understudy("train arena imitate --quiet --test-patch 7.39", "--out", run)
    assert done.code == 2 and "--test-patch is Dota's alone" in done.err


def test_policies_can_be_tested_on_the_new_patch_too(run):
    for recipe in ("items", "wards"):
        done = understudy(f"train dota {recipe} --quiet --test-patch 7.39", "--out", run)
        assert (done.code, done.err) == (0, "") and "decisions of later matches" in done.out


def test_advice_on_the_new_patch_warns_and_names_nothing_unknown(run):
    number = 9_000_000_000 + MATCHES - 1
    done = understudy("recommend dota", run / str(number), "--minute", 15)
    assert done.code == 0 and "this is 7.39, so be careful" in done.out
    assert "tomorrow" not in done.out


def test_drift_of_a_model_on_another_runs_matches(run, tmp_path):
    other = tmp_path / "other"
    assert understudy("record dota --synthetic 120", "--out", other).code == 0
    assert understudy("encode dota --workers 0 --quiet", "--out", other).code == 0
    model = run / "models/value-quick"
    judged = json.loads(understudy("drift dota --json --model", model, "--out", other).out)
    # Another world, but made-up matches share their numbers: 90 of them were learnt from.
    assert judged["trained_on"] == ["7.37", "7.38"] and judged["left_out"] == 90
    assert {line["patch"] for line in judged["drift"]} <= {"7.36", "7.37", "7.38"}
    assert sum(line["matches"] for line in judged["drift"]) == 120 - 90
    judged = json.loads(understudy("drift dota --json --model", model, "--out", run).out)
    by_patch = {line["patch"]: line for line in judged["drift"]}
    trained = json.loads((model / "evaluation.json").read_text())["drift"]
    (same,) = [line for line in trained if line["patch"] == "7.39"]
    assert same.pop("part") == "test"
    assert by_patch["7.39"] == pytest.approx(same)
    printed = understudy("drift dota --model", model, "--out", run).out
    assert "trained on 7.37, 7.38; 90 matches of training left out" in printed
    shipped = understudy("drift dota --out", run)
    assert shipped.code == 0 and "trained on 7.35, 7.36, 7.37, 7.38\n" in shipped.out
    done = understudy("drift dota --model", tmp_path / "nothing", "--out", run)
    assert done.code == 2 and "there is no value model" in done.err
