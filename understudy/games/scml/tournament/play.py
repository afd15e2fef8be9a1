"""Play worlds, in our engine or in the real scml package, and record them."""

import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
from scml.oneshot.agent import OneShotAgent

from understudy.data.players import PlayerRef
from understudy.data.schema import Table
from understudy.errors import InputError
from understudy.games.scml.batch.decisions import decisions_of
from understudy.games.scml.domain import RULES, Track
from understudy.games.scml.engine.config import WorldConfig, draw
from understudy.games.scml.engine.contracts import Contract
from understudy.games.scml.engine.hosting.faults import described
from understudy.games.scml.engine.hosting.host import IDLE
from understudy.games.scml.engine.random_state import random_state_kept
from understudy.games.scml.engine.world import World, collecting_rarely
from understudy.games.scml.players import catalogue
from understudy.games.scml.recording.days import DayLedger, FactoryDay, day_ledger
from understudy.games.scml.recording.recorder import Recorder, recorded
from understudy.games.scml.recording.safety_audit import SafetyAudit, audit_of, safety_audit
from understudy.games.scml.recording.tables import (
    ADVICE,
    CONTRACTS,
    DAY_LEDGER,
    RECORDINGS,
    RESULTS,
    WORLDS,
)
from understudy.games.scml.reference.agent_rng import Stream, on_one_stream
from understudy.games.scml.reference.scml_simulator import quiet, scml_world
from understudy.games.scml.tournament.batch_play import (
    BUYER,
    DUE,
    SELLER,
    SIGNED,
    UNITS,
    BatchGame,
    play_batch,
)
from understudy.games.scml.tournament.design import WorldPlan
from understudy.games.scml.tournament.isolation import (
    MEMORY,
    NOBODY,
    Blamed,
    play_isolated,
    require_unspoilt,
    rules_in_force,
)
from understudy.games.scml.tournament.tracing import scripted_kinds, trace_others, traced
from understudy.pipeline.game import Played
from understudy.workers.alone import little_memory

Instead = Mapping[int, type[OneShotAgent]]


@dataclass(frozen=True)
class Game:
    """What a simulator says of a world it has played; factories are in order."""

    contracts: list[Contract]
    profits: list[list[float]]
    """By factory and day. Fewer days than planned where an exception ended the world."""
    scores: list[float]
    bankrupt: list[bool]
    faults: list[tuple[int, int, str]]
    """Factory, day, error."""


def play(plans: Sequence[WorldPlan]) -> Played:
    """Play the worlds; those that need not be recorded in full are recorded in outline.

    An agent that fails leaves the negotiation it failed in, and the world goes on; in scml its
    exception ends the world, whose days and contracts end there. Either way it is among the faults.
    """
    results: list[pa.Table] = []
    recordings: dict[str, list[pa.Table]] = {table.name: [] for table in (*RECORDINGS, ADVICE)}
    with quiet(), random_state_kept(), collecting_rarely(), little_memory(2 * MEMORY):
        for played in _played(plans):
            for name, table in played.items():
                (results if name == RESULTS.name else recordings[name]).append(table)
    tables = [*RECORDINGS, *([ADVICE] if recordings[ADVICE.name] else [])]
    return Played(
        _joined(RESULTS, results),
        {table.name: _joined(table, recordings[table.name]) for table in tables},
    )


def _played(plans: Sequence[WorldPlan]) -> Iterator[dict[str, pa.Table]]:
    """The tables of each world, in order."""
    compiled = [plan for plan in plans if plan.simulator == "batch"]
    games = iter(play_batch(compiled))
    for plan in plans:
        if plan.simulator == "batch":
            yield _batch_tables(next(games))
        elif plan.isolated:
            yield play_isolated(plan, play_one)
        else:
            yield play_one(plan)


def _batch_tables(played: BatchGame) -> dict[str, pa.Table]:
    plan, config = played.plan, played.config
    made = played.contracts[:, [SELLER, BUYER, UNITS, DUE, SIGNED]].astype(np.int64)
    audits = audit_of(config, made, played.days, plan.conserve_stock)
    game = Game(_logged(played), played.profits.T.tolist(), played.scores, played.bankrupt, [])
    tables = {
        "worlds": _worlds_row(plan, config, game),
        "results": _results_rows(plan, config, game, audits),
    }
    if plan.recorded:
        days = day_ledger(config, game.contracts, plan.conserve_stock)
        _check(plan, game, days)
        tables["contracts"] = _contracts_table(plan.match, game.contracts)
        tables["days"] = _days_table(plan.match, days.days)
        signed, watched = played.contracts[:, [SELLER, BUYER]], _watched(plan)
        tables["decisions"] = decisions_of(
            plan.match, config, days.ranges, played.decisions, signed, watched
        )
    return tables


def _logged(played: BatchGame) -> list[Contract]:
    """The contracts, where somebody reads them."""
    if not played.plan.recorded:
        return []
    return [Contract(*made, executed=bool(done)) for *made, done in played.contracts.tolist()]  # type: ignore[misc]


