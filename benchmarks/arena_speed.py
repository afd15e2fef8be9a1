"""How fast the arena steps beside three well-known environments of the same kind.

    make bench        (installs the peers first, but for PufferLib, whose build needs GitHub)

One thread, CPU seconds, all in one run: mpe2's `simple_tag` (PettingZoo) steps one match at a time,
VMAS's `simple_tag` many at once in torch, PufferLib's `target` many at once in C (two players who
steer towards stars: nothing blocks them, nobody shoots). A match-step is one step of one match with
all its players. The arena's figure includes the full rules, both players' views and the resets of
ended matches. Actions are drawn before the clock starts, for everybody.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
from collections.abc import Callable
from contextlib import chdir
from tempfile import TemporaryDirectory

import numpy as np
from rich.console import Console
from rich.table import Table

from understudy.games.arena.codec import features as observe
from understudy.games.arena.play import bots
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim.world import World

SIZES = (1, 64, 1024, 4096)
REPEATS = 5  # the best of so many: the machine is shared
BUDGET = 0.5  # CPU seconds each


def rate(step: Callable[[], None], matches: int) -> float:
    """Match-steps per CPU second, best of REPEATS."""
    step()
    best = 0.0
    for _ in range(REPEATS):
        steps, began = 0, time.process_time()
        while (spent := time.process_time() - began) < BUDGET:
            for _ in range(20):
                step()
            steps += 20
        best = max(best, steps * matches / spent)
    return best


def random_actions(matches: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Sixteen batches of random actions."""
    batches = []
    for _ in range(16):
        actions = np.zeros((matches, 2, len(r.ACTION)), np.float32)
        actions[..., :4] = rng.uniform(-1, 1, (matches, 2, 4))
        actions[..., r.FIRE] = rng.random((matches, 2)) < 0.5
        actions[..., r.INTERACT] = rng.random((matches, 2)) < 0.2
        actions[..., r.ABILITY] = rng.integers(0, 3, (matches, 2))
        batches.append(actions)
    return batches


class Arena:
    """N matches with random actions, begun again when they end."""

    def __init__(self, matches: int, *, features: bool = False):
        self.world, self.features = World(matches), features
        self.actions = random_actions(matches, np.random.default_rng(0))
        self.world.reset(np.arange(matches))
        self.count, self.seeds = 0, matches

    def step(self) -> None:
        world = self.world
        world.step(self.actions[self.count % 16])
        self.count += 1
        if self.features:
            flat = world.view.reshape(-1, world.view.shape[2])
            observe.features(flat)
            observe.legal(flat)
        if world.status.any():
            done = np.flatnonzero(world.status)
            world.reset(np.arange(self.seeds, self.seeds + len(done)), done)
            self.seeds += len(done)


class ExpertArena(Arena):
    """The same with two experts choosing the actions: play as it is recorded."""

    def step(self) -> None:
        world = self.world
        for slot in range(2):
            self.actions[0][:, slot] = bots.act(
                "expert", world.view[:, slot], world.seed, world.steps, slot
            )
        self.count = 0
        super().step()


def mpe(matches: int) -> Callable[[], None]:
    """mpe2 has no batch: one environment, stepped once per match."""
    from mpe2 import simple_tag_v3

    env = simple_tag_v3.parallel_env()
    env.reset(seed=0)
    for number, agent in enumerate(env.possible_agents):
        env.action_space(agent).seed(number)
    choices = [{a: env.action_space(a).sample() for a in env.possible_agents} for _ in range(16)]
    count = 0

    def step() -> None:
        nonlocal count
        if not env.agents:
            env.reset()
        env.step(choices[count % 16])
        count += 1

    return step


def vmas(matches: int) -> Callable[[], None]:
    """VMAS steps its matches as one torch batch."""
    import torch
    from vmas import make_env

    torch.set_num_threads(1)
    env = make_env("simple_tag", num_envs=matches, device="cpu", continuous_actions=True, seed=0)
    env.reset()
    choices = [[torch.rand(matches, 2) * 2 - 1 for _ in env.agents] for _ in range(4)]
    count = 0

    def step() -> None:
        nonlocal count
        env.step(choices[count % 4])
        count += 1

    return step


def puffer(matches: int) -> Callable[[], None]:
    """PufferLib steps its matches in a loop in C."""
    with TemporaryDirectory() as aside, chdir(aside):  # importing it leaves a link where one stands
        from pufferlib.ocean.target.target import Target

    env = Target(num_envs=matches, num_agents=2)
    env.reset()
    rng = np.random.default_rng(0)
    sizes = env.single_action_space.nvec
    choices = [rng.integers(0, sizes, (2 * matches, len(sizes))) for _ in range(16)]
    count = 0

    def step() -> None:
        nonlocal count
        env.step(choices[count % 16])
        count += 1

    return step


def peer(make: Callable[[int], Callable[[], None]], matches: int) -> float | None:
    """A peer's rate; None where it is not installed."""
    try:
        return rate(make(matches), 1 if make is mpe else matches)
    except ImportError:
        return None


def main() -> None:
    """Measure and print the table."""
    table = Table(title="match-steps per CPU second, one thread", title_justify="left")
    ours = ("N", "arena", "+ features", "+ two experts")
    for name in (*ours, "mpe2 simple_tag", "VMAS simple_tag", "PufferLib target"):
        table.add_column(name, justify="right")
    alone = peer(mpe, 1)
    for matches in SIZES:
        stepped = rate(Arena(matches).step, matches)
        seen = rate(Arena(matches, features=True).step, matches)
        played = rate(ExpertArena(matches).step, matches)
        theirs = alone if matches == 1 else None
        peers = (theirs, peer(vmas, matches), peer(puffer, matches))
        figures = (stepped, seen, played, *peers)
        table.add_row(str(matches), *(f"{f:,.0f}" if f else "-" for f in figures))
    Console().print(table)


if __name__ == "__main__":
    main()
