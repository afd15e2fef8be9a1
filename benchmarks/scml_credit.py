"""How well advantages tell good decisions from lucky ones: along a direction that is known to gain.

    python benchmarks/scml_credit.py [--learn 1344] [--worlds 648] [--seed 601]
        [--start PATH --towards PATH --temperature .25 --official .6 --cloned .1]

Weights play, the clone's unless others are named; from them to those that learning by play made of
them lies a direction in which the score rises. Statistic, fixed before the run: per world, the sum
over decisions of advantage (normalised as in training) times the derivative of the decision's log-
probability in that direction; t, its mean over its standard error over worlds. Twice the t is worth
four times the worlds. Critics learn from --learn worlds, a pass or two over each as in training,
with other worlds for the t: `central` sees all factories, `own` what the player sees; `booked` is
the potential that brings a contract's gain to the moment it is signed, `money` none. Lambdas are of
advantages from one decision to the next; 1 without a critic is the score itself.
"""

import argparse
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

from understudy.data.arrays import Floats
from understudy.games.scml.agent.checkpoint import read_checkpoint
from understudy.games.scml.agent.policy import CLONE, SHIPPED, HRLPolicy
from understudy.games.scml.learning.online.experience import Course, experience_of, joined
from understudy.games.scml.learning.online.fields import Company, block_of
from understudy.games.scml.learning.online.learner import (
    Learner,
    LearnerSettings,
    Rates,
)
from understudy.games.scml.learning.online.player import Layers, Player
from understudy.games.scml.learning.online.returns import normalised, targets
from understudy.games.scml.learning.online.rollout import Job, Rollout, collect

AT_ONCE, STEP = 96, 0.1
LAMBDAS = (0.0, 0.3, 0.6, 0.8, 0.9, 0.95, 0.98, 1.0)
USED, FIRST, DRAWS = 0.6, "central, booked", 1_000
CRITICS = {
    f"{seen}, {kind}": LearnerSettings(
        central=seen == "central",
        shaped=kind == "booked",
        batch_size=8_192,
        critic_rate=1e-3,
    )
    for seen in ("central", "own")
    for kind in ("booked", "money")
}
CPU = torch.device("cpu")


def rollouts(wanted: argparse.Namespace, worlds: int, number: int) -> Iterator[Rollout]:
    """Worlds that the weights play."""
    start = read_checkpoint(wanted.start)
    for first in range(0, worlds, AT_ONCE):
        yield collect(
            Job(
                layers={layer: dict(one) for layer, one in start.layers.items()},
                about=start.about,
                company=Company(official=wanted.official, cloned=wanted.cloned, conserved=0.1),
                block=block_of("train", wanted.seed, number),
                first=first,
                worlds=min(AT_ONCE, worlds - first),
                keep=1.0,
                samples_order=False,
                goal_noise=0.0,
                response_temperature=wanted.temperature,
            )
        )


def towards_learnt(wanted: argparse.Namespace, share: float) -> Player:
    """The weights, moved some of the way to what was made of them."""
    start, learnt = read_checkpoint(wanted.start), read_checkpoint(wanted.towards)
    moved = {
        name: (one + share * (learnt.layers["l3"][name].astype(np.float64) - one)).astype(one.dtype)
        for name, one in start.layers["l3"].items()
    }
    scheme = HRLPolicy(start).l3.scheme
    return Player(Layers({**start.layers, "l3": moved}, scheme, wanted.temperature))


def worth(settings: LearnerSettings, played: Course) -> Floats:
    return played.booked if settings.shaped else played.money


def learnt_critics(wanted: argparse.Namespace) -> dict[str, Learner]:
    """Each sees the same worlds in the same order."""
    start, rng = read_checkpoint(wanted.start), np.random.default_rng(0)
    found = {
        name: Learner(
            replace(settings, response_temperature=wanted.temperature),
            start.layers,
            HRLPolicy(start).l3.scheme,
            0,
            CPU,
        )
        for name, settings in CRITICS.items()
    }
    for rollout in rollouts(wanted, wanted.learn, 0):
        for one in found.values():
            one.learn([rollout], {}, Rates(learning_rates={}), rng)
    return found


