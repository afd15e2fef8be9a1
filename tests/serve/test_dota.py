"""A running match over HTTP: posts in, a page out; what was told outlives the server."""

import json

import pytest

from tests.games.dota.live.streams import recorded_match
from tests.serve.serving import running
from understudy.games.dota.advice.match_context import load_models
from understudy.games.dota.live.posts import posts_of
from understudy.games.dota.live.sight import load_live

TOKEN = "a-token-of-more-than-20-signs"


@pytest.fixture(name="parts", scope="module")
def _parts():
    return load_live(), load_models()


def opened(parts, folder=None, **told):
    from understudy.serve.dota import LiveService, live_app
    from understudy.serve.web import Door

    service = LiveService(*parts, folder)
    return running(
        lambda hosts: live_app(service, Door(TOKEN, hosts), **told),
        authorization=f"Bearer {TOKEN}",
    )


def fed(here, first, last):
    for post in posts_of(recorded_match()):
        if first <= post["map"]["clock_time"] < last:
            status, text = here.ask("/gsi", {**post, "auth": {"token": TOKEN}})
            assert (status, text) == (200, "{}")


def said(here):
    status, text = here.ask("/live.json")
    assert status == 200
    return json.loads(text)


def test_a_server_that_is_started_again_goes_on_with_its_match(parts, tmp_path):
    with opened(parts) as here:
        fed(here, 0, 840)
        whole = said(here)
        assert "Radiant wins with" in here.ask("/")[1]
    with opened(parts, tmp_path) as here:
        before = here.ask("/version")[1]
        fed(here, 0, 500)
        assert here.ask("/version")[1] != before
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes() + b'{"source": "half a li')  # killed while it wrote
    with opened(parts, tmp_path) as here:
        fed(here, 500, 840)
        assert said(here)["curve"] == whole["curve"]
        assert json.loads(here.ask("/health")[1])["match"] == whole["match_id"]


def test_who_has_no_token_is_refused_and_bad_posts_end_nothing(parts):
    post = next(posts_of(recorded_match()))
    with opened(parts) as here:
        assert here.ask("/gsi", post)[0] == 403
        assert here.ask("/gsi", {**post, "auth": {"token": 7}})[0] == 403
        assert here.ask("/gsi", {**post, "auth": {"token": TOKEN}}, host="evil.example")[0] == 403
        assert here.ask("/", authorization="")[0] == 403
        good = {"auth": {"token": TOKEN}}
        assert here.ask("/gsi", {**good, "provider": {}, "map": {"clock_time": []}})[0] == 400
        for raw, status in ((b"{", 400), (b"[" * 5000, 400), (b" " * (1 << 21), 413)):
            assert here.ask("/gsi", raw)[0] == status
        assert "no match yet" in here.ask("/")[1]
        assert here.ask("/gsi", {**post, **good})[0] == 200
        assert "understudy_errors_total 8" in here.ask("/metrics")[1]


def test_a_live_file_is_looked_at_as_it_grows(parts, tmp_path, monkeypatch):
    from understudy.serve import dota

    monkeypatch.setattr(dota, "EVERY", 0.02)
    path = tmp_path / "live.json"
    entry = {"match_id": 5, "activate_time": 1_740_000_000, "players": [], "dire_score": 0}

    def written(minute):
        told = {"game_time": 60 * minute, "radiant_lead": 300 * minute, "radiant_score": minute}
        path.write_text(json.dumps([{"match_id": 4}, {**entry, **told}]))

    written(0)
    with opened(parts, file=path, number=5) as here:
        for minute in range(1, 4):
            while (said(here).get("minute") or 0) < minute - 1:
                pass
            written(minute)
        while said(here)["minute"] != 3:
            pass
        path.write_text("[{")
        while not json.loads(here.ask("/live.json")[1])["curve"]:
            pass
        assert said(here)["chance"] > 0.5
