"""`compete scml --why`: the worlds a player lost, played again in full and looked into."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.data.files import write_text
from understudy.errors import InputError, did_you_mean
from understudy.pipeline.game import Schedule, load

if TYPE_CHECKING:
    import pyarrow as pa

    from understudy.data.players import PlayerRef
    from understudy.games.scml.report.world_page import Recorded
    from understudy.games.scml.strength.why import DayGap, Loss
    from understudy.terminal.options import Working

    Explained = tuple[Path, Mapping[Loss, Sequence[DayGap]]] | None  # the page and what it shows

WORLDS_SHOWN = 5
WHY = "why-"
"""How a folder of such worlds is called, beside the results, before the player's name."""


def competitor(name: str, refs: "Sequence[PlayerRef]") -> str:
    """Who is meant: by name, or by the file it is in, large or small letters alike."""
    for ref in refs:
        known = [ref.name] if ref.code is None else [ref.name, ref.code.home, ref.code.title]
        if name.lower() in (one.lower() for one in known):
            return ref.name
    names = [ref.name for ref in refs]
    raise InputError(
        f"--why asks about '{name}', who does not compete{did_you_mean(name, names)}; "
        f"there is {', '.join(names)}"
    )


def explain(
    player: str, folder: Path, results: "pa.Table", planned: Schedule, working: "Working"
) -> "Explained":
    """A page beside the results that says where the player lost and why; None: it never did."""
    from understudy.games.scml.report.viewer import world_page
    from understudy.games.scml.report.why_page import why_page
    from understudy.games.scml.report.world_page import story
    from understudy.games.scml.strength.why import losses

    lost = losses(results, player, WORLDS_SHOWN)
    if not lost:
        return None
    watched = folder / f"{WHY}{player}"
    wanted = {match for one in lost for match in (one.match, one.rival_match)}
    worlds = _played_again(watched, wanted, planned, working)
    for match, world in worlds.items():
        write_text(watched / f"{match}.html", world_page(story(world)))
    gaps = {one: _gaps(worlds[one.match], worlds[one.rival_match], one.slot) for one in lost}

    def address(match: str, day: int, factory: int) -> str:
        return f"{watched.name}/{match}.html#day={day}&factory={factory}"

    path = folder / f"{WHY}{player}.html"
    write_text(path, why_page(player, gaps, address))
    return path, gaps


def _played_again(
    folder: Path, wanted: set[str], planned: Schedule, working: "Working"
) -> "dict[str, Recorded]":
    """These worlds recorded in full; the same plan gives the same world."""
    from understudy.games.scml.report.world_page import worlds_in
    from understudy.pipeline.record import play

    plans = sorted(chain.from_iterable(planned.fixtures.values()), key=lambda plan: plan.match)
    chosen = [replace(plan, recorded=True) for plan in plans if plan.match in wanted]
    again = Schedule(
        name=folder.name,
        settings={**planned.settings, "tasks": len(chosen), "matches": sorted(wanted)},
        matches=len(chosen),
        fixtures={f"{number:05d}": (plan,) for number, plan in enumerate(chosen)},
    )
    settings: dict[str, Any] = working.settings()
    play(
        load("scml"), folder, "compete", again,
        settings["worker"], True, settings["seconds_per_task"], settings["quiet"],
    )  # fmt: skip
    return {world.row["match"]: world for world in worlds_in(folder)}


def _gaps(mine: "Recorded", theirs: "Recorded", slot: int) -> "list[DayGap]":
    from understudy.games.scml.recording.tables import DAY_LEDGER
    from understudy.games.scml.strength.why import day_gaps

    ours, rivals = (
        [row for row in world.table(DAY_LEDGER).to_pylist() if row["factory"] == slot]
        for world in (mine, theirs)
    )
    return day_gaps(ours, rivals, cost=mine.row["costs"][slot], lines=mine.row["lines"][slot])
