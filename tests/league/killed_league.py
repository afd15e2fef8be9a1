"""A program: run a league again and again, killed at every moment that there is, and compare.

    python killed_league.py FOLDER STRIDE

An attempt is killed with SIGKILL at the renaming of one file, before or after it, or in the middle
of a training job or of the matches; with a stride, only at every so many renamings. It prints how
many attempts were killed.
"""

import itertools
import os
import shutil
import signal
import sys
from pathlib import Path

from tests.killed_often import die_at
from tests.league import rps
from tests.league.toy_league import play, season
from tests.small_runs import contents

FEW = {"rounds": 3, "matches": 4, "agent_steps": 40}


def main():
    folder, stride = Path(sys.argv[1]), int(sys.argv[2])
    whole = folder / "whole"
    league(whole)
    expected = contents(whole)
    killed = 0
    for moment in itertools.count(1, stride):
        broken = folder / "broken"
        shutil.rmtree(broken, ignore_errors=True)
        if not attempt(broken, lambda at=moment: die_at(at, before=at % 2 == 0)):
            break
        killed += 1
        league(broken)
        assert contents(broken) == expected, f"killed at renaming {moment}"
    for hook, moment in itertools.product(("improve", "play"), (1, 2, 3)):
        broken = folder / "broken"
        shutil.rmtree(broken, ignore_errors=True)
        killed += attempt(broken, lambda: None, **{hook: dying(hook, moment)})
        league(broken)
        assert contents(broken) == expected, f"killed in {hook} {moment}"
    print(killed)


def league(folder, **hooks):
    return season(folder, **FEW, **hooks).run()


def dying(hook, moment):
    """A hook that is killed in the middle of a call, with half of its files written."""
    calls = itertools.count(1)

    def improve(job):
        if next(calls) == moment:
            (job.out / "weights.json").write_text("[1.0, 0.")
            os.kill(os.getpid(), signal.SIGKILL)
        return rps.improve(job)

    def matches(pairings):
        if next(calls) == moment:
            play(pairings[:1])
            os.kill(os.getpid(), signal.SIGKILL)
        return play(pairings)

    return improve if hook == "improve" else matches


def attempt(folder, prepare, **hooks):
    """Run a league in a new process; whether it was killed."""
    child = os.fork()
    if child == 0:
        prepare()
        league(folder, **hooks)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, -signal.SIGKILL), f"ended with {code}"
    return code != 0


if __name__ == "__main__":
    main()
