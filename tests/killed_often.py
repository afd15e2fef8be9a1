"""A program: run a command of the command line again and again, killed each time, until it ends.

    python killed_often.py SEED WHOLE COMMAND... --out BROKEN

prints how many attempts were killed, and runs the command once more with `--out WHOLE`, unbroken.
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

from tests.small_runs import tiny_recipe
from understudy import cli, games
from understudy.data.players import PlayerRef
from understudy.pipeline import pairings


def main():
    seed, whole, *command = sys.argv[1:]
    with tiny_recipe() if command[0] in ("train", "tune") else contextlib.nullcontext():
        latest = 6
        if command[1] == "dota":
            prepare_dota()
            latest = 24  # a lot is nine files, and an attempt must be able to finish one
        else:
            prepare(command[0])
        dice = random.Random(int(seed))
        killed = 0
        while attempt(command, dice.randint(2, latest), dice.random() < 0.5):
            killed += 1
        attempt([*command[:-1], whole])
    print(killed)


def prepare(stage):
    """Import and compile what the stage needs."""
    arena = games.load("arena")
    if stage == "record":
        players = tuple(PlayerRef(name) for name in ("expert", "rusher", "kiter"))
        for pair in itertools.permutations(players, 2):
            arena.play(pairings.Fixture(pair, (0,)))
    if stage in ("train", "tune"):
        import torch

        from understudy.learn.policy import FactoredPolicy

        policy = FactoredPolicy(arena.recipe("imitate-quick").shape, seed=0)
        torch.optim.AdamW(policy.parameters())  # imports half of torch


def prepare_dota():
    """Lots of three matches, so that there are some."""
    from understudy.games.dota.sources import match_files

    match_files.MATCHES_PER_BATCH = 3


def attempt(command, moment=0, before=False):
    """Run a command in a new process; whether it was killed."""
    child = os.fork()
    if child == 0:
        die_at(moment, before)
        sys.argv = ["understudy", *command]
        cli.main()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if code := os.waitstatus_to_exitcode(status):
        assert code == -signal.SIGKILL, f"{command} ended with {code}"
    return code != 0


def die_at(moment, before):
    """Have this process killed at the renaming of that number."""
    rename, numbers = os.replace, itertools.count(1)

    def rename_or_die(*paths):
        now = next(numbers) == moment
        if now and before:
            os.kill(os.getpid(), signal.SIGKILL)
        rename(*paths)
        if now:
            os.kill(os.getpid(), signal.SIGKILL)

    os.replace = rename_or_die


if __name__ == "__main__":
    main()
