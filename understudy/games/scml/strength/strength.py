"""Who is strong: results of SCML worlds turned into scores that can be compared, with intervals.

Where a factory stands matters more than who runs it, so players are compared slot by slot: the
competitors of a configuration take turns in its slots, all else equal. What one player scored above
another in the same slot is theirs; what the slot is worth drops out. Background agents are not
assessed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.data.arrays import Array
from understudy.data.stats import FEW, Estimate, as_share, ratio, resample_weights, widened
from understudy.errors import InputError
from understudy.games.scml.strength.effects import Equations, official_score, official_scores
from understudy.games.scml.strength.paired import LEVEL_NAMES, PairedComparisons, Rows


@dataclass(frozen=True)
class Rates:
    """How a player came by its score. None: there was nothing to take a share of."""

    bankrupt: float
    """Share of worlds."""
    agreement: float | None
    """Negotiations that ended with a contract."""
    shortfall: float | None
    """Units promised that could not be made."""
    unsafe: float | None
    """Sales contracts beyond what was known to suffice."""
    over_lines: float | None
    """Sales contracts beyond the lines."""
    faults: float
    """Failures of its code, per world."""


@dataclass(frozen=True)
class AtLevel:
    """A player in the first, a middle or the last level."""

    rows: int
    mean: float
    adjusted: Estimate | None
    """None: at this level no chain of shared slots leads to all others of its group."""


@dataclass(frozen=True)
class PlayerStrength:
    """One player over all worlds."""

    player: str
    group: int
    """Only players of the same group can be compared; 0 is the largest."""
    rows: int
    configurations: int
    adjusted: Estimate
    """Score above the mean player of its group in the same slot."""
    mean: Estimate
    official: Estimate
    """As the tournament counts: the mean without upper outliers."""
    win_rate: Estimate | None
    """Share of paired comparisons in the same slot where it scored higher, ties half."""
    levels: Mapping[str, AtLevel]
    rates: Rates


@dataclass(frozen=True)
class Pair:
    """One player beside another."""

    player: str
    opponent: str
    rows: int
    """Times both had the same slot with the same random state."""
    configurations: int
    difference: Estimate | None
    """Mean of what `player` scored above `opponent` there."""
    win_rate: Estimate | None
    adjusted: Estimate | None
    """Difference of adjusted scores: counts third players both met, too; None: no chain at all."""

    @property
    def beats(self) -> bool | None:
        """Whether `player` is the stronger one; None where the interval leaves it open."""
        if self.difference is None:
            return None
        return True if self.difference.low > 0 else False if self.difference.high < 0 else None


@dataclass(frozen=True)
class Strength:
    """All players, the strongest of each group first, and every ordered pair that compares."""

    worlds: int
    configurations: int
    groups: int
    """More than one: players of different groups never shared a slot, not even through others."""
    players: tuple[PlayerStrength, ...]
    pairs: tuple[Pair, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain dicts and lists; an estimate is [value, low, high]."""
        plain: dict[str, Any] = _plain(self)
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "Strength":
        """What `to_json` gave."""
        players = [
            {
                **player,
                **_read(player, "adjusted", "mean", "official", "win_rate"),
                "levels": {
                    level: AtLevel(**{**found, **_read(found, "adjusted")})
                    for level, found in player["levels"].items()
                },
                "rates": Rates(**player["rates"]),
            }
            for player in plain["players"]
        ]
        pairs = [
            {**pair, **_read(pair, "difference", "win_rate", "adjusted")} for pair in plain["pairs"]
        ]
        return cls(
            **{name: plain[name] for name in ("worlds", "configurations", "groups")},
            players=tuple(PlayerStrength(**player) for player in players),
            pairs=tuple(Pair(**pair) for pair in pairs),
        )


def _plain(value: Any) -> Any:
    if isinstance(value, Estimate):
        return [*value.plain()]
    if is_dataclass(value):
        value = vars(value)
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, tuple) else value


