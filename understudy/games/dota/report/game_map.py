"""The map as we draw it: river, lanes, jungles, pits and towers as simple shapes; wards and fights.

Places are those of `facts/places.csv`: about where they are, on the map from 7.38 on.
"""

from collections.abc import Iterator
from html import escape
from typing import Any

from understudy.games.dota import facts
from understudy.games.dota.advice.match_context import MatchContext, Models
from understudy.games.dota.advice.spots import SIDES, ward_lines
from understudy.games.dota.policies import wards
from understudy.games.dota.report.minute import HEAD, slider
from understudy.report.page import Panel

SIZE = 400
"""The side of the drawing."""
EVERY = 10
"""Minutes between two advices."""
AFTER = 60
"""Seconds that a fight is shown after its end."""
LANES = (
    ((79, 90), (78, 165), (88, 175), (165, 174)),
    ((85, 88), (170, 166)),
    ((90, 80), (166, 79), (177, 90), (177, 160)),
)
RIVER = ((79, 172), (105, 145), (124, 127), (150, 103), (180, 82))


def at(x: float, y: float) -> tuple[float, float]:
    """Where a place of the game's map lies in the drawing."""
    scale = SIZE / (wards.HIGH - wards.LOW)
    return (x - wards.LOW) * scale, SIZE - (y - wards.LOW) * scale


def _line(kind: str, points: tuple[tuple[float, float], ...]) -> str:
    path = " ".join(f"{a:.0f},{b:.0f}" for a, b in (at(*point) for point in points))
    return f'<polyline class="{kind}" points="{path}"/>'


def ground(fallen: dict[str, int] | None = None) -> str:
    """The map itself; `fallen` says when towers fell, by their names of places."""
    shapes = [_line("river", RIVER), *(_line("lane", lane) for lane in LANES)]
    for place in facts.places():
        x, y = at(place.x, place.y)
        name = f"<title>{escape(place.name)}</title>"
        if place.kind == "jungle":
            shapes.insert(0, f'<circle class="camp" cx="{x:.0f}" cy="{y:.0f}" r="24"/>')
        elif place.kind == "roshan":
            shapes.append(f'<circle class="pit" cx="{x:.0f}" cy="{y:.0f}" r="9">{name}</circle>')
        elif place.kind == "base":
            spot = f'cx="{x:.0f}" cy="{y:.0f}" r="9"'
            shapes.append(f'<circle class="tower {place.side}" {spot}>{name}</circle>')
        elif place.kind == "tower":
            falls = (fallen or {}).get(place.name)
            when = "" if falls is None else f' data-falls="{falls}"'
            shapes.append(
                f'<rect class="tower {place.side}" x="{x - 5:.0f}" y="{y - 5:.0f}" width="10" '
                f'height="10"{when}>{name}</rect>'
            )
    return "".join(shapes)


def fallen_towers(context: MatchContext) -> dict[str, int]:
    """When each tower fell, by the name of its place."""
    things = context.timeline.events["objective"]
    found = dict[str, int]()
    for t, target in zip(things.t.tolist(), things.target.to_pylist(), strict=True):
        side, _, rest = (target or "").removeprefix("npc_dota_").partition("guys_")
        tower, _, lane = rest.partition("_")
        if side in ("good", "bad") and tower.startswith("tower") and lane:
            owner = SIDES[side == "bad"]
            found.setdefault(f"{owner}'s tier {tower.removeprefix('tower')} tower {lane}", t)
    return found


