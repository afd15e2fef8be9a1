"""What a report shows of a trace: goals and what came of them, L1's clips, one day in detail."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from understudy.data.runs import Run
from understudy.games.scml.agent.trace import CUTS, TO_ACCEPT, TO_REJECT, Decided, Turn, read_trace
from understudy.games.scml.domain import BUCKETS, GOALS, SIDES, Offer
from understudy.games.scml.recording.tables import CONTRACTS
from understudy.games.scml.report.world_page import recorded_worlds
from understudy.report import charts
from understudy.report.page import Panel

MOST = 20_000
"""Decisions that a report reads; some thirty factories in worlds of a hundred days."""
MOST_PLAYERS = 3
_BUCKETS = tuple(
    "today" if last == 0 else f"{first} to {last} days ahead" for first, last in BUCKETS
)
_BUCKET_OF = {
    ahead: b for b, (first, last) in enumerate(BUCKETS) for ahead in range(first, last + 1)
}
Factory = tuple[str, str]
"""Match and agent."""
FactoryDay = tuple[str, str, int]


class Deal(NamedTuple):
    """What was agreed on a day."""

    owner: FactoryDay
    buys: bool
    ahead: int
    units: int


def trace_panels(run: Run) -> list[Panel]:
    """Four panels for each player in the trace; none without one."""
    decisions = read_trace(run.trace, MOST)
    players = list(dict.fromkeys(decided.player for decided in decisions))
    return [
        panel
        for player in players[:MOST_PLAYERS]
        for panel in player_panels(run, player, [d for d in decisions if d.player == player])
    ]


def player_panels(run: Run, player: str, decisions: Sequence[Decided]) -> list[Panel]:
    """Of one player's decisions; the day in detail has most clips, then most negotiations."""
    clips, negotiations = Counter[FactoryDay](), Counter[FactoryDay]()
    for decided in decisions:
        day = decided.match, decided.agent, decided.day
        clips[day] += sum(turn.clipped for turn in decided.turns)
        negotiations[day] += len(decided.turns)
    chosen = max(negotiations, key=lambda day: (clips[day], negotiations[day]))
    shown = [d for d in decisions if (d.match, d.agent, d.day) == chosen]
    return [
        _goals_panel(player, decisions, chosen[:2], *deals_of(run, decisions)),
        _clips_panel(player, decisions),
        _weights_panel(player, shown),
        _day_panel(player, shown),
    ]


def day_panels(shown: Sequence[Decided]) -> list[Panel]:
    """One day of one factory: its goals, who was served first, and every talk."""
    player = shown[0].player
    return [*_goals_of(shown[0]), _weights_panel(player, shown), _day_panel(player, shown, "In")]


def _goals_of(decided: Decided) -> list[Panel]:
    """What L2 wanted of the day; nothing where nobody sets goals."""
    if decided.goals is None:
        return []
    rows = [
        (words, *(decided.goals.get(f"{goal}_{first}_{last}") for goal in GOALS))
        for words, (first, last) in zip(_BUCKETS, BUCKETS, strict=True)
    ]
    html = charts.table(("for", *(goal.replace("_", " ") for goal in GOALS)), rows)
    return [Panel("Goals of the day", html, "As L2 gave them when the day began.", wide=True)]


# --- goals and what came of them -----------------------------------------------------------------


def deals_of(run: Run, decisions: Sequence[Decided]) -> tuple[list[Deal], set[str]]:
    """What was agreed, and the worlds where that is not recorded and only acceptances count."""
    unknown = {decided.match for decided in decisions}
    factories = {_number(decided.agent): decided.agent for decided in decisions}
    days = {(decided.match, decided.agent, decided.day) for decided in decisions}
    found: list[Deal] = []
    for world in recorded_worlds(run):
        if (match := world.row["match"]) not in unknown:
            continue
        unknown.remove(match)
        for contract in world.table(CONTRACTS).to_pylist():
            made, ahead = contract["concluded"], contract["day"] - contract["concluded"]
            for side in ("buyer", "seller"):
                owner = match, factories.get(contract[side], ""), made
                if owner in days:
                    found.append(Deal(owner, side == "buyer", ahead, contract["quantity"]))
    return found + list(_accepted(d for d in decisions if d.match in unknown)), unknown


def _number(agent: str) -> int | None:
    """Which factory of a recording an agent's name stands for: 03@1 is the fourth."""
    start = agent.split("@", 1)[0]
    return int(start) if start.isdecimal() else None


