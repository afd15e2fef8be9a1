"""Traces of HRL-XF: true to the recording, the same play with and without, read back or refused."""

import json
import random
from collections import Counter
from dataclasses import replace
from itertools import groupby, pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.small_runs import a_disk_that_takes_files_up_to, assert_refused, understudy
from understudy.data.players import PlayerRef
from understudy.data.runs import WEIGHTS, Run
from understudy.errors import InputError
from understudy.games.scml.agent import trace
from understudy.games.scml.agent.checkpoint import (
    About,
    Checkpoint,
    feature_names,
    write_checkpoint,
)
from understudy.games.scml.agent.hrl import Decision, HRLAgent, L1Agent
from understudy.games.scml.agent.retrace import retraced
from understudy.games.scml.agent.trace import (
    CUTS,
    GOAL_NAMES,
    NO_OFFER,
    NOTHING_LEFT,
    PRICE,
    REFUSED,
    UNITS,
    Decided,
    Notes,
    Turn,
    append,
    cuts_of,
    read_trace,
)
from understudy.games.scml.domain import RESPONSES
from understudy.games.scml.engine.responses import ACCEPT_OFFER, END_NEGOTIATION, REJECT_OFFER
from understudy.games.scml.players import catalogue
from understudy.games.scml.recording.negotiations import opens
from understudy.games.scml.report.trace_panels import deals_of, trace_panels
from understudy.games.scml.tournament import play
from understudy.games.scml.tournament.design import WorldPlan
from understudy.games.scml.tournament.tracing import tidy_trace
from understudy.report.page import page

PLAYERS = ("Wild", "Greedy", "L1", "Wild", "Wild", "SyncRandom")
PLAN = WorldPlan(
    match="m",
    field="test",
    track="std",
    factories_per_level=(2, 2, 2),
    steps=10,
    seed=7,
    run=0,
    players=tuple(map(PlayerRef, PLAYERS)),
    slots=(0,),
)


class Wild(L1Agent):
    """Wishes what it must not."""

    def decide(self, now, place):
        state, negotiation = now.state, now.state.negotiations[place]
        chance = random.random()
        if chance < 0.3:
            return Decision(ACCEPT_OFFER)
        if chance < 0.4:
            return Decision(random.choice((END_NEGOTIATION, REJECT_OFFER)))
        low, high = state.day_start.prices_in if negotiation.buys else state.day_start.prices_out
        day = state.day_start.day + random.randint(0, state.days_ahead)
        return Decision(
            REJECT_OFFER, (random.randint(1, 20), day, random.randint(low - 2, high + 2))
        )


@pytest.fixture
def wild(monkeypatch):
    load = catalogue.load
    monkeypatch.setitem(catalogue.STD, "Wild", "of.this.test")
    monkeypatch.setattr(
        catalogue,
        "load_for_world",
        lambda names, track, own=None: [Wild if n == "Wild" else load(n, track) for n in names],
    )


def spoken(decided):
    """As it is recorded: nobody is asked for an answer to nothing."""
    first = decided.call == "first_proposals"
    return {
        turn.partner: (turn.heard, None if first else turn.said, turn.said_offer, turn.round)
        for turn in decided.turns
    }


def recorded(recordings, factory):
    """By call and negotiation, as `spoken`; without first proposals that go nowhere."""
    (world,) = recordings["worlds"].to_pylist()
    levels = world["levels"]
    rows = [
        row
        for row in recordings["decisions"].to_pylist()
        if row["factory"] == factory and not row["omitted"]
    ]
    for _, negotiations in groupby(rows, key=lambda row: row["moment"]):
        negotiations = list(negotiations)
        if negotiations[0]["call"] == "first_proposals" and not opens(
            levels[factory], max(levels) + 1
        ):
            continue
        yield {
            f"{row['partner']:02d}@{levels[row['partner']]}": (
                _offer(row, "heard"),
                row["answer"],
                _offer(row, "offered"),
                row["round"],
            )
            for row in negotiations
        }


def _offer(row, name):
    found = tuple(row[f"{name}_{part}"] for part in ("quantity", "day", "price"))
    return None if found[0] is None else found


@pytest.mark.parametrize("simulator", ["engine", "scml"])
def test_what_a_trace_says_was_said(wild, tmp_path, simulator):
    plan = replace(PLAN, simulator=simulator, trace=tmp_path / "trace.jsonl")
    recordings = play.play([plan]).recordings
    found = read_trace(plan.trace)
    assert {decided.player for decided in found} == {"Wild", "L1"}
    assert {decided.match for decided in found} == {"m"}
    for factory, agent in enumerate(("00@0", None, "02@1", "03@1", "04@2")):
        mine = [decided for decided in found if decided.agent == agent]
        assert [decided.number for decided in mine] == list(range(len(mine)))
        if agent is not None:
            assert [spoken(d) for d in mine] == list(recorded(recordings, factory))
    (world,) = recordings["worlds"].to_pylist()
    _check_weights(found)
    _check_clips(found)
    _check_money(found, world["costs"])


