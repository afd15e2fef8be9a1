"""How a tournament is cut into tasks: workers stay busy to the end, and nothing depends on it."""

import heapq
import math
import random
from dataclasses import replace
from itertools import pairwise

import pyarrow as pa
import pytest

from tests.small_runs import contents
from understudy.data.players import PlayerRef
from understudy.data.runs import COMPETE, Run
from understudy.data.shards import read_shard, shard_paths
from understudy.errors import InputError
from understudy.games.scml.game import GAME
from understudy.games.scml.tournament import schedule as scheduling
from understudy.games.scml.tournament.design import Tournament, plan
from understudy.games.scml.tournament.schedule import schedule, tasks
from understudy.pipeline import compete

COMPETITORS = tuple(PlayerRef(name) for name in ("Greedy", "SyncRandom", "Random"))


def worlds_of(configs):
    return plan(Tournament(field="official", competitors=COMPETITORS, configs=configs), purpose=0)


@pytest.mark.parametrize("configs", [1, 20, 60, 400])
def test_every_world_is_in_one_task_and_keys_follow_the_plan(configs):
    worlds = worlds_of(configs)
    cut = tasks(worlds)
    assert [world for key in sorted(cut) for world in cut[key]] == worlds
    sizes = [len(cut[key]) for key in sorted(cut)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 1 and sizes[0] == max(1, min(6, len(worlds) // 64))


def test_compiled_worlds_are_played_by_the_dozen_to_the_end():
    worlds = [replace(world, simulator="batch") for world in worlds_of(120)]
    cut = tasks(worlds)
    assert [world for key in sorted(cut) for world in cut[key]] == worlds
    assert {len(cut[key]) for key in sorted(cut)[:-1]} == {16}
    assert len(tasks(worlds * 40)["00000"]) == 64


def test_the_longest_task_is_begun_first_and_the_last_are_no_longer_than_a_world():
    worlds = worlds_of(400)
    cut = tasks(worlds).values()
    lengths = [sum(scheduling.negotiations(world) for world in task) for task in cut]
    assert lengths == sorted(lengths, reverse=True)
    assert (
        max(lengths[-scheduling.TASKS_AT_THE_END :]) < max(map(scheduling.negotiations, worlds)) / 2
    )


def test_a_world_has_a_negotiation_a_day_between_neighbours_of_neighbouring_levels():
    world = worlds_of(1)[0]
    expected = world.steps * sum(a * b for a, b in pairwise(world.factories_per_level))
    assert scheduling.negotiations(world) == expected > world.steps


def idle(cut, seconds, workers):
    """The share of the workers' time until the last one ends in which they have nothing to do."""
    busy = [0.0] * workers
    for task in cut:
        heapq.heapreplace(busy, busy[0] + sum(seconds[world.match] for world in task))
    return 1 - sum(busy) / (max(busy) * workers)


def test_sixteen_workers_are_busy_to_the_end():
    """Though worlds take half or twice as long as was thought."""
    worlds, rng = worlds_of(100), random.Random(1)
    seconds = {w.match: scheduling.negotiations(w) * math.exp(rng.gauss(0, 0.5)) for w in worlds}
    by_six = [worlds[index : index + 6] for index in range(0, len(worlds), 6)]
    assert idle(by_six, seconds, 16) > 0.1
    assert idle(tasks(worlds).values(), seconds, 16) < 0.03
    assert idle(reversed(tasks(worlds).values()), seconds, 16) > 0.03  # the order matters, too


# --- played --------------------------------------------------------------------------------------


def competed(folder, resume=True):
    """Results and recordings of a small tournament."""
    small = Tournament(field="official", competitors=COMPETITORS, configs=3, steps=6, seed=2)
    planned = schedule(small, purpose=COMPETE, keep=2)
    played = compete.compete(GAME, Run(folder), planned, worker=0, quiet=True, resume=resume)
    tables = (GAME.results, *GAME.recordings)
    return (
        played.folder,
        len(planned.fixtures),
        {
            table.name: pa.concat_tables(
                read_shard(path, table) for path in shard_paths(played.folder, table)
            )
            for table in tables
        },
    )


def test_results_and_recordings_do_not_depend_on_cut_or_order(tmp_path, monkeypatch):
    _, many, alone = competed(tmp_path / "alone")
    monkeypatch.setattr(scheduling, "TASKS_AT_THE_END", 1)
    _, few, together = competed(tmp_path / "together")
    monkeypatch.setattr(scheduling, "negotiations", lambda world: -world.seed)
    _, _, reordered = competed(tmp_path / "reordered")
    assert few < many
    for name, table in alone.items():
        assert table.num_rows
        assert table.equals(together[name]) and table.equals(reordered[name]), name


def test_what_is_missing_is_played_again_and_the_same(tmp_path):
    folder, many, _ = competed(tmp_path)
    whole = contents(folder)
    for key in (0, many // 2, many - 1):
        for path in folder.glob(f"*-{key:05d}.parquet"):
            path.unlink()
    assert contents(folder) != whole
    competed(tmp_path)
    assert contents(folder) == whole


def test_what_was_cut_otherwise_is_not_gone_on_with(tmp_path, monkeypatch):
    competed(tmp_path)
    monkeypatch.setattr(scheduling, "TASKS_AT_THE_END", 1)
    with pytest.raises(InputError, match=r"holds other work: tasks was \d+, now \d+"):
        competed(tmp_path)
    competed(tmp_path, resume=False)
