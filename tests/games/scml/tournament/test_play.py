"""Worlds played and recorded, in either simulator."""

import random
from dataclasses import replace

import numpy as np
import pytest
from scml.std.agents import RandomStdAgent

from understudy.data.players import PlayerRef
from understudy.errors import InputError
from understudy.games.scml.players import catalogue
from understudy.games.scml.recording.tables import RECORDINGS, RESULTS
from understudy.games.scml.tournament import play as match
from understudy.games.scml.tournament.design import WorldPlan
from understudy.games.scml.tournament.play import play

SIMULATORS = ("engine", "scml")


def plan(players, sizes, steps, **options):
    turns = tuple(PlayerRef(players[index % len(players)]) for index in range(sum(sizes)))
    given = {"match": "m", "field": "test", "track": "std", "seed": 7, "run": 0, "slots": (0, 2)}
    return WorldPlan(factories_per_level=sizes, steps=steps, players=turns, **{**given, **options})


def tables(played):
    return {**played.recordings, "results": played.results}


@pytest.mark.parametrize(
    "planned",
    [
        plan(["Penguin", "AS0"], (2, 2), 12),
        plan(["Greedy", "Random", "SyncRandom", "Penguin"], (2, 2, 2), 10),
        plan(["AS0", "S5s", "Ponpon", "BalancedGreedy", "AX"], (2, 2, 2), 8),
        plan(["Random"], (2, 2), 20),  # somebody goes bankrupt
        plan(["Random", "SyncRandom", "Greedy"], (3, 3), 8, track="oneshot"),
        plan(["CostAverse", "GreedySync"], (2, 2), 6, track="oneshot"),
    ],
    ids=lambda planned: "-".join(dict.fromkeys(ref.name for ref in planned.players)),
)
def test_both_simulators_give_the_same_recording(planned):
    ours, theirs = (tables(play([replace(planned, simulator=one)])) for one in SIMULATORS)
    for name, table in ours.items():
        assert table.num_rows
        assert table.to_pylist() == theirs[name].to_pylist(), name


def test_a_recording_is_what_its_tables_say():
    planned = plan(["Greedy", "Random", "SyncRandom", "Penguin"], (2, 2, 2), 10)
    played = play([planned])
    for table in RECORDINGS:
        table.check(played.recordings[table.name].schema, table.name)
    RESULTS.check(played.results.schema, "results")
    (world,) = played.recordings["worlds"].to_pylist()
    results = played.results.to_pylist()
    assert world["scores"] == [row["score"] for row in results]
    assert [row["competes"] for row in results] == [True, False, True, False, False, False]
    assert [row["level"] for row in results] == world["levels"] == [0, 0, 1, 1, 2, 2]

    contracts = played.recordings["contracts"].to_pylist()
    days = played.recordings["days"].to_pylist()
    assert [row["number"] for row in contracts] == list(range(len(contracts)))
    for index, row in enumerate(results):
        own = [day for day in days if day["factory"] == index]
        assert [day["day"] for day in own] == list(range(10))
        sold = [c for c in contracts if c["seller"] == index]
        assert row["sales"] == len(sold)
        assert row["agreements"] == len(sold) + sum(c["buyer"] == index for c in contracts)
        due = [c["quantity"] for c in sold if c["executed"]]
        assert row["promised"] == sum(due) + sum(day["sale_quantity"] for day in own)
        assert row["produced"] + row["shortfall"] == row["promised"]
        start = world["balances"][index]
        assert row["score"] == (start + sum(day["profit"] for day in own)) / start


def test_every_agreement_is_a_decision_to_accept():
    played = play([plan(["Greedy", "Random", "SyncRandom", "AS0"], (2, 2, 2), 10)])
    accepted = [
        (row["day"], row["heard_quantity"], row["heard_day"], row["heard_price"])
        for row in played.recordings["decisions"].to_pylist()
        if row["answer"] == "accept"
    ]
    contracts = [
        (row["concluded"], row["quantity"], row["day"], row["unit_price"])
        for row in played.recordings["contracts"].to_pylist()
    ]
    assert sorted(accepted) == sorted(contracts)


def test_only_the_first_worlds_are_kept_and_none_is_changed_by_it():
    worlds = [plan(["Greedy", "Random"], (2, 2), 5, match=f"m{k}", seed=k) for k in range(3)]
    whole, some, none = (
        play([replace(world, recorded=number < keep) for number, world in enumerate(worlds)])
        for keep in (3, 1, 0)
    )
    assert whole.results.equals(some.results)
    assert whole.results.equals(none.results)
    for name, kept in (("worlds", 3), ("contracts", 1), ("days", 1), ("decisions", 1)):
        found = set(some.recordings[name]["match"].to_pylist())
        assert found == {f"m{k}" for k in range(kept)}
    assert none.recordings["decisions"].num_rows == 0
    assert none.recordings["worlds"].equals(whole.recordings["worlds"])


