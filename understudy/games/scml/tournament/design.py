"""Who meets whom: tournaments planned world by world, before anything is played.

A *configuration* is a world without its players. Some of its factories are *slots* for competitors,
the others belong to background agents, the same in every world of the configuration. Competitors
come in sets as large as there are slots, and each set is rotated through the slots, one world per
turn: in every slot each of them plays once, all else equal. That makes their scores comparable.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from understudy.data.players import PlayerRef, code_stamps
from understudy.errors import InputError
from understudy.games.scml.domain import Track
from understudy.games.scml.players import catalogue

Simulator = Literal["engine", "scml", "batch"]
DesignName = Literal["official", "champions", "penguins"]

DESIGNS: dict[DesignName, str] = {
    "official": "two to four competitors among built-in agents, as the league draws its worlds",
    "champions": "competitors only, one factory each",
    "penguins": "two to four competitors among Penguins",
}
WORLD_DAYS = (50, 200)
FEWEST_DAYS = 6
"""More than there are products: goods take a day per level."""
NUM_LEVELS = (2, 4)
NUM_FACTORIES = (4, 6)
"""Per level. These three are the league's (anac2024_std and its configuration generator)."""
NUM_COMPETITORS = (2, 4)
"""In a world of the league."""
MOST_CHAMPIONS = 15
"""In one world, unless told otherwise."""
MOST_CONFIGS = 10**6


@dataclass(frozen=True, slots=True)
class WorldPlan:
    """A world to be played. Those of the same `seed` share configuration and background agents."""

    match: str
    field: str
    track: Track
    factories_per_level: tuple[int, ...]
    steps: int
    seed: int
    run: int
    players: tuple[PlayerRef, ...]
    """By factory, the first level first."""
    slots: tuple[int, ...]
    """The factories of those that compete; the others are background agents."""
    conserve_stock: bool = False
    simulator: Simulator = "engine"
    watched: frozenset[str] | None = None
    """Whose decisions are recorded; None: everybody's."""
    recorded: bool = True
    """Whether it is recorded in full; else only its outcome."""
    trace: Path | None = None
    """Where HRL-XF writes down how it decides (`trace.py`); None: nowhere."""
    isolated: bool = False
    """Whether it is played in a process of its own (`isolation.py`)."""
    seconds: float | None = None
    """How long it may take then; None: as long as usual."""


