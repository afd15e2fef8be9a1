"""`understudy export`, and hosts that have only what they need."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.small_runs import finished_run, understudy
from understudy.data.samples import unpack_legal
from understudy.export.numpy_policy import read_policy
from understudy.games.arena.codec.actions import HEADS
from understudy.games.arena.codec.features import FEATURES
from understudy.games.arena.data.encode import MOVES

HOST = Path(__file__).parents[2] / "examples" / "host" / "onnx_host.py"
ALONE = """
import runpy, sys
for module in ("understudy", "torch", "numba", "scml", "pyarrow", "safetensors", "msgspec"):
    sys.modules[module] = None
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Runs a program that can import nothing of these."""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return finished_run(tmp_path_factory)


def recorded(run, rows=200):
    """Observations and masks of recorded decisions."""
    table = pa.concat_tables(
        pq.read_table(path)
        for path in sorted((run / "samples").glob(f"{MOVES.table.name}-*.parquet"))
    )
    seen = np.stack([table[name].to_numpy() for name in FEATURES], axis=1)[:rows]
    return seen.astype(np.float32), unpack_legal(table["legal"], sum(HEADS.values()))[:rows]


def alone(program, *arguments, given=""):
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(program), *map(str, arguments)],
        input=given,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_host_of_thirty_lines_chooses_as_the_policy_does(run, tmp_path):
    pytest.importorskip("onnxruntime")
    assert len(HOST.read_text().splitlines()) < 40
    done = understudy(f"export arena imitate-quick --run {run} -o", tmp_path / "policy.onnx")
    assert (done.code, done.err) == (0, "")
    seen, legal = recorded(run)
    lines = [
        json.dumps({"observation": row.tolist(), "legal": mask.tolist()})
        for row, mask in zip(seen, legal, strict=True)
    ]
    answers = alone(HOST, tmp_path / "policy.onnx", given="\n".join(lines))
    told = [json.loads(line) for line in answers]
    rng, policy = np.random.default_rng(0), read_policy(run / "models" / "imitate-quick")
    uniform = np.concatenate([rng.random((1, len(HEADS)), np.float32) for _ in seen])
    expected = policy.decide(seen, legal, uniform)
    assert [list(one["action"].values()) for one in told] == expected.action.tolist()
    np.testing.assert_allclose([one["value"] for one in told], expected.value, atol=1e-4)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("export arena expert", "scripted and has no weights"),
        ("export arena nothing", "there is no player 'nothing'"),
        ("export arena imitate-quick --onnx --torch", "not both"),
        ("export scml HRL --onnx", "--onnx is for policies"),
        ("export scml HRL -o agent.tar", "ends in .zip"),
        ("export scml HRL --name my-agent", "letters, digits and _"),
        ("export scml nothing", "there is no model 'nothing'"),
        ("export dota nothing", "there is no model 'nothing'"),
        ("export chess x", "there is no game 'chess'"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_nothing(line, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = understudy(line)
    assert done.code == 2 and says in done.err and done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_weights_of_another_game_are_no_policy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "weights.safetensors").write_bytes(b"nonsense")
    done = understudy("export arena m")
    assert done.code == 2 and "not the weights of a policy" in done.err
