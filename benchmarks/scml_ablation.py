"""What the choices in training HRL-XF are worth: trained again without each of them, same budget.

    python benchmarks/scml_ablation.py --out DIR [--configs 60] [--steps 600] [--cores 1]
        [--device cuda] [--worlds 304] [--seconds 900] [--only base,direct]

One set of recordings for all: compiled official draws in which Steward, Penguin and AS0 compete,
Steward's decisions watched. From its samples three L2 (what came of the day, by the loss of today
and by the seed's plain squares; the first offers) and seven L3 with as many steps of as many rows
each, all from the same seed. No L4: all take their turns in its teacher's order. Everything fits a
core and twenty minutes; the shipped weights had far more of both.

    base         residuals (scheme E), L2's goals and loss of today, histories, cloning
    direct       offers as they are (scheme F)
    guard        L1's baseline where the response is less sure than .6 or .9
    no history   what was offered before is unknown, in training and in play
    no goals     without L2
    squares      L2 learnt by plain squares, as the seed did
    intent       L2 learns what was first offered, the seed's old goals
    awr          base, and as long again a quarter: AWR
    on           base, and as long again a quarter: cloning, beside which AWR is judged

Statistic, fixed before the run: the mean over worlds of a variant's score less that of `base`, in
the same factory of the same compiled world with the same dice, Student's 95 % interval over
worlds; of all places in the chain, and of each; `awr` beside `on` as well. Two fields: official
draws, whose competitors are Penguin, AS0, Steward and TunedSteward, and worlds of these alone. The
block has trained and chosen nothing. One seed of training: what differs by less than seeds do
shows nothing, so `base 2` is `base` from another seed.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scml_layers import FOR_SURE, Changed, Guarded, NoHistory
from torch import Tensor
from torch.nn.functional import mse_loss

from understudy.data.arrays import Float32s, Floats, Ints
from understudy.data.runs import WEIGHTS, Run
from understudy.games.scml.agent.l3_offers import MOST_UNITS
from understudy.games.scml.agent.policy import SHIPPED, HRLPolicy, policy_of
from understudy.games.scml.batch.learnt.policy import Learner, ManyDecisions
from understudy.games.scml.batch.setup import Seat
from understudy.games.scml.domain import DAYS, LINES, RESPONSES
from understudy.games.scml.learning.backfill import fill_goals
from understudy.games.scml.learning.dataset import DayStartRows
from understudy.games.scml.learning.l2 import GoalRecipe, targets
from understudy.games.scml.learning.l3 import OfferRecipe
from understudy.games.scml.learning.networks import GoalNetwork, OfferNetwork
from understudy.games.scml.tournament.batch_play import compile_world
from understudy.games.scml.tuning.report import comparison_lines
from understudy.games.scml.tuning.trials import RIVALS, Field, layout, scores_in_hands
from understudy.games.scml.view import features as f
from understudy.learn.base import Loss
from understudy.learn.recipe import TrainingJob

AT_ONCE = 16
BLOCK, RECORDED = 15_000_072, 1572
COMPANY = (*RIVALS, "TunedSteward")
NATIVE = ("Steward",)
FIELDS: tuple[Field, ...] = ("official", "champions")
BUYING_TENTH, SELLING_TENTH = 2, 8
"""L1's prices, to the nearest tenth of the range."""


# --- variants ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SquaredGoals(GoalRecipe):
    """The seed's first loss: plain squares, all goals alike."""

    def loss(self, network: GoalNetwork, batch: DayStartRows) -> Loss:
        """Of units where a goal is possible, and of prices there, which are 0 or the trading
        price's where nothing is wanted."""
        predicted = network(batch.x).view(len(batch.x), -1, 2, 2)
        target = targets(batch)
        possible = target.possible
        units = mse_loss(predicted[..., 0][possible], target.units[possible])
        price = mse_loss(predicted[..., 1][possible], target.price[possible])
        return Loss(units + price, {"units": units, "price": price})


class Blind(OfferNetwork):
    """L3 that hears nothing of what was offered before."""

    def forward(self, x: Tensor, history: Tensor, length: Tensor) -> Tensor:
        """What the heads read."""
        return super().forward(x, history, torch.zeros_like(length))


@dataclass(frozen=True, kw_only=True)
class BlindRecipe(OfferRecipe):
    """L3 without histories."""

    def _network(self, seed: int | None) -> OfferNetwork:
        return Blind(self.scheme, self.hidden, self.width, self.depth, seed)


