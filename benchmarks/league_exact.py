"""What a league is worth, where exploitability can be computed: small games, exactly.

    python benchmarks/league_exact.py --processes 2 --out runs/exact

Runs what is missing of the runs (every way, game and seed), each a whole league (`league.season`)
of players that are tables (`tabular.py`), and prints what came of all. It can be stopped at any
moment; a run that was stopped is done again. Needs OpenSpiel, or games written out by it (--trees).

Fixed before the runs
  Figure: exploitability. What the best answer wins per match against a way's product, computed over
    the whole game, mean of both seats: a win rate in the circle, the game's own coin in the others.
  Products: `last`, the main agent after the last round; `mixture`, the Nash mixture of all that was
    kept, by the league's own matches; `even`, each kept main agent alike (for fictitious self-play
    its theory's own product). PSRO promises its mixture only, its last is one best response.
  Runs: seeds 0 to 19 of every way and game, all of them, looked at once. Learning rates, entropy,
    the magnet's weight and the sizes were chosen with seed 1000, by what self-play does best with.
  Budgets: every way gets the same agent-steps in all; `league, main alike` gets so many that its
    main agent alone has as many as self-play, its exploiters' on top.
  Comparison: difference of means, Welch's 95 % interval; runs of one seed number share nothing and
    are not paired. In a game a challenger (league, PSRO) is shown to be exploited less where the
    interval lies below 0 beside self-play and beside fictitious self-play, both: `last` beside
    their last; `mixture` beside their mixtures and even products; `all` if its mixture beats every
    product of both. Each is a conjunction, which needs no correction; games are told one by one.
  Best responses by learning: against last and mixture, each from the beginning and from the main
    agent; what the stronger of both wins in matches less what the exact one wins: bias, SD.
"""

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

import numpy as np
from tabular import RESULTS, Learning, Tabular

from understudy.data.arrays import Array
from understudy.data.players import PlayerRef
from understudy.data.stats import Estimate, student, welch
from understudy.league.analysis.cyclicity import cyclicity
from understudy.league.analysis.exploitability import BestResponse
from understudy.league.analysis.game_tree import GameTree, best_response, mixture
from understudy.league.analysis.summary import own_nash
from understudy.league.recipe import LeagueRecipe, three_roles, two_roles, with_baselines
from understudy.league.season import Season
from understudy.league.state import State

SEEDS = range(20)
ROWS = "league-exact.jsonl"
ROUNDS = 24
MATCHES = 40
PRODUCTS = ("last", "mixture", "even")
BASELINES, CHALLENGERS = ("self-play", "fictitious"), ("league", "league, main alike", "psro")
COMPARED = (("last", ("last",)), ("mixture", ("mixture", "even")), ("mixture", PRODUCTS))


@dataclass(frozen=True)
class Size:
    """How much is learnt in a game, and how."""

    agent_steps: int
    """Of all learners in a round."""
    learning: Learning
    coin: float = 1.0
    """What a score of 1 is worth in the game's own coin."""


CALM = Learning(0.02, entropy=0.1)
"""What is best for self-play, of nine pairs of settings (rate .02, .05, .1; entropy 0, .02, .1) in
the circle and Leduc, of four of them in the others: chosen for the baseline, not for the league."""
BOLD = Learning(0.05, entropy=0.02)
"""Settings of somebody who has not searched for any."""
GAMES = {
    "circle:0.8": Size(40_000, CALM),
    "circle:0.8, bold": Size(40_000, BOLD),
    "circle:0.2": Size(40_000, CALM),
    "kuhn_poker": Size(40_000, CALM, coin=2.0),
    "liars_dice(numdice=1,dice_sides=4)": Size(500_000, CALM),
    "leduc_poker": Size(800_000, CALM, coin=13.0),
}
MAGNET = 0.3  # of .1, .3 and 1 the best in three games of four; in Leduc .1 was better


class Key(NamedTuple):
    """One run."""

    game: str
    way: str
    seed: int


