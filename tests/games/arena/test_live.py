"""A person at the arena: told what a policy is told, recorded as any player is."""

import json

import numpy as np
import pytest

from understudy.data.players import PlayerRef
from understudy.errors import InputError
from understudy.games.arena.codec import actions as codec
from understudy.games.arena.codec import features
from understudy.games.arena.data.encode import encode
from understudy.games.arena.data.tables import views_of
from understudy.games.arena.live import ArenaLive, action_of, permitted, seen_by
from understudy.games.arena.play.play import play_matches
from understudy.games.arena.replay import _play_again, frame_of
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim import state as v
from understudy.games.arena.sim.world import World
from understudy.pipeline.game import Seats

RUSHER, EXPERT = PlayerRef("rusher"), PlayerRef("expert")


def played(seats, done=None, most=700):
    match = ArenaLive(seats)
    for _ in range(most):
        if match.over:
            break
        match.step(done)
    return match


@pytest.fixture(scope="module")
def beaten():
    """Who stands still and fires at nothing is shot."""
    return played(Seats((RUSHER, None), "me", 7), {"fire": True, "move": [0, 0.5], "aim": [-1, 0]})


def test_a_match_of_two_bots_is_the_match_that_is_recorded():
    match = played(Seats((EXPERT, RUSHER), "me", 11))
    outline, steps = play_matches([(EXPERT, RUSHER, 11)], 1)
    found = match.recorded()
    assert found["steps"].drop_columns("extras").equals(steps.drop_columns("extras"))
    assert found["matches"].drop_columns("origin").equals(outline.drop_columns("origin"))


def test_a_person_is_recorded_as_any_player_and_marked(beaten):
    tables = beaten.recorded()
    (row,) = tables["matches"].to_pylist()
    assert (row["player_0"], row["player_1"], row["origin"]) == ("rusher", "me", "human")
    assert row["score"] == 1.0
    told = [json.loads(text) for text in tables["steps"]["extras"].to_pylist()[1::2]]
    assert all(one["human"] and one["ms"] >= 0 for one in told)
    assert tables["steps"]["extras"].to_pylist()[::2] == [None] * len(told)
    samples = encode(tables, frozenset({"me"}))["moves"]
    assert len(samples) == row["steps"]
    assert not any(samples["forbidden"].to_pylist())
    assert set(samples["outcome"].to_pylist()) == {-1.0}


def test_its_recording_plays_again_as_it_was(beaten):
    tables = beaten.recorded()
    actions = np.stack([tables["steps"][name].to_numpy() for name in r.ACTION], axis=1)
    views = views_of(tables["steps"]).reshape(-1, 2, len(v.VIEW))
    (outline,) = tables["matches"].to_pylist()
    world, frames = _play_again(outline, actions.reshape(-1, 2, len(r.ACTION)), views)
    assert int(world.status[0]) == r.TERMINATED
    assert frames["x"][1][-1] == frame_of(world)["x"][1]


def test_the_floor_is_turned_for_who_sits_in_the_east():
    west, east = (action_of({"move": [1, -0.5], "aim": [0, 1]}, slot) for slot in (0, 1))
    assert west[:4].tolist() == [1, -0.5, 0, 1]
    assert east[:4].tolist() == [-1, 0.5, 0, -1]


def test_what_the_rules_forbid_is_not_done():
    world = World(1)
    world.reset([3])
    everything = action_of({"fire": True, "use": True, "ability": "dash", "move": [1, 1]}, 0)
    for _ in range(40):
        done = permitted(everything, world.view[:, 0])
        legal = np.split(features.legal(world.view[:, 0])[0], np.cumsum(list(codec.HEADS.values())))
        chosen = codec.encode(done[None])[0]
        assert all(legal[head][option] for head, option in enumerate(chosen))
        assert done[r.MOVE_X] == 1.0
        world.step(np.stack([[done, done]]))
    assert world.view[0, 0, v.MAGAZINE] < r.MAGAZINE
    assert world.view[0, 0, v.DASH_COOLDOWN] > 0


@pytest.mark.parametrize(
    "done",
    [3, [], "x", {"move": 1}, {"move": [1]}, {"aim": [float("nan"), 0]}, {"move": ["a", 0]},
     {"ability": "fly"}, {"ability": []}, {"aim": [1, 2, 3]}],
)  # fmt: skip
def test_what_is_no_decision_is_refused(done):
    with pytest.raises((InputError, TypeError)):
        action_of(done, 0)
    assert action_of({"move": [9e99, -9e99]}, 0)[:2].tolist() == [1, -1]
    assert action_of(None, 1).tolist() == [0] * 7


def test_a_person_is_not_told_what_its_eyes_cannot_see():
    """Whatever the enemy does behind cover, the picture stays the same."""
    world = World(1)
    world.reset([5])
    shown = []
    for k in range(2):
        frame = frame_of(world)
        frame["sees"] = [False, True]
        frame["x"][1] += k
        frame["health"][1] -= 20 * k
        frame["aim_x"][1], frame["reload"][1], frame["magazine"][1] = k, k, k
        frame["events"][1] = ["fired"] * k
        frame["memory_x"][1] += k
        frame["shots"] = [[100.0, 0.0, 1]] * k
        shown.append(seen_by(frame, 0, [[-1, -1, 1, 1]]))
    assert shown[0] == shown[1]
    assert shown[0]["x"][1] == frame["memory_x"][0]
    assert shown[0]["x"][0] == frame["x"][0]


def test_shots_are_seen_unless_cover_stands_between():
    world = World(1)
    world.reset([5])
    frame = frame_of(world) | {"shots": [[0.0, 0.0, 1], [-7.0, 0.0, 1], [5.0, 0.0, 0]]}
    frame["x"], frame["y"] = [-8.0, 8.0], [0.0, 0.0]
    wall = [[-5, -1, -4, 1]]
    assert seen_by(frame, 0, wall)["shots"] == [[-7.0, 0.0, 1], [5.0, 0.0, 0]]
    assert seen_by(frame, 0, [])["shots"] == frame["shots"]


def test_the_scene_has_what_the_replay_has(beaten):
    scene = beaten.scene()
    assert scene["seat"] == 1
    assert scene["players"] == ["rusher", "me"]
    assert json.loads(json.dumps(scene)) == scene
    assert beaten.now()["outcome"] == "rusher wins"