def map_panel(context: MatchContext, models: Models) -> Panel:
    """Wards and fights at the slider's minute, and where wards would have been advised."""
    last = len(context.timeline.t) - 1
    advised = {row: [ward_lines(context, models, row, team, "obs") for team in (0, 1)]
               for row in range(EVERY, last + 1, EVERY)}  # fmt: skip
    spots = (_spot(context, row, line) for row, both in advised.items() for s in both for line in s)
    marks = "".join([*spots, *_wards(context), *_fights(context)])
    keys = "".join(
        f'<span class="key" style="--color:var(--s{team + 1})">{side}</span>'
        for team, side in enumerate(SIDES)
    )
    advice = "".join(_advice(context, row, both, row == EVERY) for row, both in advised.items())
    html = (
        f'{slider(context)}{keys}<div class="field-map wards">'
        f'<svg viewBox="-12 -12 {SIZE + 24} {SIZE + 24}" role="img" '
        'aria-label="Map with wards and fights">'
        f"{ground(fallen_towers(context))}{marks}</svg>"
        f"<div>{advice}</div></div>"
    )
    note = (
        "Circles: observers; rings: where observers were advised; diamonds: sentries; crosses: "
        "where heroes died in fights that lasted "
        f"until then or ended within {AFTER} s, where the match file says so; hollow: towers that "
        "fell; dashed circles: Roshan's pits. Hover for who, when and how long. "
        "Places are about right, walls and height are not drawn."
    )
    return Panel("Map", html, note=note, head=HEAD, wide=True)


def _wards(context: MatchContext) -> Iterator[str]:
    for kind, word in (("obs", "observer"), ("sen", "sentry")):
        for (_, team), placed in wards.wards_of(context.tables, kind).items():
            for t, until, x, y in placed:
                yield _ward(word, team, t, until, *at(x, y), facts.place_at(x, y))


def _ward(word: str, team: int, t: float, until: float, x: float, y: float, place: str) -> str:
    when = f"{int(t) // 60}:{int(t) % 60:02d}" if t >= 0 else "before the horn"
    tip = f"{SIDES[team]}, {word}, {when}, stood {until - t:.0f} s, at {place}"
    side = SIDES[team].lower()
    shape = (
        f'<circle class="ward {side}" cx="{x:.0f}" cy="{y:.0f}" r="7"'
        if word == "observer"
        else f'<path class="ward {side}" d="M{x:.0f},{y - 6:.0f}l6,6l-6,6l-6,-6Z"'
    )
    tag = "circle" if word == "observer" else "path"
    return f'{shape} data-from="{t:.0f}" data-to="{until:.0f}"><title>{escape(tip)}</title></{tag}>'


def _fights(context: MatchContext) -> Iterator[str]:
    fights: list[dict[str, Any]] = context.tables["teamfights"].to_pylist()
    deaths = context.timeline.events.get("fight_death")
    if deaths is None:
        return
    rows = context.tables["events"].to_pylist()
    for event in rows:
        if event["event_type"] != "fight_death" or event["x"] is None:
            continue
        start = next((f["start"] for f in fights if f["end"] == event["t"]), event["t"])
        x, y = at(event["x"], event["y"])
        tip = f"{context.hero(event['slot_idx'])} died in the fight of minute {start // 60}"
        yield (
            f'<path class="fight" d="M{x - 5:.0f},{y - 5:.0f}l10,10m0,-10l-10,10" '
            f'data-from="{start}" data-to="{event["t"] + AFTER}">'
            f"<title>{escape(tip)}</title></path>"
        )


def _spot(context: MatchContext, row: int, line: dict[str, Any]) -> str:
    """An advised spot, shown until the next advice."""
    (x, y), t = at(line["x"], line["y"]), int(context.timeline.t[row])
    tip = f"advised to {line['side']} at minute {t // 60}: {line['place']}; {line['why']}"
    return (
        f'<circle class="advised {line["side"].lower()}" cx="{x:.0f}" cy="{y:.0f}" r="10" '
        f'data-from="{t}" data-to="{t + 60 * EVERY}"><title>{escape(tip)}</title></circle>'
    )


def _advice(
    context: MatchContext, row: int, both: list[list[dict[str, Any]]], unfolded: bool
) -> str:
    """Where both sides would have been advised to ward, in words."""
    minute = int(context.timeline.t[row]) // 60
    words = []
    for team, lines in enumerate(both):
        spots = "; ".join(f"{line['place']} ({line['why']})" for line in lines[:3])
        words.append(f"<dt>{SIDES[team]}</dt><dd>{escape(spots)}</dd>")
    said = f"Observers advised at minute {minute}"
    return (
        f"<details{' open' * unfolded}><summary>{said}</summary><dl>{''.join(words)}</dl></details>"
    )