def _joined(table: Table, parts: Sequence[pa.Table]) -> pa.Table:
    return pa.concat_tables([table.arrow().empty_table(), *parts]).combine_chunks()


def play_one(
    plan: WorldPlan, idle: Blamed = NOBODY, instead: Instead = MappingProxyType({})
) -> dict[str, pa.Table]:
    """Play a world; those to blame for what became of it before do nothing, and that is a fault.

    In some factories another class decides `instead` of the one that the player's name stands for.
    """
    rules = rules_in_force()
    config = draw(plan.factories_per_level, plan.steps, plan.seed, plan.track)
    kinds = _kinds(plan, config, idle, instead)
    if plan.trace is not None:
        kinds = traced(kinds, plan.players, plan.trace, plan.match)
    recorder = Recorder(len(kinds))
    if plan.recorded:
        kinds = recorded(kinds, recorder, _watched(plan))
    _seed(plan)
    game = _simulate(plan, config, kinds)
    require_unspoilt(rules)
    game.faults.extend((factory, 0, what) for factory, what in idle.items())
    days = day_ledger(config, game.contracts, plan.conserve_stock, len(game.profits[0]))
    _check(plan, game, days)
    audits = safety_audit(config, game.contracts, days, plan.conserve_stock)
    tables = {
        "worlds": _worlds_row(plan, config, game),
        "results": _results_rows(plan, config, game, audits),
    }
    if plan.recorded:
        tables["contracts"] = _contracts_table(plan.match, game.contracts)
        tables["days"] = _days_table(plan.match, days.days)
        tables["decisions"] = recorder.table(plan.match, config, days.ranges)
        if plan.trace is not None:
            trace_others(plan, kinds, tables)
        if recorder.advice:
            tables["advice"] = recorder.advice_table(plan.match, config, days.ranges)
    return tables


def _kinds(
    plan: WorldPlan, config: WorldConfig, idle: Blamed, instead: Instead
) -> list[type[OneShotAgent]]:
    if len(plan.players) != len(config.factories):
        raise ValueError(f"{len(config.factories)} factories but {len(plan.players)} players")
    known = catalogue.CATALOGUE[plan.track]
    others = {*idle, *instead}
    playing = {n: ref for n, ref in enumerate(plan.players) if n not in others}
    scripted = [ref for ref in playing.values() if ref.weights is None]
    for ref in scripted:
        if ref.code is None and ref.name not in known:
            raise InputError(f"there is no SCML agent '{ref.name}'; there is {', '.join(known)}")
    loaded = iter(scripted_kinds(scripted, plan.track))
    kinds = {
        factory: next(loaded) if ref.weights is None else _trained(ref, plan.track)
        for factory, ref in playing.items()
    }
    kinds |= instead
    return [kinds.get(factory, IDLE[plan.track]) for factory in range(len(plan.players))]


def _trained(ref: PlayerRef, track: Track) -> type[OneShotAgent]:
    """HRL-XF with the weights of a model; called NAME+EXPERT, that expert looks on.

    Where the player has code as well, it is the expert's.
    """
    from understudy.games.scml.agent.hrl import HRLAgent
    from understudy.games.scml.agent.policy import policy_of
    from understudy.games.scml.players.dagger_labeller import labelled_by

    assert ref.weights is not None
    policy_of(ref.weights).require(RULES[track].horizon)
    name, _, expert = ref.name.partition("+")
    kind = HRLAgent
    if expert:
        [looks_on] = scripted_kinds([PlayerRef(expert, code=ref.code)], track)
        kind = labelled_by(looks_on)
    return type(f"HRL_{name.replace('-', '_')}", (kind,), {"checkpoint": ref.weights})


def _watched(plan: WorldPlan) -> set[int] | None:
    if plan.watched is None:
        return None
    return {index for index, ref in enumerate(plan.players) if ref.name in plan.watched}


def _seed(plan: WorldPlan) -> None:
    """The random states of the agents: others for each run of a configuration."""
    ours, numpys = np.random.SeedSequence([plan.seed, plan.run]).generate_state(2).tolist()
    random.seed(ours)
    np.random.seed(numpys)


def _check(plan: WorldPlan, game: Game, days: DayLedger) -> None:
    """What the table `days` is made from must be what happened."""
    for index, factory in enumerate(days.economy.factories):
        if factory.profits != game.profits[index]:
            raise RuntimeError(
                f"{plan.match}: the profits of factory {index} do not follow from its contracts; "
                f"{plan.simulator} says {game.profits[index]}, the day ledger {factory.profits}"
            )


# --- the two simulators --------------------------------------------------------------------------


def _simulate(plan: WorldPlan, config: WorldConfig, kinds: Sequence[type[OneShotAgent]]) -> Game:
    if plan.simulator == "engine":
        return _in_engine(config, kinds, plan.conserve_stock)
    if plan.conserve_stock:
        raise InputError("scml cannot conserve stock; only the engine can")
    return _in_scml(config, kinds)


