"""What our JSON files must look like: one declared shape per kind, checked when they are read.

Keys that may be missing are NotRequired; keys that are not named here are let be.
"""

from typing import Any, Literal, NotRequired, TypedDict

Named = dict[str, Any]
Numbers = dict[str, float | None]


class Manifest(TypedDict):
    """How a folder was made."""

    stage: str
    settings: Named
    inputs: dict[str, str]
    command: list[str]
    versions: dict[str, str]
    begun: str
    finished: str | None
    hash_seed: NotRequired[str | None]
    facts: NotRequired[Named]


class Encoded(TypedDict):
    """What came of an encoding, as its manifest says it."""

    counts: dict[str, float]


class Tasks(TypedDict):
    """What a stage has to do, task by task."""

    total: int
    table: str
    failed: dict[str, str]


class ImportNote(TypedDict):
    """What came of one part of an import."""

    matches: int
    rejected: list[str]
    stamp: Any
    missing: NotRequired[dict[str, int]]
    known: NotRequired[int]


# --- Training ------------------------------------------------------------------------------------


class Between(TypedDict):
    """A mean with its interval."""

    mean: float
    low: float
    high: float


MetricsLine = dict[str, float | int]
"""A line of metrics.jsonl: `step` and what was measured."""


class ValueWeights(TypedDict):
    """A value model of Dota."""

    format: int | str
    columns: list[str]
    weights: dict[str, list[float]]
    spread: list[float]
    patches: list[str]
    seen: dict[str, tuple[float, float]]
    trained_on: NotRequired[list[int]]
    missed: NotRequired[dict[str, list[tuple[float, float]]]]


class TeamRatings(TypedDict):
    """How strong Dota's teams are: mean, variance, last result, matches of each."""

    format: int
    until: int
    matches: int
    settings: dict[str, float]
    teams: dict[str, list[float]]


# --- Leagues -------------------------------------------------------------------------------------


class Worst(TypedDict):
    """A least win rate."""

    opponent: str
    among: int
    matches: int
    mean: float
    low: float
    high: float


class PlayerShape(TypedDict):
    """Somebody frozen."""

    name: str
    kind: str
    role: str | None
    learner: str | None
    parent: str | None
    round: int
    agent_steps: int
    reason: str


class LearnerShape(TypedDict):
    """Somebody who learns."""

    name: str
    role: str
    version: str
    parent: str
    begun_from: str
    life: int
    agent_steps: int
    unsaved_steps: int


class Stood(TypedDict):
    """How a learner stood after a round."""

    version: str
    parent: str
    begun_from: str
    life: int
    agent_steps: int


class Kept(TypedDict):
    """A snapshot that was taken."""

    name: str
    reason: str


class Round(TypedDict):
    """What one round left to tell of."""

    round: int
    agent_steps: int
    match_steps: NotRequired[int]
    opponents: dict[str, dict[str, float]]
    kept: list[Kept]
    learners: dict[str, Stood]
    worst: dict[str, Between | None]
    nash: dict[str, float]
    reset: dict[str, str]
    metrics: NotRequired[dict[str, MetricsLine]]


Tally = tuple[str, str, float, float, float]


class Payoffs(TypedDict):
    """Who fared how against whom."""

    played: list[Tally]


class LeagueVersion(TypedDict):
    """What every league's state has had, in whatever version."""

    schema: str
    version: int


class LeagueShown(TypedDict):
    """What a page shows of a league's state."""

    start: str
    match_steps: int
    players: list[PlayerShape]
    history: list[Round]


class LeagueState(LeagueShown):
    """Everything a league knows."""

    schema: Literal["understudy.league"]
    version: int
    round: int
    agent_steps: int
    seeds: int
    learners: list[LearnerShape]
    weights: dict[str, str]
    payoff: Payoffs


class Rated(TypedDict):
    """A player with its rating."""

    name: str
    kind: NotRequired[str]
    role: NotRequired[str | None]
    learner: NotRequired[str | None]
    parent: NotRequired[str | None]
    present: NotRequired[list[str]]
    rating: float
    low: float
    high: float


class CurvePoint(TypedDict):
    """A learner's rating after one round."""

    round: int
    agent_steps: int
    value: float
    low: float
    high: float


class PairShape(TypedDict):
    """One side of a pair."""

    player: str
    opponent: str
    wins: float
    draws: float
    losses: float
    mean: float
    low: float
    high: float


class Exploit(TypedDict):
    """What an approximate best response has measured."""

    agent_steps: int
    matches: int
    mean: float
    low: float
    high: float


class Watched(TypedDict):
    """A match worth watching."""

    kind: str
    match: str
    round: int
    seed: int
    players: tuple[str, str]
    winner: str
    why: str


class LeagueSummary(TypedDict):
    """What came of a league."""

    rounds: int
    agent_steps: int
    match_steps: int
    matches: int
    elo_scale: str
    players: list[Rated]
    rating_curves: dict[str, list[CurvePoint]]
    win_rates: list[PairShape]
    nash: dict[str, float]
    own_nash: NotRequired[dict[str, float]]
    relative_population_performance: float | None
    minimum_win_rate: dict[str, Worst | None]
    best_response: dict[str, Exploit]
    exact: NotRequired[dict[str, float]]
    cyclicity: NotRequired[dict[str, float]]
    way: NotRequired[str]
    verdict: NotRequired[str]
    highlights: list[Watched]


class LeagueMatch(TypedDict):
    """A line of matches.jsonl."""

    round: int
    match: str
    players: tuple[str, str]
    seed: int
    score: float


# --- Searches ------------------------------------------------------------------------------------


class SearchGeneration(TypedDict):
    """One generation of a search."""

    number: int
    told: dict[str, float]
    gain: float
    error: float
    accepted: bool
    tried: dict[str, float]


class SearchState(TypedDict):
    """How far a search is."""

    settings: Named
    generations: list[SearchGeneration]


class TunedNumbers(TypedDict):
    """What a search has found."""

    numbers: dict[str, dict[str, float]]


class TuningTrial(TypedDict):
    """A line of trials.jsonl."""

    number: int
    settings: Named
    value: float | None
    fault: NotRequired[str]
