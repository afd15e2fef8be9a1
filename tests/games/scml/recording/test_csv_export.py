"""The CSV of a recorded world against what scml itself counted."""

import csv

import pytest

from understudy.data.players import PlayerRef
from understudy.data.shards import shard_path, write_shard
from understudy.errors import InputError
from understudy.games.scml.recording.csv_export import write_all, write_csv
from understudy.games.scml.recording.tables import RECORDINGS
from understudy.games.scml.tournament import play as match
from understudy.games.scml.tournament.design import WorldPlan
from understudy.games.scml.tournament.play import play

PLAYERS = ("Greedy", "Random", "SyncRandom", "Penguin", "Random", "Greedy")
STEPS = 12


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """scml's world, and the files of its recording by name."""
    worlds = []

    def kept(*arguments):
        worlds.append(make(*arguments))
        return worlds[-1]

    make = match.scml_world
    plan = WorldPlan(
        match="m",
        field="test",
        track="std",
        factories_per_level=(2, 2, 2),
        steps=STEPS,
        seed=7,
        run=0,
        players=tuple(PlayerRef(name) for name in PLAYERS),
        slots=(3,),
        simulator="scml",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(match, "scml_world", kept)
        recordings = play([plan]).recordings
    folder = tmp_path_factory.mktemp("csv")
    write_csv(folder, recordings)
    _elsewhere(folder / "deep" / "csv", recordings)
    files = {}
    for path in (folder / "m").iterdir():
        with path.open(newline="") as file:
            files[path.stem] = list(csv.DictReader(file))
    return worlds[0], files


def _elsewhere(folder, recordings):
    """A world whose name leads elsewhere is not written, from memory or from files."""
    named = {
        name: table.set_column(
            table.column_names.index("match"),
            table.schema.field("match"),
            [["../../x"] * len(table)],
        )
        for name, table in recordings.items()
        if "match" in table.column_names
    }
    with pytest.raises(InputError, match=r"'\.\./\.\./x'"):
        write_csv(folder, recordings | named)
    for table in RECORDINGS:
        write_shard(shard_path(folder, table, "0"), (recordings | named)[table.name])
    with pytest.raises(InputError, match=r"match '\.\./\.\./x' means a folder"):
        write_all(folder)
    assert not any(folder.parents[1].rglob("x"))


def test_a_world_has_four_files(written):
    _, files = written
    assert sorted(files) == ["agents", "contracts", "negotiations", "stats"]
    assert [row["type"] for row in files["agents"]] == list(PLAYERS)


def test_stats_are_scmls(written):
    world, files = written
    shared = set(files["stats"][0]) & set(world.stats)
    assert len(shared) == 3 * 4 + 6 * 10
    for day, row in enumerate(files["stats"]):
        for name in shared:
            if not (name.startswith("inventory_input") and day == STEPS - 1):
                theirs = pytest.approx(float(world.stats[name][day]), nan_ok=True)
                assert number(row[name]) == theirs, (name, day)


def number(text):
    return float({"True": 1, "False": 0}.get(text, text))


def test_contracts_are_scmls(written):
    world, files = written
    names = "seller_name", "buyer_name", "delivery_time", "quantity", "unit_price", "product_name"
    names += "concluded_at", "signed_at", "executed_at"
    theirs = [tuple(str(row[name]) for name in names) for row in world.saved_contracts]
    ours = [tuple(row[name] for name in names) for row in files["contracts"]]
    assert len(ours) == len(theirs)
    negotiated = [row for row in ours if row[6] != "-1"]
    assert sorted(negotiated) == sorted(row for row in theirs if row[6] != "-1")


def test_every_negotiation_has_a_row(written):
    world, files = written
    negotiations = files["negotiations"]
    succeeded = [row for row in negotiations if row["failed"] == "False"]
    assert len(succeeded) == len(world.negotiated_contract_records)
    assert len(negotiations) == sum(world.stats["n_negotiations"])
    assert any(row["offers"].count("(") > 5 for row in negotiations)