def _check_weights(found):
    for decided in found:
        weights = [turn.weight for turn in decided.turns]
        assert sum(weights) == pytest.approx(1, abs=1e-4)
        assert weights == sorted(weights, reverse=True)


def _check_clips(found):
    turns = [(decided.day, turn) for decided in found for turn in decided.turns]
    for day, turn in turns:
        changed = (turn.wish, turn.wish_offer) != (turn.said, turn.said_offer)
        assert turn.clipped == changed == bool(turn.cuts)
        assert (turn.may_accept is None) == (turn.heard is None)
        if turn.wish == "accept" and turn.heard is not None:
            assert (turn.said == "accept") == turn.may_accept
        if turn.wish_offer is not None and not turn.buys:  # buying takes money, too
            assert (NOTHING_LEFT in turn.cuts) == (turn.wish_offer[1] - day not in turn.may_days)
        if turn.said_offer is not None:
            assert turn.said_offer[1] - day in turn.may_days
        assert all(turn.units_left[ahead] for ahead in turn.may_days)
    assert {cut for _, turn in turns for cut in turn.cuts} == set(CUTS)


def _check_money(found, costs):
    """B_free shrinks by what the negotiation before has promised."""
    for decided in found:
        cost = costs[int(decided.agent[:2])]
        for before, after in pairwise(decided.turns):
            units, _, price = before.heard if before.said == "accept" else before.said_offer or (
                0, 0, 0)  # fmt: skip
            spent = units * (price if before.buys else cost)
            assert after.money_left == pytest.approx(before.money_left - spent, abs=0.02)


def test_a_trace_changes_nothing_and_is_off_by_default(wild, tmp_path, monkeypatch):
    monkeypatch.setattr(trace, "append", lambda *_: pytest.fail("nobody asked for a trace"))
    plain = play.play([PLAN])
    monkeypatch.setattr(trace, "append", append)
    noted = play.play([replace(PLAN, trace=tmp_path / "trace.jsonl")])
    assert HRLAgent.trace is None
    assert (tmp_path / "trace.jsonl").stat().st_size
    for name, table in plain.recordings.items():
        assert table.to_pylist() == noted.recordings[name].to_pylist(), name


def test_goals_are_named_by_bucket_and_side(tmp_path):
    path = tmp_path / "new" / "trace.jsonl"
    Notes(path, "00@0", "HRLAgent").write(3, "counter_all", np.arange(16.0)[None], [TURN])
    (line,) = path.read_text().splitlines()
    goals = json.loads(line)["goals"]
    assert goals["buy_quantity_0_0"] == 0 and goals["sell_price_0_0"] == 3
    assert goals["sell_quantity_1_2"] == 6 and goals["sell_price_6_10"] == 15
    assert read_trace(path)[0].player == "HRLAgent"


def test_a_model_tells_its_goals_of_the_day(tmp_path):
    from understudy.games.scml.learning.layer_recipe import weights_of
    from understudy.games.scml.learning.networks import GoalNetwork, OfferNetwork

    layers = {"l2": weights_of(GoalNetwork((8,), 0)), "l3": weights_of(OfferNetwork("residual"))}
    about = About(features=feature_names(), goals=True)
    write_checkpoint(tmp_path / "young" / WEIGHTS, Checkpoint(layers, about))
    players = [PlayerRef("L1")] * 6
    players[2] = PlayerRef("young", tmp_path / "young")
    plan = replace(PLAN, steps=6, players=tuple(players), trace=tmp_path / "trace.jsonl")
    play.play([plan])
    found = read_trace(plan.trace)
    assert {d.goals is None for d in found if d.player == "L1"} == {True}
    young = [d for d in found if d.player == "young"]
    for _, day in groupby(young, key=lambda d: d.day):
        told = [d.goals for d in day]
        assert told[0].keys() == set(GOAL_NAMES)
        assert all(goals == told[0] for goals in told)
    assert len({tuple(d.goals.values()) for d in young}) > 1
    made = trace_panels(Run(tmp_path))
    assert any("goal" in panel.html for panel in made if panel.title == "Goals and deals: young")