@dataclass(frozen=True, kw_only=True)
class Tournament:
    """All that decides which worlds are played."""

    field: DesignName
    competitors: tuple[PlayerRef, ...]
    configs: int
    runs: int = 1
    competitors_per_world: int | None = None
    """None: as many as the field has."""
    max_worlds_per_config: int | None = None
    """Of each run. None: one set of competitors, rotated once."""
    target_worlds: int | None = None
    """Instead of `max_worlds_per_config`: so many in all, or a few more."""
    round_robin: bool = True
    """Everybody plays equally often; else sets are drawn at random."""
    steps: int | None = None
    """None: drawn."""
    track: Track = "std"
    seed: int = 0
    conserve_stock: bool = False
    simulator: Simulator = "engine"

    def settings(self) -> dict[str, Any]:
        """What tells one tournament from another, fit for JSON."""
        plain = vars(self) | {"competitors": [ref.name for ref in self.competitors]}
        if stamps := code_stamps(self.competitors):
            plain["code"] = stamps
        return {"game": "scml", **plain}

    @property
    def most_slots(self) -> int:
        """The most competitors that one of its worlds can have."""
        if self.competitors_per_world is not None:
            return self.competitors_per_world
        most = MOST_CHAMPIONS if self.field == "champions" else NUM_COMPETITORS[1]
        return min(most, len(self.competitors))

    @property
    def background(self) -> tuple[str, ...]:
        """Who fills the places that no competitor has."""
        if self.field == "penguins":
            return ("Penguin",)
        return catalogue.BACKGROUND_AGENTS[self.track]

    def check(self) -> None:
        """Refuse what cannot be played, or not fairly, and say what could."""
        for name in ("configs", "runs", "competitors_per_world", "target_worlds", "steps"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"--{name.replace('_', '-')} must be at least 1, not {value}")
        if self.configs > MOST_CONFIGS:
            raise InputError(f"--configs can be {MOST_CONFIGS:,} at most, not {self.configs:,}")
        if self.steps is not None and self.steps < FEWEST_DAYS:
            raise InputError(f"--steps must be at least {FEWEST_DAYS}, not {self.steps}")
        if self.conserve_stock and self.simulator == "scml":
            raise InputError("scml cannot conserve stock; only --simulator engine can")
        names = [ref.name for ref in self.competitors]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(f"{twice} is named twice; name each competitor once")
        if self.simulator != "batch":  # which has players of its own
            catalogue.require([*names, *self.background], self.track)
        self._check_sizes()
        self._check_fairness()

    def require_rivals(self) -> None:
        """Refuse a comparison of one: scores are compared with others' in the same slots."""
        if len(self.competitors) < 2:
            only = self.competitors[0].name
            other = "AS0" if only == "Penguin" else "Penguin"
            raise InputError(
                f"{only} alone cannot be compared with anybody; name a rival, "
                f"such as {other if self.track == 'std' else 'Rchan'}"
            )

    def _check_sizes(self) -> None:
        there, fewest = len(self.competitors), 4 if self.field == "champions" else 1
        if there < fewest:
            raise InputError(
                f"a world of champions needs {fewest} competitors, there are {there}. Name more, "
                "or choose --field official, where others fill the world"
            )
        if self.competitors_per_world is not None:
            if self.competitors_per_world > there:
                raise InputError(
                    f"--competitors-per-world {self.competitors_per_world}, but only {there} "
                    f"compete: choose at most {there}, or name more with --agents"
                )
            if self.competitors_per_world < fewest:
                raise InputError(f"a world of champions needs {fewest} competitors at least")

    def _check_fairness(self) -> None:
        allowed, needed = self.max_worlds_per_config, self.most_slots
        if allowed is None:
            return
        if self.target_worlds is not None:
            raise InputError("give --max-worlds-per-config or --target-worlds, not both")
        if allowed < needed:
            raise InputError(
                f"no fair assignment: {needed} competitors take {needed} worlds to play every "
                f"slot once, --max-worlds-per-config is {allowed}. Raise it to {needed}, or lower "
                f"--competitors-per-world to {allowed}"
            )


