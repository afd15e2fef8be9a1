"""States told from a recording are those that the agents saw."""

from dataclasses import replace

import pyarrow as pa
import pytest

from tests.games.scml.memories import PLAN, SHORT, played
from understudy.games.scml.view.columns import packed, unpacked
from understudy.games.scml.view.from_recording import Recording, decisions_of

LIVE = frozenset({"Live"})
PLANS = {
    "engine": PLAN,
    "scml": replace(PLAN, simulator="scml", steps=8),
    "conserved": replace(PLAN, conserve_stock=True, seed=12),
    "oneshot": SHORT,
    "oneshot in scml": replace(SHORT, simulator="scml", steps=8),
}


@pytest.fixture(scope="module")
def worlds():
    return {name: played(plan) for name, plan in PLANS.items()}


@pytest.fixture(params=PLANS)
def world(request, worlds):
    return worlds[request.param]


def day_starts_of(recordings, players=LIVE):
    recording = Recording(recordings, players)
    day_starts = recording.day_starts()
    states = unpacked(day_starts.states, ())
    for owner, row, state in zip(day_starts.owner, day_starts.row.tolist(), states, strict=True):
        yield recording.names[owner], row, state


def test_a_recalled_state_is_the_one_the_agent_saw(world):
    recordings, decided, *_ = world
    names = Recording(recordings).names
    found = {}
    for one in decisions_of(recordings, LIVE):
        assert one.player == "Live" and one.day == one.state.day_start.day
        assert len(one.answers) == len(one.state.negotiations) > 0
        found.setdefault(names[one.factory], []).append(one.state)
    assert sum(map(len, found.values())) > 100
    assert found == decided


def test_a_recalled_day_start_is_the_one_the_agent_saw(world):
    recordings, _, seen, _ = world
    recording = Recording(recordings)
    found = {}
    for name, _, state in day_starts_of(recordings):
        found.setdefault(name, []).append(state)
    solvent = {
        name: [state for state in states if state.day_start.day < recording.bankrupt_from[k]]
        for k, name in enumerate(recording.names)
        if (states := seen.get(name))
    }
    assert found == solvent


def test_the_worlds_have_what_is_hard_to_tell(worlds):
    states = [
        state
        for name in ("engine", "conserved")
        for of_one in worlds[name][1].values()
        for state in of_one
    ]
    assert any(sum(state.commitments.bought[1:]) for state in states)
    assert any(sum(state.commitments.sold[1:]) for state in states)
    assert any(state.day_start.stock_falls for state in states)
    assert (
        max(len(negotiation.offers) for state in states for negotiation in state.negotiations) > 10
    )


def test_contracts_with_the_bankrupt_are_no_commitments(worlds):
    """The table `days` counts them, as scml does; before anybody is bankrupt it says the same."""
    recordings = worlds["engine"][0]
    rows = recordings["days"].to_pylist()
    first = min(row["day"] for row in rows if row["bankrupt"])
    differing = set()
    for _, number, state in day_starts_of(recordings, None):
        shown = rows[number]["supplies"], rows[number]["sales"]
        told = list(state.commitments.bought), list(state.commitments.sold)
        if shown != told:
            differing.add(state.day_start.day)
            assert sum(map(sum, told)) < sum(map(sum, shown))
    assert differing and min(differing) >= first


def test_answers_are_those_of_the_recording(worlds):
    recordings = worlds["engine"][0]
    rows = {}
    levels = recordings["worlds"]["levels"][0].as_py()
    for row in recordings["decisions"].to_pylist():
        opens = (3 - levels[row["factory"]]) % 2 == 1
        if row["call"] != "first_proposals" or opens:  # else it goes nowhere
            rows[row["moment"], row["factory"], row["partner"]] = row
    seen = 0
    for one in decisions_of(recordings, None):
        for negotiation, answer in zip(one.state.negotiations, one.answers, strict=True):
            row = rows[one.moment, one.factory, int(negotiation.partner[:2])]
            offer = tuple(row[f"offered_{part}"] for part in ("quantity", "day", "price"))
            heard = tuple(row[f"heard_{part}"] for part in ("quantity", "day", "price"))
            assert answer == (row["answer"], None if offer[0] is None else offer, row["omitted"])
            assert (one.call, one.day) == (row["call"], row["day"])
            assert (negotiation.heard or (0, None, None, None))[1:] == heard
            seen += 1
    assert seen == len(rows)


def test_states_in_columns_are_the_same_states(worlds):
    states = [state for of_one in worlds["oneshot"][1].values() for state in of_one][:50]
    states += [state for of_one in worlds["engine"][1].values() for state in of_one][:50]
    partners = [negotiation.partner for state in states for negotiation in state.negotiations]
    assert list(unpacked(packed(states), partners)) == states


def test_several_worlds_are_told_as_each_alone(worlds):
    one, other = worlds["engine"][0], worlds["oneshot"][0]
    both = {name: pa.concat_tables([one[name], other[name]]) for name in one}
    alone = [*decisions_of(one, None), *decisions_of(other, None)]
    assert list(decisions_of(both, None)) == alone
    backwards = {
        name: table.take(pa.array(range(len(table) - 1, -1, -1))) for name, table in one.items()
    }
    assert list(decisions_of(backwards, None)) == list(decisions_of(one, None))


def test_a_day_that_was_never_ended_is_left_out(worlds):
    recordings = worlds["engine"][0]
    days = recordings["days"]
    begun = days.filter(pa.array(days["day"].to_numpy() < 7))
    found = list(decisions_of({**recordings, "days": begun}, None))
    assert found == [one for one in decisions_of(recordings, None) if one.day < 7]


def test_who_has_not_been_heard_is_not_decided_about(worlds):
    """A decision can be due before all have spoken; what was said to the silent is still said."""
    recordings = worlds["engine"][0]
    decisions = recordings["decisions"]
    rows = decisions.to_pylist()
    number = next(
        k
        for k, row in enumerate(rows)
        if row["call"] == "counter_all"
        and row["offered_quantity"] is not None
        and sum(other["moment"] == row["moment"] for other in rows) > 1
    )
    row = rows[number]
    for part in ("quantity", "day", "price"):
        row[f"heard_{part}"] = None
    silent = pa.Table.from_pylist(rows, schema=decisions.schema)
    found = {
        (one.moment, one.factory): one.state.negotiations
        for one in decisions_of({**recordings, "decisions": silent}, None)
    }
    partner = f"{row['partner']:02}@"
    negotiations = found[row["moment"], row["factory"]]
    assert negotiations and not any(
        negotiation.partner.startswith(partner) for negotiation in negotiations
    )
    offer = (True, *(row[f"offered_{part}"] for part in ("quantity", "day", "price")))
    later = [
        negotiation
        for (moment, factory), negotiations in found.items()
        if factory == row["factory"] and moment > row["moment"]
        for negotiation in negotiations
        if negotiation.partner.startswith(partner) and offer in negotiation.offers
    ]
    assert later


def test_the_round_of_a_first_proposal_is_that_of_the_last_offer_heard(worlds):
    """An agent is not told how far a negotiation is until it hears of it."""
    recordings = worlds["engine"][0]
    decisions = recordings["decisions"]
    rows = decisions.to_pylist()
    for row in rows:
        if row["call"] == "first_proposals":
            row["round"] = 3
    waited = pa.Table.from_pylist(rows, schema=decisions.schema)
    found = list(decisions_of({**recordings, "decisions": waited}, None))
    assert found == list(decisions_of(recordings, None))
