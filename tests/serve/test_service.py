"""Messages in, answers out, and what is written down in between."""

import json
import re
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.serve.services import ARENA, PLAIN, service, view
from tests.small_runs import understudy
from understudy.games.arena.codec.actions import HEADS, encode
from understudy.learn.policy_shape import PolicyShape
from understudy.serve.decider import chance
from understudy.serve.messages import LARGEST
from understudy.serve.service import Arrived


def ask(served, *messages):
    """The answers to messages that come at once."""
    now = time.perf_counter()
    raw = [m if isinstance(m, bytes | str) else json.dumps(m).encode() for m in messages]
    return [json.loads(answer) for answer in served.answer([Arrived(one, now) for one in raw])]


def assert_alike(found, expected):
    """The same choices, and the same numbers but for the last bits: rows are added up otherwise."""
    for one, other in zip(found, expected, strict=True):
        assert one["value"] == pytest.approx(other["value"], abs=1e-4)
        assert (one["step"], one["options"]) == (other["step"], other["options"])


def test_a_decision_has_action_probabilities_and_value():
    (answer,) = ask(service(), {"match": "m", "step": 3, "observation": view(), "id": "x"})
    assert (answer["match"], answer["slot"], answer["step"], answer["id"]) == ("m", 0, 3, "x")
    assert list(answer["probabilities"]) == list(HEADS)
    for head, shares in answer["probabilities"].items():
        assert len(shares) == HEADS[head] and sum(shares) == pytest.approx(1, abs=1e-4)
        assert shares[answer["options"][head]] > 0
    assert isinstance(answer["value"], float)
    assert set(answer["action"]) == {"move", "aim", "fire", "interact", "ability"}


def test_the_page_on_hosting_shows_what_is_asked_and_answered():
    page = (Path(__file__).parents[2] / "docs" / "hosting.md").read_text()
    asked, shown = map(json.loads, re.findall(r"^```json\n(.*?)^```", page, re.M | re.S)[:2])
    (answer,) = ask(service(), asked)
    assert answer.keys() == shown.keys()
    for key in ("action", "options", "probabilities"):
        assert answer[key].keys() == shown[key].keys()


def test_the_action_is_the_options_exactly():
    served = service()
    for number in range(40):
        (answer,) = ask(served, {"match": "m", "observation": view(number % 30)})
        action = answer["action"]
        floats = [*action["move"], *action["aim"], action["fire"], action["interact"]]
        ability = ("none", "dash", "shield").index(action["ability"])
        found = encode(np.array([*floats, ability], np.float32))
        assert found.tolist() == list(answer["options"].values())


def test_what_the_rules_forbid_is_never_chosen():
    empty = {**view(), "magazine": 0, "reserve": 0, "dash_cooldown": 5}
    answers = ask(service(), *({"match": "m", "observation": empty} for _ in range(60)))
    assert {one["options"]["fire"] for one in answers} == {0}
    assert {one["options"]["ability"] for one in answers} <= {0, 2}


def test_many_at_once_are_answered_as_one_by_one():
    messages = [
        {"match": f"m{n % 5}", "slot": n % 2, "step": n, "observation": view(n)} for n in range(80)
    ]
    together, alone = service(), service()
    assert_alike(ask(together, *messages), [ask(alone, one)[0] for one in messages])
    assert together.metrics.counts["batches"] == 2 and alone.metrics.counts["batches"] == 80


REMEMBERS = PolicyShape(ARENA.features, ARENA.heads, (8,), memory=5, plans=3, plan_width=2)


