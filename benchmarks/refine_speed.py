"""How fast refinement trains, and how much of that time the game and the network must take anyway.

    make bench        (or alone: python benchmarks/refine_speed.py; beside a card: ... cuda)

One thread, CPU seconds, acting and learning in one process. An agent-step is one decision of the
learner that was played and trained on. The floor is what no program with this game and this network
can do without: stepping the world and writing both views, one forward pass to act, one forward and
one backward pass to learn, for each time a step is used. What is above it is choosing, keeping and
drawing play, returns, the teacher (a second network of the same size), the restraints, the
optimiser, and in one row a critic of the same size that sees both players' views.

With `cuda` it is wall seconds on one card: matches are played in threads, policies think and learn
on the card. The first row is what CPU actors reach beside the same learner on the card.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from understudy.games.arena import recipes
from understudy.games.arena.data.encode import MOVES
from understudy.games.arena.play.batched import BatchedArena
from understudy.learn.policy import FactoredPolicy, PolicyShape
from understudy.learn.rl.acting.actors import Actors
from understudy.learn.rl.acting.opponents import Opponent, packed
from understudy.learn.rl.env import SELF
from understudy.learn.rl.learner import Learner

HIDDEN = (64, 64)
REPEATS = 5  # the best of so many: the machine is shared
ROWS = (  # matches, uses of each step, other opponents, critic
    (1024, 1, False, False),
    (4096, 1, False, False),
    (1024, 2, False, False),
    (1024, 1, True, False),
    (1024, 1, False, True),
)
BATCH = 256  # sequences per update
MIXED = 0.5  # share of self-play where other opponents are met


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of one call, best of REPEATS."""
    work()
    best = float("inf")
    for _ in range(REPEATS):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best


def bare_game(matches: int) -> float:
    """CPU seconds per agent-step of the world, its resets and both views."""
    game = BatchedArena(matches)
    game.reset(np.arange(matches), np.arange(matches))
    rng = np.random.default_rng(0)
    sizes = list(MOVES.heads.values())
    options = rng.integers(0, sizes, (2 * matches, len(sizes)))
    place, seat = np.divmod(np.arange(2 * matches), 2)
    game.set_actions(place, seat, options)

    def steps() -> None:
        for _ in range(20):
            game.observe()
            over = np.flatnonzero(game.step().terminated)
            game.reset(over, over)

    return seconds(steps) / (20 * 2 * matches)


def bare_network(policy: FactoredPolicy, act_rows: int, learn_rows: int) -> tuple[float, float]:
    """CPU seconds per row to act (forward) and to learn (forward and backward)."""
    features = len(policy.shape.features)
    seen, kept = torch.randn(act_rows, features), torch.randn(learn_rows, features)

    def act() -> None:
        with torch.inference_mode():
            policy(seen)

    def learn() -> None:
        output = policy(kept)
        policy.zero_grad()
        (output.logits.mean() + output.value.mean()).backward()

    return seconds(act) / act_rows, seconds(learn) / learn_rows


