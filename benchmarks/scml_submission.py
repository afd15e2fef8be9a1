"""An exported agent in the real scml, from a Python that has scml and nothing of ours.

    python benchmarks/scml_submission.py HRL --python /path/to/scml-only/bin/python

Exports the model, unpacks it, and has the other Python play worlds of scml with it, every decision
written down; plays the same worlds here with the original; compares decision by decision. What is
random or depends on the clock in negmas is fixed in the same way in both; nothing else is changed.

    python benchmarks/scml_submission.py HRL --python ... --configs 6 --scores scores.jsonl

Then the other Python plays `anac2024_std`, once for each configuration, with the submission among
`--rivals`, and each is compared with the mean of all in the same configuration. A configuration
that `--scores` holds is not played again.
"""

import argparse
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

CLASS = "Exported"
LEVELS = (2, 3, 4)
RIVALS = "scml.std.agents.GreedyStdAgent,scml.std.agents.SyncRandomStdAgent"
NOT_NEEDED = ["understudy", "torch", "numba", "safetensors", "msgspec", "scml_agents"]
BLOCKED = f"""
import runpy, sys
class Absent:  # not None in sys.modules: scipy asks there whether torch was imported
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in {NOT_NEEDED}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def main():
    """Both halves of the comparison; `play` and `tournament` are run by the other Python."""
    if len(sys.argv) > 1 and sys.argv[1] in ("play", "tournament"):
        half, agent, target, worlds, steps, *rivals = sys.argv[1:]
        if half == "play":
            play_all(agent, target, int(worlds), int(steps))
        else:
            tournament(agent, target, int(worlds), int(steps), rivals)
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="HRL, a folder of a model or a file of weights")
    parser.add_argument("--python", default=sys.executable, help="who has only scml")
    parser.add_argument("--worlds", type=int, default=6)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--configs", type=int, default=0, help="of the tournament")
    parser.add_argument("--days", type=int, default=50, help="of each of its worlds")
    parser.add_argument("--rivals", default=RIVALS, help="whom it meets there, by comma")
    parser.add_argument("--scores", type=Path, default=Path("submission-scores.jsonl"))
    parser.add_argument("--blocked", action="store_true", help="have this Python do as if")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        agent = unpacked(told, Path(folder))
        if told.worlds and not compare(told, agent, Path(folder)):
            sys.exit(1)
        if told.configs:
            rivals = told.rivals.split(",")
            call(
                told.python,
                "tournament",
                agent,
                told.scores.resolve(),
                told.configs,
                told.days,
                *rivals,
            )
            table(told.scores)


def unpacked(told, folder):
    """The file of the exported agent."""
    from understudy.data.runs import Run
    from understudy.export.submission import export_submission, weights_named

    told.weights = weights_named(Run.of("scml"), told.model)
    made = export_submission(told.weights, folder / "submission.zip", CLASS)
    zipfile.ZipFile(made.path).extractall(folder)
    print(f"{made.path.name}: {made.files} files, {made.size / 1e6:.2f} MB, {made.track}")
    if not told.blocked:
        print(f"the other Python lacks: {', '.join(lacking(told.python)) or 'nothing'}")
    return folder / CLASS / "agent.py"


def compare(told, agent, folder):
    """Whether every decision is the same."""
    there, here = folder / "there.jsonl", folder / "here.jsonl"
    seconds = {}
    for python, code, target in (
        (told.python, agent, there),
        (sys.executable, f"original:{told.weights}", here),
    ):
        began = time.perf_counter()
        blocked = told.blocked and target is there
        call(python, "play", code, target, told.worlds, told.steps, blocked=blocked)
        seconds[target.stem] = time.perf_counter() - began
    same, total = equal(there.read_text().splitlines(), here.read_text().splitlines())
    print(f"{same:,} of {total:,} decisions are the same in {told.worlds} worlds of scml")
    print("seconds: " + ", ".join(f"{name} {value:.0f}" for name, value in seconds.items()))
    return same == total > 0


def table(path):
    """What each has above the mean of all in a configuration, and how far ours is above it."""
    from understudy.data.stats import student

    rows = [json.loads(line) for line in path.read_text().splitlines()]
    above = {name: [row[name] - sum(row.values()) / len(row) for row in rows] for name in rows[0]}
    print(f"{len(rows)} configurations; Student's 95 % over them")
    for name in sorted(above, key=lambda name: -sum(above[name])):
        gaps = [ours - theirs for ours, theirs in zip(above[CLASS], above[name], strict=True)]
        line = f"{name:24} {shown(student(above[name]))}"
        print(line if name == CLASS else f"{line}   {CLASS} less it {shown(student(gaps))}")


def shown(found):
    """An estimate in a line."""
    return f"{found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"


def call(python, half, *given, blocked=False):
    """Run the other half of this file, with nothing of this checkout on its path."""
    before = ["-c", BLOCKED] if blocked else []
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    clean |= {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
    subprocess.run(
        [python, *before, __file__, half, *map(str, given)],
        check=True,
        env=clean,
        cwd=tempfile.gettempdir(),
    )


def lacking(python):
    """Which of these the other Python cannot import."""
    code = "import importlib.util as u, sys; print([n for n in sys.argv[1:] if not u.find_spec(n)])"
    found = subprocess.run(
        [python, "-I", "-c", code, *NOT_NEEDED], capture_output=True, text=True, check=True
    )
    return json.loads(found.stdout.replace("'", '"'))


def equal(one, other):
    """How many decisions are the same from the start on, of how many."""
    same = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    total = max(len(one), len(other))
    if same is not None:
        print(f"first difference:\n  {one[same][:300]}\n  {other[same][:300]}")
        return same, total
    return min(len(one), len(other)), total


# --- What the other Python runs: scml and the exported agent, nothing of ours --------------------


def load(agent):
    """The class to play; `original:WEIGHTS` is ours."""
    if agent.startswith("original:"):
        from understudy import HRLAgent

        return type(CLASS, (HRLAgent,), {"checkpoint": Path(agent.partition(":")[2])})
    sys.path.insert(0, str(Path(agent).parent))
    from agent import MAIN_AGENT

    return MAIN_AGENT


def play_all(agent, target, worlds, steps):
    """Worlds of scml's own making, one decision per line."""
    kind = load(agent)
    with Path(target).open("w") as file:
        for seed in range(worlds):
            play(kind, seed, steps, file)


