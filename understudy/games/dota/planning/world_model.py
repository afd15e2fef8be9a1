"""A world model of a match at minute resolution: where its state may be some minutes later.

What happened to matches in a like state (the same minute, chance, leads) happens to this one. Leads
in gold and experience move as a regression expects, plus what those matches did beyond it; counts
move as they did there. A future is one such match, so gold, kills, towers, Roshan and the end go
together. Whatever is learnt of a state was known by its minute; every match counts with its sides
swapped, too. Axes: N donors, R rows asked about, K futures of a row, S steps.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from understudy.data.arrays import Bools, Floats, Ints
from understudy.data.files import writing
from understudy.data.stats import logit
from understudy.errors import InputError
from understudy.games.dota.features.features import EVEN
from understudy.games.dota.features.kept_ratings import SHIPPED
from understudy.games.dota.features.samples import ALL_NAMES, Samples
from understudy.games.dota.planning.moments import PLANS, SCENARIOS, Moments
from understudy.games.dota.value.linear import Fitted, fit_linear
from understudy.games.dota.value.symmetric import MAJOR, symmetric

STEPS = (1, 3, 5, 10)
"""Minutes ahead."""
LEADS = (
    *("radiant_gold_adv", "radiant_xp_adv"),
    *(f"gold_rank_{rank}" for rank in (1, 2, 5)),
)
"""Move by a regression, plus what a donor did beyond it."""
COUNTS = (
    *("kills", "towers_1", "towers_2", "towers_3", "towers_4", "barracks_melee", "barracks_range"),
    *("roshans", "aegis", "obs_standing", "gold_total", "kills_total", "roshans_total"),
)
"""Move as with the donor."""
PACES = ("gold_adv_change_3", "xp_adv_change_3")
"""Become what they became with the donor: how fast a lead grew of late."""
DID = (*PLANS, *SCENARIOS)
STATE = (*LEADS, *COUNTS, *PACES)
MOST = {
    "towers_1": 3.0,
    "towers_2": 3.0,
    "towers_3": 3.0,
    "towers_4": 2.0,
    "barracks_melee": 3.0,
    "barracks_range": 3.0,
    "aegis": 1.0,
}
"""A side's lead in each is never more."""
FUTURES = 200
"""Matches a state's future is made of; no match twice."""
FILE = "world.npz"
_NEAR = np.array([1.5, 0.25, 0.5, 0.6, 1.5])
"""What counts as one apart, of minutes, log odds, leads by the root of the minute, pace."""
_SIGN = np.array([1.0 if name in EVEN else -1.0 for name in STATE])
_RIDGE = 30.0


@dataclass(frozen=True)
class Futures:
    """Where R rows may be: K futures each."""

    values: Floats
    """[R, K, S, len(STATE)]."""
    ended: Bools
    """[R, K, S]: the match is over by then."""
    won: Floats
    """[R, K]: 1 where Radiant won in the end with the donor."""
    did: Mapping[str, Bools]
    """[R, K, 2]: what each side did next with the donor, by plan or scenario."""

    def of(self, name: str) -> Floats:
        """One number of the state, [R, K, S]."""
        return self.values[..., STATE.index(name)]


@dataclass(frozen=True)
class WorldModel:
    """Donors, and the regression of the leads."""

    known: Floats
    """[N, 5]: minute, log odds, leads, pace; by nearness in it donors are found."""
    moved: Floats
    """[N, S, len(STATE)]: leads beyond the regression, counts as a change, paces as they were."""
    ended: Ints
    """[N]: minutes until the end."""
    won: Floats
    did: Bools
    """[N, len(DID), 2]."""
    match: Ints
    """[N]: its number; no match is its own future."""
    weights: Floats
    """[S, len(MAJOR), len(LEADS)]: of the regression."""

    def futures(self, now: Samples, chance: Floats, most: int = FUTURES) -> Futures:
        """Of each row; `chance` is what a value model gives Radiant there."""
        known = near(now, chance)
        columns = symmetric(now)[:, : len(MAJOR)]
        state = now.columns(STATE).astype(np.float64)
        parts = [
            self._of_row(int(now.match_id[k]), known[k], state[k], columns[k], most)
            for k in range(len(now))
        ]
        values, ended, won, did = (np.stack(part) for part in zip(*parts, strict=True))
        return Futures(values, ended, won, {p: did[:, :, k] for k, p in enumerate(DID)})

    def _of_row(
        self, match: int, known: Floats, state: Floats, columns: Floats, most: int
    ) -> tuple[Any, ...]:
        which, turned = self._donors(known, most, match)
        sign = np.where(turned[:, None], _SIGN, 1.0)
        moved = self.moved[which] * sign[:, None]
        values = moved + state
        values[..., : len(LEADS)] += columns @ self.weights
        values[..., -len(PACES) :] = moved[..., -len(PACES) :]
        for name, limit in MOST.items():
            place = STATE.index(name)
            values[..., place] = np.clip(values[..., place], -limit, limit)
        won = np.where(turned, 1 - self.won[which], self.won[which])
        did = np.where(turned[:, None, None], self.did[which][:, :, ::-1], self.did[which])
        ended = self.ended[which][:, None] < np.array(STEPS)
        return values, ended, won, did

    def _donors(self, known: Floats, most: int, but: int) -> tuple[Ints, Bools]:
        """The nearest, as they were or with the sides swapped; no match twice, and one never."""
        apart = []
        for turn in (1.0, -1.0):
            there = known * np.array([1.0, turn, turn, turn, turn])
            apart.append((((self.known - there) / _NEAR) ** 2).sum(axis=1))
        far = np.where(self.match == but, np.inf, np.minimum(*apart))
        some = min(len(far), 6 * most)
        order = np.argpartition(far, some - 1)[:some]
        order = order[np.argsort(far[order], kind="stable")]
        order = order[np.isfinite(far[order])]
        _, first = np.unique(self.match[order], return_index=True)
        order = order[np.sort(first)][:most]
        if len(order) < most:  # fewer matches than futures: each as often as it takes
            order = np.resize(order, most)
        return order, apart[1][order] < apart[0][order]


