"""A table: who may sit there, what a match sends, what it leaves behind."""

import json
import time

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.small_runs import succeed
from tests.studio.serving import served
from tests.studio.small_run import small_run, stage
from understudy.data.players import Mixture, PlayerRef
from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.studio.play import host, table
from understudy.studio.play.host import _Table

SEATS = {"game": "arena", "west": "@you", "east": "rusher", "person": "me"}
RUN_AT_IT = {"move": [1, 0], "aim": [1, 0], "fire": True}


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    small_run(folder / "a")
    with served(folder) as found:
        yield found


def ask(socket, message):
    socket.send(json.dumps(message))
    return json.loads(socket.recv(30))


def test_a_form_offers_bots_and_whatever_was_trained(here):
    form = here.ask("/play/form?game=arena&east=a/models/imitate").text
    assert '<option value="@you" selected>you</option>' in form
    assert '<option value="a/models/imitate" selected>imitate of a</option>' in form
    assert 'value="collector"' in form
    assert "script-src 'self';" in here.ask("/play").headers["content-security-policy"]
    assert "cannot be played here" in here.ask("/play/form?game=dota").text
    assert here.ask("/play/form?game=os:system").status == 404


@pytest.mark.parametrize("headers", [{"Cookie": None}, {"Origin": "http://evil.example"},
                                     {"Origin": None}, {"Cookie": "understudy=x"}])  # fmt: skip
def test_only_our_own_pages_sit_down(here, headers):
    with pytest.raises(InvalidStatus) as refused, here.socket(**headers):
        pass
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize(
    "wrong",
    [
        *({"east": "../../x"}, {"east": "evil.py:Player"}, {"east": "a/models/none"}),
        *({"east": "@you"}, {"game": "os:system"}, {"game": "dota"}, {"person": "a/b"}),
        *({"person": "expert"}, {"person": "x" * 41}, {"person": "\u202e"}, {"east": 3}),
    ],
)
def test_who_was_not_offered_is_not_seated(here, wrong):
    with here.socket() as socket:
        told = ask(socket, {"open": SEATS | wrong})
        assert set(told) == {"error"}


@pytest.mark.parametrize("sent", ["", "nonsense", "[]", "{}", '"x"', "[" * 9000, '{"open": 3}'])
def test_what_is_no_message_ends_the_table_in_a_line(here, sent):
    with here.socket() as socket:
        socket.send(sent)
        assert set(json.loads(socket.recv(30))) == {"error"}
        with pytest.raises(ConnectionClosed):
            socket.recv(30)
    assert here.ask("/").status == 200


def test_few_tables_are_taken_at_once(here, monkeypatch):
    monkeypatch.setattr(table, "MOST_TABLES", 1)
    with here.socket(), here.socket() as other:
        assert "1 matches are going on" in json.loads(other.recv(30))["error"]
    for _ in range(100):
        if not here.studio.tables._taken:
            break
        time.sleep(0.05)
    with here.socket() as socket:
        assert "no match was begun" in ask(socket, {"do": None})["error"]


def test_who_thinks_for_longer_than_a_first_word_may_take_is_not_cut_off(here, monkeypatch):
    monkeypatch.setattr("understudy.studio.server.FIRST_SECONDS", 0.2)
    with here.socket() as socket:
        time.sleep(0.6)
        assert "no match was begun" in ask(socket, {"do": None})["error"]


def test_matches_of_a_person_add_up_in_a_run_that_can_be_trained_on(tmp_path):
    out = tmp_path / "played"
    for seed in (3, 4):
        asked = host.Asked(
            game="arena", seed=seed, person="me", out=str(out),
            chairs=[None, host.Chair(name="rusher", run=str(tmp_path))],
        )  # fmt: skip
        sat = _Table(asked)
        assert sat.opened()["scene"]["players"] == ["me", "rusher"]
        answer = {}
        while not answer.get("over"):
            assert sat.keep() == {}
            answer = sat.do(RUN_AT_IT)
        assert sat.keep()["kept"] == f"me-rusher-{seed}"
        assert sat.keep() == {}
    succeed("encode arena --players me", out)
    assert Run(out).samples.is_dir()


def test_a_match_that_is_watched_is_not_recorded(tmp_path):
    chair = host.Chair(name="rusher", run=str(tmp_path))
    sat = _Table(
        host.Asked(game="arena", seed=3, person="me", out=str(tmp_path / "x"), chairs=[chair] * 2)
    )
    answer = {}
    while not answer.get("over"):
        answer = sat.do(None)
    assert sat.keep() == {}
    assert not (tmp_path / "x").exists()


def test_of_a_mixture_one_is_drawn_for_each_match_and_seat(tmp_path, monkeypatch):
    bots = Mixture("m", tuple((PlayerRef(name), 0.5) for name in ("rusher", "kiter")))
    monkeypatch.setattr(host, "contender", lambda game, run, name: bots)
    chair = host.Chair(name="quick/mixture", run=str(tmp_path))
    seen = set()
    for seed in range(12):
        asked = host.Asked(game="arena", seed=seed, person="", out="x", chairs=[chair] * 2)
        sat = tuple(_Table(asked).opened()["scene"]["players"])
        assert sat == tuple(bots.drawn(seed, slot).name for slot in (0, 1))
        seen.add(sat)
    assert len(seen) == 4


def test_a_league_offers_its_main_agent_and_its_mixture(tmp_path):
    run = Run(tmp_path / "runs/a")
    stage(run.league("mine"), "league")
    with served(tmp_path / "runs") as studio:
        form = studio.ask("/play/form?game=arena").text
    for words in ("mine of a", "mine/mixture of a"):
        assert f">{words}</option>" in form


def test_a_match_that_cannot_be_written_is_over_still(tmp_path, monkeypatch):
    (tmp_path / "played").write_text("a file")
    sat = _Table(
        host.Asked(
            game="arena", seed=3, person="me", out=str(tmp_path / "played"),
            chairs=[None, host.Chair(name="rusher", run=str(tmp_path))],
        )
    )  # fmt: skip
    answer = {}
    while not answer.get("over"):
        answer = sat.do(RUN_AT_IT)
    assert "could not be recorded" in sat.keep()["lost"]


def test_a_player_that_is_not_there_is_an_error_in_a_line(tmp_path):
    with pytest.raises(InputError, match="there is no player 'nobody'"):
        _Table(
            host.Asked(
                game="arena", seed=3, person="me", out="x",
                chairs=[None, host.Chair(name="nobody", run=str(tmp_path))],
            )
        )  # fmt: skip


@pytest.mark.slow
def test_a_match_over_the_socket_is_recorded_and_shown(here):
    with here.socket() as socket:
        told = ask(socket, {"open": SEATS})
        assert told["scene"]["seat"] == 0
        for _ in range(700):
            told = ask(socket, {"do": RUN_AT_IT})
            if told["over"]:
                break
        assert told["now"]["outcome"]
        told = json.loads(socket.recv(30))
        assert told["run"] == "played-arena"
        assert "arena-replay" in here.ask(told["replay"]).text
        again = ask(socket, {"open": SEATS | {"west": "rusher", "east": "@you"}})
        assert again["scene"]["seat"] == 1
    for _ in range(100):
        if not here.studio.tables._taken:
            break
        time.sleep(0.05)
    assert here.studio.tables._taken == 0
