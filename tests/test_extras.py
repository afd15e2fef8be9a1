"""What is not installed is named before anything is begun: one line, exit code 2, its extra."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from understudy import extras
from understudy.errors import InputError

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WITHOUT = sorted({"scml_agents", *(one for names in extras.EXTRAS.values() for one in names)})

COMMANDS = {
    # what is typed: the module that is missing and the cure, None: it works without
    "record scml --agents Greedy,Random --configs 1 --workers 0": ("scml", "[scml]"),
    "record scml --configs 1 --workers 0": ("scml", "[scml]"),
    "record scml --logs .": ("negmas", "[scml]"),
    "compete scml Greedy Random --workers 0": ("scml", "[scml]"),
    "compete scml Greedy Random --simulator batch --workers 0": ("scml", "[scml]"),
    "encode scml --workers 0": ("scml", "[scml]"),
    "tune scml steward --workers 0": ("scml", "[scml]"),
    "verify scml --workers 0": ("scml", "[scml]"),
    "setup scml-agents": ("scml", "[scml]"),
    "export scml HRL": ("scml", "[scml]"),
    "export arena imitate --onnx": ("onnx", "[onnx]"),
    "record arena --matches 4 --workers tcp://127.0.0.1:9": ("distributed", "[dask]"),
    "record openspiel:leduc_poker --matches 2 --workers 0": ("open-spiel", "[openspiel]"),
    "recipes openspiel:leduc_poker": ("open-spiel", "[openspiel]"),
    "exploitability openspiel:leduc_poker imitate": ("open-spiel", "[openspiel]"),
    "record pettingzoo:connect_four_v3 --matches 2 --workers 0": ("pygame", "[pettingzoo]"),
    "serve arena imitate": ("fastapi", "[serve]"),
    "serve dota shipped": ("fastapi", "[serve]"),
    "serve openspiel:leduc_poker imitate --lines": ("open-spiel", "[openspiel]"),
    "studio runs": ("jinja2", "[studio]"),
    "follow . --game scml --once": ("scml", "[scml]"),
    "league pettingzoo:connect_four_v3 --workers 0": ("pygame", "[pettingzoo]"),
    "encode openspiel:leduc_poker --workers 0": ("open-spiel", "[openspiel]"),
    "record dota --synthetic 2": None,
    "recommend dota runs/dota/9000000000 --minute 10": None,
    "--help": None,
}
WITH_TORCH = {
    "recipes scml": None,
    "train scml hrl-xf-quick": ("scml", "[scml]"),
    "train scml online-quick": ("scml", "[scml]"),
    "league scml --workers 0": ("scml", "[scml]"),
    "train dota value-quick": ("xgboost", "[dota]"),
    "tune arena imitate-quick --try learning_rate=1e-4..1e-3": ("optuna", "[tune]"),
}
PROGRAM = """
import contextlib, io, json, shlex, sys
for module in json.loads(sys.argv[1]):
    sys.modules[module] = None
from understudy import cli
for line in json.loads(sys.argv[2]):
    sys.argv, code, err = ["understudy", *shlex.split(line)], 0, io.StringIO()
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
    print(json.dumps([line, code, err.getvalue()]))
"""


def run_without(modules, lines, folder):
    """Commands in a process that cannot import these modules."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(modules), json.dumps(list(lines))],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def assert_as_said(commands, told):
    for line, code, err in told:
        if (expected := commands[line]) is None:
            assert (line, code, err) == (line, 0, err)
            continue
        missing, extra = expected
        assert code == 2, (line, err)
        assert err.startswith("understudy: ") and err.count("\n") == 1, (line, err)
        assert f"the package {missing}, which is not installed" in err and extra in err, (line, err)


def test_every_verb_without_any_extra_names_what_it_lacks(tmp_path):
    assert_as_said(COMMANDS, run_without(WITHOUT, COMMANDS, tmp_path))
    assert sorted(path.name for path in tmp_path.glob("runs/*")) == ["dota"]


@pytest.mark.slow
def test_so_do_verbs_that_learn(tmp_path):
    assert_as_said(WITH_TORCH, run_without(WITHOUT, WITH_TORCH, tmp_path))
    assert not (tmp_path / "runs").exists()


def test_agents_of_the_league_name_the_route_to_them():
    from understudy.games.scml.players import catalogue

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "scml_agents", None)
        for name in ("Penguin", "SafePenguin"):
            with pytest.raises(InputError, match=f"the agent {name} .* understudy setup scml-agen"):
                catalogue.require(["Greedy", name])
        catalogue.require(["Greedy", "HRL", "Steward", "models/mine"])
        with pytest.raises(InputError, match="the agent Rchan"):
            catalogue.require(["Rchan"], "oneshot")


def test_every_extra_that_is_named_is_in_the_package():
    known = PROJECT["optional-dependencies"]
    assert extras.EXTRAS.keys() <= known.keys()
    (together,) = known["all"]
    assert set(together.partition("[")[2].rstrip("]").split(",")) == extras.EXTRAS.keys()


def test_the_core_is_without_what_is_an_extra():
    core = {line.partition(">")[0].partition("=")[0] for line in PROJECT["dependencies"]}
    assert not core & {"scml", "negmas", "distributed", "tensorboard", "fastapi", "optuna", "onnx"}


def test_the_lock_pins_every_package_of_core_and_extras():
    lock = (ROOT / "requirements" / "lock.txt").read_text().lower().replace("_", "-")
    pinned = {line.partition("==")[0] for line in lock.splitlines()}
    wanted = [*PROJECT["dependencies"]]
    for extra in extras.EXTRAS:
        wanted += PROJECT["optional-dependencies"][extra]
    names = {line.partition(">")[0].partition("=")[0].lower().replace("_", "-") for line in wanted}
    assert {name for name in names if not name.startswith("understudy[")} <= pinned


def test_a_package_that_is_no_extra_is_ours_to_mend():
    assert extras.cured(ModuleNotFoundError(name="nothing_of_ours"), "x") is None
    found = extras.cured(ModuleNotFoundError(name="optuna.trial"), "x")
    assert str(found) == (
        "x needs the package optuna, which is not installed. "
        'Install it: pip install "understudy[tune]"'
    )