def _read(plain: Mapping[str, Any], *names: str) -> dict[str, Estimate | None]:
    return {
        name: None
        if plain[name] is None
        else Estimate(*(end for end in plain[name] if end is not None))
        for name in names
    }


def compare(strength: Strength, player: str, opponent: str) -> Pair:
    """How `player` does beside `opponent`; `beats` and the intervals say how sure that is."""
    known = {found.player for found in strength.players}
    for name in (player, opponent):
        if name not in known:
            raise InputError(f"no results of '{name}'; there are {', '.join(sorted(known))}")
    for pair in strength.pairs:
        if (pair.player, pair.opponent) == (player, opponent):
            return pair
    raise InputError(
        f"{player} and {opponent} cannot be compared: they never had the same slot, nor are there "
        "players between them who had. Let them compete in the same configurations."
    )


def assess(results: pa.Table, *, seed: int = 0, resamples: int = 1000) -> Strength:
    """Strength from `record.RESULTS`; intervals by bootstrap over configurations."""
    rows = Rows.read(results)
    if not rows.names:
        return Strength(0, 0, 0, (), ())
    weight = resample_weights(rows.num_configurations, resamples, seed)
    comparisons = PairedComparisons.within(rows)
    whole = comparisons.equations(rows)
    effects = whole.resample(weight)
    players = _players(rows, comparisons, whole, effects, weight)
    pairs = _pairs(rows, comparisons, whole, effects, weight)
    return Strength(
        worlds=rows.num_worlds,
        configurations=rows.num_configurations,
        groups=int(whole.groups.max()) + 1,
        players=tuple(sorted(players, key=lambda p: (p.group, -p.adjusted.value, p.player))),
        pairs=tuple(sorted(pairs, key=lambda pair: (pair.player, pair.opponent))),
    )


def _players(
    rows: Rows,
    comparisons: PairedComparisons,
    whole: Equations,
    effects: tuple[Array, Array],
    weight: Array,
) -> list[PlayerStrength]:
    count = rows.sums(np.ones(len(rows.score)))
    configurations = (count > 0).sum(axis=0)
    total = rows.sums(rows.score)
    value = total.sum(axis=0) / count.sum(axis=0)
    mean = widened(value, ratio(weight @ total, weight @ count), configurations)
    adjusted = widened(whole.solve(), effects[0], whole.configurations, effects[1])
    official = _official(rows, weight, configurations)
    win_rates = _win_rates(rows, comparisons, weight)
    levels = [
        _at_level(rows, comparisons, whole, index, weight) for index in range(len(LEVEL_NAMES))
    ]
    return [
        PlayerStrength(
            player=name,
            group=int(whole.groups[index]),
            rows=int(count[:, index].sum()),
            configurations=int(configurations[index]),
            adjusted=adjusted[index],
            mean=mean[index],
            official=official[index],
            win_rate=win_rates[index],
            levels={
                level: found
                for level, of_player in zip(LEVEL_NAMES, levels, strict=True)
                if (found := of_player.get(index))
            },
            rates=_rates(rows, index),
        )
        for index, name in enumerate(rows.names)
    ]


def _official(rows: Rows, weight: Array, configurations: Array) -> list[Estimate]:
    values, draws = [], []
    for index in range(len(rows.names)):
        own = rows.player == index
        values.append(official_score(rows.score[own]))
        draws.append(official_scores(rows.score[own], weight, rows.configuration[own]))
    return widened(np.array(values), np.stack(draws, axis=1), configurations)


def _at_level(
    rows: Rows, comparisons: PairedComparisons, whole: Equations, level: int, weight: Array
) -> dict[int, AtLevel]:
    """By player; nobody who never stood there."""
    inside = rows.level == level
    count = np.bincount(rows.player[inside], minlength=len(rows.names))
    mean = ratio(np.bincount(rows.player[inside], rows.score[inside], len(rows.names)), count)
    equations = comparisons.equations(rows, level)
    draws, known = equations.resample(weight)
    adjusted = widened(equations.solve(), draws, equations.configurations, known)
    by_player = {}
    for index in np.flatnonzero(count).tolist():
        rivals = (whole.groups == whole.groups[index]) & (count > 0)
        linked = (equations.groups[rivals] == equations.groups[index]).all()
        by_player[index] = AtLevel(
            int(count[index]), float(mean[index]), adjusted[index] if linked else None
        )
    return by_player


