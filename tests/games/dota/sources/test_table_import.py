"""Tables made elsewhere: however written, the same recordings; mistakes name the table."""

import gc
import json

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from tests.games.dota.small_matches import made_up, small_match, small_tables, write_tables
from understudy.errors import InputError
from understudy.games.dota.features.encode import encode
from understudy.games.dota.features.team_rating import Strength
from understudy.games.dota.sources import table_import
from understudy.games.dota.sources.match_files import read_logs
from understudy.games.dota.sources.table_import import read_tables
from understudy.games.dota.sources.tables import ORDER, RECORDINGS, in_order


@pytest.fixture(scope="module")
def tables():
    return made_up(5)


def read(*folders):
    """All batches joined."""
    batches = list(read_tables(*folders))
    return {
        table.name: pa.concat_tables([batch.tables[table.name] for batch in batches])
        for table in RECORDINGS
    }


def parts_by_dash(folder, name, table):
    pq.write_table(table.slice(len(table) // 2), folder / f"{name}-2.parquet")
    pq.write_table(table.slice(0, len(table) // 2), folder / f"{name}-1.parquet")


def parts_in_a_folder(folder, name, table):
    (folder / name).mkdir()
    pq.write_table(table.slice(3), folder / name / "b.parquet")
    pq.write_table(table.slice(0, 3), folder / name / "a.parquet")


def other_types_and_more(folder, name, table):
    """Wider numbers, dictionaries for words, a column nobody asked for, rows in no order."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            table = table.set_column(place, field.name, table[field.name].dictionary_encode())
        elif pa.types.is_integer(field.type):
            table = table.set_column(place, field.name, table[field.name].cast(pa.int64()))
    more = table.append_column("account_id", pa.array([1] * len(table)))
    name = {"players": "players_static"}.get(name, name)
    pq.write_table(more.take(pa.array(range(len(more) - 1, -1, -1))), folder / f"{name}.parquet")


@pytest.mark.parametrize("written", [parts_by_dash, parts_in_a_folder, other_types_and_more])
def test_every_way_of_writing_gives_the_same_recordings(written, tables, tmp_path):
    for name, table in tables.items():
        written(tmp_path, name, table)
    for name, rows in read(tmp_path).items():
        assert rows.equals(tables[name]), name
        rows.validate(full=True)


def test_batches_hold_whole_matches_by_number(tables, tmp_path, monkeypatch):
    monkeypatch.setattr(table_import, "MATCHES_PER_BATCH", 2)
    batches = list(read_tables(write_tables(tmp_path, tables)))
    assert [len(batch.tables["matches"]) for batch in batches] == [2, 2, 1]
    for batch in batches:
        numbers = batch.tables["matches"]["match_id"]
        for name, rows in batch.tables.items():
            own = tables[name].filter(pc.is_in(tables[name]["match_id"], value_set=numbers))
            assert rows.equals(own)


@pytest.mark.parametrize(
    ("name", "change", "line"),
    [
        ("drafts", lambda rows: rows.drop_columns("is_pick"), "drafts has no column 'is_pick'"),
        (
            "matches",
            lambda rows: rows.set_column(1, "patch", pa.array([None], pa.int64())),
            "matches lacks a 'patch' (patch by OpenDota's number",
        ),
        (
            "events",
            lambda rows: rows.set_column(1, "t", pa.array(["soon"] * len(rows))),
            "events.t is string, not int32",
        ),
    ],
)
def test_a_table_that_is_not_ours_is_named(name, change, line, tmp_path):
    tables = small_tables()
    write_tables(tmp_path, tables | {name: change(tables[name])})
    with pytest.raises(InputError) as failure:
        read(tmp_path)
    assert str(failure.value).startswith(f"{tmp_path}: {line}")


def test_a_missing_folder_and_a_missing_table_are_told_apart(tmp_path):
    with pytest.raises(InputError, match=f"there is no folder {tmp_path / 'nowhere'}"):
        read_tables(tmp_path / "nowhere")
    tables = small_tables()
    tables.pop("state_team_minute")
    with pytest.raises(InputError, match=r"no state_team_minute\.parquet\. It takes matches, "):
        read_tables(write_tables(tmp_path, tables))


CORE = {
    "matches": ["match_id", "radiant_win"],
    "state_team_minute": ["match_id", "t", "radiant_gold_adv", "radiant_xp_adv"],
    "state_player_minute": ["match_id", "t", "gold", "xp", "lh", "dn"],
}


def seeds_tables(tables):
    """The three tables of the seed's value model, with its columns."""
    found = {name: tables[name].select(columns) for name, columns in CORE.items()}
    patch = {row["match_id"]: row["patch"] for row in tables["matches"].to_pylist()}
    for name in ("state_team_minute", "state_player_minute"):
        numbers = found[name]["match_id"].to_pylist()
        found[name] = found[name].append_column("patch", pa.array([patch[n] for n in numbers]))
    team = pc.cast(pc.greater_equal(tables["state_player_minute"]["slot_idx"], 5), pa.int8())
    found["state_player_minute"] = found["state_player_minute"].append_column("team", team)
    return found


def test_the_seeds_three_tables_are_enough(tables, tmp_path):
    folder = write_tables(tmp_path, seeds_tables(tables))
    found = read(folder)
    for name in ("state_team_minute", "state_player_minute"):
        assert found[name].equals(tables[name]), name
    outline = found["matches"]
    assert outline["patch"].equals(tables["matches"]["patch"])
    assert outline["start_time"].equals(outline["match_id"])  # numbers follow time
    rows = pc.value_counts(tables["state_team_minute"]["match_id"]).to_pylist()
    counts = {row["values"]: row["counts"] for row in rows}
    assert outline["n_min"].to_pylist() == [counts[n] for n in outline["match_id"].to_pylist()]
    assert len(found["players"]) == 10 * len(outline) and len(found["events"]) == 0
    [batch] = read_tables(folder)
    assert batch.missing["matches without events"] == len(outline)
    assert "matches without matches" not in batch.missing
    known = {number: Strength(0.0, 1.0, 0.0) for number in outline["match_id"].to_pylist()}
    whole = encode(tables, known)["value"]
    alone = encode(found, known)["value"]
    assert len(alone) == len(whole) > 0
    for name in ("y_win", "y_dgold_adv", "patch"):
        assert alone[name].equals(whole[name])


def test_what_does_not_follow_is_named(tables, tmp_path):
    without = seeds_tables(tables)
    for name in ("state_team_minute", "state_player_minute"):
        without[name] = without[name].drop_columns("patch")
    with pytest.raises(InputError, match="neither matches nor the minutes have a column 'patch'"):
        read(write_tables(tmp_path / "a", without))
    without = seeds_tables(tables)
    without["state_player_minute"] = without["state_player_minute"].drop_columns("team")
    with pytest.raises(InputError, match="has neither 'slot_idx' nor 'team'"):
        read(write_tables(tmp_path / "b", without))


@pytest.mark.parametrize("table", RECORDINGS, ids=lambda table: table.name)
def test_rows_lie_in_one_order_whatever_they_came_in(table, tables):
    rows = tables[table.name]
    mixed = rows.take(pa.array(range(len(rows))[::-1]))
    assert in_order(table, mixed).equals(rows)
    keys = rows.select(list(ORDER[table.name][:2])).to_pydict().values()
    assert list(zip(*keys, strict=True)) == sorted(zip(*keys, strict=True))


def test_files_and_the_tables_made_from_them_are_the_same_recordings(tmp_path):
    lines = [json.dumps(small_match(number)) for number in (3, 1, 2)]
    (tmp_path / "some.ndjson").write_text("\n\n".join(lines) + "\n")
    assert gc.isenabled()
    (batch,) = read_logs(tmp_path / "some.ndjson")
    assert batch.rejected == [] and gc.isenabled()
    again = read(write_tables(tmp_path / "tables", batch.tables))
    for name, rows in batch.tables.items():
        assert again[name].equals(rows)