def main() -> None:
    asked = arguments()
    print(__doc__[__doc__.index("Fixed before the runs") :])
    path = asked.out / ROWS
    path.parent.mkdir(parents=True, exist_ok=True)
    if asked.write_trees:
        write_trees(asked.write_trees)
        return
    wanted = [Key(g, w, s) for s in asked.seeds for g in asked.games for w in ways(g)]
    known = {key_of(row) for row in read_rows(path)}
    missing = [key for key in wanted if key not in known]
    run_all(missing, path, asked)
    rows = [row for row in read_rows(path) if key_of(row) in wanted]
    print(report(rows))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", default=Path("runs/exact"), type=Path)
    parser.add_argument("--processes", default=1, type=int)
    parser.add_argument("--seconds", default=1e9, type=float, help="begin no run after so many")
    parser.add_argument("--seeds", default=[*SEEDS], type=lambda s: [*map(int, s.split(","))])
    parser.add_argument("--games", default=[*GAMES], type=lambda s: s.split(";"))
    parser.add_argument("--scratch", default=None, help="folder for leagues while they run")
    parser.add_argument("--trees", default=None, type=Path, help="games written out, or to be")
    parser.add_argument("--write-trees", default=None, type=Path, help="write games out, and end")
    return parser.parse_args()


# --- games ---------------------------------------------------------------------------------------


@cache
def written_game(game: str, trees: Path | None) -> tuple[GameTree, Array, Array]:
    """A game's tree, which of its information states look alike, and how all begin."""
    if game.startswith("circle:"):
        from understudy.games.circle import exact

        share = float(game.partition(":")[2].partition(",")[0])
        start = exact.table_of(share, PlayerRef("expert"))
        return exact.tree(share), exact.ROWS.astype(np.int64), start
    if trees is not None:
        with np.load(trees / f"{game}.npz") as parts:
            tree = GameTree(**parts)
    else:
        from understudy.games.openspiel.family import OpenSpiel
        from understudy.games.openspiel.tree import written_out

        tree = written_out(OpenSpiel(game)).tree
    return tree, np.arange(len(tree.legal)), tree.even()


def write_trees(folder: Path) -> None:
    """For machines without OpenSpiel."""
    folder.mkdir(parents=True, exist_ok=True)
    for game in GAMES:
        if not game.startswith("circle:"):
            tree = written_game(game, None)[0]
            names = ("parent", "choice", "player", "state", "chance", "score", "legal")
            np.savez_compressed(folder / f"{game}.npz", **{n: getattr(tree, n) for n in names})


def ways(game: str) -> dict[str, LeagueRecipe]:
    """All ways at the same agent-steps, and the league with more for its exploiters."""
    size = GAMES[game]
    total = size.agent_steps
    better = two_roles(
        description="lives of one round, no league exploiter, rates fall late",
        rounds=ROUNDS,
        agent_steps=total,
        matches=MATCHES,
        opponents_max=16,
    )
    found = with_baselines("league", better, magnet=MAGNET)
    named = {name.removeprefix("league-"): recipe for name, recipe in found.items()}
    former = three_roles(
        description="as leagues were before: long lives, three roles, rates fall from the start",
        rounds=ROUNDS,
        agent_steps=total,
        matches=MATCHES,
        shares=(0.55, 0.4, 0.05),
        keep_every=1,
        patience=3,
        beats=0.6,
        reset="past main",
        matchmaking=better.matchmaking,  # type: ignore[arg-type]
    )
    alike = replace(better, agent_steps=round(total / 0.55))
    return {**named, "league, main alike": alike, "league, former": former}


# --- one run -------------------------------------------------------------------------------------