@pytest.mark.parametrize(
    ("heard", "wish", "said", "cuts"),
    [
        ((5, 3, 9), ("accept", None), ("accept", None), ()),
        ((5, 3, 9), ("accept", None), ("reject", (2, 3, 9)), (REFUSED, UNITS)),
        ((5, 3, 9), ("accept", None), ("reject", (5, 3, 8)), (REFUSED, PRICE)),
        ((5, 3, 9), ("accept", None), ("end", None), (REFUSED, NOTHING_LEFT)),
        (None, ("accept", None), ("end", None), (NO_OFFER,)),
        ((5, 3, 9), ("reject", None), ("end", None), (NO_OFFER,)),
        ((5, 3, 9), ("reject", (4, 3, 9)), ("end", None), (NOTHING_LEFT,)),
        ((5, 3, 9), ("reject", (4, 3, 9)), ("reject", (3, 3, 10)), (UNITS, PRICE)),
        (None, ("reject", (4, 3, 9)), ("reject", (4, 3, 9)), ()),
        ((5, 3, 9), ("end", None), ("end", None), ()),
    ],
)
def test_what_a_clip_did(heard, wish, said, cuts):
    assert cuts_of(heard, wish, said) == cuts


# --- files ---------------------------------------------------------------------------------------

WHOLE = st.integers(0, 500)
OFFERS = st.none() | st.tuples(WHOLE, WHOLE, WHOLE)
NUMBERS = st.floats(-1e6, 1e6)
TURNS = st.builds(
    Turn,
    partner=st.text(max_size=8),
    round=WHOLE,
    heard=OFFERS,
    weight=NUMBERS,
    units_left=st.lists(WHOLE).map(tuple),
    money_left=NUMBERS,
    baseline=OFFERS,
    wish=st.sampled_from(RESPONSES),
    wish_offer=OFFERS,
    may_days=st.lists(WHOLE).map(tuple),
    said=st.sampled_from(RESPONSES),
    said_offer=OFFERS,
    cuts=st.lists(st.sampled_from(CUTS)).map(tuple),
)
GOALS = st.none() | st.fixed_dictionaries(dict.fromkeys(GOAL_NAMES, NUMBERS))
DECISIONS = st.builds(
    Decided,
    match=st.text(max_size=8),
    agent=st.text(max_size=8),
    day=WHOLE,
    number=WHOLE,
    goals=GOALS,
    turns=st.lists(TURNS, min_size=1, max_size=3).map(tuple),
)
TURN = Turn("01@0", True, 2, (3, 5, 9), 1.0, (4, 0), 120.5, (2, 5, 8), "accept", None, False, (0,),
            "reject", (2, 5, 9), True, (REFUSED, UNITS))  # fmt: skip
LINE = Decided("m", "HRL", "02@1", 5, 0, "counter_all", dict.fromkeys(GOAL_NAMES, 1.5), (TURN,))


@settings(max_examples=40)
@given(DECISIONS)
def test_what_is_read_was_written(tmp_path_factory, decided):
    path = tmp_path_factory.mktemp("trace") / "trace.jsonl"
    append(path, decided)
    assert read_trace(path) == [decided]
    made = trace_panels(Run(path.parent))
    assert len(made) == 4
    for panel in made:
        _well_formed(panel)


def _well_formed(panel):
    plain = "".join(sign for sign in panel.html if sign.isprintable() or sign == "\n")
    ElementTree.fromstring(f"<div>{plain}</div>")


def lines(path, *numbers):
    for number in numbers:
        append(path, LINE._replace(number=number))
    return path


def test_a_line_cut_off_at_the_end_is_left_out(tmp_path):
    path = lines(tmp_path / "trace.jsonl", 0, 1)
    whole = path.read_bytes()
    start = whole.index(b"\n") + 1
    for end in (start, start + 1, (start + len(whole)) // 2, len(whole) - 2):
        path.write_bytes(whole[:end])
        assert [decided.number for decided in read_trace(path)] == [0]
        assert len(trace_panels(Run(tmp_path))) == 4


def test_no_trace_or_an_empty_one_has_no_panels(tmp_path):
    assert trace_panels(Run(tmp_path)) == []
    for text in ("", '{"match":'):
        (tmp_path / "trace.jsonl").write_text(text)
        assert trace_panels(Run(tmp_path)) == []


@pytest.mark.parametrize(
    "broken",
    [
        b"{",
        b"[]",
        b"{}",
        b"\xff\xfe",
        b"7",
        b"",
        json.dumps(LINE._asdict() | {"turns": []}).encode(),
        json.dumps(LINE._asdict() | {"day": "noon", "turns": [TURN._asdict()]}).encode(),
        json.dumps(LINE._asdict() | {"turns": [TURN._asdict() | {"said": "shout"}]}).encode(),
        json.dumps(LINE._asdict() | {"turns": [TURN._asdict() | {"heard": [1, 2]}]}).encode(),
    ],
)
def test_a_line_damaged_in_the_middle_is_named(tmp_path, broken):
    path = lines(tmp_path / "trace.jsonl", 0, 1)
    first, second = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([first, broken, second, b""]))
    with pytest.raises(InputError, match=r"trace.jsonl, line 2, is .*--fresh$") as told:
        trace_panels(Run(tmp_path))
    assert "\n" not in str(told.value)


