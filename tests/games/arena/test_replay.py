"""A replay shows what was recorded, and refuses what it cannot show."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from understudy.data import shards
from understudy.data.players import PlayerRef
from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.games.arena.codec import actions as codec
from understudy.games.arena.data.encode import MOVES
from understudy.games.arena.data.tables import MATCHES, STEPS, actions_of, views_of
from understudy.games.arena.game import GAME
from understudy.games.arena.panels import MAX_REPLAYS, panels
from understudy.games.arena.play.play import play
from understudy.games.arena.replay import VERSION, find_replay, recorded_matches
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim import state as v
from understudy.learn.policy import FactoredPolicy, PolicyShape, save_policy
from understudy.pipeline.pairings import Fixture

PAIRS = [
    ("expert", "collector", (1, 2)),
    ("camper", "camper", (5,)),
    ("novice", "kiter", (3,)),
    ("novice", "novice", (1,)),
]


def write(folder, key, tables):
    for table in (MATCHES, STEPS):
        shards.write_shard(shards.shard_path(folder, table, key), tables[table.name])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run with recordings of bots, and a result of a novice that has learnt nothing."""
    found = Run(tmp_path_factory.mktemp("run"))
    shape = PolicyShape(MOVES.features, MOVES.heads, (16,))
    save_policy(found.model("novice"), FactoredPolicy(shape, seed=3))
    for key, (one, other, seeds) in enumerate(PAIRS):
        refs = [PlayerRef(n, found.model(n) if n == "novice" else None) for n in (one, other)]
        folder = found.results / "a" if one == "novice" else found.recordings
        write(folder, f"{key:05d}", play(Fixture(tuple(refs), seeds)).recordings)
    return found


def recorded(run, match):
    """The outline and the rows of one match."""
    for path, outline in recorded_matches(run):
        if outline["match"] == match:
            steps = shards.read_shard(path, STEPS)
            return outline, steps.filter(pc.equal(steps["match"], match))
    raise AssertionError(match)


MATCH_NAMES = [f"{one}-{other}-{seed}" for one, other, seeds in PAIRS for seed in seeds]
each_match = pytest.mark.parametrize("match", MATCH_NAMES)


@each_match
def test_frames_agree_with_the_recording(run, match):
    outline, steps = recorded(run, match)
    views = views_of(steps).reshape(-1, 2, len(v.VIEW))
    found = find_replay(run, match)
    frames = {name: np.array(values) for name, values in found["frames"].items() if name in NUMBERS}
    for name, (field, scale) in NUMBERS.items():
        assert frames[name].shape == (2, outline["steps"] + 1), name
        for slot in range(2):
            side = 1 - 2 * slot if name in TURNED else 1
            expected = side * views[:, slot, field].astype(np.float64) / scale
            np.testing.assert_allclose(frames[name][slot, :-1], expected, atol=5.1e-4, err_msg=name)
    sees = np.array(found["frames"]["sees"])
    assert np.array_equal(sees[:, :-1], views[:, :, v.ENEMY_AGE].T == 0)


NUMBERS = {
    "x": (v.X, 1),
    "y": (v.Y, 1),
    "aim_x": (v.FACING_X, 1),
    "aim_y": (v.FACING_Y, 1),
    "health": (v.HEALTH, 1),
    "magazine": (v.MAGAZINE, 1),
    "reserve": (v.RESERVE, 1),
    "reload": (v.RELOAD, r.RELOAD_STEPS),
    "shield": (v.SHIELD, r.SHIELD_STEPS),
    "dash_cooldown": (v.DASH_COOLDOWN, r.DASH_COOLDOWN),
    "shield_cooldown": (v.SHIELD_COOLDOWN, r.SHIELD_COOLDOWN),
    "hold": (v.HOLD, r.HOLD_STEPS),
    "memory_x": (v.ENEMY_X, 1),
    "memory_y": (v.ENEMY_Y, 1),
}
TURNED = {"x", "y", "aim_x", "aim_y", "memory_x", "memory_y"}  # player 1 sees them turned


