import gzip
import json
import random
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.data.players import PlayerRef
from understudy.data.samples import unpack_legal
from understudy.errors import InputError
from understudy.games.arena.codec import features as observe
from understudy.games.arena.data.encode import MOVES, encode
from understudy.games.arena.data.logs import SKIPPED, read_logs
from understudy.games.arena.data.tables import MATCHES, RECORDED_VIEW, STEPS, rules_of, views_of
from understudy.games.arena.play.play import play
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim import state as v
from understudy.pipeline.pairings import Fixture

OBSERVATION = {"position": [1.0, 2.0], "health": 60}
ACTION = {"move": [1, 0], "aim": [0.5, -0.5], "fire": True, "interact": 0, "ability": "dash"}


def line(**changes):
    """One good line of a recorder, but for these keys; None takes one away."""
    good = {"match": "m", "step": 0, "slot": 0, "observation": OBSERVATION, "action": ACTION}
    return {key: value for key, value in {**good, **changes}.items() if value is not None}


def write(path, *lines):
    """Lines as JSON, bytes as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in lines]
    content = b"".join(one + b"\n" for one in raw)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def read(folder, *lines, name="a.jsonl"):
    """What comes of one file with these lines."""
    write(folder / name, *lines)
    return {found.source: found for found in read_logs(folder)}[name]


def view_of(folder, observation):
    """The only imported view, by field."""
    found = read(folder, line(observation=observation))
    assert found.rejected == []
    return dict(zip(v.VIEW, views_of(found.tables["steps"])[0].tolist(), strict=True))


def outline(found):
    (match,) = found.tables["matches"].to_pylist()
    return match


@pytest.fixture(scope="module")
def played():
    """Matches won, lost, and drawn by two that only hide; between them they use everything."""
    pairs = [
        ("expert", "collector", (1, 2)),
        ("rusher", "expert", (3,)),
        ("collector", "kiter", (0,)),
        ("camper", "camper", (5,)),
    ]
    fixtures = [Fixture((PlayerRef(a), PlayerRef(b)), seeds) for a, b, seeds in pairs]
    return [play(fixture).recordings for fixture in fixtures]


def test_what_was_played_covers_all_that_a_view_can_tell(played):
    views = np.concatenate([views_of(tables["steps"]) for tables in played])
    assert (views.min(axis=0) < views.max(axis=0)).all()
    assert views[:, v.ENEMY_AGE].max() > observe.MEMORY_STEPS
    scores = [score for tables in played for score in tables["matches"]["score"].to_pylist()]
    assert set(scores) == {1.0, 0.0, -1.0}


def recorder_lines(tables):
    """The lines that a recorder would have written of these recordings."""
    matches = {match["match"]: match for match in tables["matches"].to_pylist()}
    for row in tables["steps"].to_pylist():
        match = matches[row["match"]]
        last = row["step"] == match["steps"] - 1
        yield {
            "episode": row["match"],
            "t": row["step"],
            "agent_id": row["slot"],
            "player": match[f"player_{row['slot']}"],
            "obs": {name: row[name] for name in RECORDED_VIEW},
            "action": {
                "move": [row["move_x"], row["move_y"]],
                "aim": [row["aim_x"], row["aim_y"]],
                "fire": row["fire"] == 1,
                "interact": int(row["interact"]),
                "ability": [None, "dash", "shield"][int(row["ability"])],
            },
            "reward": row["reward"],
            "terminated": last and match["ending"] != "timeout",
            "truncated": last and match["ending"] == "timeout",
        }


# --- recorder trajectories -----------------------------------------------------------------------


def test_a_played_match_comes_back_bit_for_bit_whatever_the_order_of_its_lines(played, tmp_path):
    for number, tables in enumerate(played):
        lines = list(recorder_lines(tables))
        random.Random(0).shuffle(lines)
        source = f"{number}.jsonl.gz"
        found = read(tmp_path, *lines, name=source)
        assert found.rejected == []

        ids = [f"{source}/{match}" for match in tables["matches"]["match"].to_pylist()]
        unordered = {match["match"]: match for match in found.tables["matches"].to_pylist()}
        for match, before in zip(ids, tables["matches"].to_pylist(), strict=True):
            logged = {"match": match, "seed": None, "layout": "unknown", "origin": "recorder"}
            assert unordered[match] == before | logged

        read_back, direct = encode(found.tables, None)["moves"], encode(tables, None)["moves"]
        keys = [("match", "ascending"), ("step", "ascending"), ("slot", "ascending")]
        read_back, direct = read_back.sort_by(keys), direct.sort_by(keys)
        for column in set(MOVES.table.arrow().names) - {"match", "split"}:
            assert read_back[column].equals(direct[column]), column


def test_what_was_read_looks_like_what_was_declared(tmp_path):
    tables = read(tmp_path, line()).tables
    MATCHES.check(tables["matches"].schema, "logs")
    STEPS.check(tables["steps"].schema, "logs")
    assert tables["steps"]["events"].to_pylist() == [0]
    assert {rules_of(rows) for rows in tables.values()} == {r.VERSION}


def test_rows_come_by_match_then_step_then_slot(tmp_path):
    keys = [("b", 2, 1), ("a", 1, 0), ("b", 0, 1), ("b", 0, 0), ("a", 0, 1)]
    found = read(tmp_path, *(line(match=m, step=t, slot=s) for m, t, s in keys))
    steps = found.tables["steps"].select(["match", "step", "slot"]).to_pydict()
    rows = list(zip(*steps.values(), strict=True))
    names = {"a": "a.jsonl/a", "b": "a.jsonl/b"}
    order = [("b", 0, 0), ("b", 0, 1), ("b", 2, 1), ("a", 0, 1), ("a", 1, 0)]
    assert rows == [(names[m], t, s) for m, t, s in order]


def test_features_become_a_view_with_the_same_features_and_masks(played, tmp_path):
    for tables in played:
        views = views_of(tables["steps"])
        features = observe.features(views)
        keys = tables["steps"].select(["match", "step", "slot"]).to_pylist()
        found = read(
            tmp_path,
            *(
                line(**key, observation=row)
                for key, row in zip(keys, features.tolist(), strict=True)
            ),
        )
        assert found.rejected == []
        back = views_of(found.tables["steps"])
        np.testing.assert_allclose(observe.features(back), features, rtol=0, atol=1e-7)
        # Features do not tell when the next shot is possible; all else in the mask they do.
        loaded = views[:, v.FIRE_COOLDOWN] == 0
        legal, legal_back = observe.legal(views), observe.legal(back)
        assert (legal_back[loaded] == legal[loaded]).all()
        fire = 37
        assert (np.delete(legal_back, fire, axis=1) == np.delete(legal, fire, axis=1)).all()
        whole = [v.HEALTH, v.RESERVE, v.RELOAD, v.DASH_COOLDOWN, v.SHIELD_COOLDOWN, v.SHIELD]
        assert (back[:, whole] == views[:, whole]).all()


def test_the_clock_is_told_by_the_step_whatever_else_is_logged(tmp_path):
    seen = [OBSERVATION, [0.0] * 19, [0.0] * 20, {**OBSERVATION, "time_left": 7}]
    steps = [0, 1, 599, 10_000]
    found = read(
        tmp_path,
        *(line(match=m, step=t, observation=one) for m, one in enumerate(seen) for t in steps),
    )
    views = views_of(found.tables["steps"])
    assert found.rejected == []
    assert views[:, v.TIME_LEFT].reshape(4, 4).tolist() == [[600, 599, 1, 0]] * 4
    assert observe.features(views).max() <= 1 and observe.features(views)[:, -1].min() == 0


def test_features_beyond_their_range_do_not_make_stations_of_no_kind(tmp_path):
    view = view_of(tmp_path, [0.0] * 17 + [2.0, -1.0])
    assert [view["health_ours"], view["health_theirs"]] == [1, 1]
    assert [view["ammo_ours"], view["ammo_theirs"]] == [0, 0]


def test_vectors_and_synonyms_are_other_words_for_the_fields(tmp_path):
    flat = dict(zip(v.VIEW, map(float, range(1, len(v.VIEW) + 1)), strict=True))
    flat["time_left"] = r.MAX_STEPS  # told by the step, whatever the fields say
    nested = flat.copy()
    for name, prefix in (("position", ""), ("velocity", "v"), ("facing", "facing_")):
        nested[name] = [nested.pop(f"{prefix}x"), nested.pop(f"{prefix}y")]
    nested["cover"] = [nested.pop("cover_x"), nested.pop("cover_y")]
    nested["enemy"] = {
        "position": [nested.pop("enemy_x"), nested.pop("enemy_y")],
        "velocity": [nested.pop("enemy_vx"), nested.pop("enemy_vy")],
        "age": nested.pop("enemy_age"),
        "visible": False,
    }
    nested["hp"], nested["ammo"] = nested.pop("health"), nested.pop("magazine")
    assert view_of(tmp_path, flat) == view_of(tmp_path, nested) == flat
    aim = view_of(tmp_path, {**OBSERVATION, "aim": [0, -1]})
    assert (aim["facing_x"], aim["facing_y"]) == (0, -1)


def test_what_was_not_logged_is_as_when_a_match_begins(tmp_path):
    begun = {"facing_x": 1, "magazine": r.MAGAZINE, "reserve": r.RESERVE, "enemy_x": r.SPAWN_X}
    ready = dict.fromkeys(["health_ours", "health_theirs", "ammo_ours", "ammo_theirs"], 1)
    never = {"enemy_age": r.MAX_STEPS, "time_left": r.MAX_STEPS}
    expected = dict.fromkeys(v.VIEW, 0) | begun | ready | never | {"x": 1, "y": 2, "health": 60}
    assert view_of(tmp_path, OBSERVATION) == expected
    nulls = {"vx": None, "enemy": None, "cover": None, "magazine": None}
    assert view_of(tmp_path, OBSERVATION | nulls) == expected
    unseen = {"enemy": {"visible": False, "velocity": [1, 1]}}
    assert view_of(tmp_path, OBSERVATION | unseen) == expected


@pytest.mark.parametrize(
    ("enemy", "age"),
    [
        ({}, 0),
        ({"visible": True}, 0),
        ({"visible": None}, 0),
        ({"visible": 0}, r.MAX_STEPS),
        ({"visible": True, "age": 7}, 7),
    ],
)
def test_how_long_ago_the_enemy_was_seen(tmp_path, enemy, age):
    view = view_of(tmp_path, {**OBSERVATION, "enemy": {"position": [3, 4], **enemy}})
    assert (view["enemy_x"], view["enemy_y"], view["enemy_age"]) == (3, 4, age)
    assert view_of(tmp_path, {**OBSERVATION, "enemy_x": 3})["enemy_age"] == 0


@pytest.mark.parametrize(
    ("changes", "in_reach"),
    [
        ({}, 1),
        ({"health": 100}, 0),
        ({"health_ours": 0}, 0),
        ({"x": -8.2}, 1),
        ({"x": -8.3}, 0),
        ({"y": -7}, 0),  # ammo, of which there is enough
        ({"y": -7, "reserve": 31}, 1),
        ({"in_reach": 0}, 0),  # logged: it is not for us to say
    ],
)
def test_stations_in_reach_are_worked_out_unless_logged(tmp_path, changes, in_reach):
    assert view_of(tmp_path, {"x": -7, "y": 7, "health": 99} | changes)["in_reach"] == in_reach


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"observation": None}, "observation is None"),
        ({"observation": [0.0] * 18}, "20 features"),
        ({"observation": [0.0] * 18 + ["0"]}, "ammo_ready is '0'"),
        ({"observation": [0.0] * 18 + [float("nan")]}, "ammo_ready is nan"),
        ({"observation": {"health": 1, "x": 1}}, "observation has no y"),
        ({"observation": {"position": [1, 2]}}, "observation has no health"),
        ({"observation": {"position": [1, 2, 3], "health": 1}}, "position is [1, 2, 3]"),
        ({"observation": {**OBSERVATION, "vx": float("inf")}}, "vx is inf"),
        ({"observation": {**OBSERVATION, "vx": 1e39}}, "vx is 1e+39"),
        ({"observation": {**OBSERVATION, "vx": 10**400}}, "vx is 1000"),
        ({"observation": {**OBSERVATION, "vx": {}}}, "vx is {}"),
        ({"observation": {**OBSERVATION, "enemy": []}}, "enemy is []"),
        ({"observation": {**OBSERVATION, "enemy": {"position": 3}}}, "enemy position is 3"),
        ({"action": None}, "action is None"),
        ({"action": {}}, "action has neither"),
        ({"action": [1, 0, 0, 0, 0, 0, 0]}, "action is [1, 0"),
        ({"action": {**ACTION, "move": [1]}}, "move is [1]"),
        ({"action": {**ACTION, "aim": [float("nan"), 0]}}, "aim_x is nan"),
        ({"action": {**ACTION, "aim": [None, 0]}}, "aim_x is None"),
        ({"action": {**ACTION, "fire": 2}}, "fire is 2"),
        ({"action": {**ACTION, "fire": "yes"}}, "fire is 'yes'"),
        ({"action": {**ACTION, "ability": "fly"}}, "ability is 'fly'"),
        ({"action": {**ACTION, "ability": 3}}, "ability is 3"),
        ({"action": {**ACTION, "ability": True}}, "ability is True"),
        ({"action": {**ACTION, "ability": []}}, "ability is []"),
        ({"reward": "much"}, "reward is 'much'"),
        ({"reward": []}, "reward is []"),
        ({"terminated": "no"}, "terminated is 'no'"),
        ({"outcome": 2}, "outcome is 2"),
        ({"outcome": True}, "outcome is True"),
        ({"outcome": "good"}, "outcome is 'good'"),
        ({"step": None}, "step is None"),
        ({"step": -1}, "step is -1"),
        ({"step": 0.5}, "step is 0.5"),
        ({"step": float("nan")}, "step is nan"),
        ({"step": True}, "step is True"),
        ({"step": 2**31 - 1}, "step is 2147483647"),
        ({"slot": 2}, "slot is 2"),
        ({"slot": True}, "slot is True"),
        ({"slot": None}, "neither slot nor player"),
        ({"player": {"name": "a"}}, "player is {'name': 'a'}"),
        ({"match": [1]}, "match is [1]"),
    ],
)
def test_a_line_that_cannot_be_used_is_told_and_the_rest_is_kept(tmp_path, changes, problem):
    found = read(tmp_path, line(step=5), line(**{"step": 6, **changes}), line(step=7))
    (rejected,) = found.rejected
    assert rejected.startswith("a.jsonl:2: ") and problem in rejected and len(rejected) < 200
    assert found.tables["steps"]["step"].to_pylist() == [5, 7]
    assert outline(found)["steps"] == 3


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b"{", "not JSON"),
        (b'{"match": "\xff"}', "not UTF-8"),
        (b"[1, 2]", "[1, 2] is no JSON object"),
        (b"null", "None is no JSON object"),
        (b"[" * 100_000, "not JSON"),
        (b"9" * 5_000, "not JSON"),
    ],
)
def test_a_line_that_is_no_json_object_is_told_and_the_rest_is_kept(tmp_path, raw, problem):
    bom = b"\xef\xbb\xbf" + json.dumps(line()).encode()
    found = read(tmp_path, bom, b"", raw, line(step=1))
    (rejected,) = found.rejected
    assert rejected.startswith("a.jsonl:3: ") and problem in rejected
    assert found.tables["steps"].num_rows == 2


def test_a_truncated_archive_gives_what_is_whole_in_it(tmp_path):
    lines = [line(step=k, reward=random.Random(k).random()) for k in range(2_000)]
    write(tmp_path / "a.jsonl.gz", *lines)
    whole = (tmp_path / "a.jsonl.gz").read_bytes()
    (tmp_path / "a.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    (found,) = read_logs(tmp_path)
    rows = found.tables["steps"].num_rows
    assert 500 < rows < 1_500
    (rejected,) = found.rejected
    assert rejected.startswith(f"a.jsonl.gz:{rows + 1}: cannot be read from here on")


@pytest.mark.parametrize(
    "content", [b"", b"no archive", gzip.compress(b"{}", mtime=0)[:-1] + b"\0"]
)
def test_a_damaged_archive_is_no_crash(tmp_path, content):
    (tmp_path / "a.jsonl.gz").write_bytes(content)
    (found,) = read_logs(tmp_path)
    assert found.tables["steps"].num_rows == 0
    assert all(rejected.startswith("a.jsonl.gz:") for rejected in found.rejected)
    assert bool(found.rejected) == bool(content)


def test_of_two_lines_for_the_same_decision_the_first_counts(tmp_path):
    twice = [line(reward=0.25), line(slot=1), line(reward=0.5), line(match="n")]
    found = read(tmp_path, *twice)
    assert found.rejected == ["a.jsonl:3: match 'a.jsonl/m' has step 0 of slot 0 already"]
    assert found.tables["steps"]["reward"].to_pylist() == [0.25, 0.0, 0.0]


def test_what_else_is_said_rides_along(tmp_path):
    found = read(
        tmp_path,
        line(extras={"fps": 60}, ping=[1, {"ms": 2}]),
        line(step=1, info={"fps": 59}),
        line(step=2, extras=[1]),
        line(step=3, tick=99),
        line(step=4),
    )
    extras = [text and json.loads(text) for text in found.tables["steps"]["extras"].to_pylist()]
    ping = {"ping": [1, {"ms": 2}]}
    assert extras == [{"fps": 60} | ping, {"fps": 59}, {"extras": [1]}, {"tick": 99}, None]


@pytest.mark.parametrize(
    ("seats", "slots", "players"),
    [
        ([{"slot": 1, "player": "a"}, {"slot": 0, "player": "b"}], [1, 0], ("b", "a")),
        ([{"slot": 1}, {"slot": 0, "player": "b"}], [1, 0], ("b", "unknown")),
        ([{"player": "a"}, {"player": "b"}, {"player": "a"}], [0, 1, 0], ("a", "b")),
        ([{"agent": "red", "player": "x"}, {"agent": "blue", "player": "x"}], [0, 1], ("x", "x")),
        ([{"agent": "agent_1"}, {"agent": "agent_0"}], [1, 0], ("agent_0", "agent_1")),
        ([{"agent": "1", "player": "a"}], [1], ("unknown", "a")),
    ],
)
def test_who_is_who(tmp_path, seats, slots, players):
    lines = [line(**{"slot": None, "step": step, **seat}) for step, seat in enumerate(seats)]
    found = read(tmp_path, *lines)
    assert found.rejected == []
    assert found.tables["steps"]["slot"].to_pylist() == slots
    match = outline(found)
    assert (match["player_0"], match["player_1"]) == players


def test_a_match_has_two_players_who_do_not_change(tmp_path):
    names = [{"player": "a"}, {"player": "b"}, {"player": "c"}, {"slot": 0, "player": "b"}]
    lines = [line(**{"slot": None, "step": step, **who}) for step, who in enumerate(names)]
    assert read(tmp_path, *lines).rejected == [
        "a.jsonl:3: slot is 2; a match has slots 0 and 1",
        "a.jsonl:4: slot 0 is b, but was a",
    ]


# Each line is (step, slot, what it says).
@pytest.mark.parametrize(
    ("lines", "score", "ending"),
    [
        ([(0, 0, {})], None, "unknown"),
        ([(0, 0, {"reward": 1.0})], None, "unknown"),
        ([(0, 0, {"outcome": "win"})], 1.0, "unknown"),
        ([(0, 0, {"result": "Draw"})], 0.0, "unknown"),
        ([(0, 1, {"outcome": 0.5})], -0.5, "unknown"),
        ([(1, 0, {"outcome": 1}), (0, 0, {"outcome": 0})], 1.0, "unknown"),
        ([(0, 0, {"outcome": "win"}), (0, 1, {"outcome": "loss"})], 1.0, "unknown"),
        ([(0, 0, {"outcome": "win"}), (0, 1, {"outcome": "win"})], None, "unknown"),
        ([(0, 1, {"reward": 1.0, "terminated": True})], -1.0, "kill"),
        ([(0, 0, {"reward": 1.2, "terminated": True})], 1.0, "kill"),
        ([(0, 0, {"reward": 0.0, "terminated": True})], 0.0, "double kill"),
        ([(0, 0, {"reward": 0.0, "done": True})], 0.0, "unknown"),
        ([(0, 0, {"reward": -1, "done": True})], -1.0, "kill"),
        ([(0, 0, {"terminated": True})], None, "unknown"),
        ([(0, 0, {"terminated": True, "outcome": "loss"})], -1.0, "kill"),
        ([(0, 0, {"truncated": True, "outcome": "win", "done": True})], 1.0, "timeout"),
        ([(0, 0, {"truncated": True, "reward": 0.25})], 0.25, "timeout"),
        ([(0, 0, {"truncated": True})], None, "timeout"),
    ],
)
def test_how_a_match_ended(tmp_path, lines, score, ending):
    match = outline(read(tmp_path, *(line(step=t, slot=s, **said) for t, s, said in lines)))
    assert (match["score"], match["ending"]) == (score, ending)


# --- feedback streams and manifests --------------------------------------------------------------


def feedback(**changes):
    return {"event": "step", "state": OBSERVATION, "action": ACTION, **changes}


def test_a_feedback_stream_is_one_players_view_of_one_match(tmp_path):
    name = "live/m1/feedback_stream.jsonl"
    found = read(
        tmp_path,
        {"event": "connected", "ping": 3},
        feedback(t=4, ocr={"health": "6O"}),
        feedback(event="feedback", features=[0.0] * 19, state=None),
        {"type": "heartbeat"},
        feedback(event=None, type="action", slot=7),
        feedback(event="step", action=None),
        name=name,
    )
    assert found.rejected == [f"{name}:6: action is None, no object"]
    assert found.tables["matches"].schema.metadata[SKIPPED.encode()] == b"2"
    expected = {"match": "live/m1", "player_0": "live", "player_1": "unknown", "score": None}
    assert expected.items() <= outline(found).items()
    assert outline(found)["origin"] == "feedback"
    steps = found.tables["steps"].to_pydict()
    assert (steps["step"], steps["slot"]) == ([4, 5, 6], [0, 0, 0])
    assert steps["health"] == [60, 0, 60]
    assert steps["extras"] == ['{"ocr": {"health": "6O"}}', None, None]


@pytest.mark.parametrize(
    "named",
    [
        "reports/m1/feedback_stream.jsonl",
        "../reports/m1/feedback_stream.jsonl",
        "{folder}/reports/m1/feedback_stream.jsonl",
        "/elsewhere/reports/m1/feedback_stream.jsonl",
        "D:\\data\\reports\\m1\\feedback_stream.jsonl",
        "m1/feedback_stream.jsonl",
    ],
)
def test_a_manifest_tells_how_a_live_match_ended(tmp_path, named):
    for match in ("m1", "m2"):
        stream = tmp_path / "reports" / match / "feedback_stream.jsonl"
        write(stream, feedback(outcome=0), feedback(ocr=1))
    told = {"runtime_feedback": named.format(folder=tmp_path), "result": "loss", "map": "ring"}
    unrelated = {"session": 7, "outcome": "win"}
    write(tmp_path / "live" / "manifest.jsonl", unrelated, {**told, "player": "bob"})
    manifest, joined, other = read_logs(tmp_path)
    assert manifest.tables["matches"].num_rows == manifest.tables["steps"].num_rows == 0
    assert [found.rejected for found in (manifest, joined, other)] == [[], [], []]
    assert (outline(joined)["score"], outline(joined)["player_0"]) == (-1.0, "bob")
    assert (outline(other)["score"], outline(other)["player_0"]) == (0.0, "live")
    assert joined.tables["steps"]["extras"].to_pylist() == [
        None,
        '{"ocr": 1, "manifest": {"map": "ring"}}',
    ]


def test_a_manifest_can_name_the_stream_beside_it(tmp_path):
    for match in ("m1", "m2"):
        write(tmp_path / match / "feedback_stream.jsonl", feedback())
    told = {"runtime_feedback": "./feedback_stream.jsonl", "outcome": "win"}
    write(tmp_path / "m2" / "manifest.jsonl", told)
    scores = [found.tables["matches"]["score"].to_pylist() for found in read_logs(tmp_path)]
    assert scores == [[None], [1.0], []]


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        ({"runtime_feedback": "m9/feedback_stream.jsonl"}, "is not among these logs"),
        ({"runtime_feedback": "x/feedback_stream.jsonl"}, "could be a/x/feedback_stream.jsonl or"),
        ({"runtime_feedback": "elsewhere/feedback_stream.jsonl"}, "is not among these logs"),
        ({"runtime_feedback": "\0\ud800"}, "is not among these logs"),
        ({"runtime_feedback": 5.5}, "runtime_feedback is 5.5"),
        ({"runtime_feedback": "a/x/feedback_stream.jsonl", "outcome": "so-so"}, "outcome is"),
        ({"runtime_feedback": "a/x/feedback_stream.jsonl", "player": []}, "player is []"),
        ({"runtime_feedback": "b/x/feedback_stream.jsonl"}, "manifest.jsonl:1 has told of b/x"),
    ],
)
def test_a_manifest_line_that_tells_of_no_stream_is_rejected(tmp_path, told, problem):
    for name in ("a/x", "b/x", "."):
        write(tmp_path / name / "feedback_stream.jsonl", feedback())
    first = {"runtime_feedback": "b/x/feedback_stream.jsonl", "outcome": 1}
    (rejected,) = read(tmp_path, first, told, name="manifest.jsonl").rejected
    assert rejected.startswith("manifest.jsonl:2: ") and problem in rejected


def test_an_outcome_for_a_stream_of_several_matches_is_nobodys(tmp_path):
    write(tmp_path / "manifest.jsonl", {"runtime_feedback": "feedback_stream.jsonl", "outcome": 1})
    lines = feedback(match="one"), feedback(match="two")
    found = read(tmp_path, *lines, name="feedback_stream.jsonl")
    assert found.tables["matches"]["score"].to_pylist() == [None, None]
    (rejected,) = found.rejected
    assert rejected.startswith("manifest.jsonl:1: feedback_stream.jsonl holds 2 matches")


# --- folders -------------------------------------------------------------------------------------


def test_matches_of_the_same_name_in_two_files_stay_apart(tmp_path):
    for name in ("a.jsonl", "a.jsonl.gz", "b/a.jsonl", "b/c.jsonl"):
        write(tmp_path / name, line(), line(match=None, step=1))
    for name in ("feedback_stream.jsonl", "b/feedback_stream.jsonl"):
        write(tmp_path / name, feedback(), feedback(match="m", step=1))
    found = list(read_logs(tmp_path))
    ids = [match for log in found for match in log.tables["matches"]["match"].to_pylist()]
    assert len(ids) == len(set(ids)) == 12
    assert {"b", "feedback_stream.jsonl", "b/a.jsonl", "b/a.jsonl/m"} <= set(ids)


def test_logs_are_read_one_by_one_in_the_order_of_their_paths(tmp_path):
    for name in ("b/x.jsonl", "a.jsonl.gz", "c.jsonl", "notes.json", "d.jsonl/inside.jsonl"):
        write(tmp_path / name, line())
    logs = read_logs(tmp_path)
    assert next(logs).source == "a.jsonl.gz"
    write(tmp_path / "c.jsonl", line(), line(step=1))  # not read yet
    rows = {found.source: found.tables["steps"].num_rows for found in logs}
    assert list(rows.items()) == [("b/x.jsonl", 1), ("c.jsonl", 2), ("d.jsonl/inside.jsonl", 1)]


def test_a_log_that_went_away_is_told(tmp_path):
    write(tmp_path / "a.jsonl", line())
    logs = read_logs(tmp_path)
    (tmp_path / "a.jsonl").unlink()
    (found,) = logs
    assert found.rejected[0].startswith("a.jsonl:1: cannot be read from here on")


@pytest.mark.parametrize("folder", [".", "nowhere"])
def test_a_folder_without_logs_is_an_error_that_says_what_to_look_for(tmp_path, folder):
    (tmp_path / "readme.txt").write_text("no log")
    with pytest.raises(InputError, match=r"no logs.*\*\.jsonl\.gz.*feedback_stream.*manifest"):
        read_logs(tmp_path / folder)


# --- anything at all -----------------------------------------------------------------------------

numbers = st.integers() | st.floats() | st.sampled_from([10**400, -0.0, 1e300, 3e38, 1e-320])
words = st.text(st.characters(), max_size=5) | st.sampled_from(
    ["win", "dash", "0", "a_1", "\ud800"]
)
values = st.recursive(
    st.none() | st.booleans() | numbers | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
KEYS = [*line(), "player", "reward", "terminated", "done", "outcome", "extras", "event", "else"]
FIELDS = [*v.VIEW, "position", "enemy", "cover", "ammo"]
features = st.lists(numbers, min_size=19, max_size=20)
changed_lines = st.one_of(
    st.dictionaries(st.sampled_from(KEYS), values, max_size=3),
    st.dictionaries(st.sampled_from(FIELDS), values, max_size=3).map(
        lambda fields: {"observation": OBSERVATION | fields}
    ),
    st.dictionaries(st.sampled_from(list(ACTION)), values, max_size=3).map(
        lambda parts: {"action": ACTION | parts}
    ),
    features.map(lambda row: {"observation": row}),
).map(lambda changes: {**line(), **changes})
anything = changed_lines | values | st.binary(max_size=20).filter(lambda raw: b"\n" not in raw)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(lines=st.lists(anything, max_size=6), told=st.lists(values | changed_lines, max_size=2))
def test_no_line_makes_it_crash(lines, told):
    """Each is taken or told; what is taken can be encoded."""
    manifest = [
        {**one, "runtime_feedback": "feedback_stream.jsonl"} if isinstance(one, dict) else one
        for one in told
    ]
    empty = sum(isinstance(one, bytes) and not one.strip() for one in lines)
    with tempfile.TemporaryDirectory() as name:
        write(Path(name) / "a.jsonl", *lines)
        write(Path(name) / "feedback_stream.jsonl", *lines)
        write(Path(name) / "manifest.jsonl", *manifest)
        for found in read_logs(Path(name)):
            told_of = {text.split(": ")[0] for text in found.rejected}
            skipped = int(found.tables["matches"].schema.metadata[SKIPPED.encode()])
            rows = found.tables["steps"].num_rows
            if found.source == "manifest.jsonl":
                assert rows == 0
                continue
            lines_told = [text for text in told_of if text.startswith(f"{found.source}:")]
            assert rows + skipped + len(lines_told) + empty == len(lines)
            moves = encode(found.tables, None)["moves"]
            seen = np.stack([moves[feature].to_numpy() for feature in observe.FEATURES])
            assert np.isfinite(seen).all()
            assert unpack_legal(moves["legal"], observe.NUM_OPTIONS).shape[0] == rows