def test_a_policy_that_remembers_goes_through_a_match_in_order(tmp_path):
    messages = [
        {"match": f"m{n % 2}", "step": n // 2, "observation": view(n), "uniform": [0.5] * 7}
        for n in range(12)
    ]
    together = ask(service(shape=REMEMBERS), *messages)
    one_by_one = service(shape=REMEMBERS)
    assert_alike(together, [ask(one_by_one, one)[0] for one in messages])
    fresh = ask(service(shape=REMEMBERS), messages[-1])[0]
    assert fresh["value"] != together[-1]["value"]  # it does remember
    # A server that begins in the middle reads what was written down, and goes on as if it had not.
    first = service(shape=REMEMBERS, folder=tmp_path)
    ask(first, *messages[:-1])
    second = service(shape=REMEMBERS, folder=tmp_path)
    assert_alike(ask(second, messages[-1]), together[-1:])


def test_a_match_that_has_ended_is_forgotten():
    served = service(shape=REMEMBERS)
    first = ask(served, {"match": "m", "step": 0, "observation": view()})
    ask(served, {"match": "m", "step": 1, "observation": view()})
    assert ask(served, {"match": "m", "end": True}) == [{"match": "m", "slot": 0, "ended": True}]
    assert served.matches == 0
    assert ask(served, {"match": "m", "step": 0, "observation": view()}) == first


def test_chance_is_of_the_match_and_step_and_can_be_given():
    served = service()
    question = {"match": "m", "step": 7, "observation": view()}
    assert ask(served, question) == ask(served, question) == ask(service(), question)
    given_ = chance(0, "m", 0, 7, len(HEADS)).tolist()
    assert ask(served, {**question, "uniform": given_}) == ask(served, question)
    greedy = ask(service(greedy=True), question)[0]
    for head, shares in greedy["probabilities"].items():
        assert shares[greedy["options"][head]] == max(shares)


@pytest.mark.parametrize(
    ("message", "says"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[1, 2]", "not as it should be"),
        (b'{"match": ["x"]}', "not as it should be"),
        ({"match": "a/b", "observation": view()}, "holds a / or"),
        ({"match": "..", "observation": view()}, "means a folder"),
        ({"match": "manifest.jsonl", "observation": view()}, "a file of ours"),
        ({"match": "m", "slot": 2, "observation": view()}, "slots 0 and 1"),
        ({"match": "m", "step": -1, "observation": view()}, "step is -1"),
        ({"match": "m"}, "no object or 20 features"),
        ({"match": "m", "observation": [1] * 21}, "no object or 20 features"),
        ({"match": "m", "observation": ["x"] * 20}, "not a finite number"),
        ({"match": "m", "observation": {"health": 1}}, "no x"),
        ({"match": "m", "observation": view(), "legal": [1]}, "legal has 1 entries"),
        ({"match": "m", "observation": view(), "legal": [0] * 43}, "no option of move_x"),
        ({"match": "m", "observation": view(), "uniform": [0.5]}, "uniform is not 7 numbers"),
        ({"match": "m", "observation": view(), "uniform": [1.0] * 7}, "uniform is not 7 numbers"),
        ({"match": "m", "end": True, "outcome": "won it"}, "not win, draw, loss"),
        ({"match": "m", "end": True, "outcome": 3}, "not between -1 and 1"),
        (b'{"match": "' + b"m" * LARGEST + b'"}', "bytes"),
        (b'{"observation": ' + b"[" * 5000, "not JSON"),
    ],
)
def test_what_is_wrong_is_one_line_and_the_next_is_answered(message, says, tmp_path):
    served = service(folder=tmp_path)
    wrong, right = ask(served, message, {"match": "m", "observation": view(), "id": 1})
    assert says in wrong["error"] and "\n" not in wrong["error"]
    assert right["id"] == 1
    assert served.metrics.counts["errors"] == 1


def test_a_match_of_which_nothing_was_decided_leaves_no_log(tmp_path):
    served = service(folder=tmp_path)
    assert "error" in ask(served, {"match": "bad", "observation": [1]})[0]
    ask(served, {"match": "good", "observation": view()})
    assert [path.name for path in tmp_path.iterdir()] == ["good"]


@settings(max_examples=60)
@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_nothing_that_is_sent_ends_it(raw):
    (answer,) = SERVED.answer([Arrived(raw, 0.0)])
    assert b"error" in answer or b"ended" in answer


SERVED = service("plain", PLAIN)


def test_an_answer_that_would_be_late_is_not_made(tmp_path):
    served = service(folder=tmp_path)
    before = time.perf_counter() - 1.0
    late = {"match": "m", "step": 0, "observation": view(), "within_ms": 50}
    answers = served.answer(
        [Arrived(json.dumps(one).encode(), before) for one in (late, {**late, "within_ms": 9000})]
    )
    assert b"late: it has waited" in answers[0] and b"options" in answers[1]
    assert served.metrics.counts["late"] == 1 and served.metrics.counts["recorded"] == 1


# --- What is written down ------------------------------------------------------------------------


def test_served_matches_become_recordings_of_the_arena(tmp_path):
    served = service(folder=tmp_path / "served")
    told = [
        ask(served, {"match": match, "slot": slot, "observation": view(n)})[0]
        for match, slot in (("one", 0), ("two", 0), ("two", 1))
        for n in range(6)
    ]
    ask(served, {"match": "one", "end": True, "outcome": "win"})
    ask(served, {"match": "two", "end": True, "outcome": -1, "player": "me"})
    ask(served, {"match": "two", "end": True, "outcome": -1})  # once more changes nothing
    served.close()
    done = understudy(f"record arena --logs {tmp_path / 'served'} --out {tmp_path / 'run'}")
    assert (done.code, done.err) == (0, "")
    recordings = tmp_path / "run" / "recordings"
    matches = {
        row["match"]: row
        for path in recordings.glob("matches-*")
        for row in pq.read_table(path).to_pylist()
    }
    assert {name: row["score"] for name, row in matches.items()} == {
        "one": 1.0,
        "two": -1.0,
        "two/slot-1": None,
    }
    assert matches["one"]["player_0"] == "served"
    steps = [row for p in recordings.glob("steps-*") for row in pq.read_table(p).to_pylist()]
    assert len(steps) == 18
    first = next(row for row in steps if (row["match"], row["step"]) == ("one", 5))
    assert [first["move_x"], first["move_y"]] == pytest.approx(told[5]["action"]["move"])


def test_served_matches_become_recordings_of_a_plain_game(tmp_path):
    served = service("pettingzoo:x", PLAIN, folder=tmp_path)
    for n in range(5):
        for slot in (0, 1):
            ask(served, {"match": "m", "slot": slot, "observation": [1, slot, n]})
    ask(served, {"match": "m", "slot": 1, "end": True, "outcome": "win"})
    served.close()
    from tests.games.two_player_logs import read_plain

    outline, steps = read_plain(tmp_path, PLAIN)
    assert outline == [{"match": "m", "player_0": "served", "player_1": "served", "score": -1.0}]
    assert len(steps) == 10 and steps[3]["seen_0"] == 1.0


def test_a_step_is_written_once_and_numbers_go_on_after_a_restart(tmp_path):
    first = service(folder=tmp_path)
    asked = [{"match": "m", "observation": view(n)} for n in range(3)]
    answers = ask(first, *asked)
    again = service(folder=tmp_path)  # the first was killed: nothing was closed
    assert_alike(ask(again, {**asked[2], "step": 2}), answers[2:])
    stream = tmp_path / "m" / "feedback_stream.jsonl"
    assert len(stream.read_text().splitlines()) == 3
    assert ask(again, asked[0])[0]["step"] == 3
    with stream.open("a") as file:
        file.write('{"event": "step", "t": 4, "obs')  # killed in the middle of a line
    third = service(folder=tmp_path)
    assert ask(third, asked[1])[0]["step"] == 4
    lines = stream.read_text().splitlines()
    assert [json.loads(line)["t"] for line in lines if line.endswith("}")] == [0, 1, 2, 3, 4]


def test_a_full_disk_is_an_error_answer(tmp_path, monkeypatch):
    served = service(folder=tmp_path)
    monkeypatch.setattr("understudy.serve.streams.os.write", _full)
    (answer,) = ask(served, {"match": "m", "observation": view()})
    assert "cannot write" in answer["error"] and "No space" in answer["error"]


def _full(*_):
    raise OSError(28, "No space left on device")


def test_the_metrics_add_up():
    served = service()
    ask(served, {"match": "m", "observation": view()}, b"x", {"match": "m", "end": True})
    text = served.metrics.text(matches=served.matches)
    assert "understudy_messages_total 3" in text and "understudy_errors_total 1" in text
    assert "understudy_decisions_total 1" in text and "understudy_ended_total 1" in text
    assert 'understudy_answer_seconds_bucket{le="+Inf"} 3' in text
    assert "understudy_matches 0" in text
