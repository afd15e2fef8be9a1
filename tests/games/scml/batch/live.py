"""The same worlds twice: hosted agents that keep what they saw and said, and the compiled world."""

import functools
import random
from typing import Any, NamedTuple

import numpy as np
from scml.std.agents import StdDoNothingAgent

from understudy.games.scml.agent.hrl import HRLAgent, L1Agent, L1RiskAgent
from understudy.games.scml.batch.setup import Seat, record_of
from understudy.games.scml.batch.speech import place_of
from understudy.games.scml.batch.state import ACCEPT, END, REJECT
from understudy.games.scml.batch.worlds import Log, Worlds
from understudy.games.scml.engine.config import WorldConfig, draw
from understudy.games.scml.engine.responses import ACCEPT_OFFER, END_NEGOTIATION, REJECT_OFFER
from understudy.games.scml.engine.world import World
from understudy.games.scml.players.steward import Steward
from understudy.games.scml.reference.dice import DICE, dice_thrown, rolling, with_dice

_REPLIES = {ACCEPT_OFFER: ACCEPT, REJECT_OFFER: REJECT, END_NEGOTIATION: END}


class Kept(NamedTuple):
    """One joint decision of a hosted agent."""

    columns: Any
    seen: Any
    goals: Any
    order: list[int]
    answers: dict[str, tuple[int, tuple[int, int, int] | None]]


class Watched(HRLAgent):
    """HRL that rolls the compiled world's dice and keeps its decisions."""

    def init(self):
        super().init()
        self._rng = DICE
        self.kept: list[Kept] = []

    def _deliberate(self, state):
        now = super()._deliberate(state)
        self._now = now
        return now

    def _decide(self, state, call):
        decided = super()._decide(state, call)
        answers = {
            name: (_REPLIES[decision.response], decision.offer)
            for name, decision in decided.items()
        }
        self.kept.append(
            Kept(
                self._now.columns,
                self._now.seen,
                self._goal_input,
                self._now.ranked.order.tolist(),
                answers,
            )
        )
        return decided


class WatchedL1(Watched):
    checkpoint = None


@functools.cache
def kinds() -> dict[str, type]:
    return {
        "Greedy": with_dice("scml.std.agents.greedy").GreedyStdAgent,
        "Random": with_dice("scml.std.agents.rand").RandomStdAgent,
        "DoNothing": StdDoNothingAgent,
        "Steward": Steward,
        "L1": L1Agent,
        "L1Risk": L1RiskAgent,
    }


class Played(NamedTuple):
    """A world of the hosting engine."""

    contracts: list[tuple[int, ...]]
    scores: list[float]
    kept: dict[int, list[Kept]]
    """By factory, of those that are watched."""
    names: list[str]


def hosted(
    config: WorldConfig, players: list[str], seed: int, conserve: bool = False, risk: float = 0.0
) -> Played:
    """Play with hosted agents; HRL and L1, who take the risk, by the names HRL and Watched L1."""
    own = {"HRL": Watched, "Watched L1": WatchedL1}
    classes = [own.get(name) or kinds()[name] for name in players]
    told = [{"risk": risk} if name in own else {} for name in players]
    with dice_thrown(seed, len(players)):
        made = list(zip(rolling(classes), told, strict=True))
        world = World(config, made, conserve_stock=conserve, strict=True)
        world.run()
    agents = [host.agent for host in world.hosts]
    return Played(
        [
            (c.seller, c.buyer, c.product, c.quantity, c.day, c.unit_price, c.concluded)
            for c in world.ledger.contracts
        ],
        [factory.score for factory in world.factories],
        {i: agent.kept for i, agent in enumerate(agents) if isinstance(agent, Watched)},
        [agent.id for agent in agents],
    )


def compiled(config: WorldConfig, players: list[str], seed: int, conserve: bool = False) -> Any:
    """The record of the same world; HRL is a learner."""
    seats = [Seat(None if name in ("HRL", "Watched L1") else name) for name in players]
    return record_of(config, seats, seed, conserve_stock=conserve)


def results(worlds: Worlds, log: Log, index: int, factories: int) -> tuple[Any, Any]:
    """Contracts and scores of a compiled world, as `Played` has them."""
    signed = int(worlds.state["signed"][index])
    contracts = [tuple(row[:7]) for row in log.contracts[index, :signed].tolist()]
    return contracts, worlds.scores[index, :factories].tolist()


def answer(worlds: Worlds, index: int, names: list[str], kept: Kept) -> None:
    """Tell a waiting world what the hosted agent answered."""
    fixed, world = worlds.fixed[index], worlds.state[index]
    for name, (response, offer) in kept.answers.items():
        place = place_of(fixed, int(world["asked"]), names.index(name))
        world["reply"][place] = response
        world["reply_offer"][place] = offer or (0, 0, 0)
    world["answered"] = 1


def mixed(seed: int, players: list[str], days: int = 15) -> tuple[WorldConfig, list[str]]:
    """A small world and who plays in it."""
    rng = random.Random(seed)
    sizes = [rng.randint(2, 5) for _ in range(rng.randint(2, 4))]
    config = draw(sizes, rng.randint(12, days), seed)
    return config, [rng.choice(players) for _ in config.factories]


def equal(left: Any, right: Any) -> bool:
    """Whether two tuples of arrays are the same to the last bit."""
    return all(
        a.dtype == b.dtype and np.array_equal(a, b) for a, b in zip(left, right, strict=True)
    )
