"""Tables made elsewhere: however written, the same recordings; mistakes name the table."""

import gc
import json

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from tests.games.dota.small_matches import made_up, small_match, small_tables, write_tables
from understudy.errors import InputError
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
    tables.pop("teamfights")
    with pytest.raises(InputError, match=r"no teamfights\.parquet\. Give a folder with every"):
        read_tables(write_tables(tmp_path, tables))


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
