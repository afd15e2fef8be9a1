"""The notebooks of examples/ run from the first cell to the last, as a kernel would run them."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples" / "notebooks").glob("*.ipynb"))
NEEDED = {"competitor": ("scml",), "game_developer": (), "dota_analyst": ("xgboost",)}
RUNNER = """
import json, sys
scope = {"__name__": "__main__"}
for source, last in json.load(open(sys.argv[1])):
    exec(compile(source, "cell", "exec"), scope)
    if last:
        shown = eval(compile(last, "cell", "eval"), scope)
        if hasattr(shown, "_repr_html_"):
            assert shown._repr_html_().startswith("<"), last
        print(last, "->", type(shown).__name__)
"""


def cells(path):
    """Each code cell: what is executed, and the last expression, which a notebook shows."""
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] != "code":
            continue
        body = ast.parse("".join(cell["source"])).body
        last = ""
        if isinstance(body[-1], ast.Expr):
            last = ast.unparse(body.pop().value)
        yield ast.unparse(ast.Module(body, [])), last


def test_there_is_a_notebook_for_every_kind_of_user():
    assert [path.stem for path in NOTEBOOKS] == sorted(NEEDED)
    for path in NOTEBOOKS:
        content = json.loads(path.read_text())
        assert content["nbformat"] == 4 and content["cells"][0]["cell_type"] == "markdown"
        assert not any(cell.get("outputs") for cell in content["cells"])  # none that grows stale
        assert len(list(cells(path))) >= 4


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    for module in NEEDED[path.stem]:
        pytest.importorskip(module)
    (tmp_path / "cells.json").write_text(json.dumps(list(cells(path))))
    done = subprocess.run(
        [sys.executable, "-c", RUNNER, "cells.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=290,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Page" in done.stdout