def test_a_world_begun_again_counts_once(tmp_path):
    path = lines(tmp_path / "trace.jsonl", 0, 1, 2, 0, 1)
    append(path, LINE._replace(agent="03@1", number=0))
    found = [(decided.agent, decided.number) for decided in read_trace(path)]
    assert found == [("02@1", 0), ("02@1", 1), ("03@1", 0)]
    assert len(read_trace(path, most=2)) == 2


def test_a_tidied_trace_is_the_same_whoever_was_stopped(tmp_path):
    def told(path, *worlds):
        for match, count in worlds:
            for number in range(count):
                append(path, LINE._replace(match=match, number=number))
        return path

    whole = told(tmp_path / "whole.jsonl", ("a", 3), ("b", 2))
    broken = told(tmp_path / "broken.jsonl", ("b", 1), ("a", 2), ("b", 2), ("a", 3))
    with broken.open("ab") as file:
        file.write(b'{"match": "b", "nu')
    for path in (whole, broken):
        tidy_trace(path, ["a", "b"])
    assert broken.read_bytes() == whole.read_bytes()
    assert [(one.match, one.number) for one in read_trace(whole)] == [
        *(("a", 0), ("a", 1), ("a", 2)),
        *(("b", 0), ("b", 1)),
    ]


# --- the command, and panels ---------------------------------------------------------------------

RECORD = "record scml --agents L1 --configs 1 --steps 8 --seed 10 --workers 0 --quiet --out"


def test_the_command_writes_a_trace_beside_its_recording(tmp_path):
    run = Run(tmp_path / "run")
    done = understudy(f"{RECORD} {run.folder} --trace")
    assert done.code == 0 and str(run.trace) in done.out
    whole = run.trace.read_bytes()
    assert understudy(f"{RECORD} {run.folder} --trace").code == 0
    assert run.trace.read_bytes() == whole  # nothing was left to play
    assert understudy("check", run.folder).code == 0
    for damaged in (b"", whole[:-1], whole[: whole.rindex(b"\n", 0, -1) + 1], whole + b"{"):
        run.trace.write_bytes(damaged)
        assert f"damaged: {run.trace}" in understudy("check", run.folder).out
    run.trace.write_bytes(whole)

    found = read_trace(run.trace)
    recorded, unknown = deals_of(run, found)
    alone, missing = deals_of(Run(tmp_path), found)
    assert (unknown, missing) == (set(), {found[0].match})
    assert alone and not Counter(alone) - Counter(recorded)
    assert len(recorded) > len(alone)  # partners accept, too

    made = trace_panels(run)
    assert [panel.title.split(":")[0].split(",")[0] for panel in made] == [
        "Goals and deals", "Clips by L1", "Who is served first", "One day",
    ]  # fmt: skip
    for panel in made:
        _well_formed(panel)
    assert page("t", "s", made)
    assert "contracts of the recorded worlds" in made[0].note
    assert understudy("report", run.folder).code == 0
    assert "Who is served first: L1" in run.report.read_text()

    assert_refused(understudy(f"{RECORD} {run.folder}"), "trace was true, now null")
    assert understudy(f"{RECORD} {run.folder} --fresh").code == 0
    assert not run.trace.exists()


@pytest.mark.parametrize("simulator", ["engine", "scml"])
def test_a_trace_that_cannot_be_written_ends_the_task_and_is_no_agents_fault(tmp_path, simulator):
    run = Run(tmp_path / "run")
    run.trace.mkdir(parents=True)  # a folder in its place
    command = f"{RECORD} {run.folder} --trace --simulator {simulator}"
    assert_refused(understudy(command), f"cannot write {run.trace}", "Is a directory")
    assert not list(run.recordings.glob("*.parquet"))
    run.trace.rmdir()
    assert understudy(command).code == 0  # and the same command goes on
    (results,) = run.recordings.glob("results-*.parquet")
    assert read_trace(run.trace) and results