def plan(tournament: Tournament, *, purpose: int) -> list[WorldPlan]:
    """Every world, in order. No world of one `purpose` shares its configuration with another's."""
    tournament.check()
    deck = _Deck(tournament, random.Random(f"{tournament.seed}/{purpose}"))
    worlds: list[WorldPlan] = []
    for number in range(tournament.configs):
        seed = (2 * tournament.seed + purpose) * MOST_CONFIGS + number
        layout = _layout(tournament, random.Random(seed))
        sets = -(-_worlds_per_run(tournament) // len(layout.slots))
        for turn in range(sets):
            chosen = deck.take(len(layout.slots))
            worlds += _rotations(tournament, layout, chosen, f"{number}-{turn}", seed)
    return worlds


@dataclass(frozen=True)
class _Layout:
    """A configuration's sizes, and who plays where but in the slots."""

    factories_per_level: tuple[int, ...]
    steps: int
    slots: tuple[int, ...]
    background: tuple[str, ...]


def _layout(tournament: Tournament, rng: random.Random) -> _Layout:
    steps = tournament.steps or rng.randint(*WORLD_DAYS)
    if tournament.field == "champions":
        sizes = _even_sizes(tournament, rng)
        slots = list(range(sum(sizes)))
    else:
        fewest = min(NUM_COMPETITORS[0], len(tournament.competitors))
        count = tournament.competitors_per_world or rng.randint(fewest, tournament.most_slots)
        sizes, slots = league_sizes(tournament.track, count, rng)
    rng.shuffle(slots)
    company = tuple(rng.choice(tournament.background) for _ in range(sum(sizes)))
    return _Layout(sizes, steps, tuple(slots), company)


def league_sizes(track: Track, count: int, rng: random.Random) -> tuple[tuple[int, ...], list[int]]:
    """Factories per level and where the competitors sit (scml.utils.anac_config_generator)."""
    levels = 2 if track == "oneshot" else rng.randint(*NUM_LEVELS)
    fewest, most = NUM_FACTORIES
    background, guests = _cut(levels * fewest, levels, rng), _cut(count, levels, rng)
    slots: list[int] = []
    first = 0
    for level in range(levels):
        if guests[level] + background[level] < fewest:
            background[level] = fewest - guests[level]
        if guests[level] + background[level] > most and background[level] > 1:
            background[level] = max(1, fewest - guests[level])
        slots += range(first, first + guests[level])
        first += guests[level] + background[level]
    return tuple(a + b for a, b in zip(guests, background, strict=True)), slots


def _cut(total: int, parts: int, rng: random.Random) -> list[int]:
    """Whole numbers that add up to `total`."""
    found = [0] * parts
    for _ in range(total):
        found[rng.randrange(parts)] += 1
    return found


def _even_sizes(tournament: Tournament, rng: random.Random) -> tuple[int, ...]:
    """As many factories as competitors, 4 to 6 a level where that is possible."""
    count = tournament.most_slots
    fewest, most = NUM_FACTORIES
    fitting = [
        n for n in range(NUM_LEVELS[0], NUM_LEVELS[1] + 1) if fewest * n <= count <= most * n
    ]
    levels = rng.choice(fitting) if fitting else NUM_LEVELS[0] if count < 12 else NUM_LEVELS[1]
    if tournament.track == "oneshot":
        levels = 2
    sizes = [count // levels + (level < count % levels) for level in range(levels)]
    rng.shuffle(sizes)
    return tuple(sizes)


def _worlds_per_run(tournament: Tournament) -> int:
    """Of one configuration; as many sets are rotated whole as it takes."""
    if tournament.target_worlds is not None:
        return -(-tournament.target_worlds // (tournament.configs * tournament.runs))
    if tournament.max_worlds_per_config is None:
        return 1
    slots = tournament.most_slots
    return tournament.max_worlds_per_config // slots * slots


class _Deck:
    """Hands out sets of competitors, all equally often or at random."""

    def __init__(self, tournament: Tournament, rng: random.Random) -> None:
        self._everybody = tournament.competitors
        self._in_turn = tournament.round_robin
        self._rng = rng
        self._waiting: list[PlayerRef] = []

    def take(self, count: int) -> list[PlayerRef]:
        """The next so many different ones."""
        if not self._in_turn:
            return self._rng.sample(self._everybody, count)
        chosen: list[PlayerRef] = []
        put_off: list[PlayerRef] = []
        while len(chosen) < count:
            if not self._waiting:  # a new round
                self._waiting = self._rng.sample(self._everybody, len(self._everybody))
            ref = self._waiting.pop()
            (put_off if ref in chosen else chosen).append(ref)
        self._waiting += put_off
        return chosen


@cache
def _scripted(name: str) -> PlayerRef:
    """One for all worlds: of millions of them, each would hold dozens of its own."""
    return PlayerRef(name)


def _rotations(
    tournament: Tournament, layout: _Layout, chosen: Sequence[PlayerRef], name: str, seed: int
) -> Iterator[WorldPlan]:
    background = [_scripted(agent) for agent in layout.background]
    for turn in range(len(chosen)):
        players = list(background)
        for index, slot in enumerate(layout.slots):
            players[slot] = chosen[(index + turn) % len(chosen)]
        for run in range(tournament.runs):
            yield WorldPlan(
                match=f"{tournament.field}-{name}-{turn}-{run}",
                field=tournament.field,
                track=tournament.track,
                factories_per_level=layout.factories_per_level,
                steps=layout.steps,
                seed=seed,
                run=run,
                players=tuple(players),
                slots=layout.slots,
                conserve_stock=tournament.conserve_stock,
                simulator=tournament.simulator,
            )


def design_named(name: str) -> DesignName:
    """A field by its name on the command line."""
    found: DesignName = _one_of(get_args(DesignName), "field", name)
    return found


def simulator_named(name: str) -> Simulator:
    """A simulator by its name on the command line."""
    found: Simulator = _one_of(get_args(Simulator), "simulator", name)
    return found


def _one_of(known: Sequence[str], what: str, name: str) -> Any:
    """The name, if there is such a thing; the caller says of which type it then is."""
    if name not in known:
        raise InputError(f"there is no {what} '{name}'; there is {', '.join(known)}")
    return name