def near(samples: Samples, chance: Floats) -> Floats:
    """By what states are alike; all but the minute turn with the sides."""
    minute = samples.column("t_min")
    root = np.sqrt(np.maximum(minute, 1.0))
    gold, xp = (samples.column(f"radiant_{name}_adv") / 1000 / root for name in ("gold", "xp"))
    pace = samples.column("gold_adv_change_3") / 1000
    return np.stack([minute, logit(chance), gold, xp, pace], axis=1)


def fit(moments: Moments, value: Fitted, regress: bool = True) -> WorldModel:
    """From moments of matches with what came after; else leads, too, move as with the donor."""
    samples = moments.samples
    columns = symmetric(samples)[:, : len(MAJOR)]
    state = samples.columns(STATE).astype(np.float64)
    moved = np.empty((len(samples), len(STEPS), len(STATE)))
    weights = np.zeros((len(STEPS), len(MAJOR), len(LEADS)))
    every = samples.weights()
    for k, step in enumerate(STEPS):
        later = moments.later(step).columns(STATE).astype(np.float64)
        moved[:, k] = later - state
        moved[:, k, -len(PACES) :] = later[:, -len(PACES) :]
        for j in range(len(LEADS) if regress else 0):
            found = fit_linear(columns, moved[:, k, j], every, np.full(len(MAJOR), _RIDGE))
            weights[k, :, j] = found[:-1]  # no constant: neither side is favoured
            moved[:, k, j] -= columns @ found[:-1]
    known = near(samples, value.predict("y_win", samples))
    won = samples.labels["y_win"]
    did = np.stack([moments.did[name] for name in DID], axis=1)
    return WorldModel(known, moved, moments.left, won, did, samples.match_id, weights)


def chance_after(now: Samples, futures: Futures, value: Any, step: int) -> tuple[Floats, Floats]:
    """The chance that Radiant wins on each future, and its mean over them: [R, K] and [R].

    Where a match ended with the donor, whoever won there.
    """
    k = STEPS.index(step)
    rows, many = futures.won.shape
    copies = now.where(np.arange(rows).repeat(many))
    for j, name in enumerate(STATE):
        copies.features[:, ALL_NAMES.index(name)] = futures.values[:, :, k, j].ravel()
    copies.features[:, ALL_NAMES.index("t")] += 60 * step
    copies.features[:, ALL_NAMES.index("t_min")] += step
    later = np.asarray(value.chance(copies)).reshape(rows, many)
    chances = np.where(futures.ended[:, :, k], futures.won, later)
    return chances, chances.mean(axis=1)


def save(path: Path, model: WorldModel) -> None:
    """Write what `load` reads: numbers alone, as short as they may be."""
    parts = {one.name: getattr(model, one.name) for one in fields(model)}
    parts["known"] = parts["known"].astype(np.float16)
    big = [j for j, name in enumerate(STATE) if name not in COUNTS or name == "gold_total"]
    small = [j for j in range(len(STATE)) if j not in big]
    moved = parts.pop("moved")
    parts["big"] = np.clip(np.round(moved[..., big] / 10), -32_000, 32_000).astype(np.int16)
    parts["small"] = np.clip(np.round(moved[..., small]), -120, 120).astype(np.int8)
    parts["ended"] = np.minimum(parts["ended"], 120).astype(np.int8)
    parts["won"] = parts["won"].astype(np.int8)
    with writing(path) as aside, aside.open("wb") as file:
        np.savez_compressed(file, **parts)


def of_models(models: Path | None) -> WorldModel:
    """That of a run's `models`, or the one that comes with the program."""
    own = models / "world" / FILE if models is not None else None
    return load(own if own is not None and own.is_file() else SHIPPED / FILE)


def load(path: Path) -> WorldModel:
    """A world model that `save` wrote."""
    cure = "Train one: understudy train dota world"
    if not path.is_file():
        raise InputError(f"{path}: there is no world model. {cure}")
    try:
        with np.load(path, allow_pickle=False) as held:
            parts = {name: held[name] for name in held.files}
        big = [j for j, name in enumerate(STATE) if name not in COUNTS or name == "gold_total"]
        small = [j for j in range(len(STATE)) if j not in big]
        moved = np.empty((len(parts["won"]), len(STEPS), len(STATE)))
        moved[..., big], moved[..., small] = parts.pop("big") * 10.0, parts.pop("small")
        known, won = (parts.pop(name).astype(np.float64) for name in ("known", "won"))
        ended = parts.pop("ended").astype(np.int64)
        return WorldModel(known=known, moved=moved, ended=ended, won=won, **parts)
    except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile) as failure:
        raise InputError(f"{path} is no world model this program reads. {cure}") from failure
