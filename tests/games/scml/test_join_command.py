"""`join scml`: layers trained one by one are one agent that competes."""

import json
import shutil

import pytest

from tests.small_runs import assert_refused, contents, understudy
from understudy.data.runs import WEIGHTS, Run
from understudy.games.scml.agent.checkpoint import read_checkpoint
from understudy.games.scml.agent.layers import THRIFTY
from understudy.games.scml.agent.policy import SHIPPED

RECORD = "record scml --agents Penguin --configs 10 --steps 8 --max-worlds-per-config 1 --seed 4"
QUICK = "--set steps=20 --set evaluate_every=10 --set checkpoint_every=10 --quiet"


def test_what_is_joined_names_the_files_it_was_made_of(tmp_path):
    first, run = Run(tmp_path / "run").model("first"), tmp_path / "run"
    first.mkdir(parents=True)
    shutil.copy(SHIPPED, first / WEIGHTS)
    shutil.copytree(first, tmp_path / "second")
    assert understudy(f"join scml first first {tmp_path / 'second'} --out", run).code == 0
    about = json.loads((run / "models" / "joined" / "manifest.json").read_text())
    inside, outside = f"models/first/{WEIGHTS}", f"elsewhere/second/{WEIGHTS}"
    assert about["inputs"].keys() == {inside, outside}
    assert about["settings"]["layers"] == {"l2": inside, "l3": inside, "l4": outside}
    assert understudy("check", run).code == 0


def test_those_for_thrifty_buyers_have_none_of_their_own():
    shipped = read_checkpoint(SHIPPED)
    assert shipped.with_thrifty(shipped).layers.keys() == shipped.layers.keys()
    assert sum(name.startswith(THRIFTY) for name in shipped.layers) == 3


@pytest.mark.slow
def test_layers_trained_apart_are_joined_and_play(tmp_path):
    run = tmp_path / "run"
    for command in (
        f"{RECORD} --quiet --workers 0",
        "encode scml --quiet --workers 0",
        f"train scml l2 {QUICK}",
        "encode scml --goals l2 --quiet --workers 0",
        f"train scml l3 {QUICK}",
        f"train scml l4 {QUICK}",
        "join scml l2 l3 l4",
        "join scml l2 l3 l4 --thrifty joined --name both",
        "compete scml joined both Penguin --configs 2 --steps 6 --keep 0 --quiet --workers 0",
    ):
        done = understudy(command, "--out", run)
        assert done.code == 0, f"{command}: {done.err}"
    (results,) = (run / "results").iterdir()
    told = json.loads((results / "strength.json").read_text())
    assert {"joined", "both"} <= {row["player"] for row in told["players"]}
    before = contents(run / "models" / "joined")
    assert understudy("join scml l2 l3 l4", "--out", run).code == 0
    assert contents(run / "models" / "joined") == before
    assert_refused(understudy("join scml l2 l2 l4", "--out", run, "--fresh"), "l3")
    assert_refused(understudy("join scml l2 l3 l4 --thrifty l3 --fresh", "--out", run), "layer l4")
    assert_refused(understudy("join scml l2 l3 l5", "--out", run), "l5")