def play(kind, seed, steps, file):
    """One world: agents of ours in two places, scml's own in the others."""
    import numpy as np
    from scml.std import agents as theirs
    from scml.std.world import SCML2024StdWorld

    class Told(kind):
        def first_proposals(self):
            return self._tell("first_proposals", super().first_proposals())

        def counter_all(self, offers, states):
            return self._tell("counter_all", super().counter_all(offers, states))

        def _tell(self, call, decided):
            said = {name: str(answer) for name, answer in sorted(decided.items())}
            line = [seed, self.awi.current_step, self.id, call, said, self.awi.current_score]
            file.write(json.dumps(line, default=float) + "\n")
            return decided

    Told.__name__ = kind.__name__
    fix_chance(seed)
    others = [theirs.GreedyStdAgent, theirs.SyncRandomStdAgent, theirs.RandomStdAgent]
    with quiet():
        world = SCML2024StdWorld(
            **SCML2024StdWorld.generate(
                agent_types=[Told, *others],
                n_steps=steps,
                n_processes=LEVELS[seed % len(LEVELS)],
                random_agent_types=True,
            ),
            no_logs=True,
            compact=True,
            fast=True,
            neg_step_time_limit=float("inf"),
            neg_hidden_time_limit=float("inf"),
            time_limit=float("inf"),
        )
        in_order(world)
        random.seed(seed)
        np.random.seed(seed)
        world.run()


def fix_chance(seed):
    """All that negmas draws, ids among it, and what it draws by the clock."""
    import uuid

    import numpy as np
    from negmas.mechanisms import Mechanism

    random.seed(seed)
    np.random.seed(seed)
    ids = random.Random(seed)
    uuid.uuid4 = lambda: uuid.UUID(int=ids.getrandbits(128), version=4)
    Mechanism.time = property(lambda self: 0.0)


def in_order(world):
    """Contracts of a day are signed in the order they were made, not in that of a set."""
    from collections import defaultdict

    class InOrder(dict):
        def add(self, contract):
            self[contract] = None

        def remove(self, contract):
            del self[contract]

    found = defaultdict(InOrder)
    for day, contracts in world.unsigned_contracts.items():
        for contract in sorted(contracts, key=str):
            found[day].add(contract)
    world.unsigned_contracts = found


def tournament(agent, target, configs, days, rivals):
    """The league's own function, a configuration at a time; a line of mean scores for each."""
    import numpy as np
    from negmas.helpers import get_class
    from scml.utils import anac2024_std

    players = [load(agent), *(get_class(name) for name in rivals)]
    done = len(Path(target).read_text().splitlines()) if Path(target).exists() else 0
    for number in range(done, configs):
        random.seed(number)
        np.random.seed(number)
        with quiet():
            played = anac2024_std(
                competitors=players,
                n_configs=1,
                n_steps=days,
                max_worlds_per_config=len(players),
                n_competitors_per_world=len(players),
                parallelism="serial",
                forced_logs_fraction=0.0,
                print_exceptions=False,
            )
        names = [str(one).rpartition(".")[2] for one in played.scores["agent_type"]]
        scores = played.scores["score"].groupby(names).mean()
        with Path(target).open("a") as file:
            file.write(json.dumps(scores.to_dict()) + "\n")


@contextlib.contextmanager
def quiet():
    """scml warns and prints much."""
    import io
    import warnings

    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


if __name__ == "__main__":
    main()
