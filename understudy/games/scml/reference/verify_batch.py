"""Play the same worlds in the hosting engine and in the compiled one, with the same dice."""

import itertools
import random
import time
from collections import Counter
from collections.abc import Sequence

import pyarrow as pa
from scml.oneshot.agent import OneShotAgent

from understudy.errors import InputError
from understudy.games.scml.agent.hrl import HRLAgent
from understudy.games.scml.agent.policy import learnt_players, packaged, policy_of
from understudy.games.scml.batch.decisions import decisions_of, take_away
from understudy.games.scml.batch.learnt.policy import ManyDecisions, play
from understudy.games.scml.batch.players.ask import NATIVE
from understudy.games.scml.batch.setup import Seat, record_of
from understudy.games.scml.batch.worlds import Log, Worlds
from understudy.games.scml.domain import RISK, RULES, SafetySettings, Track
from understudy.games.scml.engine.config import WorldConfig, draw
from understudy.games.scml.engine.contracts import Contract
from understudy.games.scml.engine.economy import Ranges
from understudy.games.scml.engine.world import Player, World
from understudy.games.scml.players import catalogue
from understudy.games.scml.recording.days import day_ledger
from understudy.games.scml.recording.recorder import Recorder, recorded
from understudy.games.scml.reference.dice import DICE, dice_thrown, rolling, with_dice
from understudy.games.scml.reference.scml_simulator import quiet
from understudy.games.scml.reference.verify import Case, Comparison, Game, differences, game_of

MOST_DECISIONS = 500_000
"""Rows of a world of at most 60 days or so."""


class DicedHRL(HRLAgent):
    """HRL that draws its offers with the compiled world's dice."""

    def init(self) -> None:
        """The world is there."""
        super().init()
        self._rng = DICE  # type: ignore[assignment]


def comparable(chosen: Sequence[str], track: Track) -> list[str]:
    """Those of the players that the compiled world has, and learnt ones, asked from outside."""
    known = [*NATIVE[track], *learnt_players(RULES[track].horizon)]
    found = [name for name in chosen if name in known]
    if not found:
        raise InputError(
            f"{', '.join(chosen)}: none of them is part of the compiled world, which has "
            f"{', '.join(known)}"
        )
    return found


def compare_batch(case: Case) -> Comparison:
    """Play a case in both; one of four has its stock conserved, and in half of them learnt
    players take a risk with supplies to come."""
    config = draw(case.factories_per_level, case.steps, case.seed, case.track)
    rng = random.Random(case.seed)
    conserve = case.track == "std" and rng.random() < 0.25
    settings = SafetySettings(risk=rng.choice((0.0, RISK)))
    with quiet():
        kinds = [diced(name, case.track, settings.risk) for name in case.players]
        theirs, decided = _in_engine(config, kinds, case.seed, conserve)
        ours, noted = _in_batch(config, case.players, case.seed, conserve, settings)
    player_of = dict(zip(config.names, case.players, strict=True))
    return Comparison(
        case,
        len(theirs.contracts),
        differences(theirs, ours, ("engine", "batch")) + _other_decisions(decided, noted),
        Counter(player_of[name] for contract in theirs.contracts for name in contract[:2]),
        theirs.ended,
        theirs.cpu_seconds,
        ours.cpu_seconds,
    )


def diced(name: str, track: Track, risk: float = 0.0) -> type[OneShotAgent]:
    """The agent's class with the compiled world's dice; of ours only learnt ones toss coins."""
    if (weights := packaged(name, RULES[track].horizon)) is not None:
        return type(name, (DicedHRL,), {"checkpoint": weights, "risk": risk})
    kind = catalogue.load(name, track)
    if kind.__module__.startswith("understudy."):
        return kind
    found: type[OneShotAgent] = getattr(with_dice(kind.__module__), kind.__name__)
    return found


def _in_engine(
    config: WorldConfig, kinds: Sequence[type[OneShotAgent]], seed: int, conserve: bool
) -> tuple[Game, pa.Table]:
    started = time.process_time()
    recorder = Recorder(len(kinds))
    with dice_thrown(seed, len(kinds)):
        players: list[Player] = [(kind, {}) for kind in recorded(rolling(kinds), recorder)]
        # Not strict: where an agent's code fails, the port has to fail alike.
        world = World(config, players, conserve_stock=conserve).run()
    game = game_of(world, [], None, time.process_time() - started)
    return game, recorder.table("", config, _ranges(config, world.ledger.contracts, conserve))


def _in_batch(
    config: WorldConfig,
    players: Sequence[str],
    seed: int,
    conserve: bool,
    settings: SafetySettings,
) -> tuple[Game, pa.Table]:
    started = time.process_time()
    learnt = learnt_players(RULES[config.track].horizon)
    seats = [
        Seat(None, policy=learnt.index(name)) if name in learnt else Seat(name) for name in players
    ]
    worlds = Worlds([record_of(config, seats, seed, conserve_stock=conserve)])
    log = Log.of(1, config.steps, decisions=MOST_DECISIONS)
    paths = [packaged(name, RULES[config.track].horizon) for name in learnt]
    policies = [policy_of(path) for path in paths if path is not None]
    play(worlds, [ManyDecisions(policy, settings) for policy in policies], log)
    names, state = config.names, worlds.state[0]
    count = len(names)
    made = log.contracts[0, : state["signed"]].tolist()
    spent = time.process_time() - started
    contracts = [Contract(*row[:7]) for row in made]
    noted = take_away(log.decisions[0])
    ranges = _ranges(config, contracts, conserve)
    decided = decisions_of("", config, ranges, noted, log.contracts[0, : len(made), :2], None)
    return Game(
        contracts=[
            (names[seller], names[buyer], *rest, bool(done)) for seller, buyer, *rest, done in made
        ],
        profits=dict(zip(names, log.profits[0, : config.steps, :count].T.tolist(), strict=True)),
        stock=dict(zip(names, state["stock"][:count].tolist(), strict=True)),
        scores=dict(zip(names, worlds.scores[0, :count].tolist(), strict=True)),
        prices=state["price"][: config.num_products].tolist(),
        calls=[],
        ended=None,
        cpu_seconds=spent,
    ), decided


def _ranges(
    config: WorldConfig, contracts: Sequence[Contract], conserve: bool
) -> list[list[Ranges]]:
    """What could be offered, by day and product."""
    return day_ledger(config, contracts, conserve).ranges


def _other_decisions(theirs: pa.Table, ours: pa.Table) -> list[str]:
    """In words, the first that was recorded otherwise; empty if there is none."""
    if theirs.equals(ours):
        return []
    rows = itertools.zip_longest(theirs.to_pylist(), ours.to_pylist())
    number, (one, other) = next((n, pair) for n, pair in enumerate(rows) if pair[0] != pair[1])
    return [f"decision {number}: engine {one}, batch {other}"]
