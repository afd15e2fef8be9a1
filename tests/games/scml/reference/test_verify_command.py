"""`understudy verify scml`: what it prints and how it ends."""

import pytest
from typer.testing import CliRunner

from understudy.cli.app import app
from understudy.errors import InputError
from understudy.games.scml.reference import verify


def run(*options):
    command = ["verify", "scml", "--worlds", "1", "--workers", "0", "--quiet", *options]
    return CliRunner().invoke(app(), command, catch_exceptions=True)


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(verify, "WORLD_DAYS", (6, 7))
    monkeypatch.setattr(verify, "NUM_FACTORIES", (2, 2))


def test_equal_games_end_well(small):
    result = run("--agents", "Penguin", "--track", "std")
    assert result.exit_code == 0
    assert "Penguin" in result.output and "mixed" in result.output
    assert "signed nothing" not in result.output


def test_who_signed_nothing_is_told(small):
    result = run("--agents", "DoNothing")
    assert result.exit_code == 0
    assert "signed nothing alone: DoNothing" in result.output
    assert "signed nothing in mixed worlds: DoNothing" in result.output


def test_a_difference_is_told_and_ends_with_1(small, monkeypatch):
    monkeypatch.setattr(verify, "differences", lambda *games: ["profits of 00@0: other"])
    result = run("--agents", "DoNothing")
    assert result.exit_code == 1
    assert "profits of 00@0: other" in result.output
    assert "4 differences" in result.output


def test_a_world_that_cannot_be_played_counts_as_a_difference(small, monkeypatch):
    monkeypatch.setattr(verify, "draw", lambda *sizes: 1 / 0)
    result = run("--agents", "DoNothing")
    assert result.exit_code == 1
    assert "ZeroDivisionError" in result.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--agents", "Nobody"], "no SCML agent 'Nobody'"),
        (["--track", "collusion"], "no track 'collusion'"),
    ],
)
def test_a_wrong_name_is_one_line(options, words):
    error = run(*options).exception
    assert isinstance(error, InputError)
    assert words in str(error)
