"""Agents that end, hang or spoil their process cost their own world and nobody else's."""

from dataclasses import replace

import pytest

from understudy.data.own_code import refer
from understudy.data.players import PlayerRef
from understudy.games.scml.tournament import isolation
from understudy.games.scml.tournament.design import WorldPlan
from understudy.games.scml.tournament.isolation import isolated
from understudy.games.scml.tournament.play import play
from understudy.trust.attacks.agents import source

BASE = WorldPlan(
    match="a-world", field="official", track="std", factories_per_level=(2, 2), steps=6, seed=3,
    run=0, players=(), slots=(0,), recorded=False,
)  # fmt: skip


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    path = tmp_path_factory.mktemp("theirs") / "theirs.py"
    path.write_text(source())
    return path


def world(theirs, *kinds):
    names = [*kinds, *("Greedy", "SyncRandom", "Random", "Greedy")[len(kinds) :]]
    players = tuple(
        PlayerRef(kind, code=refer(f"{theirs}:{kind}")) if kind in kinds else PlayerRef(kind)
        for kind in names
    )
    return replace(BASE, players=players)


def faults(plans):
    played = play(plans)
    return {row["player"]: row["faults"] for row in played.results.to_pylist()}, [
        fault for faults in played.recordings["worlds"]["faults"].to_pylist() for fault in faults
    ]


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("ExitsBadly", "ended its process (exit code 3)"),
        ("ExitsAtOnce", "ended its process (exit code 0)"),
        ("Segfaults", "killed its process (SIGSEGV)"),
        ("KillsItself", "killed its process (SIGKILL)"),
        ("PatchesHost", "changed the simulator's own code"),
        ("HangsInC", "no answer within 2 s"),
        ("StopsItself", "no answer within 2 s"),
    ],
)
def test_who_ends_its_process_is_blamed_and_the_others_play_on(theirs, kind, what):
    by_player, told = faults(isolated([world(theirs, kind)], seconds=2))
    assert by_player[kind] == 1
    assert told == [f"0 0 {what}"]
    assert [count for player, count in by_player.items() if player != kind] == [0, 0, 0]


def test_of_two_suspects_the_guilty_one_is_found(theirs):
    by_player, told = faults(isolated([world(theirs, "Prints", "KillsLater")], seconds=60))
    assert (by_player["Prints"], by_player["KillsLater"]) == (0, 1)
    assert told == ["1 0 ended its process (exit code 5)"]


def test_memory_without_end_is_a_fault(theirs, monkeypatch):
    monkeypatch.setattr(isolation, "MEMORY", 2**28)
    _, told = faults(isolated([world(theirs, "EatsMemory")], seconds=60))
    assert len(told) == 1 and ("MemoryError" in told[0] or "memory" in told[0])


def test_a_spoilt_process_is_told_where_worlds_share_it(theirs):
    from understudy.games.scml.engine.hosting.host import Host

    before = Host.step
    try:
        with pytest.raises(RuntimeError, match=r"its process was spoilt: .*Host\.step"):
            play([world(theirs, "PatchesHost")])
    finally:
        Host.step = before


def test_alone_a_world_is_the_same_as_among_others(theirs):
    plan = world(theirs, "Prints")
    assert play([plan]).results == play(isolated([plan], None)).results