def _in_engine(
    config: WorldConfig, kinds: Sequence[type[OneShotAgent]], conserve_stock: bool
) -> Game:
    world = World(config, [(kind, {}) for kind in kinds], conserve_stock=conserve_stock).run()
    index_of = {name: index for index, name in enumerate(config.names)}
    return Game(
        contracts=world.ledger.contracts,
        profits=[factory.profits for factory in world.factories],
        scores=[float(factory.score) for factory in world.factories],
        bankrupt=[factory.bankrupt for factory in world.factories],
        faults=[(index_of[fault.factory], fault.day, fault.error) for fault in world.faults],
    )


def _in_scml(config: WorldConfig, kinds: Sequence[type[OneShotAgent]]) -> Game:
    stream = Stream()
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        world = scml_world(config, on_one_stream(kinds, stream), folder)
        try:
            world.run()
        except Exception as error:
            if stream.raised_by is None or isinstance(error, InputError):
                raise
            faults.append((stream.raised_by, int(world.current_step), described(error)))
    names = config.names
    scores = world.scores()
    index_of = {name: index for index, name in enumerate(names)}
    return Game(
        contracts=[_contract(record, index_of) for record in world.negotiated_contract_records],
        profits=[[float(profit) for profit in world._profits[name]] for name in names],
        scores=[float(scores[name]) for name in names],
        bankrupt=[bool(world.is_bankrupt[name]) for name in names],
        faults=faults,
    )


def _contract(record: dict[str, Any], index_of: dict[str, int]) -> Contract:
    return Contract(
        seller=index_of[record["seller_name"]],
        buyer=index_of[record["buyer_name"]],
        product=int(record["product_name"][1:]),
        quantity=record["quantity"],
        day=record["delivery_time"],
        unit_price=record["unit_price"],
        concluded=record["concluded_at"],
        executed=record["executed_at"] >= 0,
    )


# --- tables --------------------------------------------------------------------------------------


def _worlds_row(plan: WorldPlan, config: WorldConfig, game: Game) -> pa.Table:
    factories = config.factories

    def spread(name: str, values: str) -> dict[str, list[list[float]]]:
        kinds = ("storage_cost", "disposal_cost", "shortfall_penalty")
        return {
            f"{kind}_{name}": [[getattr(factory, values)[k] for factory in factories]]
            for k, kind in enumerate(kinds)
        }

    return WORLDS.build(
        {
            "match": [plan.match],
            "seed": [plan.seed],
            "run": [plan.run],
            "field": [plan.field],
            "track": [plan.track],
            "steps": [plan.steps],
            "conserve_stock": [plan.conserve_stock],
            "players": [[ref.name for ref in plan.players]],
            "slots": [list(plan.slots)],
            "levels": [[factory.level for factory in factories]],
            "lines": [[factory.lines for factory in factories]],
            "costs": [[factory.cost for factory in factories]],
            "balances": [[factory.initial_balance for factory in factories]],
            **spread("means", "means"),
            **spread("deviations", "deviations"),
            "catalog_prices": [list(config.catalog_prices)],
            "scores": [game.scores],
            "faults": [[f"{factory} {day} {error}" for factory, day, error in game.faults]],
        }
    )


def _contracts_table(match: str, contracts: Sequence[Contract]) -> pa.Table:
    fields = ("seller", "buyer", "product", "quantity", "day", "unit_price", "concluded")
    return CONTRACTS.build(
        {
            "match": pa.repeat(match, len(contracts)),
            "number": np.arange(len(contracts)),
            **{name: [getattr(contract, name) for contract in contracts] for name in fields},
            "executed": [contract.executed for contract in contracts],
        }
    )


def _days_table(match: str, days: Sequence[FactoryDay]) -> pa.Table:
    columns = list(zip(*days, strict=True)) or [()] * len(FactoryDay._fields)
    return DAY_LEDGER.build(
        {
            "match": pa.repeat(match, len(days)),
            **dict(zip(FactoryDay._fields, columns, strict=True)),
        }
    )


def _results_rows(
    plan: WorldPlan, config: WorldConfig, game: Game, audits: Sequence[SafetyAudit]
) -> pa.Table:
    indices = range(len(config.factories))
    failed = [factory for factory, _, _ in game.faults]

    def same(value: object) -> list[object]:
        return [value] * len(indices)

    return RESULTS.build(
        {
            "match": same(plan.match),
            "seed": same(plan.seed),
            "player": [ref.name for ref in plan.players],
            "slot": list(indices),
            "score": game.scores,
            "run": same(plan.run),
            "field": same(plan.field),
            "level": [factory.level for factory in config.factories],
            "levels": same(len(plan.factories_per_level)),
            "competes": [index in plan.slots for index in indices],
            "steps": same(plan.steps),
            "bankrupt": game.bankrupt,
            **{name: [getattr(one, name) for one in audits] for name in audits[0]._fields},
            "faults": [failed.count(index) for index in indices],
        }
    )
