"""Play the same worlds in scml and in our engine, and compare all that happened."""

import itertools
import random
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rich import box
from rich.table import Table
from scml.oneshot.agent import OneShotAgent

from understudy import workers
from understudy.data.players import PlayerRef
from understudy.errors import InputError
from understudy.games.scml.domain import Track
from understudy.games.scml.engine.config import WorldConfig, draw
from understudy.games.scml.engine.world import World
from understudy.games.scml.players import catalogue
from understudy.games.scml.reference.reseeding import reseeded
from understudy.games.scml.reference.scml_simulator import quiet, scml_world

MIXED = "mixed"
NUM_LEVELS: dict[Track, tuple[int, ...]] = {"std": (2, 3, 4), "oneshot": (2,)}
WORLD_DAYS = (20, 50)
NUM_FACTORIES = (2, 4)
"""Per level. Fewer days and factories than in the league: stock scml is slow."""


@dataclass(frozen=True)
class Case:
    """A world to be played twice."""

    track: Track
    field: str
    """What to call this set of players."""
    players: tuple[str, ...]
    """By factory."""
    factories_per_level: tuple[int, ...]
    steps: int
    seed: int
    own: tuple[PlayerRef, ...] = ()
    """Those of the players that were brought along, with their code."""

    def kinds(self) -> list[type[OneShotAgent]]:
        """The classes of the players, with nothing left of other worlds."""
        own = {ref.name: ref.code for ref in self.own if ref.code is not None}
        return catalogue.load_for_world(self.players, self.track, own)


@dataclass(frozen=True)
class Game:
    """All that happened in one world."""

    contracts: list[tuple[Any, ...]]
    """Seller, buyer, product, quantity, day, price, day of conclusion, executed; in order."""
    profits: dict[str, list[float]]
    stock: dict[str, int]
    scores: dict[str, float]
    prices: list[float]
    calls: list[int]
    ended: str | None
    """What ended it early: an exception of an agent, and when."""
    cpu_seconds: float


@dataclass(frozen=True)
class Comparison:
    """What came of a case."""

    case: Case
    contracts: int
    differences: list[str] = field(default_factory=list)
    signed: Counter[str] = field(default_factory=Counter)
    """Contracts by player; one between two factories of the same player counts twice."""
    ended: str | None = None
    scml_seconds: float = 0.0
    engine_seconds: float = 0.0


@dataclass(frozen=True)
class FieldResult:
    """All cases of one field added up."""

    field: str
    worlds: int
    contracts: int
    differences: list[str]
    """In words, each with its case."""
    ended: int
    """Worlds that an exception of an agent ended, in both simulators alike."""
    silent: tuple[str, ...]
    """Players that signed nothing in any of these worlds: of them, no difference proves little."""
    scml_seconds: float
    engine_seconds: float


def verify(
    chosen: Sequence[str],
    num_worlds: int,
    seed: int,
    *,
    track: Track = "std",
    own: Sequence[PlayerRef] = (),
    comparing: Callable[[Case], Comparison] | None = None,
    worker: str | int | None = None,
    quiet: bool = False,
) -> list[FieldResult]:
    """Every agent alone in `num_worlds` worlds and in mixed worlds of each number of levels.

    A result per agent alone, and one for all mixed worlds. `own` are those of the agents that were
    brought along. `comparing` plays a world in two simulators: scml and our engine, unless told
    otherwise.
    """
    if num_worlds < 1:
        raise InputError(f"--worlds must be at least 1, not {num_worlds}")
    planned = [replace(case, own=tuple(own)) for case in cases(chosen, num_worlds, seed, track)]
    outcomes = workers.run(
        comparing or compare,
        {f"{number:04d}": case for number, case in enumerate(planned)},
        workers=worker,
        title="verifying",
        quiet=quiet,
    )
    by_field: dict[str, list[Comparison]] = defaultdict(list)
    for case, outcome in zip(planned, outcomes, strict=True):
        failed = Comparison(case, 0, [f"could not be played: {outcome.error}"])
        by_field[case.field].append(outcome.value or failed)
    return [_add_up(field, comparisons) for field, comparisons in by_field.items()]