class GuardedDirect(Guarded):
    """The guard for offers as they are."""

    def heads(self, known: Any, rows: Ints, turn: Float32s) -> Float32s:
        """Keep what L1 would offer instead, in the order in which it will be asked for."""
        found = super().heads(known, rows, turn)
        raw, at = turn / self._how.turn_inverse + self._how.turn_mean, f.TURN_AT
        unsure = found[:, : len(RESPONSES)].max(axis=1) >= FOR_SURE
        offers = unsure & (raw[:, at.still_safe] <= 0.5) & (raw[:, at.has_base] > 0.5)
        self._units = np.rint(raw[offers, at.base_quantity] * LINES).astype(int)
        self._buys = raw[offers, at.left_payable] > 1e-6
        return found

    def offer_heads(self, on_day: Float32s) -> Float32s:
        """L1's units, and its price to the nearest tenth."""
        found = self._of.offer_heads(on_day)
        unsure = np.flatnonzero(~on_day.any(axis=1))
        units = np.clip(self._units[: len(unsure)], 1, MOST_UNITS)
        found[unsure, units - 1] = FOR_SURE
        tenth = np.where(self._buys[: len(unsure)], BUYING_TENTH, SELLING_TENTH)
        found[unsure, MOST_UNITS + tenth] = FOR_SURE
        return found


assert len(RESPONSES) + DAYS == 14  # where `Guarded` writes

ROWS, HIDDEN = 1_024, (128, 128)
L2 = GoalRecipe(description="", steps=1, batch_size=ROWS)
L3 = OfferRecipe(description="", steps=1, batch_size=ROWS, hidden=HIDDEN)
GOALS: dict[str, GoalRecipe] = {
    "goals": L2,
    "squares": SquaredGoals(description="", steps=1, batch_size=ROWS),
    "intent": replace(L2, goals="intent"),
}
OFFERS: dict[str, tuple[OfferRecipe, str | None, int]] = {
    "base": (L3, "goals", 0),
    "base 2": (L3, "goals", 1),
    "direct": (replace(L3, scheme="direct"), "goals", 0),
    "no history": (
        BlindRecipe(description="", steps=1, batch_size=ROWS, hidden=HIDDEN),
        "goals",
        0,
    ),
    "no goals": (L3, None, 0),
    "squares": (L3, "squares", 0),
    "intent": (L3, "intent", 0),
}
"""L3's recipe, whose goals it reads, and the seed."""
ON: dict[str, OfferRecipe] = {"awr": replace(L3, kind="awr"), "on": L3}
"""What goes on from `base`."""


# --- from worlds to weights ----------------------------------------------------------------------


def recorded(wanted: argparse.Namespace) -> None:
    """Play and encode."""
    run, understudy = ["--out", str(wanted.out)], [sys.executable, "-m", "understudy"]
    workers = ["--workers", str(wanted.cores), "--quiet"]
    who = ["--agents", ",".join(RIVALS), "--track-only", "Steward", "--simulator", "batch"]
    how = ["--configs", str(wanted.configs), "--seed", str(RECORDED)]
    how += ["--steps", str(wanted.days)] if wanted.days else []
    subprocess.run([*understudy, "record", "scml", *run, *who, *how, *workers], check=True)
    subprocess.run([*understudy, "encode", "scml", *run, *workers], check=True)


def job_of(name: str, wanted: argparse.Namespace, seed: int = 0) -> TrainingJob:
    """Where a part learns."""
    folder = wanted.out / "ablation" / name.replace(", ", "-").replace(" ", "-")
    folder.mkdir(parents=True, exist_ok=True)
    return TrainingJob(run=Run(wanted.out), out=folder, seed=seed, device=wanted.device)


