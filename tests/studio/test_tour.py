"""All that the studio does, by a browser: pages read and used in both themes, wide and narrow."""

import contextlib
import json
import os
import signal
import time

import pytest

from tests.accessibility import faults, keyboard_faults
from tests.small_runs import finished_run, succeed
from tests.studio.serving import served
from understudy.data.runs import Run

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.timeout(900)]

LOOKS = [(1400, "light"), (400, "dark"), (1400, "dark"), (400, "light")]
PATIENCE = 240_000
"""Milliseconds: the machine may be busy."""
SMALL = "--set matches=32 --set steps=16 --set critic_first=1 --set log_every=1"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Two runs of the arena, one of the supply chain."""
    folder = tmp_path_factory.mktemp("runs")
    finished = finished_run(tmp_path_factory)
    for name in ("demo", "other"):
        os.system(f"cp -r {finished} {folder / name}")
    refine = f"train arena refine --set start=imitate-quick --set iterations=2 {SMALL} --workers 0"
    succeed(refine, folder / "demo")
    succeed("record scml --agents Greedy --configs 1 --steps 6 --seed 4", folder / "worlds")
    return folder


@pytest.fixture(scope="module")
def here(home):
    with served(home, cores=1) as found:
        yield found


class Visit:
    """A tab that may not complain."""

    def __init__(self, browser, here, width=1400, theme="light"):
        self.here, self.said = here, []
        self.tab = browser.new_page(
            viewport={"width": width, "height": 900}, color_scheme=theme, accept_downloads=False
        )
        self.tab.set_default_timeout(PATIENCE)
        self.tab.on("console", lambda message: self.said.append(message.text))
        self.tab.on("pageerror", lambda error: self.said.append(str(error)))
        self.tab.on("dialog", lambda dialog: dialog.accept())
        self.tab.goto(here.link)
        assert "token" not in self.tab.url

    def go(self, path):
        self.tab.goto(self.here.address + path)

    def drawn(self):
        """Wait until every part has been drawn."""
        wait(lambda: "Being drawn" not in self.tab.inner_text("main"))
        return self

    def reads_well(self, width):
        assert faults(self.tab) == [], self.tab.url
        assert self.tab.evaluate("document.documentElement.scrollWidth") <= width, self.tab.url


@contextlib.contextmanager
def visit(browser, here, width=1400, theme="light"):
    found = Visit(browser, here, width, theme)
    yield found
    found.tab.close()
    assert found.said == []


def wait(asked, seconds=PATIENCE / 1000):
    end = time.monotonic() + seconds
    while not (found := asked()):
        assert time.monotonic() < end
        time.sleep(0.1)
    return found


def fill(tab, name, value):
    box = tab.locator(f'form#asked [name="{name}"]')
    if not box.is_visible():
        tab.click("summary")
    box.fill(str(value))


def begin(seen, verb, run, recipe, **told):
    """Fill in a form, look at what it stands for, start it; the job's number."""
    tab = seen.tab
    seen.go(f"/start?verb={verb}&game=arena&run={run}&recipe={recipe}")
    tab.wait_for_selector("form#asked")
    if verb == "league":
        tab.select_option('form#asked select[name="recipe"]', recipe)
        wait(lambda: recipe in tab.inner_text(".command"))
    for name, value in told.items():
        fill(tab, name.replace("__", ":"), value)
    wait(lambda: str(list(told.values())[-1]) in tab.inner_text(".line-box"))
    line = tab.inner_text(".command")
    tab.click("form#asked button[type=submit]")
    tab.wait_for_url("**/job/*")
    assert tab.inner_text(".command") == line
    return int(tab.url.rpartition("/")[2])


def test_a_league_is_started_from_a_form_watched_to_its_end_and_reported(browser, here):
    with visit(browser, here) as seen:
        number = begin(
            seen, "league", "demo", "demo", of__start="imitate-quick", of__workers=1,
            set__rounds=2, set__agent_steps=60_000, set__exploiter_steps=0, set__matches=4,
        )  # fmt: skip
        with visit(browser, here, 400, "dark") as other:
            wait(lambda: "leagues/demo" in here.ask("/run/demo/stages").text)
            other.go("/run/demo/")
            badge = other.tab.locator("#stages tr", has_text="leagues/demo").locator(".badge")
            badge.filter(has_text="running").wait_for()
            badge.filter(has_text="done").wait_for()  # without anybody's reloading it
            other.reads_well(400)
        seen.tab.locator("#state .badge.done").wait_for()
        assert "2 rounds" in seen.tab.inner_text(".log")
        assert here.studio.queue.jobs[number].code == 0
        seen.go("/run/demo/")
        seen.drawn()
        for title in ("Ratings: demo", "Win rates: demo", "Nash mixture: demo", "Lineage: demo"):
            assert title.lower() in seen.tab.inner_text("main").lower()
        seen.tab.click("text=Report")
        seen.tab.wait_for_load_state()
        assert "demo" in seen.tab.title()
        assert "league" in seen.tab.inner_text("main").lower()
        seen.reads_well(1400)


