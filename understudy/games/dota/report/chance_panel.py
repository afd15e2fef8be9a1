"""The chance to win over a match: band, great events under it, swings in words, strength."""

from html import escape

import numpy as np

from understudy.data.arrays import Floats
from understudy.games.dota.advice.match_context import MatchContext
from understudy.games.dota.advice.spots import SIDES
from understudy.games.dota.features.encode import names_of
from understudy.games.dota.features.samples import ALL_NAMES, Samples
from understudy.games.dota.report.great_events import strip, swings
from understudy.games.dota.report.minute import HEAD
from understudy.games.dota.value.checkpoint import ValueModel
from understudy.report import charts
from understudy.report.page import Panel

Z = 1.96
NAME = "Radiant wins"
STRENGTH_AT = (0, 10, 20, 30, 40)
"""Minutes at which it is said how much the strength of the teams counts."""


def chance_panel(context: MatchContext, model: ValueModel, chance: Floats) -> Panel:
    """The curve from 0 to 100 %, with a line at 50 %."""
    minutes = (context.timeline.t / 60).tolist()
    low, high = band(model, context.samples)
    chart = charts.line_chart(
        {NAME: list(zip(minutes, chance.tolist(), strict=True))},
        title="Chance that Radiant wins",
        x_label="minute",
        unit="percent",
        bands={NAME: list(zip(minutes, low.tolist(), high.tolist(), strict=True))},
        limits=(0.0, 1.0),
        reference=0.5,
    )
    words = model.out_of_range(context.samples)
    won = SIDES[not context.outline["radiant_win"]]
    note = f"{won} won. Trained on {', '.join(model.patches)}; this match is of {context.patch}."
    if words:
        note += f" Not to be trusted everywhere: {'; '.join(words)}."
    note += (
        " The band is what the model does not know of its own weights, 95 %, as if these were "
        "independent; how a match goes on from there is not in it. Signs: F fights, R Roshan, T "
        "towers and barracks, a number where several are near, coloured by whose gain it was."
    )
    return Panel("Who will win", chart + strip(context), note=note, head=HEAD, wide=True)


def band(model: ValueModel, samples: Samples) -> tuple[Floats, Floats]:
    """[R] each: the chance's 95 % interval by the standard errors of the model's weights."""
    assert model.linear.standard_errors is not None
    chance = np.clip(model.chance(samples), 1e-9, 1 - 1e-9)
    columns = model.linear.columns(samples)
    error = np.sqrt(((columns * model.linear.standard_errors[: columns.shape[1]]) ** 2).sum(axis=1))
    odds = np.log(chance / (1 - chance))
    low, high = (1 / (1 + np.exp(-(odds + side * Z * error))) for side in (-1, 1))
    return low, high


def swings_panel(context: MatchContext, chance: Floats) -> Panel:
    """What swung the match."""
    html = swings(context, chance) or charts.NOTHING
    note = "The spans of three minutes that moved the chance most, and what happened in them."
    return Panel("What swung it", html, note=note, head=HEAD)


def strength_panel(context: MatchContext, model: ValueModel, chance: Floats) -> Panel:
    """How strong the teams are by earlier matches, and what that counts at some minutes."""
    if context.strength is None:
        html = "<p>Nothing is known of these teams: they count as equally strong.</p>"
        return Panel("Team strength", html)
    without = model.chance(equally_strong(context.samples))
    rows = [
        (minute, float(chance[row]), float(without[row]), _points(chance[row] - without[row]))
        for row, minute in enumerate((context.timeline.t // 60).tolist())
        if minute in STRENGTH_AT
    ]
    names = ("minute", "Radiant wins", "were both equal", "strength counts")
    start = float(chance[0])
    ahead = SIDES[start < 0.5]
    words = (
        f"At the horn {ahead} wins {max(start, 1 - start):.0%} of the time, by side, heroes and "
        "the teams' earlier matches; the longer a match goes, the less the teams count."
    )
    html = f"<p>{escape(words)}</p>" + charts.table(names, rows, percent=names[1:3])
    return Panel("Team strength", html, note="Points of a hundred, for Radiant.")


def equally_strong(samples: Samples) -> Samples:
    """The same minutes of teams of which nothing is known."""
    features = samples.features.copy()
    features[:, [ALL_NAMES.index(name) for name in names_of("strength")]] = 0
    return Samples(features, samples.match_id, samples.patch, samples.start_time, samples.labels)


def _points(gap: float) -> str:
    return f"{100 * gap:+.1f}"
