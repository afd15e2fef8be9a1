"""What can be looked into is listed, made once, kept; what people send gets its page."""

import gzip
import json
import os
import re

import pytest

from tests.small_runs import succeed
from tests.studio.serving import served
from understudy.data.runs import Run
from understudy.studio.look.kept import KeptPages


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    succeed("record arena --opponents rusher --matches 3 --seed 5", folder / "a")
    with served(folder) as found:
        yield found


def links(here, search=""):
    page = here.ask(f"/run/a/look/list?q={search}").text
    return [one.replace("&amp;", "&") for one in re.findall(r'href="([^"]+)"', page)]


def test_matches_are_listed_and_a_search_finds_some(here):
    found = links(here)
    assert len(found) == 3
    assert all(one.startswith("/run/a/look/page?kind=matches&key=") for one in found)
    assert links(here, found[1].rpartition("=")[2]) == [found[1]]
    assert "None has all these words" in here.ask("/run/a/look/list?q=zzz").text


def test_a_page_is_made_once_and_may_only_what_its_head_allows(here, monkeypatch):
    first = links(here)[0]
    page = here.ask(first)
    assert page.status == 200
    assert "arena-replay" in page.text
    policy = page.headers["content-security-policy"]
    assert "script-src 'sha256-" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy

    async def not_again(*_):
        raise AssertionError("it is kept")

    monkeypatch.setattr(here.studio.maker, "make", not_again)
    assert here.ask(first).text == page.text


@pytest.mark.parametrize("key", ["../../x", "", "no such match", "a%00b", "<script>", "x" * 3000])
def test_what_is_not_recorded_is_not_shown(here, key):
    for kind in ("matches", "worlds", "..%2f"):
        answer = here.ask(f"/run/a/look/page?kind={kind}&key={key.replace(' ', '+')}")
        assert answer.status == 404
        assert "<script>" not in answer.text


def test_a_page_is_made_anew_when_its_run_has_changed(tmp_path):
    kept, run = KeptPages(tmp_path), Run(tmp_path / "a")
    run.recordings.mkdir(parents=True)
    manifest = run.recordings / "manifest.json"
    manifest.write_text("{}")
    before = kept.place(run, "matches", "x")
    assert before == kept.place(run, "matches", "x")
    assert before != kept.place(run, "matches", "y")
    assert before != kept.place(run, "other", "x")
    manifest.touch()
    assert before != kept.place(run, "matches", "x")


def test_the_oldest_pages_make_room(tmp_path, monkeypatch):
    monkeypatch.setattr("understudy.studio.look.kept.MOST_BYTES", 25)
    kept = KeptPages(tmp_path)
    for number in range(4):
        path = tmp_path / f"{number}.html"
        path.write_text("x" * 10)
        os.utime(path, (number, number))
    kept.make_room()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2.html", "3.html"]


LINE = {
    **{"match": "g7", "slot": 0, "player": "alice", "action": {"move": [1, 0]}},
    "observation": {"position": [-8.0, 1.5], "health": 100, "enemy": {"position": [3, 2]}},
}


def log(steps=5, **changes):
    return "".join(json.dumps({**LINE, "step": step, **changes}) + "\n" for step in range(steps))


def test_a_log_that_is_sent_becomes_a_run_and_a_page(here):
    answer = here.ask("/upload/arena?name=my%20match.jsonl", "POST", log())
    place = answer.headers["hx-redirect"]
    assert re.match(r"/run/sent-arena-my-match-\w{10}/look/page\?kind=matches&key=", place)
    page = here.ask(place).text
    assert "alice" in page
    again = here.ask("/upload/arena?name=my%20match.jsonl", "POST", log())
    assert again.headers["hx-redirect"] == place
    assert Run(here.studio.catalogue.home / place.split("/")[2]).recordings.is_dir()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.jsonl", "", "empty"),
        ("a.jsonl", "nonsense\n" * 10, "holds no match of arena"),
        ("a.jsonl", "[" * 100_000, "holds no match"),
        ("a.jsonl", log(observation={"position": [1e400, 0]}), "holds no match"),
        ("a.txt", log(), "ends in"),
        ("a.jsonl.gz", gzip.compress(log().encode()), "ends in"),
        ("..%2F..%2Fa.jsonl", log(), "plain name"),
        ("a%0a.jsonl", log(), "plain name"),
    ],
)
def test_what_is_no_match_is_refused_in_a_line(here, name, content, words):
    answer = here.ask(f"/upload/arena?name={name}", "POST", content, {"HX-Request": "true"})
    assert answer.status == 422
    assert words in answer.text
    assert "Traceback" not in answer.text


def test_hostile_names_in_a_log_are_words(here):
    hostile = log(player="<img src=x onerror=alert(1)>", match="</script><script>alert(1)")
    answer = here.ask("/upload/arena?name=h.jsonl", "POST", hostile)
    if answer.status == 200:
        page = here.ask(answer.headers["hx-redirect"])
        assert "<img src=x" not in page.text
        assert "<script>alert(1)" not in page.text
    else:
        assert answer.status == 422
    assert here.ask("/upload/nothing?name=a.jsonl", "POST", log()).status == 422
