"""Matches as OpenDota tells them become the tables of a recording."""

import gzip
import json
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from tests.games.dota.small_matches import DATA, needs_data, small_match, small_tables
from understudy.errors import InputError
from understudy.games.dota import facts
from understudy.games.dota.sources.match_files import UNPARSED, read_logs
from understudy.games.dota.sources.opendota import MatchError, rows_of, scrubbed
from understudy.games.dota.sources.table_import import read_tables
from understudy.games.dota.sources.tables import RECORDINGS, in_order


def read(path):
    batches = list(read_logs(path))
    words = [word for batch in batches for word in batch.rejected]
    numbers = [n for batch in batches for n in batch.tables["matches"]["match_id"].to_pylist()]
    return numbers, words, batches


@needs_data
def test_the_raw_files_give_the_packed_tables_row_for_row():
    (batch,) = read_logs(DATA / "opendota_json")
    numbers = batch.tables["matches"]["match_id"].to_pylist()
    assert len(numbers) == 12 and not batch.rejected
    for table in RECORDINGS:
        name = {"players": "players_static"}.get(table.name, table.name)
        packed = pq.read_table(DATA / f"{name}.parquet", filters=[("match_id", "in", numbers)])
        columns = {}
        for column in table.columns:
            values = packed[column.name]
            if pa.types.is_dictionary(values.type):
                values = pc.cast(values, pa.string())
            columns[column.name] = values.cast(column.type)
        expected = in_order(table, table.build(columns))
        assert set(packed.column_names) == set(expected.column_names)
        found = batch.tables[table.name]
        if table.name == "events":  # the packed tables do not have where heroes died
            found = found.filter(pc.not_equal(found["event_type"], "fight_death"))
        assert len(expected) and found.equals(expected)


@needs_data
def test_packed_tables_and_raw_files_are_read_alike():
    (raw,) = read_logs(DATA / "opendota_json")
    numbers = raw.tables["matches"]["match_id"]
    parts = {table.name: [] for table in RECORDINGS}
    for batch in read_tables(DATA):
        for name, rows in batch.tables.items():
            parts[name].append(rows.filter(pc.is_in(rows["match_id"], value_set=numbers)))
    for name, rows in raw.tables.items():
        if name == "events":
            rows = rows.filter(pc.not_equal(rows["event_type"], "fight_death"))
        assert pa.concat_tables(parts[name]).equals(rows)


def test_a_small_match_worked_out_by_hand():
    tables = small_tables()
    assert tables["matches"].to_pylist()[0]["n_min"] == 13
    assert tables["state_player_minute"].slice(14, 1).to_pylist() == [
        {"match_id": 7, "t": 60, "slot_idx": 1, "gold": 100, "xp": 200, "lh": 1, "dn": 0}
    ]
    bought, killed, tower = (
        [row[name] for name in ("t", "slot_idx", "team", "event_type", "key", "target", "value")]
        for row in tables["events"].to_pylist()
    )
    assert bought == [-30, 0, 0, "purchase", "tango", None, 3]
    assert killed == [61, 5, 1, "kill", "npc_dota_hero_axe", None, None]
    target = "npc_dota_badguys_tower1_mid"
    assert tower == [300, None, None, "objective", "building_kill", target, None]


def test_nothing_tells_who_played(tmp_path):
    rows_text = json.dumps([table.to_pylist() for table in small_tables().values()])
    kept = json.dumps(scrubbed(small_match(chat=[{"key": "gg"}])))
    for text in (rows_text, kept):
        assert "somebody" not in text and "account" not in text and "gg" not in text
    assert rows_of(scrubbed(small_match())) == rows_of(small_match())


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"radiant_win": None}, "nobody won"),
        ({"duration": 60}, "called off after 60 s"),
        ({"players": []}, "0 players; a match has ten"),
        ({"players": "ten"}, "no list of players"),
        ({"radiant_xp_adv": [0, 1]}, "not as OpenDota writes it"),
        ({"patch": "seven"}, "not as OpenDota writes it"),
        ({"duration": None}, "called off after 0 s"),
        ({"patch": None, "start_time": None}, "not as OpenDota writes it"),
        ({"match_id": "abc"}, "not a whole number"),
    ],
)
def test_a_match_that_cannot_be_used_costs_one_line(tmp_path, changes, word):
    lines = [small_match(number=5), small_match(number=6) | changes, small_match(number=8)]
    path = tmp_path / "some.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    numbers, words, _ = read(path)
    assert numbers == [5, 8]
    assert len(words) == 1 and words[0].startswith("some.jsonl:2: ") and word in words[0]


def test_an_abandoned_match_is_left_out():
    match = small_match()
    match["players"][3]["leaver_status"] = 3
    with pytest.raises(MatchError, match="abandoned by 1 of its players"):
        rows_of(match)
    match["players"][3]["leaver_status"] = 1  # left when all was over
    rows_of(match)


