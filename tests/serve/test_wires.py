"""The same messages over standard input, HTTP and WebSocket."""

import json
import os
import threading

import pytest

from tests.serve.services import service, view
from tests.serve.serving import running
from understudy.serve.lines import LineCutter, serve_lines
from understudy.serve.messages import LARGEST

TOKEN = "a-token-of-more-than-20-signs"


# --- lines ---------------------------------------------------------------------------------------


def test_lines_are_cut_wherever_they_are_broken():
    raw = b'{"a": 1}\n\n  \n{"b": 2}\r\n' + b"x" * (LARGEST + 1) + b"\n" + b'{"c": 3}'
    for size in (997, 4096, len(raw)):
        cutter = LineCutter()
        found = [
            line for at in range(0, len(raw), size) for line in cutter.cut(raw[at : at + size])
        ]
        found += cutter.cut(b"\n")
        assert [line and json.loads(line) for line in found] == [
            {"a": 1},
            {"b": 2},
            None,
            {"c": 3},
        ]
        assert len(cutter._rest) <= LARGEST


def test_standard_input_is_answered_line_by_line_in_order():
    reading, writing = os.pipe()
    messages = [{"match": "m", "observation": view(n), "id": n} for n in range(9)]
    raw = b"".join(json.dumps(one).encode() + b"\n" for one in messages)
    raw = raw.replace(b"\n", b"\nnot json\n", 1) + b"y" * (2 * LARGEST) + b"\n"
    threading.Thread(target=lambda: (os.write(writing, raw), os.close(writing))).start()
    answers = []
    serve_lines(service(), reading, answers.append)
    os.close(reading)
    told = [json.loads(answer) for answer in answers]
    assert [one.get("id") for one in told] == [0, None, *range(1, 9), None]
    assert "not JSON" in told[1]["error"] and "bytes" in told[-1]["error"]


# --- web -----------------------------------------------------------------------------------------


@pytest.fixture(name="here", scope="module")
def _here(tmp_path_factory):
    from understudy.serve.web import Door, web_app

    served = service(folder=tmp_path_factory.mktemp("served"))
    with running(
        lambda hosts: web_app(served, Door(TOKEN, hosts)), authorization=f"Bearer {TOKEN}"
    ) as here:
        yield here


def act(match, number=0, **more):
    return {"match": match, "observation": view(number), **more}


def test_a_post_is_answered(here):
    status, text = here.ask("/act", act("post"))
    assert status == 200 and json.loads(text)["step"] == 0
    assert here.ask("/act", b"nonsense")[0] == 400
    assert here.ask("/act", b"x" * (LARGEST + 1))[0] == 413
    status, text = here.ask("/act", b"x" * (32 << 20), connection="close")
    assert status == 413 and "65,536 bytes" in json.loads(text)["error"]
    assert json.loads(here.ask("/act", act("post"))[1])["step"] == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer wrong"},
        {"authorization": ""},
        {"host": "evil.example"},
        {"origin": "http://evil.example"},
    ],
)
def test_only_who_has_the_token_and_calls_us_by_name_is_answered(here, headers):
    assert here.ask("/act", act("m"), **headers)[0] == 403
    assert here.ask("/metrics", **headers)[0] == 403


def test_a_page_of_its_own_is_answered_and_health_asks_for_no_token(here):
    assert here.ask("/act", act("m"), origin=f"http://127.0.0.1:{here.port}")[0] == 200
    status, text = here.ask("/health", authorization="")
    assert (status, json.loads(text)["model"]) == (200, "served")


def test_a_websocket_is_answered_frame_by_frame_in_order(here):
    with here.socket() as socket:
        for n in range(5):
            socket.send(json.dumps(act("w", n, id=n)))
        socket.send("nonsense")
        socket.send(json.dumps(act("w", id=6)).encode())
        socket.send("x" * (LARGEST + 1))
        told = [json.loads(socket.recv()) for _ in range(8)]
    assert [one.get("id") for one in told] == [0, 1, 2, 3, 4, None, 6, None]
    assert [one.get("step") for one in told[:5]] == [0, 1, 2, 3, 4]
    assert "not JSON" in told[5]["error"] and "bytes" in told[7]["error"]


def test_a_websocket_without_the_token_is_closed(here):
    from websockets.exceptions import InvalidStatus

    with pytest.raises(InvalidStatus), here.socket(authorization="Bearer no"):
        pass
    with here.socket(f"/ws?token={TOKEN}", authorization="") as socket:
        socket.send(json.dumps(act("v")))
        assert "options" in socket.recv()


def test_metrics_count_what_came(here):
    here.ask("/act", act("counted"))
    _, text = here.ask("/metrics")
    count = next(
        line for line in text.splitlines() if line.startswith("understudy_decisions_total")
    )
    assert int(count.split()[1]) >= 1
