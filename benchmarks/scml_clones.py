"""How far a clone is from its original: score, decisions, and as an opponent.

    python benchmarks/scml_clones.py [--original HorizonAware] [--seconds 900] [--part score]

Worlds are hosted, official draws and worlds of champions alone, of at most --days days, begun until
--seconds have passed (for each field and part); none of them was recorded to learn from.

Statistics, fixed before the run, with Student's 95 % intervals over worlds:
score      the mean of the clone's score less the original's in the same factory of the same world
           with the same company, by place in the chain.
decisions  in the original's worlds, how often the clone's likeliest choice is what the original
           did: response, and of its offers the day, and units and price given the day; beside what
           is most frequent in these very decisions. And by how much offers differ, beside L1's
           baseline, the own offer before, and always the mean. What L1 forbids the clone cannot do:
           how much that is stands above the table, which is of the rest.
opponent   the mean of what Steward and HRL score where the clone sits in all seats of the original
           less what they score with the original in them; beside it the same with Steward in those
           seats, which says how much it matters at all who sits there.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data.players import PlayerRef
from understudy.data.shards import read_shard, shard_path, shard_paths, write_shard
from understudy.games.scml.agent.checkpoint import read_checkpoint
from understudy.games.scml.agent.l3_offers import Scheme
from understudy.games.scml.agent.policy import CLONES
from understudy.games.scml.batch.players.ask import NATIVE
from understudy.games.scml.learning.backfill import fill_goals
from understudy.games.scml.learning.dataset import round_reader
from understudy.games.scml.learning.encode import encode
from understudy.games.scml.learning.l3 import RAW, OfferRecipe, OfferScore, count_choices, evaluate
from understudy.games.scml.learning.online.player import Layers, Player
from understudy.games.scml.learning.samples import DAY_START_SAMPLES, ROUND_SAMPLES
from understudy.games.scml.tournament.design import WorldPlan
from understudy.games.scml.tournament.play import play
from understudy.games.scml.tuning.report import comparison_lines
from understudy.games.scml.tuning.trials import Field, Layout, layout
from understudy.learn.supervised.stream import Shard, Stream, joined
from understudy.pipeline.game import Played

CHAMPIONS = ("HorizonAware", "SBD", "Hi", "AS0", "Penguin", "ShimijimiShijimi")
"""The company."""
MEASURED_BY = ("Steward", "HRL")
FIELDS: tuple[Field, ...] = ("official", "champions")
SCORE, OPPONENT = 15_000_031, 15_000_032
"""Blocks of worlds that trained and chose nothing."""
BARRED = "forbidden"


def plan_of(
    one: Layout, players: Sequence[str], wanted: argparse.Namespace, watched: str | None = None
) -> WorldPlan:
    """A world with these players; the clone decides by the weights that are wanted."""
    learnt = {wanted.clone: wanted.weights}
    return WorldPlan(
        match=f"world-{one.seed}",
        field="clones",
        track="std",
        factories_per_level=one.sizes,
        steps=one.days,
        seed=one.seed,
        run=0,
        players=tuple(PlayerRef(name, learnt.get(name)) for name in players),
        slots=(one.mine,),
        recorded=watched is not None,
        watched=None if watched is None else frozenset({watched}),
    )


def with_me(one: Layout, me: str) -> list[str]:
    """The players, with this one in the factory that changes hands."""
    return [me if seat == one.mine else name for seat, name in enumerate(one.players)]


def score_in(played: Played) -> float:
    """Of the factory that changes hands."""
    return float(next(r["score"] for r in played.results.to_pylist() if r["competes"]))


def in_time(
    field: Field, block: int, rivals: Sequence[str], wanted: argparse.Namespace
) -> Iterator[Layout]:
    """Worlds one after the other, until time is up."""
    began = time.monotonic()
    for number in range(wanted.worlds):
        if time.monotonic() - began > wanted.seconds:
            return
        drawn = layout(field, None, block, number, rivals)
        yield replace(drawn, days=min(drawn.days, wanted.days))


# --- score and decisions -------------------------------------------------------------------------


def compare_scores(field: Field, wanted: argparse.Namespace, folder: Path) -> None:
    """Print the table of a field; the original's decisions go into the folder, as samples."""
    original, clone = wanted.original, wanted.clone
    risk = read_checkpoint(wanted.weights).about.risk
    scores, places = list[tuple[float, float]](), list[str]()
    for one in in_time(field, SCORE, CHAMPIONS, wanted):
        theirs = play([plan_of(one, with_me(one, original), wanted, original)])
        ours = play([plan_of(one, with_me(one, clone), wanted)])
        scores.append((score_in(theirs), score_in(ours)))
        places.append(one.place)
        samples = encode(theirs.recordings, frozenset({original}), risk)
        for table in (DAY_START_SAMPLES, ROUND_SAMPLES):
            write_shard(shard_path(folder, table, str(one.seed)), samples[table.name])
    named = dict(zip((original, clone), np.array(scores).T, strict=True))
    print(f"\nscore, {field}\n")
    print("\n".join(comparison_lines(named, original, places)), flush=True)


