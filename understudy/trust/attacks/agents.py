"""Agents of the supply chain that do what no agent should, each in its own way."""

import random
from functools import partial
from pathlib import Path

from understudy.trust.campaign import Attack, Fault, Ground, Kind, faults_of
from understudy.trust.command import run, shown

_HEAD = """
import ctypes, gc, os, random, signal, sys, threading, time
import numpy as np
from scml.std.agents import GreedyStdAgent, SyncRandomStdAgent
"""
_KIND = """
class {name}(GreedyStdAgent):
    def {where}(self):
        if self.awi.current_step == 1:
            {body}
        super().{where}()
"""
BODIES = {
    "Raises": "raise KeyError('lost')",
    "RaisesOdd": "raise type('Odd', (Exception,), {'__str__': lambda self: 1 / 0})()",
    "Exits": "sys.exit(7)",
    "ExitsAtOnce": "os._exit(0)",
    "ExitsBadly": "os._exit(3)",
    "KillsItself": "os.kill(os.getpid(), signal.SIGKILL)",
    "TermsItself": "os.kill(os.getpid(), signal.SIGTERM)",
    "Aborts": "os.abort()",
    "Segfaults": "ctypes.string_at(0)",
    "Loops": "\n            while True: pass",
    "Sleeps": "time.sleep(10**6)",
    "HangsInC": "ctypes.PyDLL(None).sleep(10**6)",
    "CatchesAll": (
        "\n            while True:\n                try:\n                    time.sleep(1)"
        "\n                except BaseException: pass"
    ),
    "EatsMemory": "self.hoard = [np.ones(2**26) for _ in range(400)]",
    "EatsMemoryInC": "ctypes.memset(ctypes.create_string_buffer(2**36), 1, 2**36)",
    "RecursesDeeply": "f = lambda g: g(g); f(f)",
    "Prints": "print('x' * 10**6)",
    "WritesToErr": "sys.stderr.write('y' * 10**6)",
    "StartsThreads": "[threading.Thread(target=time.sleep, args=(1,)).start() for _ in range(20)]",
    "KillsLater": "threading.Timer(0.01, os._exit, (5,)).start(); time.sleep(0.2)",
    "ForksAndStays": "os.fork() or time.sleep(10**6)",
    "PatchesHost": (
        "\n            from understudy.games.scml.engine.hosting.host import Host"
        "\n            Host.step = lambda self: None"
    ),
    "PatchesWorld": (
        "\n            from understudy.games.scml.engine.world import World"
        "\n            World.note_fault = lambda *told: None"
        "\n            raise ValueError('hidden')"
    ),
    "ClosesFiles": "os.closerange(3, 256)",
    "IgnoresSignals": (
        "\n            signal.signal(signal.SIGVTALRM, signal.SIG_IGN)"
        "\n            while True: pass"
    ),
    "IgnoresAlarms": (
        "\n            signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65)); time.sleep(10**6)"
    ),
    "StopsItself": "os.kill(os.getpid(), signal.SIGSTOP)",
    "ChangesFolder": "os.chdir('/')",
    "SeedsDice": "random.seed(0); np.random.seed(0)",
    "DisablesGc": "gc.disable()",
    "NoMoreFiles": "self.open = [os.dup(1) for _ in range(100)]",
}
HARMLESS = {
    *("Prints", "WritesToErr", "StartsThreads", "ChangesFolder", "SeedsDice", "DisablesGc"),
    *("NoMoreFiles", "ExitsAtOnce", "ForksAndStays"),
}
"""Need not be told of among the faults: they harm nobody, or cannot be told from an end."""
_TOLD_ANYHOW = {"ExitsAtOnce"}


def source() -> str:
    """All of them as a file of Python."""
    kinds = (
        _KIND.format(name=name, where="before_step", body=body) for name, body in BODIES.items()
    )
    at_once = (
        "\nclass DiesWhenMade(GreedyStdAgent):\n    def __init__(self, *a, **k): os._exit(4)\n"
    )
    return _HEAD + "".join(kinds) + at_once


def kinds() -> dict[str, Kind]:
    """One for each agent."""
    return {f"agents: {name}": partial(hostile_agent, name) for name in (*BODIES, "DiesWhenMade")}


def hostile_agent(name: str, ground: Ground, place: Path, dice: random.Random) -> Attack:
    """It costs its own world, is named with what it did, and the tournament ends."""
    code = place / "theirs.py"
    code.write_text(source())
    fixed = "--configs 1 --steps 6 --max-worlds-per-config 2 --quiet --task-seconds 15"
    how = ["--isolate", "--workers", "0"] if dice.random() < 0.8 else ["--workers", "1"]
    arguments = ["compete", "scml", f"{code}:{name}", "SyncRandom", *fixed.split(), *how]
    arguments += ["--out", str(place / "run")]
    done = run(ground.main, arguments, seconds=300)
    faults = faults_of(done)
    if name == "DiesWhenMade":
        if done.code != 2 or "cannot be used" not in done.err:
            faults.append(Fault("lost", f"ended with {done.code}"))
    elif done.code:
        faults.append(Fault("lost", f"ended with {done.code}: {done.err.strip()[-200:]}"))
    elif name not in HARMLESS - _TOLD_ANYHOW and f"faults: {name} " not in done.out:
        faults.append(Fault("silent wrong", "not named among the faults"))
    return Attack(name, shown(arguments, place), faults)
