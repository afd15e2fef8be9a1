"""`understudy demo`: every stage of every game, in one command."""

import re
import subprocess
import sys
from dataclasses import replace

import pytest
from rich.console import Console

from tests.small_runs import (
    contents,
    tiny_recipe,
    understudy,
)
from understudy.games.arena import league as arena_league
from understudy.games.arena import recipes
from understudy.games.two_player import commands as two_player
from understudy.league.recipe import two_roles
from understudy.pipeline import pairings

PROGRAM = "from understudy.cli import main; main()"


@pytest.fixture(scope="module", autouse=True)
def recipe():
    with tiny_recipe():
        yield


def test_the_demo_goes_through_every_stage(tmp_path, monkeypatch):
    """As large as it takes to fill every split; competition, refinement and league cut short."""
    to_compete = pairings.to_compete
    small = {"matches": 16, "steps": 4, "critic_first": 1}
    shorter = replace(recipes.refine_quick, iterations=3, **small)
    monkeypatch.setitem(recipes.RECIPES, "refine-quick", shorter)
    few = {"rounds": 1, "agent_steps": 2_000, "matches": 2, "exploiter_steps": 500}
    monkeypatch.setattr(
        arena_league,
        "two_roles",
        lambda **settings: two_roles(**settings | few | {"exploiter_matches": 4}),
    )
    monkeypatch.setattr(arena_league, "refine_ppo", replace(recipes.refine_ppo, **small))
    monkeypatch.setattr(
        pairings, "to_compete", lambda *a, **options: to_compete(*a, **options | {"matches": 2})
    )
    monkeypatch.setattr(two_player, "out_console", Console(width=120))
    run = tmp_path / "run"
    command = ["--matches", "60", "--worlds", "1", "--seed", "9", "--workers", "0", "--out", run]
    done = understudy("demo", *command)
    assert done.code == 0
    assert "2 matches per pair, points with 95 % interval" in done.out
    for opponent in ("expert", "rusher", "kiter", "camper", "collector"):
        assert re.search(rf"imitate-quick +│{opponent} ", done.out)
        assert re.search(rf"refine-quick +│{opponent} ", done.out)
    assert "1 round, " in done.out and "an approximate best response of main wins" in done.out
    assert "4 worlds of 1 configuration" in done.out
    pages = [run / game / "report.html" for game in ("arena", "scml", "dota")]
    pages.append(run / "dota" / "match.html")
    named = ", ".join(map(str, pages))
    assert done.out.splitlines()[-1] == f"Open {named}: no network needed."
    assert all(page.stat().st_size > 20_000 for page in pages)
    before = contents(run)
    again = understudy("demo", *command)
    assert again.code == 0
    assert again.out == done.out
    changed = {name for name in before if contents(run)[name] != before[name]}
    assert changed <= {str(page.relative_to(run)) for page in pages}


@pytest.mark.slow
def test_the_demo_works_at_full_size(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "demo"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for game in ("arena", "scml", "dota"):
        assert (tmp_path / "runs" / "demo" / game / "report.html").exists()