def learn_goals(name: str, wanted: argparse.Namespace) -> None:
    """An L2, and its goals in the samples."""
    torch.set_num_threads(1)
    job = job_of(f"l2 {name}", wanted)
    recipe = replace(GOALS[name], steps=wanted.steps // 2, evaluate_every=max(wanted.steps // 8, 1))
    recipe.train(job.run.samples, None, job)
    fill_goals(job.run.samples, job.out / "samples", job.out)


def learn_offers(name: str, wanted: argparse.Namespace) -> None:
    """An L3; and what goes on from it."""
    torch.set_num_threads(1)
    recipe, goals, seed = OFFERS[name]
    samples = wanted.out / "samples"
    if goals is not None:
        samples = job_of(f"l2 {goals}", wanted).out / "samples"
    job = job_of(name, wanted, seed)
    often = max(wanted.steps // 4, 1)
    timed = replace(recipe, steps=wanted.steps, evaluate_every=often, checkpoint_every=often)
    timed.train(samples, None, job)
    if name != "base":
        return
    more = {"steps": often, "evaluate_every": often, "checkpoint_every": often}
    for after, way in ON.items():
        replace(way, learning_rate=3e-4, **more).train(
            samples, job.out / WEIGHTS, job_of(after, wanted)
        )


def in_turn(kind: str, names: Sequence[str], wanted: argparse.Namespace) -> None:
    """Each in a process of its own, side by side."""
    context, work = get_context("spawn"), {"l2": learn_goals, "l3": learn_offers}[kind]
    with ProcessPoolExecutor(min(len(names), wanted.cores), mp_context=context) as pool:
        for one in as_completed([pool.submit(work, name, wanted) for name in names]):
            one.result()
    print(f"{kind} learnt after {time.monotonic() - wanted.begun:,.0f} s", flush=True)


# --- measured ------------------------------------------------------------------------------------


def learners(wanted: argparse.Namespace) -> dict[str, Learner]:
    """Who plays, by name."""

    def policy(name: str) -> HRLPolicy:
        return policy_of(job_of(name, wanted).out / WEIGHTS)

    found: dict[str, Learner] = {
        name: Changed(policy(name), NoHistory)
        if name == "no history"
        else ManyDecisions(policy(name))
        for name in (*wanted.only, *ON)
    }
    found["guard .9"] = Changed(policy("base"), Guarded, 0.9)
    if "direct" in found:
        found["direct, guard .9"] = Changed(policy("direct"), GuardedDirect, 0.9)
    return found


_PLAYERS: dict[str, Learner] = {}


def measured(field: Field, first: int, wanted: argparse.Namespace) -> Floats:
    """Scores of all in some worlds, [players, worlds]."""
    if not _PLAYERS:
        _PLAYERS.update(learners(wanted))
    hands = [Seat(None, policy=index) for index in range(len(_PLAYERS))]
    hands += [Seat(name) for name in NATIVE]
    numbers = range(first, min(first + AT_ONCE, wanted.worlds))
    some = [layout(field, None, BLOCK, number, COMPANY) for number in numbers]
    return scores_in_hands(some, hands, list(_PLAYERS.values()))


def compile_all() -> None:
    """Once, before many processes would."""
    compile_world([ManyDecisions(policy_of(SHIPPED))])


def compare(wanted: argparse.Namespace) -> None:
    """Play until time is up; print the tables as far as they have come."""
    names = [*learners(wanted), *NATIVE]
    found: dict[Field, list[Floats]] = {field: [] for field in FIELDS}
    jobs = [(field, at) for field in FIELDS for at in range(0, wanted.worlds, AT_ONCE)]
    context = get_context("spawn")
    with ProcessPoolExecutor(wanted.cores, mp_context=context) as pool:
        for at in range(0, len(jobs), wanted.cores):
            if time.monotonic() - wanted.begun > wanted.seconds:
                break
            some = jobs[at : at + wanted.cores]
            parts = [pool.submit(measured, *job, wanted) for job in some]
            for (field, _), part in zip(some, parts, strict=True):
                found[field].append(part.result())
    for field in FIELDS:
        show(field, names, found[field])


def show(field: Field, names: Sequence[str], parts: Sequence[Floats]) -> None:
    """The tables of a field."""
    if not parts:
        return
    scores = np.concatenate(parts, axis=1)
    numbers = range(scores.shape[1])
    places = [layout(field, None, BLOCK, number, COMPANY).place for number in numbers]
    named = dict(zip(names, scores, strict=True))
    tables = {"base": named, "on": {name: named[name] for name in ("on", "awr", "base")}}
    if "direct" in named:
        tables["direct"] = {name: named[name] for name in names if name.startswith("direct")}
    for base, chosen in tables.items():
        print(f"\n{field}, beside {base}\n")
        print("\n".join(comparison_lines(chosen, base, places)), flush=True)


def losses(wanted: argparse.Namespace) -> None:
    """What each part is worth on the test split, as a line of JSON."""
    for file in sorted((wanted.out / "ablation").glob("*/evaluation.json")):
        found = json.loads(file.read_text())
        kept = {key: found["test"].get(key) for key in ("rows", "loss", "raw", "heads")}
        print(file.parent.name, json.dumps(kept)[:1500], flush=True)


def main() -> None:
    """Record, learn, measure; what is there is not made again."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--configs", type=int, default=60)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--days", type=int, help="of every recorded world; else as in the league")
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--worlds", type=int, default=304)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--only", default=",".join(OFFERS), help="L3 by name; base is needed")
    wanted = parser.parse_args()
    wanted.only = wanted.only.split(",")
    wanted.begun = time.monotonic()
    compiling = get_context("spawn").Process(target=compile_all)
    compiling.start()  # meanwhile worlds are hosted
    recorded(wanted)
    print(f"recorded after {time.monotonic() - wanted.begun:,.0f} s", flush=True)
    in_turn("l2", list(GOALS), wanted)
    in_turn("l3", wanted.only, wanted)
    losses(wanted)
    compiling.join()
    compare(wanted)
    print(f"done after {time.monotonic() - wanted.begun:,.0f} s", flush=True)


if __name__ == "__main__":
    main()
