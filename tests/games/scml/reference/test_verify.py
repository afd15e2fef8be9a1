"""The engine against the real simulator, world by world, and that a wrong rule would show."""

import inspect
import sys
import textwrap
import time
from collections import Counter
from dataclasses import replace

import pytest
from scml.oneshot.world import SCMLBaseWorld
from scml.std.agents import RandomStdAgent

from understudy.games.scml.domain import RULES
from understudy.games.scml.engine import economy, negotiation, prices, world
from understudy.games.scml.players import catalogue
from understudy.games.scml.reference import verify
from understudy.games.scml.reference.verify import Case, Comparison, Game, compare

BUILT_INS = ("Greedy", "Random", "SyncRandom", "DoNothing")


def case(players, sizes, steps, seed=7, track="std"):
    turns = tuple(players[index % len(players)] for index in range(sum(sizes)))
    return Case(track, "test", turns, sizes, steps, seed)


@pytest.mark.parametrize(
    "played",
    [
        case(["Penguin"], (3, 2), 20),
        case(["AS0", "Penguin"], (2, 3, 2), 15),
        case(BUILT_INS, (2, 2, 2), 12),
        case(["Random"], (2, 2), 20),  # somebody goes bankrupt
        case(
            ["Cautious", "EmSel", "AX", "S5s", "Penguin"], (2, 2, 2, 2), 15
        ),  # all kinds of negotiators
        case(["LitaYR", "AS0"], (2, 2), 10),
        case(["Random", "SyncRandom", "Greedy"], (3, 3), 12, track="oneshot"),
        case(["CostAverse", "Cautious"], (3, 3), 10, track="oneshot"),
    ],
    ids=lambda played: "-".join(dict.fromkeys(played.players)),
)
def test_every_contract_profit_and_score_is_as_in_scml(played):
    found = compare(played)
    assert found.contracts > 0
    assert found.differences == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_every_agent_alone_and_mixed_plays_as_in_scml():
    results = verify.verify(list(catalogue.STD), 3, seed=1, quiet=True)
    assert [line for result in results for line in result.differences] == []
    assert len(catalogue.INEXACT) <= 3


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_every_oneshot_agent_alone_and_mixed_plays_as_in_scml():
    results = verify.verify(list(catalogue.ONESHOT), 2, seed=1, track="oneshot", quiet=True)
    assert [line for result in results for line in result.differences] == []


@pytest.mark.parametrize(
    ("module", "rule", "wrong"),
    [
        (prices, "DISCOUNT", 0.89),
        (prices, "CATALOG_WEIGHT", 51.0),
        (negotiation, "ROUNDS", 19),
        (economy, "RULES", {"std": replace(RULES["std"], price_share=0.15)}),
        (economy, "RULES", {"std": replace(RULES["std"], horizon=9)}),
        (economy, "RULES", {"std": replace(RULES["std"], quantity_factor=2)}),
    ],
)
def test_a_wrong_rule_shows(monkeypatch, module, rule, wrong):
    monkeypatch.setattr(module, rule, wrong)
    played = case(["Random", "Penguin"], (2, 2), 12), case(["Greedy", "Random"], (2, 2), 15)
    assert any(compare(one).differences for one in played)


class Dawdling(RandomStdAgent):
    """Takes half a minute to think, by the clock that negmas looks at."""

    minutes = 0.0

    def propose(self, negotiator_id, state):
        Dawdling.minutes += 0.5
        return super().propose(negotiator_id, state)


def test_the_clock_on_the_wall_decides_nothing(monkeypatch):
    seconds, nanoseconds = time.perf_counter, time.perf_counter_ns
    later = {
        "perf_counter": lambda: seconds() + 60 * Dawdling.minutes,
        "perf_counter_ns": lambda: nanoseconds() + int(6e10 * Dawdling.minutes),
    }
    for name, clock in later.items():
        monkeypatch.setattr(time, name, clock)
    monkeypatch.setattr(Dawdling, "minutes", 0.0)
    monkeypatch.setitem(catalogue.STD, "Dawdling", f"{__name__}.Dawdling")
    found = compare(case(["Dawdling", "Random"], (2, 2), 8))
    assert Dawdling.minutes > 20
    assert found.contracts > 0
    assert found.differences == []


# --- stock that is conserved ---------------------------------------------------------------------

GROWS = "remaining_in = max(0, self._input_quantity[aid] - producible)"
CONSERVED = "remaining_in = self._input_quantity[aid] - producible"


@pytest.fixture
def conserving(monkeypatch):
    """Our engine conserves stock."""
    made = lambda *a, **k: world.World(*a, **k, conserve_stock=True)  # noqa: E731
    monkeypatch.setattr(verify, "World", made)


