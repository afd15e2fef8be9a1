import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from understudy.data.schema import Column, Table
from understudy.data.shards import (
    open_shard,
    read_shard,
    shard_key,
    shard_note,
    shard_path,
    shard_paths,
    shard_rows,
    write_shard,
)
from understudy.errors import InputError

TABLE = Table(
    "arena",
    "hits",
    2,
    "understudy encode arena",
    (
        Column("match", pa.string(), "which match"),
        Column("damage", pa.float32(), "health lost"),
        Column("note", pa.string(), "a remark", optional=True),
    ),
)


def rows(number=3, **changes):
    columns = {
        "match": [f"m{row}" for row in range(number)],
        "damage": np.arange(number, dtype=np.float32),
        "note": [None] * number,
    }
    return columns | changes


@pytest.fixture
def path(tmp_path):
    written = shard_path(tmp_path, TABLE, "0007")
    write_shard(written, TABLE.build(rows(), {"done": "yes"}))
    return written


def refusal(path):
    with pytest.raises(InputError) as error:
        read_shard(path, TABLE)
    return str(error.value)


def rewrite(path, table):
    pq.write_table(table, path)


def test_a_shard_comes_back_as_it_was(path):
    assert path.name == "hits-0007.parquet"
    assert shard_key(path) == "0007"
    assert shard_rows(path, TABLE) == 3
    assert read_shard(path, TABLE).equals(TABLE.build(rows()))
    assert read_shard(path, TABLE, ["damage"]).column_names == ["damage"]


def test_notes_travel_with_a_shard(path, tmp_path):
    assert shard_note(path, "done") == "yes"
    assert shard_note(path, "other") is None
    assert shard_note(tmp_path / "missing.parquet", "done") is None


def test_shards_come_in_the_order_of_their_keys(tmp_path):
    for key, number in (("b", 4), ("a", 5)):
        write_shard(shard_path(tmp_path, TABLE, key), TABLE.build(rows(number)))
    paths = shard_paths(tmp_path, TABLE)
    assert [shard_key(path) for path in paths] == ["a", "b"]


def test_a_folder_without_shards_names_the_command(tmp_path):
    with pytest.raises(InputError) as error:
        shard_paths(tmp_path, TABLE)
    assert str(error.value) == f"{tmp_path} holds no arena.hits. Make some: understudy encode arena"


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_truncated_file_is_refused(path, share):
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    message = refusal(path)
    kind = "damaged" if share > 0.9 else "not a whole Parquet file"  # the seal is near the end
    assert message.startswith(f"{path}: {kind} (")
    assert message.endswith(
        "). Delete it and run understudy encode arena again: only what is missing is made"
    )
    assert "\n" not in message


def test_damage_inside_a_file_is_refused(tmp_path):
    path = shard_path(tmp_path, TABLE, "0")
    noise = np.random.default_rng(0).random(5_000).astype(np.float32)
    columns = rows(5_000, damage=noise)
    write_shard(path, TABLE.build(columns))
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 400] = bytes(400)
    path.write_bytes(content)
    assert refusal(path).startswith(f"{path}: damaged (")


def test_a_seal_that_is_none_any_more_is_damage(path):
    """Sixteen bytes in its midst, and nothing tells that there was one but its name."""
    content = path.read_bytes()
    path.write_bytes(content.replace(b"derstudy-blake2b", b"x" * 16))
    with pytest.raises(InputError, match="its seal is none"):
        read_shard(path, TABLE)


def test_a_file_of_another_table_is_refused(path):
    other = Table("arena", "moves", 2, "understudy encode arena", TABLE.columns)
    rewrite(path, other.build(rows()))
    assert refusal(path) == (
        f"{path}: holds arena.moves, not arena.hits. Make it again: understudy encode arena"
    )
    rewrite(path, pa.table({"a": [1]}))
    assert refusal(path) == (
        f"{path}: holds no table of ours, not arena.hits. Make it again: understudy encode arena"
    )


def test_another_version_is_refused(path):
    old = Table("arena", "hits", 1, "understudy encode arena", TABLE.columns)
    rewrite(path, old.build(rows()))
    assert refusal(path) == (
        f"{path}: version 1 of arena.hits; this program reads version 2. "
        "Make it again: understudy encode arena --fresh"
    )


def test_a_missing_column_is_named_with_its_meaning(path):
    rewrite(path, TABLE.build(rows()).drop_columns("damage"))
    assert refusal(path) == (
        f"{path}: no column 'damage' (health lost). Make it again: understudy encode arena"
    )


def test_a_wrong_type_is_named(path):
    table = TABLE.build(rows())
    damage = table["damage"].cast(pa.float64())
    rewrite(path, table.set_column(1, pa.field("damage", pa.float64()), damage))
    assert refusal(path) == (
        f"{path}: column 'damage' is double, not float. Make it again: understudy encode arena"
    )


def test_a_further_column_does_no_harm(path):
    table = TABLE.build(rows())
    rewrite(path, table.append_column("later", pa.array([1, 2, 3])))
    with open_shard(path, TABLE) as file:
        assert file.metadata.num_rows == 3


def test_a_table_is_built_of_exactly_its_columns():
    with pytest.raises(ValueError, match="damage"):
        TABLE.build({"match": [], "note": []})
    with pytest.raises(ValueError, match="extra"):
        TABLE.build(rows(extra=[1, 2, 3]))


@pytest.mark.parametrize("name", ["../../x", "/etc/x", "..", "a//b", "a\nb", ""])
def test_a_match_that_leads_elsewhere_is_refused(path, name):
    write_shard(path, TABLE.build(rows(3, match=["m0", name, "m2"])))
    assert refusal(path).startswith(f"{path}: match ")
    assert len(read_shard(path, TABLE, ["damage"])) == 3


def test_names_in_lists_are_looked_at_and_nothing_is_asked_of_other_texts(tmp_path):
    columns = (Column("players", pa.list_(pa.string()), "all"), TABLE.columns[2])
    table = Table("arena", "rounds", 1, "understudy record arena", columns)
    path = shard_path(tmp_path, table, "0")
    write_shard(path, table.build({"players": [["a", "b"], []], "note": ["../../x", None]}))
    assert len(read_shard(path, table)) == 2
    write_shard(path, table.build({"players": [["a", "../b"]], "note": [None]}))
    with pytest.raises(InputError, match=r"players '\.\./b' means a folder"):
        read_shard(path, table)


def test_a_flipped_bit_among_the_values_is_found(tmp_path):
    """Without checksums most are read as other values in silence."""
    path = shard_path(tmp_path, TABLE, "0")
    write_shard(path, TABLE.build(rows(400, match=[f"m{row % 7}" for row in range(400)])))
    whole = path.read_bytes()
    ends = [
        column.dictionary_page_offset or column.data_page_offset
        for column in map(pq.ParquetFile(path).metadata.row_group(0).column, range(3))
    ]
    before, values = read_shard(path, TABLE), pq.ParquetFile(path).metadata.row_group(0)
    length = sum(values.column(place).total_compressed_size for place in range(3))
    found = 0
    for place in range(min(ends), min(ends) + length, 3):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << (place % 8)
        path.write_bytes(flipped)
        try:
            assert read_shard(path, TABLE).equals(before)  # a bit that says nothing of the values
        except InputError as error:
            assert str(path) in str(error) and "understudy encode arena again" in str(error)
            found += 1
    assert found > length // 3 * 0.8