def test_a_trace_on_a_full_disk_holds_whole_lines(tmp_path):
    run = Run(tmp_path / "run")
    with a_disk_that_takes_files_up_to(3000):
        done = understudy(f"{RECORD} {run.folder} --trace")
    assert_refused(done, f"cannot write {run.trace}")
    assert 0 < run.trace.stat().st_size <= 3000
    assert run.trace.read_bytes().endswith(b"}\n")
    assert not list(run.recordings.glob("*.parquet"))


def test_any_agent_is_traced_from_its_recording(tmp_path):
    run = Run(tmp_path / "run")
    done = understudy(f"{RECORD} {run.folder} --agents Greedy,SyncRandom --trace")
    assert (done.code, done.err) == (0, "")
    found = read_trace(run.trace)
    assert {(one.player, one.call) for one in found} == {
        ("Greedy", "propose"), ("Greedy", "respond"),
        ("SyncRandom", "first_proposals"), ("SyncRandom", "counter_all"),
    }  # fmt: skip
    assert not any(turn.clipped for one in found for turn in one.turns)
    assert any(one.title.startswith("One day") for one in trace_panels(run))


def test_from_a_recording_l1_is_traced_as_it_traced_itself(tmp_path):
    players = ("L1", "Greedy", "L1", "SyncRandom", "Greedy", "SyncRandom")
    plan = replace(PLAN, trace=tmp_path / "trace.jsonl", players=tuple(map(PlayerRef, players)))
    played = play.play((plan,))
    itself = [one for one in read_trace(plan.trace) if one.player == "L1"]
    recalled = list(retraced(played.recordings, frozenset({"L1"})))
    assert len(itself) > 50

    def known(decided):  # offers that others think about are in the mask of play alone
        turns = [turn._replace(may_accept=None, may_days=()) for turn in decided.turns]
        wishes = [turn._replace(wish="", wish_offer=None, clipped=False, cuts=()) for turn in turns]
        return decided._replace(turns=tuple(wishes))

    by_place = sorted(map(known, itself), key=lambda one: (one.agent, one.number))
    assert list(map(known, recalled)) == by_place


def test_deals_without_a_recording_are_those_accepted(tmp_path):
    accepted = TURN._replace(said="accept", said_offer=None, clipped=False, cuts=())
    append(tmp_path / "trace.jsonl", LINE._replace(turns=(accepted, TURN)))
    made = trace_panels(Run(tmp_path))
    assert "1 of 1 worlds are not recorded" in made[0].note
    assert "Units a day, buying" in made[0].html and "today, agreed: 3" in made[0].html
    assert "today, goal: 1.5" in made[0].html
    assert "today, agreed: 0" in made[0].html  # selling


def test_clips_are_counted_by_kind_and_round(tmp_path):
    free = TURN._replace(wish="end", said="end", said_offer=None, clipped=False, cuts=(), round=3)
    append(
        tmp_path / "trace.jsonl", LINE._replace(turns=(TURN, TURN, TURN._replace(round=3), free))
    )
    clips = trace_panels(Run(tmp_path))[1].html
    assert "acceptance refused, negotiations: 3" in clips and "units cut, negotiations: 3" in clips
    assert "price moved" not in clips
    (points,) = [
        group.get("data-points")
        for group in ElementTree.fromstring(f"<div>{clips}</div>").iter("g")
        if group.get("data-name") == REFUSED
    ]
    assert [point[2:] for point in json.loads(points)] == [
        ["2", "100.0\u00a0%"],
        ["3", "50.0\u00a0%"],
    ]


def test_a_day_is_told_in_order(tmp_path):
    quiet = TURN._replace(partner="00@0", wish="end", said="end", said_offer=None, cuts=())
    quiet = quiet._replace(clipped=False, heard=None)
    append(tmp_path / "trace.jsonl", LINE._replace(day=4, turns=(quiet,)))
    append(tmp_path / "trace.jsonl", LINE._replace(number=1, turns=(TURN, quiet)))
    weights, day = trace_panels(Run(tmp_path))[2:]
    assert "day 5 of factory 02@1 in m" in weights.html  # where L1 clipped
    rows = ElementTree.fromstring(day.html).findall(".//tbody/tr")
    told = [[cell.text or "" for cell in row] for row in rows]
    assert told == [
        ["0", "2", "from 01@0", "1", "3 x 9 (today)", "4 0", "accept",
         "acceptance refused, units cut", "2 x 9 (today)"],
        ["0", "2", "from 00@0", "1", "-", "4 0", "end", "", "end"],
    ]  # fmt: skip
    assert [row.get("class") for row in rows] == ["stress", None]