@pytest.fixture
def mended(monkeypatch):
    """So does scml, with one line of it changed: production takes from stock."""
    source = textwrap.dedent(inspect.getsource(SCMLBaseWorld.simulation_step))
    assert source.count(GROWS) == 1
    source = source.replace(GROWS, CONSERVED).replace("self.__", "self._SCMLBaseWorld__")
    found = {}
    exec(source, vars(sys.modules[SCMLBaseWorld.__module__]), found)
    monkeypatch.setattr(SCMLBaseWorld, "simulation_step", found["simulation_step"])


STORING = (
    case(["AS0"], (2, 2), 20),
    case(["Steward", "Greedy", "AS0"], (2, 3, 2), 15),
    case(["Random", "SyncRandom", "Penguin"], (2, 2, 2, 2), 12),
)


@pytest.mark.usefixtures("conserving")
def test_conserving_stock_is_another_game():
    assert all(compare(played).differences for played in STORING)


@pytest.mark.usefixtures("conserving", "mended")
@pytest.mark.parametrize("played", STORING, ids=lambda p: "-".join(dict.fromkeys(p.players)))
def test_conserving_stock_is_scml_with_one_line_mended(played):
    found = compare(played)
    assert found.contracts > 0
    assert found.differences == []


@pytest.mark.usefixtures("conserving")
def test_where_goods_perish_there_is_no_stock_to_conserve():
    found = compare(case(["EqualDist", "Greedy"], (3, 3), 10, track="oneshot"))
    assert found.contracts > 0
    assert found.differences == []


def test_differences_name_the_place():
    one = Game([("a", "b", 1, 2, 3, 4, 0, True)], {"a": [1.0, 2.0]}, {}, {}, [1.0], [3], None, 0.1)
    other = Game([], {"a": [1.0, 2.5]}, {}, {}, [1.0], [3], None, 0.1)
    assert verify.differences(one, one) == []
    assert verify.differences(one, other) == [
        "contract 0: scml ('a', 'b', 1, 2, 3, 4, 0, True), engine None",
        "profits of a: on day 1 scml 2.0, engine 2.5",
    ]


def test_cases_have_everybody_alone_and_some_mixed():
    found = verify.cases(["Penguin", "AS0"], 3, seed=0)
    assert [c.field for c in found] == ["Penguin"] * 3 + ["AS0"] * 3 + ["mixed"] * 3
    assert [len(c.factories_per_level) for c in found[:3]] == [2, 3, 4]
    assert verify.cases(["Penguin", "AS0"], 3, seed=0) == found


@pytest.mark.parametrize("track", ["std", "oneshot"])
@pytest.mark.parametrize("num_worlds", [1, 3, 5])
@pytest.mark.parametrize("chosen", [1, 3, 10**3])
@pytest.mark.parametrize("seed", range(3))
def test_everybody_is_in_a_mixed_world_of_every_number_of_levels(track, num_worlds, chosen, seed):
    names = list(catalogue.CATALOGUE[track])[:chosen]
    mixed = [c for c in verify.cases(names, num_worlds, seed, track) if c.field == "mixed"]
    for one in mixed:
        assert len(one.players) == sum(one.factories_per_level)
        assert len(set(one.players)) > 1
    for levels in verify.NUM_LEVELS[track]:
        there = {p for c in mixed if len(c.factories_per_level) == levels for p in c.players}
        assert there >= set(names)


def test_mixed_worlds_stay_few():
    """As many as there were when slots were drawn at random: an eighth of those alone."""
    names = list(catalogue.STD)
    mixed = [c for c in verify.cases(names, 3, seed=0) if c.field == "mixed"]
    assert len(mixed) <= len(names) * 3 // 8 + 3


def test_who_signs_nothing_is_told():
    one = compare(case(["DoNothing", "Greedy", "Greedy"], (3, 3), 8))
    alone = compare(case(["DoNothing"], (2, 2), 8))
    assert one.signed["Greedy"] == 2 * one.contracts > 0 == one.signed["DoNothing"]
    (busy, idle) = (verify._add_up(*field) for field in (("mixed", [one]), ("DoNothing", [alone])))
    assert busy.silent == idle.silent == ("DoNothing",)
    assert verify.silent_lines([busy, idle]) == [
        "signed nothing alone: DoNothing",
        "signed nothing in mixed worlds: DoNothing",
    ]
    signed = Comparison(one.case, 1, signed=Counter(DoNothing=1))  # in another world of the field
    assert verify._add_up("mixed", [one, signed]).silent == ()
    assert verify.silent_lines([verify._add_up("mixed", [one, signed])]) == []