def test_a_world_can_be_repeated_and_its_runs_differ():
    first = plan(["Random", "SyncRandom"], (2, 2), 5)
    other = plan(["Greedy"], (2, 2), 5, seed=8)
    random.seed(5)
    alone = play([first])
    untouched = random.random()
    np.random.seed(9)  # what came before makes no difference
    again = play([other, first])
    assert alone.results.equals(again.results.slice(4))
    assert alone.results.column("score") != play([replace(first, run=1)]).results.column("score")
    random.seed(5)
    assert random.random() == untouched


def test_only_the_watched_are_recorded():
    planned = plan(["Greedy", "Penguin"], (2, 2), 5, watched=frozenset({"Penguin"}))
    found = play([planned]).recordings
    assert set(found["decisions"]["factory"].to_pylist()) == {1, 3}
    assert found["days"].num_rows == 4 * 5


# --- the days ------------------------------------------------------------------------------------


class Witness(RandomStdAgent):
    """Writes down at every day start what the table of days ought to say."""

    seen: list = []  # noqa: RUF012

    def before_step(self):
        awi = self.awi
        today = range(awi.current_step, awi.current_step + awi.horizon + 1)
        books = awi._future_supplies, awi._future_supplies_cost
        books += awi._future_sales, awi._future_sales_cost
        ahead = [[sum(book[day].values()) for day in today] for book in books]
        self.seen.append(
            {
                "day": awi.current_step,
                "factory": int(self.id[:2]),
                "bankrupt": awi.is_bankrupt(),
                "supply_quantity": awi.current_exogenous_input_quantity,
                "supply_price": awi.current_exogenous_input_price,
                "sale_quantity": awi.current_exogenous_output_quantity,
                "sale_price": awi.current_exogenous_output_price,
                "stock": awi.current_inventory_input,
                "balance": awi.current_balance,
                "price_in": awi.trading_prices[awi.my_input_product],
                "price_out": awi.trading_prices[awi.my_output_product],
                "lowest_in": awi.current_input_issues[2].min_value,
                "highest_in": awi.current_input_issues[2].max_value,
                "lowest_out": awi.current_output_issues[2].min_value,
                "highest_out": awi.current_output_issues[2].max_value,
                "storage_cost": awi.current_storage_cost,
                "disposal_cost": awi.current_disposal_cost,
                "shortfall_penalty": awi.current_shortfall_penalty,
                "supplies": ahead[0],
                "supplies_money": ahead[1],
                "sales": ahead[2],
                "sales_money": ahead[3],
            }
        )


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_day_starts_are_as_the_agents_saw_them(simulator, monkeypatch):
    monkeypatch.setitem(catalogue.STD, "Witness", f"{__name__}.Witness")
    Witness.seen = []
    planned = plan(["Witness"], (2, 2, 2), 16, simulator=simulator)
    days = play([planned]).recordings["days"].to_pylist()
    assert any(row["bankrupt"] for row in days)
    assert any(row["stock"] for row in days)
    assert len(days) == len(Witness.seen) == 6 * 16
    for row, seen in zip(days, Witness.seen, strict=True):
        assert {name: row[name] for name in seen} == seen


def test_a_recording_that_is_not_true_is_refused(monkeypatch):
    honest = match._in_engine

    def lying(*arguments):
        game = honest(*arguments)
        game.contracts[0].unit_price += 1
        return game

    monkeypatch.setattr(match, "_in_engine", lying)
    with pytest.raises(RuntimeError, match="do not follow from its contracts"):
        play([plan(["Random"], (2, 2), 12)])


def test_conserving_stock_is_recorded_and_not_for_scml():
    planned = plan(["AS0"], (2, 2), 20, conserve_stock=True)
    played = play([planned])
    assert played.recordings["worlds"]["conserve_stock"].to_pylist() == [True]
    assert played.results != play([replace(planned, conserve_stock=False)]).results
    with pytest.raises(InputError, match="conserve"):
        play([replace(planned, simulator="scml")])


# --- what goes wrong -----------------------------------------------------------------------------


class Failing(RandomStdAgent):
    def step(self):
        if self.awi.current_step == 2:
            raise KeyError("lost")


def test_in_the_engine_a_failing_agent_costs_no_day(monkeypatch):
    monkeypatch.setitem(catalogue.STD, "Failing", f"{__name__}.Failing")
    played = play([plan(["Random", "Failing"], (2, 2), 5)])
    assert played.recordings["worlds"]["faults"].to_pylist() == [
        ["1 2 KeyError: 'lost'", "3 2 KeyError: 'lost'"]
    ]
    assert played.results["faults"].to_pylist() == [0, 1, 0, 1]
    assert played.recordings["days"].num_rows == 4 * 5


def test_in_scml_a_failing_agent_ends_the_world(monkeypatch):
    monkeypatch.setitem(catalogue.STD, "Failing", f"{__name__}.Failing")
    played = play([plan(["Random", "Random", "Failing"], (2, 2), 5, simulator="scml")])
    assert played.recordings["worlds"]["faults"].to_pylist() == [["2 2 KeyError: 'lost'"]]
    assert played.results["faults"].to_pylist() == [0, 0, 1, 0]
    assert played.recordings["days"].num_rows == 4 * 2


def test_who_cannot_play_is_named():
    with pytest.raises(InputError, match="no SCML agent 'Nobody'"):
        play([plan(["Nobody"], (2, 2), 5)])