def test_two_runs_are_compared_and_the_link_shows_the_same(browser, here):
    with visit(browser, here) as seen:
        for name in ("demo", "other"):
            seen.tab.check(f'input[value="{name}"]')
        seen.tab.click("text=Compare chosen")
        seen.drawn()
        told = seen.tab.inner_text("main")
        assert "How they ended" in told
        link = seen.tab.url
        with visit(browser, here, 400, "dark") as other:
            other.tab.goto(link)
            other.drawn()
            assert other.tab.inner_text("main h2 >> nth=-1") in told
            other.reads_well(400)


def test_a_world_is_explored(browser, here):
    with visit(browser, here) as seen:
        seen.go("/run/worlds/look")
        seen.drawn()
        seen.tab.locator("table.looks a").first.click()
        seen.tab.wait_for_load_state()
        assert "day" in seen.tab.inner_text("main").lower()
        seen.reads_well(1400)


def test_a_match_against_refine_by_keys_is_recorded_and_replayed(browser, here):
    with visit(browser, here) as seen:
        tab = seen.tab
        seen.go("/play?east=demo/models/refine")
        tab.wait_for_selector("form.seats")
        assert tab.input_value("select[name=east]") == "demo/models/refine"
        tab.click("text=Sit down")
        tab.wait_for_selector("canvas")
        tab.keyboard.down("KeyD")
        tab.keyboard.down("ArrowRight")
        tab.keyboard.down("Space")
        wait(lambda: int(tab.get_attribute("#live", "data-step")) > 15)
        assert faults(tab) == []
        tab.keyboard.up("KeyD")
        wait(lambda: "Recorded in played-arena" in tab.inner_text("#match-said"), 200)
        tab.click("#replay")
        tab.wait_for_selector(".arena-viewer canvas")
        assert {"human", "refine"} <= set(tab.locator(".av-name b").all_inner_texts())
        seen.reads_well(1400)
    run = Run(here.studio.catalogue.home / "played-arena")
    succeed("encode arena --players human", run.folder)
    assert (run.samples / "manifest.json").is_file()


LINE = {
    **{"match": "g7", "slot": 0, "player": "alice", "action": {"move": [1, 0]}},
    "observation": {"position": [-8.0, 1.5], "health": 100, "enemy": {"position": [3, 2]}},
}


def test_a_match_is_uploaded_and_shown(browser, here, tmp_path):
    log = tmp_path / "night.jsonl"
    log.write_text("".join(json.dumps({**LINE, "step": step}) + "\n" for step in range(9)))
    with visit(browser, here) as seen:
        seen.go("/upload")
        seen.reads_well(1400)
        seen.tab.set_input_files("input[type=file]", log)
        seen.tab.click("text=Send")
        seen.tab.wait_for_selector(".arena-viewer canvas")
        assert "alice" in seen.tab.inner_text("main")
        seen.reads_well(1400)


def test_a_training_killed_is_seen_as_stalled_and_gone_on_with(browser, here, home):
    with visit(browser, here) as seen:
        number = begin(seen, "train", "other", "imitate-quick", of__name="long", of__seed=3,
                       set__steps=4_000, set__checkpoint_every=50)  # fmt: skip
        folder = Run(home / "other").model("long")
        wait(lambda: (folder / "checkpoint.pt").exists())
        os.killpg(here.studio.queue.jobs[number].pid, signal.SIGKILL)
        seen.go("/run/other/")
        row = seen.tab.locator("#stages tr", has_text="models/long")
        row.locator(".badge.stalled").wait_for()
        assert "was killed" in row.inner_text()
        before = folder.joinpath("metrics.jsonl").read_text().splitlines()
        row.locator("text=Go on").click()
        seen.tab.wait_for_url("**/job/*")
        seen.tab.locator("#state .badge.done").wait_for()
        after = folder.joinpath("metrics.jsonl").read_text().splitlines()
        assert len(after) > len(before)
        seen.go("/run/other/")
        seen.tab.locator("#stages tr", has_text="models/long").locator(".badge.done").wait_for()


PAGES = ["/", "/run/demo/", "/run/worlds/", "/compare?run=demo&run=other", "/jobs", "/play",
         "/upload", "/start?verb=train&game=arena&run=demo", "/run/demo/look",
         "/run/none/"]  # fmt: skip


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_every_page_reads_well(browser, here, width, theme):
    with visit(browser, here, width, theme) as seen:
        for path in PAGES:
            seen.go(path)
            seen.drawn()
            if path == "/play":
                seen.tab.wait_for_selector("form.seats")
            if path.startswith("/start"):
                seen.tab.wait_for_selector("form#asked")
            seen.reads_well(width)
        seen.said = [line for line in seen.said if "404" not in line]  # of /run/none/


@pytest.mark.parametrize(
    "path", ["/", "/run/demo/", "/play", "/start?verb=train&game=arena&run=demo"]
)
def test_keys_come_to_everything(browser, here, path):
    with visit(browser, here) as seen:
        seen.go(path)
        seen.drawn()
        seen.tab.wait_for_timeout(1500)
        assert keyboard_faults(seen.tab) == []