def _win_rates(rows: Rows, comparisons: PairedComparisons, weight: Array) -> list[Estimate | None]:
    """Against all others together, by player; None for one that met nobody."""
    count, wins, _ = comparisons.duels(rows)
    first, second = (np.eye(len(rows.names))[end] for end in comparisons.ends.T)
    won = wins @ first + (count - wins) @ second
    played = count @ (first + second)
    trials = played.sum(axis=0)
    found = widened(
        ratio(won.sum(axis=0), trials),
        ratio(weight @ won, weight @ played),
        (played > 0).sum(axis=0),
        few=2,
    )
    return [_share(rate, int(n)) for rate, n in zip(found, trials, strict=True)]


def _share(found: Estimate, trials: int) -> Estimate | None:
    """None of nothing."""
    return as_share(found, found.value * trials, trials) if trials else None


def _rates(rows: Rows, index: int) -> Rates:
    own = rows.table.filter(pa.array(rows.player == index))

    def share(part: str, whole: str) -> float | None:
        total = int(own[whole].to_numpy().sum())
        return int(own[part].to_numpy().sum()) / total if total else None

    return Rates(
        bankrupt=float(own["bankrupt"].to_numpy().mean()),
        agreement=share("agreements", "talks"),
        shortfall=share("shortfall", "promised"),
        unsafe=share("unsafe", "sales"),
        over_lines=share("over_lines", "sales"),
        faults=float(own["faults"].to_numpy().mean()),
    )


def _pairs(
    rows: Rows,
    comparisons: PairedComparisons,
    whole: Equations,
    effects: tuple[Array, Array],
    weight: Array,
) -> list[Pair]:
    """Every ordered pair of the same group."""
    first, second = np.triu_indices(len(rows.names), 1)
    together = whole.groups[first] == whole.groups[second]
    first, second = first[together], second[together]
    value, (draws, known) = whole.solve(), effects
    adjusted = widened(
        value[first] - value[second],
        draws[:, first] - draws[:, second],
        np.minimum(whole.configurations[first], whole.configurations[second]),
        known[:, first] & known[:, second],
    )
    met = _met(rows, comparisons, weight)
    pairs = []
    for one, other, gap in zip(first.tolist(), second.tolist(), adjusted, strict=True):
        name, opponent = rows.names[one], rows.names[other]
        n, configurations, difference, win_rate = met.get((one, other), (0, 0, None, None))
        pairs.append(Pair(name, opponent, n, configurations, difference, win_rate, gap))
        difference = difference.flipped() if difference else None
        win_rate = win_rate.flipped(around=1.0) if win_rate else None
        pairs.append(Pair(opponent, name, n, configurations, difference, win_rate, gap.flipped()))
    return pairs


def _met(
    rows: Rows, comparisons: PairedComparisons, weight: Array
) -> dict[tuple[int, int], tuple[int, int, Estimate, Estimate | None]]:
    """By pair: rows, configurations, mean difference and win rate in the same slot and run."""
    count, wins, gaps = comparisons.duels(rows)
    trials, configurations = count.sum(axis=0), (count > 0).sum(axis=0)
    drawn = weight @ count
    difference, win_rate = (
        widened(
            ratio(sums.sum(axis=0), trials), ratio(weight @ sums, drawn), configurations, few=few
        )
        for sums, few in ((gaps, FEW), (wins, 2))
    )
    return {
        (one, other): (int(n), int(c), gap, _share(rate, int(n)))
        for (one, other), n, c, gap, rate in zip(
            comparisons.ends.tolist(), trials, configurations, difference, win_rate, strict=True
        )
        if n
    }
