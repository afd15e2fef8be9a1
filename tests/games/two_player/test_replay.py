"""A recorded match of a plain game as a page."""

import re

import pytest

from tests.games.two_player.test_plain import PAIR, Nim, game
from understudy.data import shards
from understudy.data.players import PlayerRef
from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.pipeline.game import load
from understudy.pipeline.pairings import Fixture


def recorded(found, tmp_path, players, keep=None):
    """A run with a match of seed 5, and the match's row."""
    run = Run(tmp_path / "run")
    tables = found.play(Fixture(players, (5,), keep=keep)).recordings
    for table in found.recordings:
        shards.write_shard(shards.shard_path(run.recordings, table, "0"), tables[table.name])
    return run, tables["matches"].to_pylist()[0]


def text(page):
    return " ".join(re.sub(r"<[^>]*>", " ", page.partition("<body>")[2]).split())


def test_every_choice_is_told_with_what_its_player_knew(tmp_path):
    run, match = recorded(game(Nim), tmp_path, PAIR)
    page = game(Nim).replay(run, match["match"])
    winner = match["player_0"] if match["score"] > 0 else match["player_1"]
    assert f"{winner} wins; {match['steps']} steps" in text(page)
    assert page.count("</b> chooses <b>") == match["steps"]  # in nim one after the other


def test_a_game_with_words_of_its_own_is_told_in_them(tmp_path):
    pytest.importorskip("pyspiel")
    found = load("openspiel:kuhn_poker")
    run, match = recorded(found, tmp_path, (PlayerRef("random"),) * 2)
    told = text(found.replay(run, match["match"]))
    assert "random, first" in told and "random, second" in told
    assert re.search("chooses (Pass|Bet)", told)


def test_what_was_not_recorded_step_by_step_has_no_page(tmp_path):
    run, match = recorded(game(Nim), tmp_path, PAIR, keep=0)
    for name in (match["match"], "another"):
        with pytest.raises(InputError, match=f"no recording of match '{name}'"):
            game(Nim).replay(run, name)
