"""Tracker logs: a world that we played, logged as the tracker would, comes back as it was."""

import json
import shutil
from collections import Counter

import pytest

from tests.games.scml.recording import tracker_files
from tests.small_runs import assert_refused, rows, understudy
from understudy.data.players import PlayerRef
from understudy.data.runs import Run, read_manifest
from understudy.games.scml.learning.encode import encode
from understudy.games.scml.recording.tracker import files
from understudy.games.scml.recording.tracker.factory import place_of, player_name
from understudy.games.scml.report.world_page import explorer_panels
from understudy.games.scml.tournament.design import WorldPlan
from understudy.games.scml.tournament.play import play

PLAYERS = ("Penguin", "Greedy", "AS0", "SyncRandom", "Penguin", "Greedy")
TRACKED = frozenset(tracker_files.PATHS)


def plan(number):
    return WorldPlan(f"w{number}", "official", "std", (2, 2, 2), 12, number, 0,
                     tuple(map(PlayerRef, PLAYERS)), (0, 2))  # fmt: skip


@pytest.fixture(scope="module")
def recordings():
    return play([plan(3), plan(4)]).recordings


@pytest.fixture(scope="module", params=[False, True], ids=["early", "late"])
def logs(request, recordings, tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    tracker_files.write(recordings, folder / "tracker_logs", late=request.param)
    return folder


def imported(folder):
    [part] = files.read_logs(folder)
    assert part.rejected == []
    return part


def names(recordings, part):
    """Ours of each imported world, and theirs."""
    own = recordings["worlds"]["match"].to_pylist()
    seen = {row["catalog_prices"][1]: row["match"] for row in part.tables["worlds"].to_pylist()}
    found = {row["catalog_prices"][1]: row["match"] for row in recordings["worlds"].to_pylist()}
    assert len(seen) == len(own)
    return {seen[price]: found[price] for price in seen}


def rows_of(table, ours, drop=()):
    """By key, so that the order of worlds does not matter."""
    renamed = [row | {"match": ours.get(row["match"], row["match"])} for row in table.to_pylist()]
    return [{k: v for k, v in row.items() if k not in drop} for row in renamed]


def test_days_contracts_and_costs_come_back(recordings, logs):
    part = imported(logs)
    ours = names(recordings, part)
    worlds = {row["match"]: row for row in recordings["worlds"].to_pylist()}
    for row in part.tables["worlds"].to_pylist():
        world = worlds[ours[row["match"]]]
        for k, player in enumerate(world["players"]):
            if player not in TRACKED:
                assert row["players"][k] == "unknown GST"
                continue
            assert row["players"][k] == player
            assert row["costs"][k] == world["costs"][k]
            assert row["balances"][k] == world["balances"][k]
            assert row["scores"][k] == pytest.approx(world["scores"][k])
        assert row["levels"] == world["levels"] and row["steps"] == world["steps"]
    tracked = {
        (m, k) for m, w in worlds.items() for k, p in enumerate(w["players"]) if p in TRACKED
    }
    days = rows_of(part.tables["days"], ours)
    expected = [r for r in recordings["days"].to_pylist() if (r["match"], r["factory"]) in tracked]
    key = lambda row: (row["match"], row["day"], row["factory"])  # noqa: E731
    for found, wanted in zip(sorted(days, key=key), sorted(expected, key=key), strict=True):
        for name, value in wanted.items():
            assert found[name] == (pytest.approx(value) if isinstance(value, float) else value), (
                name
            )
    seen = rows_of(part.tables["contracts"], ours, ("number", "executed"))
    known = [
        row
        for row in recordings["contracts"].to_pylist()
        if {(row["match"], row[side]) for side in ("seller", "buyer")} & tracked
    ]
    plain = [{k: v for k, v in row.items() if k not in ("number", "executed")} for row in known]
    by = lambda row: json.dumps(row, sort_keys=True)  # noqa: E731
    assert sorted(seen, key=by) == sorted(plain, key=by)


def asked_again(recordings):
    """By match and factory, the first day on which proposals were asked for again.

    Only one of them was sent, and only that one is imported; partners are remembered by it later.
    """
    rows = [r for r in recordings["decisions"].to_pylist() if r["call"] == "first_proposals"]
    talks = Counter((r["match"], r["factory"], r["day"], r["partner"]) for r in rows)
    found = dict[tuple[str, int], int]()
    for (match, factory, day, _), count in talks.items():
        if count > 1:
            found[match, factory] = min(day, found.get((match, factory), day))
    return found


def columns_of(samples, ours, left_out):
    """By column, in the order of time; days that are left out apart."""
    order = "moment" if "moment" in samples.column_names else "day"
    partner = "partner" if order == "moment" else "slot"
    rows = [row | {"match": ours.get(row["match"], row["match"])} for row in samples.to_pylist()]
    rows = [
        row
        for row in rows
        if row["day"] < left_out.get((row["match"], row["slot"]), row["day"] + 1)
    ]
    rows.sort(key=lambda row: (row["match"], row["slot"], row[order], row[partner]))
    return {name: [row[name] for row in rows] for name in samples.column_names}


@pytest.mark.parametrize("table", ["rounds", "mornings"])
def test_samples_are_those_of_the_recording(table, recordings, logs):
    part = imported(logs)
    ours, left_out = names(recordings, part), asked_again(recordings)
    found = columns_of(encode(part.tables, TRACKED)[table], ours, left_out)
    exact = columns_of(encode(recordings, TRACKED)[table], ours, left_out)
    assert len(found["match"]) == len(exact["match"]) > 50
    # Other numbers in the same order; another name of the world; no mean of costs that vary.
    for name in exact.keys() - {"moment", "split", "step"}:
        for one, other in zip(found[name], exact[name], strict=True):
            is_number = isinstance(other, float | list)
            assert one == (pytest.approx(other, abs=1e-4) if is_number else other), name


def test_what_is_missing_is_counted(logs):
    missing = imported(logs).missing
    assert missing["factories that were not tracked"] == 4
    assert "days whose commitments are not those of the contracts" not in missing
    assert "factories whose production cost is not known" not in missing


def test_mutilated_files_are_left_out_with_a_reason(logs, tmp_path):
    folder = tmp_path / "logs"
    shutil.copytree(logs, folder)
    paths = sorted(folder.rglob("*.json"))
    whole = [json.loads(path.read_text()) for path in paths]
    paths[0].write_text(paths[0].read_text()[:5000])
    no_status = [e for e in whole[1]["entries"] if e["event"] != "daily_status"]
    paths[1].write_text(json.dumps(whole[1] | {"entries": no_status}))
    (folder / "other.json").write_text("[1, 2]")
    (folder / "tracker_summary.json").write_text("not even JSON")
    copied = folder / "again"
    copied.mkdir()
    shutil.copy(paths[2], copied / paths[2].name)
    shutil.copy(paths[2], copied / "agent_x.json")
    parts = list(files.read_logs(folder))
    rejected = [line for part in parts for line in part.rejected]
    assert len(rejected) == 3
    assert any(paths[0].name in line for line in rejected)
    assert any("it has no daily_status" in line for line in rejected)
    kept = sum(len(part.tables["days"]) for part in parts)
    assert kept == 12 * (len(paths) - 2)


def test_without_actions_the_days_still_serve(logs, tmp_path):
    """As before 2025-12-28: no decisions, but what came of the days."""
    shutil.copytree(logs, tmp_path / "logs")
    for path in (tmp_path / "logs").rglob("*.json"):
        log = json.loads(path.read_text())
        log["entries"] = [e for e in log["entries"] if e["event"] != "aop_action"]
        path.write_text(json.dumps(log))
    part = imported(tmp_path / "logs")
    assert part.missing["factories without decisions"] == 8
    samples = encode(part.tables, None)
    assert len(samples["rounds"]) == 0 and len(samples["mornings"]) > 0


def test_the_command_imports_resumes_and_trains(logs, tmp_path):
    command = f"record scml --logs {logs} --agents Penguin --quiet"
    done = understudy(command, "--out", tmp_path)
    assert (done.code, done.err) == (0, "")
    assert "2 worlds in" in done.out and "factories that were not tracked" in done.out
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")}
    assert understudy(command, "--out", tmp_path).out == done.out
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")}
    assert read_manifest(tmp_path / "recordings")["facts"]["missing"]
    assert understudy("encode scml --quiet --workers 0", "--out", tmp_path).code == 0
    assert {row["player"] for row in rows(tmp_path / "samples", "mornings")} == {"Penguin"}
    assert explorer_panels(Run(tmp_path)) == []


@pytest.mark.parametrize(("name", "words"), [("no", "no folder"), ("", "holds no tracker logs")])
def test_a_folder_without_logs_is_refused(name, words, tmp_path):
    done = understudy(f"record scml --logs {tmp_path / name}", "--out", tmp_path / "run")
    assert_refused(done, words)


def test_ids_and_names():
    assert place_of("00Pe@0#Wd5e03dba") == (0, "Pe", 0) and place_of("12AST@3") == (12, "AST", 3)
    for player, path in tracker_files.PATHS.items():
        assert player_name(path, "x") == player
    assert player_name("my.package.Mine", "Mine") == "Mine" and player_name("", "Mine") == "Mine"
