"""A program: run a command of the command line again and again, killed each time, until it ends.

    python killed_often.py SEED COMMAND...      prints how many attempts were killed

An attempt is killed with SIGKILL right before or right after it renames some file: with a file
half-written, or with the next one not begun. Each is a process of its own, forked when everything
that takes long is done.
"""

import contextlib
import itertools
import os
import random
import signal
import sys

from small_runs import tiny_recipe

from understudy import cli, games


def main():
    dice = random.Random(int(sys.argv.pop(1)))
    with tiny_recipe() if sys.argv[1] == "train" else contextlib.nullcontext():
        prepare(sys.argv[1])
        kill_until_it_ends(dice)


def kill_until_it_ends(dice):
    killed = 0
    while True:
        moment, before = dice.randint(2, 6), dice.random() < 0.5
        attempt = os.fork()
        if attempt == 0:
            die_at(moment, before)
            cli.main()
            os._exit(0)
        _, status = os.waitpid(attempt, 0)
        if not os.WIFSIGNALED(status):
            break
        assert os.WTERMSIG(status) == signal.SIGKILL
        killed += 1
    print(killed)
    sys.exit(os.waitstatus_to_exitcode(status))


def prepare(stage):
    """Import and compile what the stage needs."""
    arena = games.load("arena")
    if stage == "record":
        players = tuple(games.PlayerRef(name) for name in ("expert", "rusher", "kiter"))
        for pair in itertools.permutations(players, 2):
            arena.play(games.Fixture(pair, (0,)), None)
    if stage == "train":
        import torch

        from understudy.learn.policy import FactoredPolicy

        policy = FactoredPolicy(arena.recipe("imitate-quick").shape, seed=0)
        torch.optim.AdamW(policy.parameters())  # imports half of torch


def die_at(moment, before):
    """Have this process killed at the renaming of that number."""
    rename, number = os.replace, 0

    def rename_or_die(*paths):
        nonlocal number
        number += 1
        if number == moment and before:
            os.kill(os.getpid(), signal.SIGKILL)
        rename(*paths)
        if number == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    os.replace = rename_or_die


if __name__ == "__main__":
    main()
