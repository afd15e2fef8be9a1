"""The table of strength: fits the terminal, and says what it cannot say."""

import pytest
from rich.console import Console

from tests.games.scml.strength.test_strength import Tournament, scores
from understudy.games.scml.report.terminal import strength_table
from understudy.games.scml.strength.strength import assess


def printed(results, width):
    console = Console(width=width)
    with console.capture() as captured:
        console.print(strength_table(assess(results), width))
    return captured.get()


@pytest.mark.parametrize(("width", "levels"), [(100, True), (80, False)])
def test_the_table_fits_the_terminal(width, levels):
    effects = {"ace": 0.3, "UltraSuperMiracleSoraFinalAgentZ": 0.1, "dud": -1.4}
    results = Tournament(effects, configurations=40).play()
    text = printed(results, width)
    lines = [line.rstrip() for line in text.splitlines()]
    assert max(map(len, lines)) <= width
    assert ("middle" in text) is levels
    assert "…" not in text
    (ace,) = [line.split() for line in lines if " ace " in line]
    assert "too few" not in text and "40 configurations" in text
    assert ace[0] == "1"
    assert ace[-1] == "120"


def test_the_table_says_what_cannot_be_compared():
    results = scores((1, 0, "a", 1), (1, 0, "b", 2), (2, 0, "c", 5), (2, 0, "d", 4))
    text = printed(results, 80)
    assert "2 groups that cannot be compared" in text
    assert text.count(" ? ") == 2 * 4  # one configuration each: no interval
    assert "?: too few configurations for an interval" in text
    assert text.startswith("1 world of 2 configurations")
