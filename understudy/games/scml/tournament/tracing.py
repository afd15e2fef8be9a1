"""Whose decisions are traced, and a trace that is the same however often it was begun again."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
from scml.oneshot.agent import OneShotAgent

from understudy.data.files import write_bytes
from understudy.data.integrity.json_files import decoded
from understudy.data.players import PlayerRef
from understudy.games.scml.agent.trace import Trace
from understudy.games.scml.domain import Track
from understudy.games.scml.engine.hosting.wrapping import subclass
from understudy.games.scml.players import catalogue
from understudy.games.scml.tournament.design import WorldPlan


def scripted_kinds(refs: Sequence[PlayerRef], track: Track) -> list[type[OneShotAgent]]:
    """The classes of players without weights, of the catalogue or brought, for one world."""
    own = {ref.name: ref.code for ref in refs if ref.code is not None}
    return catalogue.load_for_world([ref.name for ref in refs], track, own)


def traced(
    kinds: Sequence[type[OneShotAgent]], players: Sequence[PlayerRef], path: Path, match: str
) -> list[type[OneShotAgent]]:
    """The classes of a world, those of HRL-XF with a trace."""
    from understudy.games.scml.agent.hrl import HRLAgent

    return [
        subclass(kind, {"trace": Trace(path, match, ref.name)})
        if issubclass(kind, HRLAgent)
        else kind
        for kind, ref in zip(kinds, players, strict=True)
    ]


def trace_others(
    plan: WorldPlan, kinds: Sequence[type[OneShotAgent]], tables: Mapping[str, pa.Table]
) -> None:
    """Add the decisions of competitors that write no trace of their own, from what is recorded."""
    from understudy.games.scml.agent.hrl import HRLAgent
    from understudy.games.scml.agent.retrace import retraced
    from understudy.games.scml.agent.trace import append

    assert plan.trace is not None
    others = {
        plan.players[slot].name for slot in plan.slots if not issubclass(kinds[slot], HRLAgent)
    }
    if others:
        for decided in retraced(tables, frozenset(others)):
            append(plan.trace, decided)


def tidy_trace(path: Path, matches: Sequence[str]) -> int:
    """Put the worlds of a trace in order, and drop what is left of attempts that were killed.

    How many lines it has then.

    Of a world that was begun again only the last beginning counts, and a line that was not
    finished is gone: so the file is the same whoever played it, and however often it was stopped.
    """
    if not path.is_file():
        return 0
    lines = list[tuple[str, str, bytes]]()
    first = dict[tuple[str, str], int]()
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], start=1):
        entry = decoded(line, f"{path}, line {number},", "Record again with --fresh")
        who = str(entry["match"]), str(entry["agent"])
        if entry["number"] == 0:
            first[who] = len(lines)
        lines.append((*who, line + b"\n"))
    kept = [
        (match, line)
        for number, (match, agent, line) in enumerate(lines)
        if number >= first.get((match, agent), 0)
    ]
    order = {match: number for number, match in enumerate(matches)}
    kept.sort(key=lambda one: order.get(one[0], len(order)))  # stable: within a world as it was
    write_bytes(path, b"".join(line for _, line in kept))
    return len(kept)