def measure(matches: int, uses: int, mixed: bool, critic: bool) -> list[str]:
    """A row of the table."""
    policy = FactoredPolicy(PolicyShape(MOVES.features, MOVES.heads, HIDDEN), 0)
    opponents = [Opponent(SELF, 1.0)]
    if mixed:
        rest = (1 - MIXED) / 2
        frozen = Opponent("past", rest, packed(policy))
        opponents = [Opponent(SELF, MIXED), Opponent("expert", rest), frozen]
    recipe = replace(
        recipes.refine,
        matches=matches,
        rollouts=1,
        updates=1,
        uses=1.0,
        critic=HIDDEN if critic else None,
        critic_first=0,
    )
    sequences = Learner(recipe, policy, opponents, 0).sequences
    updates = uses * sequences // BATCH
    recipe = replace(
        recipe, updates=updates, uses=float(uses), staleness_max=2 * updates, decay=0.0
    )
    refiner = Learner(recipe, policy, opponents, 0)
    actors = Actors(0)
    spent = seconds(lambda: refiner.iterate(actors)) / (sequences * recipe.steps)
    game = bare_game(matches)
    act, learn = bare_network(policy, sequences, BATCH * recipe.steps)
    num_players = 2 * matches / sequences  # every seat is played, not every seat is the learner's
    floor = (game + act) * num_players + uses * learn
    who = "self, expert, frozen" if mixed else "self"
    return [
        f"{matches:,}",
        who + (", critic" if critic else ""),
        str(uses),
        f"{1 / spent:,.0f}",
        f"{1 / floor:,.0f}",
        f"{floor / spent:.0%}",
        *(
            f"{part * 1e6:.2f}"
            for part in (game * num_players, act * num_players, uses * learn, spent - floor)
        ),
    ]


def on_card(rollouts: int, matches: int, batch: int, critic: bool, threads: bool) -> list[str]:
    """A row of the card's table."""
    card = torch.device("cuda")
    policy = FactoredPolicy(PolicyShape(MOVES.features, MOVES.heads, HIDDEN), 0)
    updates = max(1, rollouts * matches * 2 // batch)
    recipe = replace(
        recipes.refine,
        matches=matches,
        rollouts=rollouts,
        updates=updates,
        staleness_max=2 * updates,
        critic=HIDDEN if critic else None,
        critic_first=0,
        decay=0.0,
        memory=0,
    )
    learner = Learner(recipe, policy, [Opponent(SELF, 1.0)], 0, device=card)
    if threads:
        learner.acting_device = card
    with Actors(0 if threads else rollouts, threads=rollouts if threads else 0) as actors:
        for _ in range(3):
            learner.iterate(actors)
        before, began, cpu = learner.agent_steps, time.perf_counter(), time.process_time()
        while time.perf_counter() - began < 8.0:
            learner.iterate(actors)
        spent, cores = time.perf_counter() - began, time.process_time() - cpu
    rate = (learner.agent_steps - before) / spent
    return [
        "threads and card" if threads else "processes, CPU",
        f"{rollouts} x {matches:,}",
        f"{batch}",
        "yes" if critic else "no",
        f"{rate / 1e6:.2f} M",
        f"{cores / spent:.1f}",
    ]


CARD_ROWS = (  # rollouts, matches in each, sequences per update, critic, policies act on the card
    (12, 512, 256, False, False),
    (2, 4096, 256, False, True),
    (2, 4096, 1024, False, True),
    (4, 2048, 1024, False, True),
    (4, 4096, 1024, False, True),
    (4, 4096, 1024, True, True),
    (4, 4096, 4096, True, True),
)


def card_table() -> Table:
    """Wall seconds beside a card."""
    title = f"agent-steps trained per second on {torch.cuda.get_device_name()}, network 64x2"
    table = Table(title=title, title_justify="left")
    for name in ("actors", "rollouts x matches", "batch", "critic", "trained/s", "cores busy"):
        table.add_column(name, justify="left" if name == "actors" else "right")
    for row in CARD_ROWS:
        table.add_row(*on_card(*row))
    return table


def main() -> None:
    """Measure and print the table."""
    if "cuda" in sys.argv[1:]:
        Console(width=120).print(card_table())
        return
    torch.set_num_threads(1)
    title = f"agent-steps trained per CPU second, one thread, network {HIDDEN[0]}x{len(HIDDEN)}"
    table = Table(title=title, title_justify="left")
    for name in ("N", "opponents", "uses", "trained/s", "floor/s", "share"):
        table.add_column(name, justify="left" if name == "opponents" else "right")
    for name in ("game µs", "act µs", "learn µs", "rest µs"):
        table.add_column(name, justify="right")
    for row in ROWS:
        table.add_row(*measure(*row))
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