def run(key: Key, trees: Path | None, scratch: str | None) -> dict[str, Any]:
    """A whole league and what came of it."""
    begun = time.process_time()
    folder = Path(tempfile.mkdtemp(prefix="exact-", dir=scratch))
    try:
        tree, states, start = written_game(key.game, trees)
        tables = Tabular(tree, states, GAMES[key.game].learning)
        season = Season(
            folder=folder / "league",
            game="tabular",
            recipe=ways(key.game)[key.way],
            start=tables.write(folder / "start", start),
            scripted=(),
            results=RESULTS,
            graded=True,
            play=tables.play,
            improve=tables.improve,
            seed=key.seed,
        )
        state = season.run()
        found = measured(key, season, state, tables)
        return {**key._asdict(), **found, "cpu_seconds": time.process_time() - begun}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def measured(key: Key, season: Season, state: State, tables: Tabular) -> dict[str, Any]:
    """Exploitability of every product, beside what best responses by learning find."""
    main = state.roster.mains()[0]
    kept = [n for n in state.roster.snapshots("main") if n != main.version]
    products: dict[str, dict[str, float]] = {
        "last": {main.version: 1.0},
        "mixture": own_nash(state),
        "even": dict.fromkeys([*kept, main.version], 1 / (1 + len(kept))),
    }
    exact = {}
    for name, shares in products.items():
        played = [tables.table(season.player_ref(one)) for one in shares]
        found = best_response(tables.tree, mixture(tables.tree, played, [*shares.values()]))
        exact[name] = {"score": (found.first + found.second) / 2, "win_rate": found.win_rate}
    steps = GAMES[key.game].agent_steps
    learnt = {
        product: {
            begins: hunted(season, tables, f"{product}-{begins}", products[product], start, steps)
            for begins, start in (("start", "start"), ("main", main.version))
        }
        for product in ("last", "mixture")
    }
    members = state.roster.members()
    return {
        "agent_steps": state.agent_steps,
        "main_steps": ROUNDS * season.recipe.steps_of(season.recipe.slots[0]),
        "matches": state.match_steps,
        "exact": exact,
        "learnt": learnt,
        "cyclic": cyclicity(state.payoff.points(members)).named("value"),
        "size": {name: len(shares) for name, shares in products.items()},
    }


def hunted(
    season: Season, tables: Tabular, name: str, shares: Mapping[str, float], start: str, steps: int
) -> float:
    """What a best response wins that learns for so many steps as three rounds of self-play."""
    found = BestResponse(
        target={season.player_ref(one): share for one, share in shares.items()},
        start=season.player_ref(start),
        imitation=season.start,
        agent_steps=3 * steps,
        overrides=season.recipe.exploiter_overrides,
        matches=2_000,
        seed=season.seed,
        folder=season.folder / "hunts" / name,
        results=RESULTS,
        graded=True,
    )
    return float(found.measure(tables.improve, tables.play)["mean"])


# --- many runs -----------------------------------------------------------------------------------


def run_all(missing: Sequence[Key], path: Path, asked: argparse.Namespace) -> None:
    """Runs side by side; a line is written as soon as one has ended."""
    if not missing:
        return
    compiled(asked)
    begun, done, waiting = time.monotonic(), 0, iter(missing)
    with ProcessPoolExecutor(asked.processes, get_context("fork")) as pool:
        going: dict[Future[dict[str, Any]], Key] = {}
        while True:
            while len(going) < asked.processes and time.monotonic() - begun < asked.seconds:
                key = next(waiting, None)
                if key is None:
                    break
                going[pool.submit(run, key, asked.trees, asked.scratch)] = key
            if not going:
                return
            for ended in wait(going, return_when=FIRST_COMPLETED).done:
                key, row = going.pop(ended), ended.result()
                with path.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                done += 1
                took = time.monotonic() - begun
                left = took / done * (len(missing) - done)
                print(
                    f"{done} of {len(missing)} runs, {took:.0f} s, about {left:.0f} s left: "
                    f"{', '.join(map(str, key))}, {row['cpu_seconds']:.1f} CPU s",
                    flush=True,
                )


