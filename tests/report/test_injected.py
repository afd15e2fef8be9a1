"""Every field of every JSON file, hostile one by one, in a browser: comparisons and the studio."""

import json
import shutil

import pytest

pytest.importorskip("fastapi")

from tests.browser import chromium
from tests.report.test_hostile import HANDLER, SCRIPT, documents, is_harmless, leaves, put, rewrite
from tests.small_runs import finished_run
from tests.studio.serving import served
from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.pipeline.report import compare, replay, report

pytestmark = [pytest.mark.slow, pytest.mark.browser]
SHOWN = "window.hit"
BOTH = "run={run}&run={other}"
PAGES = (
    *("/run/{run}/", f"/compare?{BOTH}", f"/compare/panels?{BOTH}", "/run/{run}/stages"),
    *("/", "/jobs", "/run/{run}/look", "/play", "/start"),
)


@pytest.fixture
def run(tmp_path_factory, tmp_path):
    for name in ("run", "other"):
        shutil.copytree(finished_run(tmp_path_factory), tmp_path / name)
    return tmp_path / "run"


def injected(run):
    """Makes each value and name hostile in turn; yields where, and mends it again."""
    seen = set()
    for path, before, document in documents(run):
        whole = path.read_text()
        for place in leaves(document):
            pattern = (path.name, *("#" if isinstance(part, int) else part for part in place))
            if pattern in seen:
                continue
            seen.add(pattern)
            last = json.dumps(put(document, place, HANDLER + SCRIPT))
            path.write_text("\n".join([*before, last]) + "\n")
            yield pattern
        path.write_text(whole)


def made(function, *told):
    """A page, where one is made of such files; else it was refused."""
    try:
        return function(*told)
    except InputError:
        return None


def test_nothing_runs_on_reports_and_comparisons(run, tmp_path):
    for path in [*run.rglob("matches-*.parquet"), *run.rglob("steps-*.parquet")]:
        path.unlink()  # their texts are made hostile in test_hostile
    tried = shown = 0
    with chromium() as browser:
        tab = browser.new_page()
        for pattern in injected(run):
            pages = [
                made(report, Run(run)),
                made(compare, [run, tmp_path / "other"], tmp_path / "compare.html"),
            ]
            for page in filter(None, pages):
                html = page.read_text()
                is_harmless(html)
                tried += 1
                if SHOWN in html:
                    shown += 1
                    tab.goto(page.as_uri())
                    assert tab.evaluate(SHOWN) is None, pattern
    assert shown > 20, f"{shown} of {tried}"


def test_nothing_of_a_table_runs_on_any_page(run, tmp_path):
    with chromium() as browser:
        tab = browser.new_page()
        for path in run.rglob("*.parquet"):
            rewrite(path)
        for page in (
            made(report, Run(run)),
            made(compare, [run, tmp_path / "other"], tmp_path / "compare.html"),
            made(replay, Run(run), "expert-rusher-0", tmp_path / "replay.html"),
        ):
            if page is not None:
                is_harmless(page.read_text())
                tab.goto(page.as_uri())
                assert tab.evaluate(SHOWN) is None


def test_nothing_runs_in_the_studio(run, tmp_path):
    shown = tried = 0
    with served(tmp_path) as here, chromium() as browser:
        tab = browser.new_page()
        tab.goto(here.link)
        names = dict(zip(("other", "run"), sorted(here.studio.catalogue.runs), strict=True))
        for pattern in injected(run):
            for place in PAGES[:4]:
                path = place.format(**names)
                answer = here.ask(path)
                assert answer.status in (200, 400, 404), (pattern, answer.status)
                tried += 1
                assert "<script>window" not in answer.text and "<img src=q" not in answer.text
                if SHOWN in answer.text:
                    shown += 1
                    tab.goto(here.address + path)
                    tab.wait_for_timeout(20)
                    assert tab.evaluate(SHOWN) is None, (pattern, path)
        for place in PAGES:
            tab.goto(here.address + place.format(**names))
            tab.wait_for_timeout(50)
            assert tab.evaluate(SHOWN) is None
    assert shown > 5, f"{shown} of {tried}"
