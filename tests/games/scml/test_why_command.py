"""`compete scml --why`: a table, and a page whose links lead to the day and factory."""

import re
from html import unescape

import pytest

from tests.browser import chromium, silent_tab
from tests.small_runs import assert_refused, contents, rows, understudy
from understudy.data.runs import Run
from understudy.pipeline import report as report_stage

COMPETE = "compete scml {mine}:Idle Penguin --configs 2 --steps 8 --keep 0 --quiet --workers 0"


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    path = tmp_path_factory.mktemp("theirs") / "mine.py"
    path.write_text("from scml.std.agents import StdDoNothingAgent\n\n\n"
                    "class Idle(StdDoNothingAgent):\n    pass\n")  # fmt: skip
    return path


@pytest.fixture(scope="module")
def told(mine, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cup")
    done = understudy(COMPETE.format(mine=mine), "--out", folder, "--why", "mine")
    assert (done.code, done.err) == (0, "")
    (results,) = (folder / "results").iterdir()
    return results, done.out


def test_the_table_says_where_and_why(told):
    results, out = told
    assert "Where Idle lost most" in out and "The days that cost most" in out
    assert f"Day by day: {results / 'why-Idle.html'}" in out


def links(page):
    return [unescape(found) for found in re.findall(r'href="(why-[^"]+)"', page)]


def scores(folder):
    return {(row["match"], row["slot"]): row["score"] for row in rows(folder, "results")}


def test_the_worlds_were_played_again_as_they_were(told):
    results, _ = told
    again = scores(results / "why-Idle")
    assert again and again.items() <= scores(results).items()


def test_every_link_leads_to_a_day_of_the_players_or_the_rivals_factory(told):
    results, _ = told
    page = (results / "why-Idle.html").read_text()
    worlds = {row["match"]: row for row in rows(results / "why-Idle", "worlds")}
    assert len(links(page)) > 4
    for link in links(page):
        found = re.fullmatch(r"(why-Idle/(.+)\.html)#day=(\d+)&factory=(\d+)", link)
        path, match, day, factory = found.groups()
        assert (results / path).is_file()
        assert worlds[match]["players"][int(factory)] in ("Idle", "Penguin")
        assert 0 <= int(day) < worlds[match]["steps"]


def test_such_worlds_are_found_by_replay_and_report(told, tmp_path):
    run = Run(told[0].parents[1])
    match = rows(told[0] / "why-Idle", "worlds")[0]["match"]
    assert match in report_stage.replay(run, match, tmp_path / "world.html").read_text()
    assert "Worlds to look into" in report_stage.report(run).read_text()


def test_in_a_browser_a_link_shows_that_day_and_factory(told):
    results, _ = told
    link = next(one for one in links((results / "why-Idle.html").read_text()) if "day=0" not in one)
    path, day, factory = re.fullmatch(r"(.+)#day=(\d+)&factory=(\d+)", link).groups()
    with chromium() as browser, silent_tab(browser, results / path) as tab:
        look = "() => [worldExplorers[0].day, worldExplorers[0].selected.place]"
        tab.evaluate(f"location.hash = '#day={day}&factory={factory}'")
        tab.wait_for_function(f"worldExplorers[0].day === {day}")
        assert tab.evaluate(look) == [int(day), int(factory)]
        tab.evaluate("location.hash = '#day=99999&factory=99'")
        tab.wait_for_function("worldExplorers[0].day === worldExplorers[0].world.last")
        assert tab.evaluate(look)[1] == int(factory)


def test_who_does_not_compete_is_refused(mine, tmp_path):
    done = understudy(COMPETE.format(mine=mine), "--out", tmp_path, "--why", "Pengiun")
    assert_refused(done, "who does not compete (did you mean Penguin?); there is Idle, Penguin")
    assert not list(tmp_path.iterdir())


def test_who_never_lost_is_told_so(mine, told):
    results, _ = told
    done = understudy(COMPETE.format(mine=mine), "--out", results.parents[1], "--why", "Penguin")
    assert "Nobody in the same slot did better than Penguin" in done.out or "lost most" in done.out


@pytest.mark.slow
def test_two_workers_and_a_cluster_tell_the_same_of_an_agent_in_a_temporary_folder(mine, tmp_path):
    """From the file to table, report, explorer and reasons, wherever it is played."""
    from distributed import LocalCluster

    command = COMPETE.format(mine=mine).replace("--workers 0", "--why Idle")
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        for name, workers in (("two", "2"), ("dask", cluster.scheduler_address)):
            done = understudy(command, "--out", tmp_path / name, "--workers", workers)
            assert (done.code, done.err) == (0, "")
            assert "Where Idle lost most" in done.out
            done = understudy(f"report {tmp_path / name}")
            assert done.code == 0, done.err
            assert "Worlds to look into" in (tmp_path / name / "report.html").read_text()
    pages = {path.relative_to(tmp_path / "two") for path in (tmp_path / "two").rglob("*.html")}
    assert len(pages) > 1
    assert contents(tmp_path / "two" / "results") == contents(tmp_path / "dask" / "results")
    page = next(path for path in pages if path.parent.name == "why-Idle")
    with chromium() as browser, silent_tab(browser, tmp_path / "dask" / page) as tab:
        assert tab.evaluate("worldExplorers[0].world.last") > 0
