"""The lineage of a league: a row per learner, a dot per snapshot, a curve per birth."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from understudy.report.charts import NOTHING

WIDTH, ROW = 1000.0, 100.0  # the drawing in SVG units; it is stretched to the window


class Life(NamedTuple):
    """A learner between two resets."""

    learner: str
    begun_from: str
    first: int
    """The round after which it began."""
    last: int


def lives(history: Sequence[Mapping[str, Any]]) -> list[Life]:
    """All lives of all learners, from what was written each round."""
    found: dict[tuple[str, int], Life] = {}
    for entry in history:
        for name, learner in entry["learners"].items():
            key = name, learner["life"]
            begun = found[key].first if key in found else entry["round"] - 1
            found[key] = Life(name, learner["begun_from"], begun, entry["round"])
    return list(found.values())


def lineage(
    start: str,
    players: Sequence[Mapping[str, Any]],
    history: Sequence[Mapping[str, Any]],
    ratings: Mapping[str, float],
) -> str:
    """The drawing. `players` are all frozen ones, `history` one entry per round."""
    all_lives = lives(history)
    if not all_lives:
        return NOTHING
    lanes = [start, *dict.fromkeys(life.learner for life in all_lives)]
    rounds = max(entry["round"] for entry in history)
    place = {start: (0, 0)} | {
        player["name"]: (player["round"], lanes.index(player["learner"]))
        for player in players
        if player["learner"] in lanes
    }
    paths = "".join(_life(life, place, lanes, rounds) for life in all_lives)
    dots = "".join(
        _dot(player, place[player["name"]], rounds, len(lanes), ratings)
        for player in players
        if player["name"] in place
    )
    names = "".join(
        f'<span class="lane" style="top:{_down(row, len(lanes)):.2%}">{escape(name)}</span>'
        for row, name in enumerate(lanes)
    )
    height = ROW * len(lanes)
    return (
        f'<figure class="chart lineage"><figcaption>Who descends from whom</figcaption>'
        f'<div class="tree" style="height:{3.4 * len(lanes):.1f}rem">'
        f'<svg viewBox="0 0 {WIDTH:.0f} {height:.0f}" preserveAspectRatio="none" role="img" '
        f'aria-label="Lineage">{paths}</svg>{names}{dots}{_rounds(rounds)}</div></figure>'
    )


def _life(
    life: Life, place: Mapping[str, tuple[int, int]], lanes: Sequence[str], rounds: int
) -> str:
    """A line along the learner's row, and a curve from where it began."""
    row = lanes.index(life.learner)
    y = ROW * (row + 0.5)
    begun, end = _across(life.first, rounds), _across(life.last, rounds)
    line = f'<path style="{_color(row)}" d="M{begun:.1f},{y:.1f}H{end:.1f}"/>'
    origin = place.get(life.begun_from)
    if origin is None:
        return line
    x, from_y = _across(origin[0], rounds), ROW * (origin[1] + 0.5)
    bend = (x + begun) / 2 if begun > x else x
    curve = f"M{x:.1f},{from_y:.1f}C{bend:.1f},{from_y:.1f} {bend:.1f},{y:.1f} {begun:.1f},{y:.1f}"
    return f'<path class="birth" style="{_color(origin[1])}" d="{curve}"/>{line}'


def _dot(
    player: Mapping[str, Any],
    place: tuple[int, int],
    rounds: int,
    lanes: int,
    ratings: Mapping[str, float],
) -> str:
    number, row = place
    words = f"{player['name']}, round {number}"
    if player["name"] in ratings:
        words += f", {ratings[player['name']]:.0f} Elo"
    words += f": {player['reason']}" if player["reason"] else ""
    if player["parent"]:
        words += f"; before it {player['parent']}"
    kind = "kept" if player["learner"] else "kept origin"
    return (
        f'<i class="{kind}" style="left:{_across(number, rounds) / WIDTH:.2%};'
        f'top:{_down(row, lanes):.2%};{_color(row)}" title="{escape(words)}"></i>'
    )


def _rounds(rounds: int) -> str:
    """Numbers of rounds below the drawing."""
    step = max(1, -(-rounds // 12))
    return "".join(
        f'<span class="when" style="left:{_across(number, rounds) / WIDTH:.2%}">{number}</span>'
        for number in range(0, rounds + 1, step)
    )


def _across(number: int, rounds: int) -> float:
    return WIDTH * number / max(1, rounds)


def _down(row: int, lanes: int) -> float:
    return (row + 0.5) / lanes


def _color(row: int) -> str:
    return f"--color:var(--s{(7 if row == 0 else row - 1) % 8 + 1})"
