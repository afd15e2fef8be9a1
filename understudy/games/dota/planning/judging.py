"""Is the world model right? Its distributions some minutes ahead, and what plans came to.

Distributions are scored where the match lasted so long, on futures in which it did. CRPS is the
mean distance to what happened less half that between two futures, in the number's own unit; a band
of 80 % should hold what happened in 80 % of the rows.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from understudy.data.arrays import Bools, Floats
from understudy.data.stats import paired_difference
from understudy.games.dota.features.samples import Samples
from understudy.games.dota.planning.moments import PLANS, SCENARIOS, WINDOW, Moments
from understudy.games.dota.planning.world_model import STEPS, Futures, WorldModel, chance_after
from understudy.games.dota.value.metrics import log_losses

SCORED = {
    "gold": ("radiant_gold_adv", "gold_adv_change_3"),
    "xp": ("radiant_xp_adv", "xp_adv_change_3"),
    "kills": ("kills", "kills_change_3"),
    "outer towers": ("towers_1", None),
    "Roshan": ("roshans", None),
}
"""Leads that are scored, and how fast each grew over three minutes, where that is known."""
AHEAD = STEPS[1:]
BANDS = (50, 80, 95)
_LOT = 200
_QUANTILES = np.linspace(0.005, 0.995, 100)
_BAND = 5  # minutes of a match that share the errors of a baseline


def crps(draws: Floats, truth: float) -> float:
    """Of an ensemble (Gneiting and Raftery 2007)."""
    ordered = np.sort(draws)
    many = len(ordered)
    weight = 2 * np.arange(1, many + 1) - many - 1
    return float(np.abs(ordered - truth).mean() - weight @ ordered / many**2)


def judge_futures(
    models: Mapping[str, WorldModel], train: Moments, test: Moments, value: Any, seed: int
) -> dict[str, Any]:
    """CRPS and coverage of each model beside baselines, and the chance to win by futures."""
    now = test.samples
    chance = np.asarray(value.chance(now))
    scores: dict[str, dict[str, Floats]] = {}
    held: dict[str, Floats] = {}
    averaged = np.empty((len(AHEAD), len(now)))
    for name, model in models.items():
        for rows, futures in _lots(model, now, chance):
            _score(name, futures, rows, test, scores, held)
            if name == next(iter(models)):
                for k, step in enumerate(AHEAD):
                    averaged[k, rows] = chance_after(now.where(rows), futures, value, step)[1]
    for name, drifts in (("persistence", False), ("linear drift", True)):
        _baseline(name, drifts, train, test, scores)
    first = next(iter(models))
    match_id = now.match_id
    crps_table = {
        key: {name: float(np.nanmean(values)) for name, values in by_name.items()}
        | {
            f"{first} beside {name}": _beside(by_name[first], values, match_id, seed)
            for name, values in by_name.items()
            if name != first
        }
        for key, by_name in scores.items()
    }
    won = now.labels["y_win"]
    before = log_losses(won, chance)
    chances = {
        str(step): {
            "one step": float(before.mean()),
            "futures": float(log_losses(won, averaged[k]).mean()),
            "beside": paired_difference(
                log_losses(won, averaged[k]), before, match_id, seed=seed
            ).named(),
        }
        for k, step in enumerate(AHEAD)
    }
    coverage = {key: float(np.nanmean(values)) for key, values in held.items()}
    return {"crps": crps_table, "coverage": coverage, "chance": chances, "rows": len(now)}


def _beside(one: Floats, other: Floats, match_id: Any, seed: int) -> dict[str, float]:
    rows = ~np.isnan(one)
    return paired_difference(one[rows], other[rows], match_id[rows], seed=seed).named()


def _lots(model: WorldModel, now: Samples, chance: Floats) -> Iterator[tuple[Any, Futures]]:
    for start in range(0, len(now), _LOT):
        rows = np.arange(start, min(start + _LOT, len(now)))
        yield rows, model.futures(now.where(rows), chance[rows])


def _score(
    name: str,
    futures: Futures,
    rows: Any,
    test: Moments,
    scores: dict[str, dict[str, Floats]],
    held: dict[str, Floats],
) -> None:
    """One lot's rows of every table."""
    left = test.left[rows]
    lot = test.where(np.isin(np.arange(len(test.rows)), rows))
    for step in AHEAD:
        k = STEPS.index(step)
        later = lot.later(step)
        for what, (feature, _) in SCORED.items():
            key = f"{what} +{step}"
            mine = scores.setdefault(key, {}).setdefault(name, np.full(len(test.rows), np.nan))
            truth = later.column(feature)
            draws = futures.of(feature)[:, :, k]
            for r in np.flatnonzero(left >= step):
                some = draws[r][~futures.ended[r, :, k]]
                if len(some) < 10:
                    continue
                mine[rows[r]] = crps(some, truth[r])
                for share in BANDS:
                    low, high = np.quantile(some, (0.5 - share / 200, 0.5 + share / 200))
                    within = held.setdefault(
                        f"{name} {key} {share}", np.full(len(test.rows), np.nan)
                    )
                    within[rows[r]] = low <= truth[r] <= high


