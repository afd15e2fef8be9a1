"""Rock, paper, scissors, against opponents that learn: the smallest game with leagues."""

import json

import numpy as np
import pyarrow as pa

from understudy.data import shards
from understudy.data.files import write_text
from understudy.data.results import pair_results
from understudy.data.schema import Column, Table
from understudy.errors import InputError
from understudy.league.interface import League, TrainingResult
from understudy.league.recipe import three_roles, with_baselines
from understudy.pipeline.game import Game, Played
from understudy.report.page import document

MOVES = ("rock", "paper", "scissors")
GAIN = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])  # of the row's move against the column's
RATE, LIMIT = 0.05, 3.0  # how fast strategies change, and how sure they can get
RESULTS = pair_results("rps")
MATCHES = Table(
    "rps",
    "matches",
    1,
    "understudy record rps",
    (
        Column("match", pa.string(), "which match"),
        Column("seed", pa.int64(), "what it was drawn from"),
        *(
            Column(f"{what}_{k}", pa.string(), f"{what} {k}")
            for what in ("player", "move")
            for k in (0, 1)
        ),
    ),
)


def strategy(player):
    """How often a player makes each move."""
    if player.weights is None:
        return softmax(LIMIT * (2.0 * (np.array(MOVES) == player.name) - 1))
    return softmax(np.array(json.loads((player.weights / "weights.json").read_text())))


def softmax(x):
    return np.exp(x) / np.exp(x).sum()


def play(fixture):
    """One throw per seed; the dice depend on the seed and the side alone."""
    one, other = fixture.players
    borders = [np.cumsum(strategy(player))[:2] for player in fixture.players]
    rows, matches = [], []
    for seed in fixture.seeds:
        rng = np.random.default_rng(seed).random(2)
        moves = [int((rng[side] >= borders[side]).sum()) for side in (0, 1)]
        name, score = f"{one.name}-{other.name}-{seed}", float(GAIN[*moves])
        rows.append((name, seed, one.name, 0, other.name, score, 1, "throw"))
        rows.append((name, seed, other.name, 1, one.name, -score, 1, "throw"))
        matches.append((name, seed, one.name, other.name, *(MOVES[move] for move in moves)))
    return Played(table(RESULTS, rows), {"matches": table(MATCHES, matches)})


def table(declared, rows):
    names = [column.name for column in declared.columns]
    return declared.build({name: [row[k] for row in rows] for k, name in enumerate(names)})


def improve(job):
    """Lean towards what pays against the opponents drawn; multiplicative weights."""
    rng = np.random.default_rng(job.seed)
    lean = np.log(strategy(job.start))
    others = [one.player and strategy(one.player) for one in job.opponents]
    shares = [one.probability for one in job.opponents]
    alone = 0
    for drawn in rng.choice(len(others), size=job.agent_steps, p=shares):
        met = softmax(lean) if others[drawn] is None else others[drawn]  # None: itself
        alone += others[drawn] is None
        lean = lean + RATE * GAIN @ met
        lean = np.clip(lean - lean.mean(), -LIMIT, LIMIT)
    write_text(job.out / "weights.json", json.dumps(lean.tolist()))
    metrics = {"sureness": float(softmax(lean).max())}
    match_steps = job.agent_steps - alone // 2  # against itself it is on both sides
    return TrainingResult(job.agent_steps, metrics, match_steps)


def replay(run, match):
    """A page that shows one recorded match."""
    for path in shards.shard_paths(run.recordings, MATCHES):
        for row in shards.read_shard(path, MATCHES).to_pylist():
            if row["match"] == match:
                told = f"{row['player_0']}: {row['move_0']}, {row['player_1']}: {row['move_1']}"
                return document(match, f"<h1>{match}</h1><p>{told}</p>")
    raise InputError(f"{run.folder} has no recording of match '{match}'")


def league():
    quick = three_roles(
        description="a league of twelve rounds",
        rounds=12,
        agent_steps=240,
        matches=100,
        exploiter_steps=400,
    )
    return League(improve, with_baselines("quick", quick))


GAME = Game(
    name="rps",
    about="rock, paper, scissors",
    players={move: f"mostly {move}" for move in MOVES},
    recordings=(MATCHES,),
    results=RESULTS,
    samples=(),
    play=play,
    encode=None,
    summarise=lambda recordings, samples: {},
    recipes=lambda: {},
    panels=lambda run: [],
    replay=replay,
    league=league,
)
