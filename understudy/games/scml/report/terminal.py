"""Who is strong, as a table for the terminal."""

import shutil
from collections.abc import Sequence

from rich.table import Table

from understudy.games.scml.strength.paired import LEVEL_NAMES
from understudy.games.scml.strength.strength import PlayerStrength, Strength
from understudy.terminal.console import counted


def strength_table(strength: Strength, width: int | None = None) -> Table:
    """A row per player, the strongest first; without room for 100 columns, without the levels."""
    width = width or shutil.get_terminal_size((80, 24)).columns
    levels = LEVEL_NAMES if width >= 100 else ()
    table = Table(
        title=f"{counted(strength.worlds, 'world')} of "
        f"{counted(strength.configurations, 'configuration')}\n"
        "adjusted: above the mean player in the same slot, with 95 % interval",
        title_justify="left",
        box=None,  # lines between columns would cost a column or two
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    table.add_column("#", justify="right")
    table.add_column("player", overflow="fold")
    names = ("adjusted", "from", "to", "official", "wins", *levels, "bust", "short", "unsafe", "n")
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    rank, group = 0, 0
    for player in strength.players:
        if player.group != group:
            table.add_section()
            rank, group = 0, player.group
        rank += 1
        table.add_row(str(rank), player.player, *_cells(player, levels))
    notes = list[str]()
    if not all(player.adjusted.bounded for player in strength.players):
        notes.append("?: too few configurations for an interval; --configs 40 gives one.")
    if strength.groups > 1:
        notes.append(
            f"{strength.groups} groups that cannot be compared: no chain of shared slots joins "
            "them. Adjusted scores and ranks count within a group."
        )
    table.caption, table.caption_justify = "\n".join(notes) or None, "left"
    return table


def _cells(player: PlayerStrength, levels: Sequence[str]) -> list[str]:
    low, high = player.adjusted.low, player.adjusted.high
    colour = "green" if low > 0 else "red" if high < 0 else "yellow"
    at = [player.levels.get(level) for level in levels]
    rates = player.rates
    return [
        f"[{colour}]{_signed(player.adjusted.value)}[/]",
        *((_signed(low), _signed(high)) if player.adjusted.bounded else ("?", "?")),
        f"{player.official.value:.3f}",
        _percent(player.win_rate.value if player.win_rate else None),
        *(_signed(found.adjusted.value, 2) if found and found.adjusted else "-" for found in at),
        *(_percent(rate) for rate in (rates.bankrupt, rates.shortfall, rates.unsafe)),
        f"{player.rows:,}",
    ]


def _signed(value: float, decimals: int = 3) -> str:
    """Without the 0 before the point, which would cost a column."""
    return f"{value:+.{decimals}f}".replace("+0.", "+.").replace("-0.", "-.")


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"