@pytest.mark.parametrize("changes", [{"version": None}, {"radiant_gold_adv": None}])
def test_an_unparsed_match_is_kept_for_its_result(tmp_path, changes):
    (tmp_path / "a.json").write_text(json.dumps(small_match(**changes)))
    numbers, words, (batch,) = read(tmp_path)
    assert numbers == [7] and words == [f"a.json: {UNPARSED}"]
    assert batch.tables["matches"]["n_min"].to_pylist() == [0]
    assert len(batch.tables["players"]) == 10 and not len(batch.tables["state_team_minute"])


def test_every_kind_of_file_is_read_and_damage_costs_that_file_alone(tmp_path):
    text = json.dumps(small_match(number=1)).encode()
    (tmp_path / "sub").mkdir()
    (tmp_path / "one.json").write_bytes(text)
    (tmp_path / "sub/two.json.gz").write_bytes(gzip.compress(json.dumps(small_match(2)).encode()))
    (tmp_path / "list.json").write_text(json.dumps([small_match(3), 5]))
    (tmp_path / "again.json").write_bytes(text)
    (tmp_path / "cut.json").write_bytes(text[:500])
    (tmp_path / "cut.json.gz").write_bytes(gzip.compress(text)[:300])
    (tmp_path / "notes.txt").write_text("not ours")
    numbers, words, _ = read(tmp_path)
    assert sorted(numbers) == [1, 2, 3]
    reasons = dict(word.split(": ", 1) for word in words)
    assert (
        "cut off or damaged" in reasons["cut.json"]
        and "cannot be unpacked" in reasons["cut.json.gz"]
    )
    assert reasons["list.json[2]"] == "int where a match should be"
    assert reasons["one.json"] == "match 1 was read before; the first stays"


def test_an_empty_folder_and_a_missing_one_are_told_apart(tmp_path):
    with pytest.raises(InputError, match="holds no match files"):
        read_logs(tmp_path)
    with pytest.raises(InputError, match="there is no file or folder"):
        read_logs(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"holds no matches\.parquet"):
        read_tables(tmp_path)


def test_a_match_whose_beginning_was_missed_keeps_its_times():
    match = small_match(minutes=10)
    for player in match["players"]:
        player["times"] = [120 + t for t in player["times"]]
    assert small_tables(match)["state_team_minute"]["t"].to_pylist()[:2] == [120, 180]


@pytest.mark.parametrize(
    ("day", "name"),
    [
        ("2025-05-21", "7.38"),
        ("2025-05-22", "7.39"),
        ("2025-12-15", "7.39"),
        ("2025-12-16", "7.40"),
        ("2026-03-24", "7.41"),
        ("2030-01-01", "7.41"),
    ],
)
def test_a_match_that_does_not_name_its_patch_is_of_the_newest_then(day, name):
    second = int(datetime.fromisoformat(f"{day}T12:00+00:00").timestamp())
    assert facts.patch_name(facts.patch_on(second)) == name
    rows = small_tables(small_match(patch=None, start_time=second))["matches"]
    assert facts.patch_name(rows["patch"][0].as_py()) == name


def test_facts_go_up_to_the_newest_patch():
    assert facts.patch_name(57) == "7.38" and facts.patch_number("7.41") == 60
    assert facts.patch_name(99) == "patch 99" and facts.patch_number("99") == 99
    with pytest.raises(InputError, match=r"there is no patch '8\.00'; the newest known is 7\.41"):
        facts.patch_number("8.00")
    king_bar = facts.items()["black_king_bar"]
    assert king_bar.name == "Black King Bar" and "ogre_axe" in king_bar.components
    assert facts.heroes()[1].name == "Anti-Mage" and facts.heroes()[155].name == "Largo"
    for item in facts.items().values():
        assert all(part in facts.items() for part in item.components)


def test_folders_of_tables_are_read_one_after_the_other(tmp_path):
    for name, numbers in (("old", (1, 2, 3)), ("new", (2, 4))):
        tables = small_tables(*(small_match(number) for number in numbers))
        (tmp_path / name).mkdir()
        for table, rows in tables.items():
            pq.write_table(rows, tmp_path / name / f"{table}.parquet")
    batches = list(read_tables(tmp_path / "old", tmp_path / "new"))
    found = [batch.tables["matches"]["match_id"].to_pylist() for batch in batches]
    assert found == [[1, 2, 3], [2, 4]]  # it is the import that takes a match once
    assert set(batches[1].tables["events"]["match_id"].to_pylist()) == {2, 4}
    (tmp_path / "new/matches.parquet").write_bytes(b"damaged")
    with pytest.raises(InputError, match="matches cannot be read"):
        read_tables(tmp_path / "new")
    small = small_tables().pop("matches").drop_columns("radiant_win")
    pq.write_table(small, tmp_path / "new/matches.parquet")
    with pytest.raises(InputError, match="matches has no column 'radiant_win'"):
        read_tables(tmp_path / "new")
