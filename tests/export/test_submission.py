"""An exported agent: a package that stands alone and decides as the original does."""

import ast
import hashlib
import importlib.util
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scml.std.agents import GreedyStdAgent, SyncRandomStdAgent

from understudy.export.standalone import numpy_transformer as uncompiled
from understudy.export.submission import PACKAGE, export_submission
from understudy.games.scml.agent import numpy_transformer as compiled
from understudy.games.scml.agent.hrl import HRLAgent
from understudy.games.scml.agent.policy import SHIPPED, SHIPPED_ONESHOT, policy_of
from understudy.games.scml.engine.config import draw
from understudy.games.scml.engine.world import World

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", name="made")
def _made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("submission")
    submission = export_submission(SHIPPED, folder / "submission.zip", "Tried")
    zipfile.ZipFile(submission.path).extractall(folder)
    return folder / "Tried"


def test_it_imports_nothing_but_numpy_and_scml(made):
    imported = set()
    for path in made.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                imported.add(node.module.partition(".")[0])
            elif isinstance(node, ast.Import):
                imported |= {one.name.partition(".")[0] for one in node.names}
    assert imported - set(sys.stdlib_module_names) == {"numpy", "scml", "negmas", PACKAGE}


def test_it_is_complete_and_the_same_every_time(made, tmp_path):
    names = {path.name for path in made.iterdir()}
    assert names == {"agent.py", "LICENSE", "README.md", "requirements.txt", PACKAGE}
    assert (made / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    again = export_submission(SHIPPED, tmp_path / "again.zip", "Tried")
    one, other = (
        hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (again.path, made.parent / "submission.zip")
    )
    assert one == other
    assert export_submission(SHIPPED_ONESHOT, tmp_path / "o.zip", "Tried").track == "oneshot"


def test_histories_are_seen_alike_to_the_last_bit():
    weights = policy_of(SHIPPED).l3.history
    rng = np.random.default_rng(0)
    longest, width = weights.ago.shape
    history = rng.normal(size=(60, longest, len(weights.offer))).astype(np.float32)
    history[rng.random(history.shape) < 0.3] = 0
    length = rng.integers(0, longest + 1, 60).astype(np.int32)
    one, other = np.empty((60, width), np.float32), np.empty((60, width), np.float32)
    compiled.ends(history, length, weights, compiled.scratch(weights), one)
    uncompiled.ends(history, length, uncompiled.HistoryWeights(*weights), None, other)
    np.testing.assert_array_equal(one, other)


def loaded(path):
    """The class of an exported agent, imported as a file of its own."""
    spec = importlib.util.spec_from_file_location("tried_agent", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.MAIN_AGENT


def telling(kind, calls):
    """A class that adds its answers to `calls`."""

    class Told(kind):
        def counter_all(self, offers, states):
            answers = super().counter_all(offers, states)
            by_usual = self._policy is self._weights  # or by those for thrifty buyers
            calls.append((self.id, self.awi.current_step, by_usual, str(sorted(answers.items()))))
            return answers

    return Told


def test_it_decides_as_the_original_does_in_our_engine(made, monkeypatch):
    monkeypatch.syspath_prepend(str(made))
    said = {}
    for kind in (loaded(made / "agent.py"), HRLAgent):
        calls = []
        Told = telling(kind, calls)  # noqa: N806
        config = draw((2, 2, 2), 4, seed=7)
        theirs = [(SyncRandomStdAgent, {}), (GreedyStdAgent, {})]
        random.seed(7)
        np.random.seed(7)
        world = World(config, [(Told, {}), *theirs, (Told, {}), *theirs[::-1]]).run()
        said[kind.__module__] = calls, [one.score for one in world.factories]
    (calls, scores), other = said.values()
    assert len(calls) > 20 and {by_usual for _, _, by_usual, _ in calls} == {True, False}
    assert (calls, scores) == other


@pytest.mark.slow
def test_it_decides_as_the_original_does_in_the_real_scml():
    """Worlds of scml played twice: by a Python that can import nothing of ours, and by ours."""
    done = subprocess.run(
        [
            *(sys.executable, ROOT / "benchmarks" / "scml_submission.py", "HRL"),
            *("--worlds", "2", "--steps", "5", "--blocked"),
        ],
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "decisions are the same" in done.stdout