def compiled(asked: argparse.Namespace) -> None:
    """Compile once, before there are many processes: a league of the smallest game for a moment."""
    tree, states, start = written_game("circle:0.8", asked.trees)
    folder = Path(tempfile.mkdtemp(prefix="exact-", dir=asked.scratch))
    tables = Tabular(tree, states)
    player = tables.write(folder / "start", start)
    job = BestResponse(
        target={player: 1.0},
        start=player,
        imitation=player,
        agent_steps=1_000,
        matches=2,
        seed=0,
        folder=folder / "hunt",
        results=RESULTS,
    )
    job.measure(tables.improve, tables.play)
    shutil.rmtree(folder)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Every run that has ended; a line that was cut is no run."""
    found = []
    for line in path.read_text().splitlines() if path.is_file() else []:
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found


def key_of(row: Mapping[str, Any]) -> Key:
    return Key(row["game"], row["way"], row["seed"])


# --- what came of them ---------------------------------------------------------------------------


def report(rows: Sequence[Mapping[str, Any]]) -> str:
    parts = []
    for game in dict.fromkeys(row["game"] for row in rows):
        here = [row for row in rows if row["game"] == game]
        parts += [f"\n{game}\n", table(game, here), verdicts(game, here)]
    return "\n".join(
        [
            *parts,
            "\nBest responses by learning, less the exact one (win rates)\n",
            *calibration(rows),
        ]
    )


def table(game: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Means over runs with Student's intervals."""
    told = []
    for way in ways(game):
        mine = [row for row in rows if row["way"] == way]
        if mine:
            cells = (interval(game, student(values(game, rows, way, p))) for p in PRODUCTS)
            cyclic = mean(row["cyclic"]["value"] for row in mine)
            steps = [
                f"{mean(row[c] for row in mine) / 1e6:.2f} M" for c in ("agent_steps", "main_steps")
            ]
            told.append((way, str(len(mine)), *steps, *cells, f"{cyclic:.0%}"))
    return lines(["way", "runs", "steps", "main's", *PRODUCTS, "cyclic"], told)


def verdicts(game: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Challengers' products less those of the baselines, and what is shown."""
    told = []
    for way in CHALLENGERS:
        for mine, theirs in COMPARED:
            gaps = [
                welch(values(game, rows, way, mine), values(game, rows, other, product))
                for other in BASELINES
                for product in theirs
                if min(len(values(game, rows, one, mine)) for one in (way, other)) > 1
            ]
            if len(gaps) == len(BASELINES) * len(theirs):
                against = " and ".join(theirs)
                worst = max(gaps, key=lambda gap: gap.high)
                shown = "shown" if worst.high < 0 else "not shown"
                cells = interval(game, worst, signed=True), shown
                told.append((f"{way}, {mine}", f"both baselines', {against}", *cells))
    return lines(["product", "less", "the least favourable difference", "exploited less"], told)


def calibration(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The stronger of two learnt best responses beside the exact one, over all runs of a game."""
    told = []
    for game in dict.fromkeys(row["game"] for row in rows):
        for product in ("last", "mixture"):
            here = [row for row in rows if row["game"] == game]
            truth = [row["exact"][product]["win_rate"] for row in here]
            found = [max(row["learnt"][product].values()) for row in here]
            off = [one - other for one, other in zip(found, truth, strict=True)]
            if len(off) > 1:
                told.append(
                    (
                        game,
                        product,
                        str(len(off)),
                        f"{mean(truth):.1%}",
                        f"{mean(found):.1%}",
                        f"{mean(off):+.1%}",
                        f"{stdev(off):.1%}",
                        f"{rank_correlation(found, truth):.2f}",
                    )
                )
    heads = ["game", "against", "runs", "exact", "learnt", "bias", "SD", "rank correlation"]
    yield lines(heads, told)


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float:
    ranks = [np.argsort(np.argsort(each)) for each in (one, other)]
    return float(np.corrcoef(*ranks)[0, 1])


def values(game: str, rows: Sequence[Mapping[str, Any]], way: str, product: str) -> list[float]:
    """Exploitability of a product in every run of a way: a win rate, or in the game's own coin."""
    found = [row["exact"][product] for row in rows if row["way"] == way]
    if game.startswith("circle"):
        return [one["win_rate"] for one in found]
    return [one["score"] * GAMES[game].coin for one in found]


def interval(game: str, found: Estimate, *, signed: bool = False) -> str:
    form = (
        ("{:+.1%}" if signed else "{:.1%}")
        if game.startswith("circle")
        else ("{:+.3f}" if signed else "{:.3f}")
    )
    value, low, high = (form.format(one) for one in (found.value, found.low, found.high))
    return f"{value} ({low} to {high})"


def lines(heads: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    body = [f"| {' | '.join(one)} |" for one in cells]
    return "\n".join([f"| {' | '.join(heads)} |", f"|---|{'---|' * (len(heads) - 1)}", *body, ""])


if __name__ == "__main__":
    main()
