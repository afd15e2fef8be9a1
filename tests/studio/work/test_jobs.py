"""Jobs: kept in files, begun in order, stopped, found again."""

import os
import re
import sys
import time
from dataclasses import replace

import pytest

from tests.studio.serving import served
from tests.studio.small_run import GONE, lock, model, small_run
from understudy.studio.work.jobs import LONGEST_LOG, Jobs
from understudy.studio.work.queue import Queue

SAYS = "import sys, time; print('\\x1b[31mhere', *sys.argv[1:], flush=True); "
QUICK = (sys.executable, "-c", SAYS)
LONG = (sys.executable, "-c", SAYS + "time.sleep(60)")
FAILS = (sys.executable, "-c", SAYS + "sys.exit(2)")


@pytest.fixture
def here(tmp_path):
    small_run(tmp_path / "a")
    with served(tmp_path, cores=2) as found:
        yield found
        for job in found.studio.queue.jobs.at_work():
            found.studio.queue.stop(job.number)
            found.studio.queue.stop(job.number)
            if process := found.studio.queue._processes.get(job.number):
                process.wait(10)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr("understudy.studio.work.queue.LOOK_EVERY", 0.05)
    monkeypatch.setattr(Queue, "program", QUICK)


def until(asked, seconds=15):
    end = time.monotonic() + seconds
    while not asked():
        assert time.monotonic() < end
        time.sleep(0.03)


def asked(here, words, folder="a"):
    return here.studio.queue.ask(words, here.studio.catalogue.home / folder).number


def state(here, number):
    return here.studio.queue.jobs[number].state


def test_a_job_is_begun_followed_and_remembered(here):
    number = asked(here, ["train", "arena", "x y"])
    until(lambda: state(here, number) == "done")
    page = here.ask(f"/job/{number}").text
    assert "here train arena x y" in page
    assert "\x1b" not in page
    assert "understudy train arena &#39;x y&#39;" in page
    assert f'href="/job/{number}"' in here.ask("/jobs").text
    again = Jobs(here.studio.catalogue.home / ".studio" / "jobs")
    again.load()
    assert again[number] == here.studio.queue.jobs[number]


def test_one_that_fails_says_so(here, monkeypatch):
    monkeypatch.setattr(Queue, "program", FAILS)
    number = asked(here, ["train"])
    until(lambda: state(here, number) == "failed")
    assert "exit code 2" in here.ask(f"/job/{number}/state").text


def test_jobs_wait_for_cores_in_order_and_can_be_stopped(here, monkeypatch):
    monkeypatch.setattr(Queue, "program", LONG)
    one = asked(here, ["train", "a", "--workers=1"])
    large = asked(here, ["train", "b", "--workers=2"])
    small = asked(here, ["train", "c", "--workers=1"])
    assert [state(here, number) for number in (one, large, small)] == [
        *("running", "waiting", "waiting")
    ]
    assert here.ask(f"/job/{small}/stop", "POST").status == 200
    assert state(here, small) == "stopped"
    here.ask(f"/job/{one}/stop", "POST")
    until(lambda: state(here, one) == "stopped")
    until(lambda: state(here, large) == "running")
    log = here.studio.queue.jobs.said
    until(lambda: "here train b" in log(large))


def test_the_same_is_not_done_twice_at_once(here, monkeypatch):
    monkeypatch.setattr(Queue, "program", LONG)
    number = asked(here, ["train", "a"])
    answer = here.ask(f"/job/{number}/again", "POST", {})
    assert answer.status == 422
    assert "does the same already" in answer.text


def test_a_studio_that_is_back_finds_its_jobs(here, monkeypatch):
    monkeypatch.setattr(Queue, "program", LONG)
    number = asked(here, ["train", "a"])
    job = here.studio.queue.jobs[number]
    until(lambda: "here" in here.studio.queue.jobs.said(number))
    later = Jobs(here.studio.catalogue.home / ".studio" / "jobs")
    later.load()
    assert later[number].state == "running"
    later.keep(replace(job, pid=os.getpid()))  # its number was given to another process
    later.load()
    assert later[number].state == "ended"
    later.keep(replace(job, pid=GONE))
    later.load()
    assert later[number].state == "ended"
    here.studio.queue.jobs.keep(job)


def test_files_that_are_no_jobs_are_not_begun(tmp_path):
    folder = tmp_path / "jobs"
    folder.mkdir()
    (folder / "000001.json").write_text('{"number": 1, "words": ["train"]}')
    (folder / "000002.json").write_text("nonsense")
    (folder / "evil.json").write_text('{"number": 9, "words": ["x"], "run": "", "cores": 1}')
    jobs = Jobs(folder)
    jobs.load()
    assert jobs.known == {}


def test_of_a_long_log_the_end_is_shown(tmp_path):
    jobs = Jobs(tmp_path)
    number = jobs.add(["train"], tmp_path, 1).number
    jobs.log(number).write_bytes(b"first\n" + b"x" * LONGEST_LOG + b"\r50%\r60%\n\xff last")
    said = jobs.said(number)
    assert "first" not in said
    assert said.endswith("50%\n60%\n\ufffd last")


def test_a_killed_training_is_gone_on_with_from_its_page(here):
    folder = model(here.studio.catalogue["a"].run, "more", total=99, finished=None)
    lock(folder, GONE)
    here.studio.catalogue.look()
    page = here.ask("/run/a/stages").text
    assert "was killed" in page
    assert "Go on" in page
    answer = here.ask("/run/a/resume", "POST", {"place": "models/more"})
    number = int(re.fullmatch(r"/job/(\d+)", answer.headers["hx-redirect"])[1])
    words = here.studio.queue.jobs[number].words
    assert words == ("train", "arena", "more", "--out", str(here.studio.catalogue["a"].run.folder))
    assert here.ask("/run/a/resume", "POST", {"place": "../../x"}).status == 422


def test_a_form_starts_what_it_shows(here):
    form = here.ask("/start/form?verb=record&game=arena&run=new").text
    assert "of:matches" in form
    told = {"verb": "record", "game": "arena", "run": "new", "of:matches": "7", "of:seed": "1"}
    shown = here.ask("/start/preview", "POST", told).text
    assert "understudy record arena --out" in shown
    assert "--matches=7 --seed=1" in shown
    answer = here.ask("/start", "POST", told)
    number = int(answer.headers["hx-redirect"].rpartition("/")[2])
    assert here.studio.queue.jobs[number].line in shown
    for wrong in ({"run": "../x"}, {"verb": "selftest"}, {"game": "os:system"}, {"of:seed": "x"}):
        assert here.ask("/start", "POST", told | wrong).status == 422