@each_match
def test_events_actions_and_stations_agree_with_the_recording(run, match):
    _, steps = recorded(run, match)
    found = find_replay(run, match)
    bits = steps["events"].to_numpy().reshape(-1, 2)
    choices = codec.encode(actions_of(steps)).reshape(len(bits), 2, -1)
    views = views_of(steps).reshape(len(bits), 2, -1)
    for slot in range(2):
        assert found["frames"]["events"][slot][0] == []
        for t, names in enumerate(found["frames"]["events"][slot][1:]):
            assert sum(1 << r.EVENTS.index(name) for name in names) == bits[t, slot]
        for k, head in enumerate(codec.HEADS):
            assert found["actions"][head][slot] == choices[:, slot, k].tolist()
    ready = np.array(found["frames"]["ready"])[:-1]
    fields = [v.HEALTH_OURS, v.HEALTH_THEIRS, v.AMMO_OURS, v.AMMO_THEIRS]
    assert np.array_equal(ready, views[:, 0][:, fields] == 1)
    assert np.array_equal(ready[:, [1, 0, 3, 2]], views[:, 1][:, fields] == 1)


@each_match
def test_shots_are_born_where_somebody_fires_and_fly_on(run, match):
    frames = find_replay(run, match)["frames"]
    for t in range(1, len(frames["shots"])):
        before, now = frames["shots"][t - 1], frames["shots"][t]
        for slot in range(2):
            fired = "fired" in frames["events"][slot][t]
            mine = [shot for shot in now if shot[2] == slot]
            place = [frames[name][slot][t] for name in ("x", "y")]
            born = [shot for shot in mine if shot[:2] == place]
            assert len(born) == int(fired)
            old = [shot for shot in before if shot[2] == slot]
            assert len(mine) - len(born) <= len(old)
            for x, y, _ in (shot for shot in mine if shot not in born):
                way = [np.hypot(x - a, y - b) for a, b, _ in old]
                assert min(abs(d - r.SHOT_SPEED * r.STEP_SECONDS) for d in way) < 2e-3


@each_match
def test_a_replay_says_what_it_is(run, match):
    outline, _ = recorded(run, match)
    found = find_replay(run, match)
    assert (found["schema"], found["version"]) == ("understudy.arena.replay", VERSION)
    assert found["match"] == match and found["seed"] == outline["seed"]
    names = [outline["player_0"], outline["player_1"]]
    assert found["players"] == names
    assert found["score"] == [outline["score"], -outline["score"]]
    winner = f"{names[0 if outline['score'] > 0 else 1]} wins"
    assert found["outcome"] == f"{winner if outline['score'] else 'draw'} ({outline['ending']})"
    cover = r.COVER[r.LAYOUT_NAMES.index(outline["layout"])]
    low, high = (cover[:2] - cover[2:]).T, (cover[:2] + cover[2:]).T
    assert found["cover"] == np.concatenate([low, high], axis=1).tolist()
    assert [(s["kind"], s["x"], s["y"]) for s in found["stations"]] == [
        ("health" if k < 2 else "ammo", x, y) for k, (x, y) in enumerate(r.STATIONS.tolist())
    ]
    assert json.loads(json.dumps(found)) == json.loads(json.dumps(found, allow_nan=False))


def test_a_trained_player_shows_its_thoughts_and_a_bot_none(run):
    found = find_replay(run, "novice-kiter-3")
    assert found["policy"][1] is None and found["value"][1] is None
    steps = len(found["actions"]["fire"][0])
    assert len(found["value"][0]) == steps
    for head, options in codec.HEADS.items():
        thoughts = np.array(found["policy"][0][head])
        assert thoughts.shape == (steps, options)
        np.testing.assert_allclose(thoughts.sum(axis=1), 1, atol=0.006)
        done = np.array(found["actions"][head][0])
        assert (thoughts[np.arange(steps), done] > 0).all()


def test_a_match_of_full_length_fits_in_half_a_megabyte(run):
    assert len(find_replay(run, "camper-camper-5")["frames"]["x"][0]) == r.MAX_STEPS + 1
    for match in ("camper-camper-5", "novice-novice-1"):  # the second with both players' thoughts
        found = find_replay(run, match)
        size = len(json.dumps(found, separators=(",", ":")))
        assert size * r.MAX_STEPS / len(found["actions"]["fire"][0]) < 500_000


# --- refusals ------------------------------------------------------------------------------------


def refusal(run, match):
    with pytest.raises(InputError) as error:
        find_replay(run, match)
    message = str(error.value)
    assert "\n" not in message
    return message