def compare_decisions(field: Field, wanted: argparse.Namespace, folder: Path) -> None:
    """Print how often the clone would have decided as the original did."""
    fill_goals(folder, folder, wanted.weights)
    paths = shard_paths(folder, ROUND_SAMPLES)
    barred = np.concatenate([read_shard(path, ROUND_SAMPLES, [BARRED])[BARRED] for path in paths])
    found = evaluated(paths, wanted.weights)
    print(
        f"\ndecisions, {field}: {len(barred):,}; L1 forbids {(barred > 0).mean():.1%}; the rest:\n"
    )
    print(
        "| the same | clone | most frequent | most frequent of what is allowed |\n|---|---|---|---|"
    )
    for name, head in found.heads.items():
        shares = (head[what] for what in ("accuracy", "majority", "majority_legal"))
        print(f"| {name} | " + " | ".join(f"{share:.1%}" for share in shares) + " |")
    for word, share in found.recall.items():
        print(f"| where it did {word} | {share:.1%} | | |")
    print("\n| mean error of offers | clone | L1's baseline | the offer before | always the mean |")
    print("|---|---|---|---|---|")
    for name, errors in found.raw.items():
        print(f"| {name} | " + " | ".join(f"{errors[who]:.2f}" for who in RAW) + " |", flush=True)


def evaluated(paths: Sequence[Path], weights: Path) -> OfferScore:
    """The clone's L3 on decisions that L1 allows."""
    checkpoint = read_checkpoint(weights)
    scheme: Scheme = "direct" if checkpoint.about.scheme == "direct" else "residual"
    network = Player(Layers(checkpoint.layers, scheme)).l3.eval()
    reader = round_reader(scheme)

    def allowed(path: Path) -> pa.Table:
        rows = read_shard(path, ROUND_SAMPLES)
        return rows.filter(pc.equal(rows[BARRED], 0))

    stream = Stream(
        [Shard(path, len(allowed(path))) for path in paths],
        lambda some: joined([reader.decode(allowed(path)) for path in some]),
        batch_size=1,
    )
    recipe = OfferRecipe(description="", steps=1, scheme=scheme)
    return evaluate(recipe, network, stream, count_choices(scheme, stream))


# --- as an opponent ------------------------------------------------------------------------------


def compare_opponents(field: Field, wanted: argparse.Namespace) -> None:
    """Print what others score among clones beside what they score among originals."""
    original, others = wanted.original, (wanted.original, wanted.clone, "Steward")
    rivals = (original, original, *(name for name in CHAMPIONS if name in NATIVE["std"]))
    scores = {(me, other): list[float]() for me in MEASURED_BY for other in others}
    places = list[str]()
    for one in in_time(field, OPPONENT, rivals, wanted):
        if not any(name == original for at, name in enumerate(one.players) if at != one.mine):
            continue
        places.append(one.place)
        for me, other in scores:
            company = [other if name == original else name for name in one.players]
            players = with_me(replace(one, players=tuple(company)), me)
            scores[me, other].append(score_in(play([plan_of(one, players, wanted)])))
    for me in MEASURED_BY:
        named = {f"{me} among {other}": np.array(scores[me, other]) for other in others}
        print(f"\nopponent, {field}\n")
        print("\n".join(comparison_lines(named, f"{me} among {original}", places)), flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--original", default="HorizonAware")
    parser.add_argument("--weights", type=Path, help="other than those of the package")
    parser.add_argument("--worlds", type=int, default=200)
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=900.0)
    parser.add_argument("--field", choices=FIELDS)
    parser.add_argument("--part", choices=("score", "opponent"), help="score has decisions, too")
    wanted = parser.parse_args()
    wanted.clone = f"{wanted.original}Clone"
    wanted.weights = wanted.weights or CLONES[wanted.clone]
    for field in [wanted.field] if wanted.field else FIELDS:
        if wanted.part != "opponent":
            with tempfile.TemporaryDirectory() as folder:
                compare_scores(field, wanted, Path(folder))
                compare_decisions(field, wanted, Path(folder))
        if wanted.part != "score":
            compare_opponents(field, wanted)


if __name__ == "__main__":
    main()