def arguments() -> argparse.Namespace:
    """As the command line has them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--learn", type=int, default=1_344)
    parser.add_argument("--worlds", type=int, default=648)
    parser.add_argument("--seed", type=int, default=601)
    parser.add_argument("--start", type=Path, default=CLONE, help="weights that play")
    parser.add_argument("--towards", type=Path, default=SHIPPED, help="what was made of them")
    parser.add_argument("--temperature", type=float, default=1.0, help="of responses")
    parser.add_argument("--official", type=float, default=0.5, help="share of worlds")
    parser.add_argument("--cloned", type=float, default=0.0, help="share of rivals")
    return parser.parse_args()


def main() -> None:
    """Print a table."""
    wanted = arguments()
    began = time.process_time()
    critics = learnt_critics(wanted)
    ahead, back = towards_learnt(wanted, STEP), towards_learnt(wanted, -STEP)
    sums: dict[tuple[str, float], list[Floats]] = {}
    explained: dict[str, list[Floats]] = {name: [] for name in critics}
    for rollout in rollouts(wanted, wanted.worlds, 1):
        played, seen = joined([rollout]), experience_of([rollout.played], CPU)
        any_learner = next(iter(critics.values()))
        moved = [any_learner._log_probs(player, seen, False)[:, 0] for player in (ahead, back)]
        slope = ((moved[0] - moved[1]) / (2 * STEP)).double().numpy()
        for name, one in critics.items():
            value, kind = one._values(seen), worth(one.settings, played)
            explained[name].append(np.stack([played.final - kind, value]))
            for lambda_ in LAMBDAS:
                target = targets(played, kind, played.final, value, np.zeros_like(value), lambda_)
                advantage = normalised(target - value, played.group)
                per_world = np.bincount(played.world, weights=advantage * slope)
                sums.setdefault((name, lambda_), []).append(per_world)
        alone = normalised(played.final, played.group)
        per_world = np.bincount(played.world, weights=alone * slope)
        sums.setdefault(("no critic", 1.0), []).append(per_world)
    print(f"\n| t over {wanted.worlds} worlds | explains | " + " | ".join(map(str, LAMBDAS)) + " |")
    print("|---" * (len(LAMBDAS) + 2) + "|")
    for name in critics:
        came, said = np.concatenate(explained[name], 1)
        share = 1 - (came - said).var() / came.var()
        cells = [f"{_t(sums[name, lambda_]):+.2f}" for lambda_ in LAMBDAS]
        print(f"| {name} | {share:.0%} | " + " | ".join(cells) + " |")
    print(f"| no critic | | {' | ' * (len(LAMBDAS) - 1)}{_t(sums['no critic', 1.0]):+.2f} |")
    print(f"\nLambda {USED}, t less that of {FIRST} ({DRAWS} bootstraps over worlds, 95 %):\n")
    for name in [*critics][1:]:
        gaps = _gaps(sums[name, USED], sums[FIRST, USED])
        print(f"| {name} | {gaps[0]:+.2f} [{gaps[1]:+.2f}, {gaps[2]:+.2f}] |")
    for lambda_ in LAMBDAS:
        gaps = _gaps(sums[FIRST, lambda_], sums[FIRST, USED])
        print(f"| lambda {lambda_} | {gaps[0]:+.2f} [{gaps[1]:+.2f}, {gaps[2]:+.2f}] |")
    print(f"\n{time.process_time() - began:.0f} CPU s")


def _gaps(parts: list[Floats], others: list[Floats]) -> tuple[float, float, float]:
    """How much larger the t of some is, in the same worlds, and its interval."""
    both, rng = np.stack([np.concatenate(parts), np.concatenate(others)]), np.random.default_rng(0)
    drawn = both[:, rng.integers(0, both.shape[1], (DRAWS, both.shape[1]))]
    found = drawn.mean(2) / drawn.std(2, ddof=1) * np.sqrt(both.shape[1])
    low, high = np.quantile(found[0] - found[1], (0.025, 0.975))
    return _t(parts) - _t(others), float(low), float(high)


def _t(parts: list[Floats]) -> float:
    every = np.concatenate(parts)
    return float(every.mean() / every.std(ddof=1) * np.sqrt(len(every)))


if __name__ == "__main__":
    main()