def _accepted(decisions: Iterable[Decided]) -> Iterable[Deal]:
    for decided in decisions:
        for turn in decided.turns:
            if turn.said == TO_ACCEPT and turn.heard is not None:
                units, day, _ = turn.heard
                owner = decided.match, decided.agent, decided.day
                yield Deal(owner, turn.buys, day - decided.day, units)


def _goals_panel(
    player: str,
    decisions: Sequence[Decided],
    factory: Factory,
    deals: Sequence[Deal],
    unknown: set[str],
) -> Panel:
    goals = _goal_units(decisions)
    days = dict.fromkeys((d.match, d.agent, d.day) for d in decisions)
    agreed = {day: np.zeros((2, len(BUCKETS))) for day in days}
    for deal in deals:
        if deal.ahead in _BUCKET_OF:
            agreed[deal.owner][0 if deal.buys else 1, _BUCKET_OF[deal.ahead]] += deal.units
    drawn = "".join(_by_bucket(goals, agreed, index) for index in range(2))
    drawn += '<div style="margin-top:1.2rem"></div>'  # else rows of charts touch
    drawn += "".join(_by_day(goals, agreed, factory, index) for index in range(2))
    note = (
        f"L2 sets goals at the start of the day, by how far ahead a delivery is: units a day, over "
        f"{len(days):,} days of all its factories. "
        f"The lines are the days of factory {factory[1]}. "
        if goals
        else "This player has no L2, so there is only what was agreed, in units a day. "
    )
    return Panel(f"Goals and deals: {player}", drawn, note + _source(unknown, days), wide=True)


def _goal_units(decisions: Sequence[Decided]) -> dict[FactoryDay, np.ndarray]:
    """[2, buckets] by factory and day."""
    names = [
        [f"{goal}_{first}_{last}" for first, last in BUCKETS]
        for goal in GOALS
        if goal.endswith("quantity")
    ]
    return {
        (d.match, d.agent, d.day): np.array([[d.goals[name] for name in side] for side in names])
        for d in decisions
        if d.goals is not None
    }


def _source(unknown: set[str], days: Iterable[FactoryDay]) -> str:
    """What the deals rest on."""
    worlds = len({match for match, _, _ in days})
    if not unknown:
        return "Deals are the contracts of the recorded worlds, whoever accepted."
    return (
        f"{len(unknown):,} of {worlds:,} worlds are not recorded in this run: there only offers "
        "that the player itself accepted count as agreed, not its own that partners accepted."
    )


def _by_bucket(
    goals: Mapping[FactoryDay, np.ndarray], agreed: Mapping[FactoryDay, np.ndarray], side: int
) -> str:
    series = {"goal": goals, "agreed": agreed} if goals else {"agreed": agreed}
    means = {
        name: np.mean([units[side] for units in found.values()], axis=0).round(2).tolist()
        for name, found in series.items()
    }
    if not any(map(any, means.values())):
        return ""
    return charts.bar_chart(_BUCKETS, means, title=f"Units a day, {SIDES[side]}")


def _by_day(
    goals: Mapping[FactoryDay, np.ndarray],
    agreed: Mapping[FactoryDay, np.ndarray],
    factory: Factory,
    side: int,
) -> str:
    series = {
        name: [
            (float(owner[2]), round(float(units[side].sum()), 2))
            for owner, units in found.items()
            if owner[:2] == factory
        ]
        for name, found in (("goal", goals), ("agreed", agreed))
        if found
    }
    if not any(units for points in series.values() for _, units in points):
        return ""
    title = f"Units for all days ahead, {SIDES[side]}, factory {factory[1]}"
    return charts.line_chart(series, title=title, x_label="day")


# --- clips ---------------------------------------------------------------------------------------


