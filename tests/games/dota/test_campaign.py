"""Hundreds of match files with something wrong in them: each costs itself and one line."""

import gzip
import json
from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from tests.games.dota.mutations import mutated, named, rich_match
from tests.games.dota.small_matches import DATA, needs_data, small_tables, write_tables
from tests.small_runs import rows, understudy
from understudy.errors import InputError
from understudy.games.dota.advice.match_context import load_models, open_match
from understudy.games.dota.advice.recommend import advise
from understudy.games.dota.report.panels import file_page
from understudy.games.dota.sources.match_files import read_logs
from understudy.games.dota.sources.table_import import read_tables

NAMED = named(900_000)


def recorded(folder, good, bad):
    """Numbers kept of a file in which good and bad matches take turns; the lines said."""
    lines = [json.dumps(match) for pair in zip(bad, good, strict=False) for match in pair]
    lines += [json.dumps(match) for match in bad[len(good) :]]
    (folder / "some.jsonl").write_text("\n".join(lines))
    done = understudy(f"record dota --files {folder / 'some.jsonl'} --out {folder / 'run'}")
    assert done.code == 0 and "Traceback" not in done.err, done.err
    kept = {row["match_id"] for row in rows(folder / "run/recordings", "matches")}
    return kept, done.err


@pytest.mark.parametrize("word", list(NAMED))
def test_what_is_wrong_is_said_in_one_line(word, tmp_path):
    (tmp_path / "some.jsonl").write_text(
        "\n".join(json.dumps(match) for match in (rich_match(1), NAMED[word], rich_match(2)))
    )
    batches = list(read_logs(tmp_path / "some.jsonl"))
    assert [n for b in batches for n in b.tables["matches"]["match_id"].to_pylist()] == [1, 2]
    (line,) = [line for batch in batches for line in batch.rejected]
    assert line.startswith("some.jsonl:2: not as OpenDota writes it (") and "\n" not in line


def test_the_same_in_a_table_costs_that_match_alone(tmp_path):
    tables = small_tables(*(rich_match(number) for number in range(1, 9)))

    def changed(name, column, match, value):
        table = tables[name]
        values = table[column].to_pylist()
        values[table["match_id"].to_pylist().index(match)] = value
        place = table.schema.get_field_index(column)
        kind = pa.float64() if isinstance(value, float) else table.schema.field(column).type
        tables[name] = table.set_column(place, column, pa.array(values, kind))

    changed("matches", "duration", 1, -5)
    changed("matches", "radiant_win", 2, None)
    changed("state_player_minute", "slot_idx", 3, 77)
    changed("state_team_minute", "radiant_gold_adv", 4, 1e12)
    changed("events", "slot_idx", 5, None)
    changed("teamfight_players", "fight_id", 6, 5)
    folder = write_tables(tmp_path / "tables", tables)
    (batch,) = read_tables(folder)
    assert batch.tables["matches"]["match_id"].to_pylist() == [7, 8]
    assert [line.split(": ")[1] for line in batch.rejected] == [f"match {k}" for k in range(1, 7)]
    words = (
        *("its duration is not within 6 hours", "matches: no radiant_win", "not ten players"),
        *("radiant_gold_adv is no int32", "events of nobody", "a fight without its ten players"),
    )
    for line, word in zip(batch.rejected, words, strict=True):
        assert word in line
    for name, table in batch.tables.items():
        own = pc.is_in(tables[name]["match_id"], value_set=pa.array([7, 8]))
        expected = tables[name].filter(own).cast(table.schema)
        assert table.equals(expected.replace_schema_metadata(table.schema.metadata))


def looked_at(folder, matches, models, pages):
    """Advice on each as a file, and the pages of some; InputError alone may come of it."""
    path, said = folder / "one.json", 0
    for number, match in enumerate(matches):
        path.write_text(json.dumps(match))
        try:
            context = open_match(str(path))
            advise(context, models, int(context.timeline.t[-1]) // 60)
            if number % pages == 0:
                file_page(path)
        except InputError as failure:
            said += 1
            assert "\n" not in str(failure)
    return said


def mutants(bases, count, seed, first):
    rng = np.random.default_rng(seed)
    for number in range(count):
        base = bases[number % len(bases)]
        yield mutated(base, rng) | {"match_id": first + number}


def test_a_part_of_the_campaign(tmp_path):
    good = [rich_match(number) for number in range(1, 11)]
    bad = list(mutants([rich_match(0)], 40, 21, first=100))
    kept, _ = recorded(tmp_path, good, bad)
    assert {match["match_id"] for match in good} <= kept
    done = understudy(f"encode dota --workers 0 --quiet --out {tmp_path / 'run'}")
    assert done.code == 0, done.err
    assert 3 < looked_at(tmp_path, islice(bad, 12), load_models(), pages=12) < 12


def real_matches():
    paths = sorted((DATA / "opendota_json").glob("*.json.gz"))
    return [json.loads(gzip.decompress(path.read_bytes())) for path in paths]


@pytest.mark.slow
def test_the_campaign_through_every_stage(tmp_path):
    """540 mutated files and 160 good ones: record, encode, train, recommend, replay."""
    good = [rich_match(number) for number in range(1, 161)]
    bad = [*NAMED.values(), *mutants([rich_match(0, seed=s) for s in range(9)], 540, 7, 1000)]
    kept, said = recorded(tmp_path, good, bad)
    assert {match["match_id"] for match in good} <= kept
    refused = len(good) + len(bad) - len(kept)
    assert refused > 200 and said
    for command in ("encode dota --workers 0", "train dota value-quick", "train dota items"):
        done = understudy(f"{command} --quiet --out {tmp_path / 'run'}")
        assert done.code == 0, done.err
    done = understudy(f"train dota wards --quiet --out {tmp_path / 'run'}")
    assert done.code == 0, done.err
    looked_at(tmp_path, bad, load_models(), pages=4)


@pytest.mark.slow
@needs_data
def test_real_matches_mutated(tmp_path):
    good = real_matches()
    bad = list(mutants(good, 60, 3, first=1000))
    kept, _ = recorded(tmp_path, good, bad)
    assert {match["match_id"] for match in good} <= kept
    done = understudy(f"encode dota --workers 0 --quiet --out {tmp_path / 'run'}")
    assert done.code == 0, done.err
    looked_at(tmp_path, bad, load_models(), pages=6)
