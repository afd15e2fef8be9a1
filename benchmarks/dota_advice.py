"""Do those who buy what is advised fare better than others in the same state?

    python benchmarks/dota_advice.py RUN [--matches 607]

RUN has recordings, samples and the models `value-time`, `items` and `wards`. Every fifth minute of
the test matches each player gets the advice that `recommend` would give; those whose next dearer
purchase, within five minutes, was the first of it have followed. What came of it is the result for
the player's side less the chance the value model gave that side at that minute, so states are
matched by their chance; what the model thinks of the item is never taken as evidence. Intervals
are drawn by match. Buyers differ in more than their purchase, so this is no proof of cause.
"""

import argparse
from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from understudy.data import shards
from understudy.data.runs import Run
from understudy.data.stats import Estimate, percentile, resample_weights
from understudy.games.dota.advice import buying
from understudy.games.dota.advice.match_context import MatchContext, load_models
from understudy.games.dota.features import inventory, kept_ratings, team_rating
from understudy.games.dota.sources.tables import MATCHES, RECORDINGS
from understudy.games.dota.value.splits import read_split

EVERY = 5  # minutes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--matches", type=int, default=10**6, help="so many of the test matches")
    options = parser.parse_args()
    run = Run(options.run)
    models = load_models(run.models)
    test = read_split(run.model("value-time") / "splits").test[: options.matches]
    rows = [row for context in match_contexts(run, test) for row in of_match(context, models)]
    match_id, beyond, bought, usual, liked, gain = map(np.array, zip(*rows, strict=True))
    print(f"{len(rows):,} moments in {len(np.unique(match_id))} matches never trained on")
    for name, chosen in (("the first by frequency", usual), ("the first by value", liked)):
        report(name, beyond, bought == chosen, match_id)
    held = ~np.isnan(gain)
    good = gain[held] > 0
    report("any of the three that the model likes", beyond[held], good, match_id[held])


def match_contexts(run: Run, test):
    """The test matches, with the strength that earlier ones show."""
    keys = [shards.shard_key(path) for path in shards.shard_paths(run.recordings, MATCHES)]
    surveyed = kept_ratings.survey(run.recordings, keys)
    for key in keys:
        numbers = shards.read_shard(
            shards.shard_path(run.recordings, MATCHES, key), MATCHES, ["match_id"]
        )["match_id"].to_numpy()
        wanted = np.intersect1d(numbers, test).tolist()
        if not wanted:
            continue
        known = team_rating.from_table(surveyed[key][team_rating.STRENGTH])
        tables = {
            table.name: shards.read_shard(shards.shard_path(run.recordings, table, key), table)
            for table in RECORDINGS
        }
        for number in wanted:
            own = {n: rows.filter(pc.equal(rows["match_id"], number)) for n, rows in tables.items()}
            if len(own["state_team_minute"]):
                yield MatchContext(own, known[number])


def of_match(context: MatchContext, models):
    """(match, result beyond expectation, item bought, first by frequency and by value, gain)."""
    chance = models.value.chance(context.samples)
    won = float(context.outline["radiant_win"])
    for row in range(EVERY, len(context.timeline.t), EVERY):
        if models.value.out_of_range(context.samples.where(np.array([row]))):
            continue
        now = int(context.timeline.t[row])
        for slot in range(10):
            bought = next_bought(context, slot, now)
            if bought is None:
                continue
            lines = buying.item_lines(context, models, row, slot)
            liked = buying.item_lines(context, models, row, slot, "value")
            gain = [line["gain"] for line in lines if line["key"] == bought]
            yield (
                context.outline["match_id"],
                (1 if slot < 5 else -1) * (won - chance[row]),
                bought,
                lines[0]["key"],
                liked[0]["key"],
                gain[0] if gain else np.nan,
            )


def next_bought(context: MatchContext, slot: int, now: int) -> str | None:
    """The first dearer item that a player had not yet, within the next minutes."""
    held, bought = buying.held_at(context, slot, now), context.timeline.events["purchase"]
    later = (bought.slot == slot) & (bought.t > now) & (bought.t <= now + 60 * EVERY)
    for key in bought.key.filter(later).to_pylist():
        number = inventory.item_index().get(key)
        if number is not None and not held.owned[number]:
            return str(key)
    return None


def report(name, beyond, followed, match_id) -> None:
    gap = compared(beyond, followed, match_id)
    print(
        f"  {name:40s} {followed.mean():6.1%} of {len(beyond):,}; won beyond expectation, these "
        f"less others: {gap.value:+.4f} ({gap.low:+.4f} to {gap.high:+.4f})"
    )


def compared(beyond, followed, match_id, draws: int = 2000) -> Estimate:
    """Mean of those who followed less that of the others, with an interval by match."""
    _, match = np.unique(match_id, return_inverse=True)
    sums = [np.bincount(match, beyond * who) for who in (followed, ~followed)]
    counts = [np.bincount(match, who.astype(float)) for who in (followed, ~followed)]
    drawn = resample_weights(len(sums[0]), draws, seed=0)
    means = [(drawn @ s) / (drawn @ c) for s, c in zip(sums, counts, strict=True)]
    whole = [s.sum() / c.sum() for s, c in zip(sums, counts, strict=True)]
    return percentile(float(whole[0] - whole[1]), means[0] - means[1], len(beyond))


if __name__ == "__main__":
    main()
