"""Whatever stands in the files that a page is made of, nothing of it runs or becomes a tag."""

import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.browser import silent_tab
from tests.league.test_command import install, run_league
from tests.report.test_page import Outline
from tests.small_runs import finished_run
from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.pipeline.report import replay, report
from understudy.report.page import Panel, page

HANDLER = "x\"'><img src=q onerror=window.hit=1><b onmouseover=window.hit=1>&lt;"
"""Without a / it may even stand in a name."""
SCRIPT = "</script></style><script>window.hit=1</script><!--"


@pytest.fixture(scope="module", params=["arena", "league"])
def made(request, tmp_path_factory):
    """A run to make a page of, from many files; and one with leagues."""
    with pytest.MonkeyPatch.context() as patch:
        install(patch)
        folder = tmp_path_factory.mktemp("hostile") / "run"
        if request.param == "arena":
            shutil.copytree(finished_run(tmp_path_factory), folder)
        else:
            for more in ((), ("--recipe", "quick-self-play")):
                assert run_league(folder, "--quiet", *more).code == 0
        yield folder


@pytest.fixture
def run(made, tmp_path):
    shutil.copytree(made, tmp_path / "run", symlinks=True)
    return tmp_path / "run"


def leaves(value, path=()):
    """The places of all values, of a list the first and last; and of names, which end in None."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield from leaves(one, (*path, name))
        yield from ((*path, name, None) for name in value)
    elif isinstance(value, list):
        for place in sorted({0, len(value) - 1} if value else ()):
            yield from leaves(value[place], (*path, place))
    else:
        yield path


def put(value, path, text):
    """The same with a text at a place, or as the name of a place."""
    head, *rest = path
    if rest == [None]:
        return {text if name == head else name: one for name, one in value.items()}
    changed = dict(value) if isinstance(value, dict) else list(value)
    changed[head] = put(value[head], rest, text) if rest else text
    return changed


def documents(run):
    """Every JSON file, and every file of JSON lines by its last line."""
    for path in sorted([*run.rglob("*.json"), *run.rglob("*.jsonl")]):
        text = path.read_text()
        *before, last = text.splitlines() if path.suffix == ".jsonl" else (text,)
        known = json.loads(last)
        if isinstance(known, dict):  # what was changed on purpose has no seal
            known = {name: value for name, value in known.items() if name not in ("seal", "crc")}
        yield path, before, known


def is_harmless(html):
    """No tag came of a text: nothing handles events, and scripts are those of the head, or data."""
    outline = Outline(html)
    assert not [attrs for _, attrs in outline.seen if any(name.startswith("on") for name in attrs)]
    assert not outline.all("img")
    body = html.partition("<body>")[2]
    assert body.count("<script") == body.count('<script type="application/json"')
    assert "<script>window" not in html


def reported(run):
    """The page, where one is made of such files; else it was refused, in one line."""
    try:
        return report(Run(run)).read_text()
    except InputError as refusal:
        assert "\n" not in str(refusal)
        return None


def test_no_value_of_any_json_becomes_a_tag(run):
    """Each by itself: many together might hide behind the first that is refused."""
    for path in (path for path in run.rglob("*.parquet") if "leagues" not in path.parts):
        path.unlink()  # replays of every match for each value would take minutes
    shown, seen = 0, set()
    for path, before, document in documents(run):
        whole = path.read_text()
        for place in leaves(document):
            pattern = (path.name, *("#" if isinstance(part, int) else part for part in place))
            if pattern in seen:
                continue
            seen.add(pattern)
            last = json.dumps(put(document, place, HANDLER + SCRIPT))
            path.write_text("\n".join([*before, last]) + "\n")
            html = reported(run)
            if html is not None:
                is_harmless(html)
                shown += "window.hit" in html
        path.write_text(whole)
    assert shown > 10, f"only {shown} of {len(seen)} values were shown"


def rewrite(path):
    """A table in which every text is hostile, and still tells the same things apart."""
    rows = pq.read_table(path)
    for place, field in enumerate(rows.schema):
        if pa.types.is_string(field.type):
            texts = [text and f"{HANDLER}{text}" for text in rows[field.name].to_pylist()]
            rows = rows.set_column(place, field, pa.array(texts, field.type))
    pq.write_table(rows, path)


@pytest.mark.browser
def test_no_text_of_any_table_runs(run, browser):
    for path in run.rglob("*.parquet"):
        rewrite(path)
    pages = [report(Run(run))]
    for path in run.glob("recordings/matches-*"):
        match = pq.read_table(path)["match"][0].as_py()
        pages.append(replay(Run(run), match, run / "replay.html"))
    for one in pages:
        is_harmless(one.read_text())
        with silent_tab(browser, one) as tab:
            assert tab.evaluate("window.hit") is None


@pytest.mark.browser
def test_what_slips_into_a_page_all_the_same_is_dead(browser, tmp_path):
    slipped = (
        '<p id="told" style="color:rgb(1, 2, 3)">told</p>'
        f"{SCRIPT.partition('</style>')[2]}-->"
        '<img src="data:," onerror="window.hit=1"><a id="go" href="javascript:window.hit=1">go</a>'
        '<b id="bad" style="color:rgb(4, 5, 6);background:url(q)">bad</b>'
        "<style>#told{color:rgb(7,8,9)}</style>"
    )
    (tmp_path / "page.html").write_text(page("a", "b", [Panel("c", slipped)]))
    tab = browser.new_page()
    tab.goto((tmp_path / "page.html").as_uri())
    tab.click("#go")
    tab.wait_for_timeout(100)
    assert tab.evaluate("window.hit") is None
    color = "getComputedStyle(document.querySelector('{}')).color"
    assert tab.evaluate(color.format("#told")) == "rgb(1, 2, 3)"
    assert tab.evaluate(color.format("#bad")) == "rgb(4, 5, 6)"
    tab.close()
