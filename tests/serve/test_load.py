"""A server that is killed under load and started again has kept every step that it answered."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.small_runs import finished_run

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "serve_load.py"


@pytest.mark.slow
@pytest.mark.parametrize("wire", [(), ("--websocket",)], ids=["http", "websocket"])
def test_no_acknowledged_step_is_lost_by_kills(wire, tmp_path_factory):
    pytest.importorskip("fastapi")
    model = finished_run(tmp_path_factory) / "models" / "imitate-quick"
    told = ["--rate", "60", "--seconds", "12", "--kill", "3", *wire]
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), str(model), *told],
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"kills 3; of ([\d,]+) answered steps 0 are not recorded", done.stdout)
    assert found and int(found[1].replace(",", "")) > 20  # some were answered between the kills
