"""What of a run of the supply chain can be looked into: worlds day by day, traces talk by talk."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.games.scml.agent.trace import Decided, read_trace
from understudy.games.scml.report.trace_panels import MOST, day_panels
from understudy.games.scml.report.world_page import Recorded, match_page, recorded_worlds
from understudy.pipeline.game import Look, Shown
from understudy.report.page import page

MOST_DAYS = 5_000
_APART = " | "


def looks() -> dict[str, Look]:
    """Worlds, and how competitors decided in them."""
    return {
        "worlds": Look("Recorded worlds, day by day", _worlds, match_page),
        "trace": Look("What competitors thought, a day at a time, talk by talk", _days, trace_page),
    }


def _worlds(run: Run) -> Iterator[Shown]:
    """Each opens where it went wrong for the first competitor, one of ours if there is any."""
    for world in recorded_worlds(run):
        row = world.row
        slot = _mine(run, world)
        best = f"{row['players'][slot]} {row['scores'][slot]:.3f}"
        said = f"{best}; {row['steps']} days, {len(row['players'])} factories, {row['field']}"
        names = ", ".join(dict.fromkeys(row["players"][one] for one in row["slots"]))
        yield Shown(row["match"], names or "background agents", said, f"factory={slot}&day=wrong")


def _mine(run: Run, world: Recorded) -> int:
    """The factory to follow first: that of a trained player, else of any competitor."""
    slots = list(world.row["slots"]) or [0]
    trained = [one for one in slots if run.model(world.row["players"][one]).is_dir()]
    return int((trained or slots)[0])


def _days(run: Run) -> Iterator[Shown]:
    """Days of a trace, in its order."""
    turns, clips = Counter[str](), Counter[str]()
    first = dict[str, Decided]()
    for decided in read_trace(run.trace, MOST):
        key = _key(decided)
        first.setdefault(key, decided)
        turns[key] += len(decided.turns)
        clips[key] += sum(turn.clipped for turn in decided.turns)
    for key, one in islice(first.items(), MOST_DAYS):
        said = f"day {one.day}: {turns[key]} answers, {clips[key]} clipped by L1"
        yield Shown(key, f"{one.player} in factory {one.agent}", said)


def _key(decided: Decided) -> str:
    return _APART.join([decided.match, decided.agent, str(decided.day)])


def trace_page(run: Run, key: str) -> str:
    """One day of one factory, as it was thought."""
    every = list(read_trace(run.trace, MOST))
    shown = [one for one in every if _key(one) == key]
    if not shown:
        raise InputError(f"{run.trace} tells of no such day: it may have been made anew")
    title = f"{shown[0].player}, day {shown[0].day} of factory {shown[0].agent}"
    return page(title, f"{shown[0].match} · {run.title}", day_panels(shown))