def _baseline(
    name: str,
    drifts: bool,
    train: Moments,
    test: Moments,
    scores: dict[str, dict[str, Floats]],
) -> None:
    """The state as it is, or moving on as of late, with errors as at such minutes of training."""
    minute = [(one.samples.column("t_min") // _BAND).astype(int) for one in (train, test)]
    for step in AHEAD:
        for what, (feature, pace) in SCORED.items():
            guess, truth = [], []
            for one in (train, test):
                now = one.samples
                moved = now.column(pace) * step / 3 if drifts and pace else 0.0
                guess.append(now.column(feature) + moved)
                truth.append(one.later(step).column(feature))
            error, lasted = truth[0] - guess[0], train.left >= step
            mine = np.full(len(test.rows), np.nan)
            for band in np.unique(minute[1]):
                known = lasted & (minute[0] == band)
                known = known if known.sum() > 50 else lasted
                draws = np.quantile(error[known], _QUANTILES)
                for r in np.flatnonzero((minute[1] == band) & (test.left >= step)):
                    mine[r] = crps(guess[1][r] + draws, truth[1][r])
            by_name = scores[f"{what} +{step}"]
            mine[np.isnan(next(iter(by_name.values())))] = np.nan
            by_name[name] = mine


def judge_plans(
    model: WorldModel, test: Moments, value: Any, seed: int, step: int = 5
) -> dict[str, Any]:
    """What came of plans and scenarios, and for those who did as was advised.

    A side's result less the chance it had, so sides are matched by state. Only where the match
    lasts the five minutes: who had no time for wards has not declined to place them.
    """
    from understudy.games.dota.planning.plan import differences, preferred

    test = test.where(test.left >= WINDOW)
    now = test.samples
    chance = np.asarray(value.chance(now))
    said: list[list[str | None]] = [[], []]
    for rows, futures in _lots(model, now, chance):
        lot = now.where(rows)
        chances, _ = chance_after(lot, futures, value, step)
        for k in range(len(lot)):
            lasting = ~futures.ended[k, :, STEPS.index(step)]
            own = {name: did[k][lasting] for name, did in futures.did.items()}
            for side in (0, 1):
                mine = chances[k] if side == 0 else 1 - chances[k]
                gains = differences(mine[lasting], own, side)
                said[side].append(preferred(gains))
    beyond = np.concatenate([now.labels["y_win"] - chance, chance - now.labels["y_win"]])
    match_id = np.tile(now.match_id, 2)
    done = {name: np.concatenate([did[:, 0], did[:, 1]]) for name, did in test.did.items()}
    table = {name: _told(beyond, done[name], match_id, seed) for name in PLANS}
    # What both sides are in has no side to it: what the one ahead gains, the other loses.
    ahead = np.concatenate([chance > 0.5, chance <= 0.5])
    for name in SCENARIOS:
        table[f"{name}, side ahead"] = _told(
            beyond[ahead], done[name][ahead], match_id[ahead], seed
        )
    advised = np.array([one or "" for side in said for one in side])
    followed = np.zeros(len(advised), bool)
    for name in PLANS:
        followed |= (advised == name) & done[name]
    some = advised != ""
    following = _told(beyond[some], followed[some], match_id[some], seed) if some.any() else {}
    return {"plans": table, "advised": float(some.mean()), "following": following}


def _told(beyond: Floats, did: Bools, match_id: Any, seed: int) -> dict[str, Any]:
    """The mean of those who did less that of the others, drawn by match."""
    if not did.any() or did.all():
        return {"share": float(did.mean())}
    numbers, match = np.unique(match_id, return_inverse=True)
    sums = np.stack(
        [np.bincount(match, w, len(numbers)) for w in (did * beyond, did, ~did * beyond, ~did)]
    )
    often = np.random.default_rng(seed).multinomial(
        len(numbers), np.full(len(numbers), 1 / len(numbers)), size=1000
    )
    drawn = often @ sums.T
    gap = drawn[:, 0] / np.maximum(drawn[:, 1], 1) - drawn[:, 2] / np.maximum(drawn[:, 3], 1)
    low, high = np.quantile(gap, (0.025, 0.975))
    mean = float(beyond[did].mean() - beyond[~did].mean())
    return {"share": float(did.mean()), "mean": mean, "low": float(low), "high": float(high)}