def _add_up(field: str, comparisons: Sequence[Comparison]) -> FieldResult:
    players = {name for one in comparisons for name in one.case.players}
    signed = sum((one.signed for one in comparisons), Counter[str]())
    return FieldResult(
        field,
        len(comparisons),
        sum(one.contracts for one in comparisons),
        [
            f"{one.case.field}, world {one.case.seed}, {one.case.factories_per_level} factories, "
            f"{one.case.steps} days: {difference}"
            for one in comparisons
            for difference in one.differences
        ],
        sum(one.ended is not None for one in comparisons),
        tuple(name for name in sorted(players) if not signed[name]),
        sum(one.scml_seconds for one in comparisons),
        sum(one.engine_seconds for one in comparisons),
    )


def cases(chosen: Sequence[str], num_worlds: int, seed: int, track: Track = "std") -> list[Case]:
    """The worlds to play: everybody alone, and everybody in mixed worlds of each number of levels.

    Mixed worlds are dealt as often as worlds alone come round to the same number of levels.
    """
    rng = random.Random(seed)
    num_levels = NUM_LEVELS[track]
    found = []
    for name in chosen:
        for number in range(num_worlds):
            sizes, steps = _size(rng, num_levels[number % len(num_levels)])
            players = (name,) * sum(sizes)
            found.append(Case(track, name, players, sizes, steps, _seed(rng)))
    for _ in range(-(-num_worlds // len(num_levels))):
        for levels in num_levels:
            found += _dealt(chosen, levels, track, rng)
    return found


def _dealt(chosen: Sequence[str], levels: int, track: Track, rng: random.Random) -> Iterator[Case]:
    """Mixed worlds with so many levels: as few as give everybody a factory."""
    everybody = sorted({*chosen, *catalogue.BACKGROUND_AGENTS[track]})
    waiting = rng.sample(list(chosen), len(chosen))
    while waiting:
        sizes, steps = _size(rng, levels)
        players, waiting = waiting[: sum(sizes)], waiting[sum(sizes) :]
        # Who is there already comes last: so no world is left to one kind of agent.
        company = [name for name in everybody if name not in players]
        rest = itertools.cycle([*rng.sample(company, len(company)), *players])
        players += itertools.islice(rest, sum(sizes) - len(players))
        rng.shuffle(players)
        yield Case(track, MIXED, tuple(players), sizes, steps, _seed(rng))


def _size(rng: random.Random, levels: int) -> tuple[tuple[int, ...], int]:
    return tuple(rng.randint(*NUM_FACTORIES) for _ in range(levels)), rng.randint(*WORLD_DAYS)


def _seed(rng: random.Random) -> int:
    return rng.randrange(10**6)


def compare(case: Case) -> Comparison:
    """Play a case in both simulators."""
    config = draw(case.factories_per_level, case.steps, case.seed, case.track)
    with quiet():
        theirs = play_in_scml(config, case.kinds(), case.seed)
        ours = play_in_engine(config, case.kinds(), case.seed)
    player_of = dict(zip(config.names, case.players, strict=True))
    return Comparison(
        case,
        len(theirs.contracts),
        differences(theirs, ours),
        Counter(player_of[name] for contract in theirs.contracts for name in contract[:2]),
        theirs.ended,
        theirs.cpu_seconds,
        ours.cpu_seconds,
    )


def differences(
    theirs: Game, ours: Game, called: tuple[str, str] = ("scml", "engine")
) -> list[str]:
    """In words, the first of each kind; empty if the two games are the same."""
    found = []
    one, other = called
    for number, pair in enumerate(itertools.zip_longest(theirs.contracts, ours.contracts)):
        if pair[0] != pair[1]:
            found.append(f"contract {number}: {one} {pair[0]}, {other} {pair[1]}")
            break
    for what in ("profits", "stock", "scores"):
        for name, theirs_of in getattr(theirs, what).items():
            ours_of = getattr(ours, what).get(name)
            if theirs_of != ours_of:
                found.append(f"{what} of {name}: {_first_difference(theirs_of, ours_of, called)}")
    for what in ("prices", "calls", "ended"):
        if getattr(theirs, what) != getattr(ours, what):
            found.append(f"{what}: {one} {getattr(theirs, what)}, {other} {getattr(ours, what)}")
    return found


def _first_difference(theirs: Any, ours: Any, called: tuple[str, str]) -> str:
    if isinstance(theirs, list) and isinstance(ours, list):
        for day, pair in enumerate(itertools.zip_longest(theirs, ours)):
            if pair[0] != pair[1]:
                return f"on day {day} {called[0]} {pair[0]}, {called[1]} {pair[1]}"
    return f"{called[0]} {theirs}, {called[1]} {ours}"


# --- one world in each simulator -----------------------------------------------------------------


def play_in_engine(config: WorldConfig, kinds: Sequence[type[OneShotAgent]], seed: int) -> Game:
    """The game as our engine plays it."""
    started = time.process_time()
    calls, seeded = reseeded(kinds, seed)
    world = World(config, [(kind, {}) for kind in seeded], strict=True)
    ended = None
    try:
        world.run()
    except Exception as error:
        ended = f"{type(error).__name__} on day {world.day}"
    return game_of(world, calls, ended, time.process_time() - started)


def game_of(world: World, calls: Sequence[int], ended: str | None, cpu_seconds: float) -> Game:
    """All that happened in a world of our engine."""
    names = world.config.names
    return Game(
        contracts=[
            (
                names[contract.seller],
                names[contract.buyer],
                contract.product,
                contract.quantity,
                contract.day,
                contract.unit_price,
                contract.concluded,
                contract.executed,
            )
            for contract in world.ledger.contracts
        ],
        profits={name: list(f.profits) for name, f in zip(names, world.factories, strict=True)},
        stock={name: f.stock for name, f in zip(names, world.factories, strict=True)},
        scores={name: float(f.score) for name, f in zip(names, world.factories, strict=True)},
        prices=[float(price) for price in world.prices.now],
        calls=list(calls),
        ended=ended,
        cpu_seconds=cpu_seconds,
    )


def play_in_scml(config: WorldConfig, kinds: Sequence[type[OneShotAgent]], seed: int) -> Game:
    """The game as scml plays it, with its logs and threads switched off."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.process_time()
        calls, seeded = reseeded(kinds, seed)
        world = scml_world(config, seeded, folder)
        ended = None
        try:
            world.run()
        except Exception as error:
            ended = f"{type(error).__name__} on day {world.current_step}"
        seconds = time.process_time() - started
    names = config.names
    scores = world.scores()
    return Game(
        contracts=[
            (
                record["seller_name"],
                record["buyer_name"],
                int(record["product_name"][1:]),
                record["quantity"],
                record["delivery_time"],
                record["unit_price"],
                record["concluded_at"],
                record["executed_at"] >= 0,
            )
            for record in world.negotiated_contract_records
        ],
        profits={name: [float(profit) for profit in world._profits[name]] for name in names},
        stock={name: world._inventory_input[name] for name in names},
        scores={name: float(scores[name]) for name in names},
        prices=[float(price) for price in world.trading_prices],
        calls=list(calls),
        ended=ended,
        cpu_seconds=seconds,
    )


def results_table(
    results: Sequence[FieldResult], called: tuple[str, str] = ("scml", "engine")
) -> Table:
    """A row per field. Seeding every call slows both down, ours more: see `benchmarks/`."""
    title = f"{called[0]} and {called[1]}, same worlds"
    table = Table(title=title, title_justify="left", box=box.SIMPLE, padding=0)
    table.add_column("agents", no_wrap=True)
    seconds = tuple(f"{name} s" for name in called)
    for name in ("worlds", "failed", "contracts", "differ", *seconds, "faster"):
        table.add_column(name, justify="right", no_wrap=True, min_width=len(name))
    for result in results:
        table.add_row(
            result.field,
            f"{result.worlds}",
            f"{result.ended}",
            f"{result.contracts:,}",
            f"{len(result.differences)}",
            f"{result.scml_seconds:.1f}",
            f"{result.engine_seconds:.1f}",
            f"{result.scml_seconds / max(result.engine_seconds, 1e-9):.1f}x",
        )
    return table


def silent_lines(results: Sequence[FieldResult]) -> list[str]:
    """Who signed nothing, alone and in mixed worlds, a line each; none where everybody signed."""
    alone = [name for result in results if result.field != MIXED for name in result.silent]
    mixed = [name for result in results if result.field == MIXED for name in result.silent]
    told = (("alone", alone), ("in mixed worlds", mixed))
    return [f"signed nothing {where}: {', '.join(names)}" for where, names in told if names]
