"""Runs in the browser's eyes: lists, pages, parts that change, notes."""

import contextlib
import re
import shutil
import threading

import pytest

from tests.studio.serving import served
from tests.studio.small_run import lock_of_this_process, model, small_run
from understudy.data.integrity.json_files import json_line
from understudy.data.runs import ModelFolder, Run
from understudy.report.run import run_panels
from understudy.studio.live import curves, drawing


@pytest.fixture
def here(tmp_path):
    for name in ("a", "b<i>", "quartz"):
        small_run(tmp_path / name)
    with served(tmp_path) as found:
        yield found


def test_a_list_shows_every_run_and_a_search_finds_some(here):
    page = here.ask("/").text
    assert page.count('type="checkbox"') == 3
    assert "b&lt;i&gt;" in page
    assert "b<i>" not in page
    found = here.ask("/runs/list?q=quartz+arena").text
    assert 'href="/run/quartz/"' in found
    assert 'href="/run/a/"' not in found
    assert "No run has all these words" in here.ask("/runs/list?q=zzz").text


def test_a_part_is_the_panel_of_the_static_report(here):
    run = here.studio.catalogue["a"].run
    (static,) = [one for one in run_panels(run, []) if one.title == "imitate: loss"]
    part = here.ask("/run/a/part?key=models/imitate").text
    shown = re.sub(r' data-style="', ' style="', part)
    assert static.html in shown


def test_a_part_that_has_not_changed_is_not_sent_again(here):
    first = here.ask("/run/a/part?key=models/imitate").text
    stamp = re.search('data-stamp="([^"]+)"', first)[1]
    again = f"/run/a/part?key=models/imitate&have={stamp}"
    assert here.ask(again).status == 204
    folder = here.studio.catalogue["a"].run.model("imitate")
    with ModelFolder(folder).metrics.open("a") as file:
        file.write(json_line({"step": 11, "train/loss": 0.5}))
    assert here.ask(again).status == 200


def test_who_looks_on_hears_what_changes(here):
    folder = model(Run(here.studio.catalogue.home / "a"), "more", total=99, finished=None)
    lock_of_this_process(folder)
    events = here.events("a")
    heard = list[str]()

    def hear():
        with contextlib.closing(events):
            for changed in events:
                heard.extend(changed)
                if {"models/more", "stages"} <= set(heard):
                    return

    thread = threading.Thread(target=hear, daemon=True)
    thread.start()
    for step in range(11, 200):
        with ModelFolder(folder).metrics.open("a") as file:
            file.write(json_line({"step": step, "train/loss": 0.5}))
        thread.join(0.1)
        if not thread.is_alive():
            break
    assert {"models/more", "stages"} <= set(heard)
    assert "running" in here.ask("/run/a/stages").text


def test_a_run_deleted_under_it_is_a_note(here):
    shutil.rmtree(here.studio.catalogue["quartz"].run.folder)
    assert here.ask("/run/quartz/part?key=models/imitate").status in (200, 404)
    here.studio.catalogue.look()
    answer = here.ask("/run/quartz/")
    assert answer.status == 404
    assert "may have been deleted" in answer.text


def test_notes_and_tags_are_kept_and_found(here):
    told = {"tags": "best, <b>", "note": "why <i>"}
    answer = here.ask("/run/a/notes", "POST", told)
    assert answer.status == 200
    assert "&lt;b&gt;" in answer.text
    assert 'href="/run/a/"' in here.ask("/runs/list?tag=best").text
    assert 'href="/run/quartz/"' not in here.ask("/runs/list?tag=best").text
    refused = here.ask("/run/a/notes", "POST", {"tags": "a/b", "note": ""})
    assert refused.status == 422


def test_long_metrics_are_glanced_at_first_and_then_read(here, monkeypatch):
    monkeypatch.setattr(drawing, "LARGE", 100)
    monkeypatch.setattr(curves, "LARGE", 100)
    path = "/run/a/part?key=models/imitate"
    assert drawing.FIRST_LOOK in here.ask(path).text
    for _ in range(100):
        if drawing.FIRST_LOOK not in (page := here.ask(path).text):
            break
    assert drawing.FIRST_LOOK not in page
    assert "imitate: loss" in page


def test_a_comparison_stands_in_its_address(here):
    page = here.ask("/compare?run=a&run=quartz%2Fimitate&run=gone").text
    assert "Leave out quartz/imitate" in page
    assert "Not here (any more): gone" in page
    assert "/compare/panels?run=a&amp;run=quartz%2Fimitate" in page
    panels = here.ask("/compare/panels?run=a&run=quartz").text
    assert "How they ended" in panels
    assert here.ask("/compare/panels?run=..%2f..").status == 404
    assert here.ask("/compare/panels?" + "run=a&" * 300).status == 422