def _clips_panel(player: str, decisions: Sequence[Decided]) -> Panel:
    turns = [turn for decided in decisions for turn in decided.turns]
    clipped = [turn for turn in turns if turn.clipped]
    facts = charts.tiles(
        [
            ("decisions", f"{len(decisions):,}"),
            ("negotiations in them", f"{len(turns):,}"),
            ("wishes clipped", _share(turn.clipped for turn in turns)),
            (
                "negotiations without remaining capacity",
                _share(not turn.may_days for turn in turns),
            ),
            (
                "offers heard that may not be accepted",
                _share(not turn.may_accept for turn in turns if turn.may_accept is not None),
            ),
        ]
    )
    kinds = Counter(cut for turn in clipped for cut in turn.cuts)
    shown = [cut for cut in CUTS if kinds[cut]]
    bars = charts.bar_chart(
        shown,
        {"negotiations": [kinds[cut] for cut in shown]},
        title="What the clip did, in negotiations",
    )
    rounds = Counter(turn.round for turn in turns)
    lines = {
        cut: [
            (float(number), sum(cut in t.cuts for t in clipped if t.round == number) / count)
            for number, count in sorted(rounds.items())
        ]
        for cut in shown
    }
    by_round = charts.line_chart(
        lines, title="Share of negotiations clipped, by round", x_label="round", unit="percent"
    )
    note = (
        "L1 lets nothing through that cannot be kept. L3 chooses from what is left, so its wishes "
        "are clipped only where capacity is also kept for offers that partners elsewhere still "
        "think about; whoever wishes freely is clipped often. A refused acceptance becomes the "
        "nearest safe offer, which may be cut as well, so a wish can be of several kinds."
    )
    drawn = bars + by_round if clipped else '<p class="empty">No wish had to be clipped.</p>'
    return Panel(f"Clips by L1: {player}", facts + drawn, note, wide=True)


def _share(found: Iterable[bool]) -> str:
    answers = list(found)
    return charts.written(sum(answers) / len(answers) if answers else None, "percent")


# --- one day -------------------------------------------------------------------------------------


def _where(shown: Sequence[Decided]) -> str:
    first = shown[0]
    return f"day {first.day} of factory {first.agent}" + (f" in {first.match}" * bool(first.match))


def _last(shown: Sequence[Decided]) -> Turn:
    return shown[-1].turns[-1]


def _weights_panel(player: str, shown: Sequence[Decided]) -> Panel:
    negotiations = dict.fromkeys(
        negotiation
        for negotiation in sorted(_negotiation(turn) for decided in shown for turn in decided.turns)
    )
    by_decision = [{_negotiation(turn): turn.weight for turn in decided.turns} for decided in shown]
    lines = {
        negotiation: [
            (float(index), weights.get(negotiation)) for index, weights in enumerate(by_decision)
        ]
        for negotiation in negotiations
    }
    drawn = charts.line_chart(
        lines, title=f"Weight of each negotiation, {_where(shown)}", x_label="decision of the day"
    )
    note = (
        "L4's weights of a decision add up to 1; the heaviest negotiation is served first and "
        "takes the capacity it needs. A line ends with its negotiation, and has a gap where the "
        "partner was silent."
    )
    return Panel(f"Who is served first: {player}", drawn, note, wide=True)


def _negotiation(turn: Turn) -> str:
    return f"{'from' if turn.buys else 'to'} {turn.partner}"


def _day_panel(
    player: str,
    shown: Sequence[Decided],
    begins: str = "The day with most clips, then most negotiations, in",
) -> Panel:
    columns = ("decision", "round", "negotiation", "weight", "heard", "L1 leaves", "L3 wishes",
               "clip", "answer")  # fmt: skip
    rows: list[list[charts.Cell]] = []
    clipped = []
    for index, decided in enumerate(shown):
        for turn in decided.turns:
            if turn.clipped:
                clipped.append(len(rows))
            rows.append(
                [
                    index,
                    turn.round,
                    _negotiation(turn),
                    round(turn.weight, 3),
                    _offer(turn.heard, decided.day),
                    " ".join(map(str, turn.units_left)) if any(turn.units_left) else "nothing",
                    _words(turn.wish, turn.wish_offer, decided.day),
                    ", ".join(turn.cuts),
                    _words(turn.said, turn.said_offer, decided.day),
                ]
            )
    note = (
        f"{begins} the order served. 5 x 12 (+2) is five "
        "units at 12 each, to be delivered in two days. L1 leaves units by day, today first. "
        "Stressed rows were clipped. "
        f"Money left in the end: {charts.written(_last(shown).money_left)}."
    )
    html = charts.table(columns, rows, highlight=clipped)
    return Panel(f"One day, {_where(shown)}: {player}", html, note, wide=True)


def _words(response: str, offer: Offer | None, today: int) -> str:
    return _offer(offer, today) if response == TO_REJECT and offer is not None else response


def _offer(offer: Offer | None, today: int) -> str:
    if offer is None:
        return "-"
    units, day, price = offer
    return f"{units} x {price} ({f'+{day - today}' if day != today else 'today'})"