def test_an_unknown_match_is_answered_with_some_there_are(run):
    message = refusal(run, "boss-rusher-1")
    assert "no recording of match 'boss-rusher-1'" in message
    assert "expert-collector-1, expert-collector-2, camper-camper-5" in message


def test_a_run_without_recordings_says_so(tmp_path):
    assert refusal(Run(tmp_path), "a-b-1").endswith("for example: none at all")


def test_a_match_in_outline_only_is_not_there(tmp_path):
    fixture = Fixture((PlayerRef("expert"), PlayerRef("rusher")), (1, 2), 1)
    write(Run(tmp_path).recordings, "00000", play(fixture).recordings)
    assert "for example: expert-rusher-1" in refusal(Run(tmp_path), "expert-rusher-2")
    assert find_replay(Run(tmp_path), "expert-rusher-1")["seed"] == 1


@pytest.mark.parametrize("column", ["x", "enemy_age", "threat", "move_x", "fire"])
def test_a_recording_that_does_not_play_again_is_refused(run, tmp_path, column):
    match = "expert-collector-1"
    outline, steps = recorded(run, match)
    values = steps[column].to_numpy().copy()
    row = np.flatnonzero(values)[0] if column == "fire" else 40  # a shot that was fired
    values[row] = 0 if column == "fire" else -values[row] - 0.25
    place = steps.schema.get_field_index(column)
    tampered = steps.set_column(place, steps.schema.field(place), pa.array(values))
    write(
        Run(tmp_path).recordings,
        "00000",
        {"matches": MATCHES.build({k: [x] for k, x in outline.items()}), "steps": tampered},
    )
    message = refusal(Run(tmp_path), match)
    assert f"match '{match}' does not play again as recorded" in message
    assert "understudy record arena --fresh" in message


def test_a_match_of_other_origin_is_shown_as_it_was_seen(run, tmp_path):
    outline, steps = recorded(run, "expert-collector-1")
    other = {**outline, "seed": None, "layout": "unknown", "origin": "recorder"}
    tables = {"matches": MATCHES.build({k: [x] for k, x in other.items()}), "steps": steps}
    write(Run(tmp_path).recordings, "00000", tables)
    assert [panel.title for panel in panels(Run(tmp_path))] == ["Replays"]
    shown, played = (find_replay(one, "expert-collector-1") for one in (Run(tmp_path), run))
    length = outline["steps"]
    assert (shown["cover"], shown["frames"]["shots"]) == ([], [[]] * length)
    for name in ("x", "y", "aim_x", "aim_y", "health", "magazine", "shield", "memory_x", "sees"):
        same = [values[:length] for values in played["frames"][name]]
        np.testing.assert_allclose(shown["frames"][name], same, atol=2e-3, err_msg=name)
    assert shown["frames"]["ready"] == played["frames"]["ready"][:length]
    assert shown["actions"] == played["actions"]


def test_of_a_log_of_one_player_the_other_stands_where_it_was_seen(run, tmp_path):
    outline, steps = recorded(run, "expert-collector-1")
    mine = steps.filter(pc.equal(steps["slot"], 1))
    mine = mine.take([0, 1, 2, 5, *range(6, len(mine))])  # steps 3 and 4 are missing
    other = {**outline, "seed": None, "score": None, "layout": "unknown", "origin": "feedback"}
    tables = {"matches": MATCHES.build({k: [x] for k, x in other.items()}), "steps": mine}
    write(Run(tmp_path).recordings, "00000", tables)
    frames = find_replay(Run(tmp_path), "expert-collector-1")["frames"]
    assert len(frames["x"][0]) == outline["steps"]
    assert frames["x"][0] == frames["memory_x"][1]
    assert frames["x"][1][2] == frames["x"][1][3] == frames["x"][1][4]
    assert frames["sees"][0] == [False] * outline["steps"]
    np.testing.assert_allclose(np.hypot(frames["aim_x"][0], frames["aim_y"][0]), 1, atol=1e-2)


# --- pages ---------------------------------------------------------------------------------------


def test_the_report_shows_replays_of_trained_players_first(run):
    (panel,) = panels(run)
    html = str(panel)
    assert html.index("novice-kiter-3") < html.index("expert-collector-")
    assert MAX_REPLAYS >= 4


def test_a_replay_is_a_page_that_loads_nothing(run):
    html = GAME.replay(run, "expert-collector-2")
    assert "expert-collector-2" in html
    assert 'src="http' not in html and 'href="http' not in html
