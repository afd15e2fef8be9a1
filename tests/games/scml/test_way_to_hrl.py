"""From recordings to the agent that plays, by the commands that the README lists, in small."""

import json
import zipfile

import pytest

from tests.small_runs import understudy
from understudy.games.scml.agent.checkpoint import read_checkpoint

LAYERS = " ".join(
    f"--set {layer}.{name}=20"
    for layer in ("l2", "l3", "l4")
    for name in ("steps", "evaluate_every", "checkpoint_every")
)
L3 = " ".join(f"--set l3.{name}=20" for name in ("steps", "evaluate_every", "checkpoint_every"))
SMALL = (
    "--set online.worlds=3 --set online.rollouts=1 --set online.choosing=3"
    " --set online.company.most_days=8 --set online.learner.batch_size=256"
)


def succeed(command, *more):
    here = () if command.startswith(("join", "export")) else ("--quiet", "--workers", "0")
    done = understudy(command, *more, *here)
    assert done.code == 0, f"{command}: {done.err}"


def stages(*names):
    return " ".join(f"--set online.stages.{name}.iterations=1" for name in names)


@pytest.mark.slow
def test_the_listed_commands_lead_from_recordings_to_an_agent_for_the_league(tmp_path):
    run = tmp_path / "run"
    record = "--configs 10 --steps 8 --max-worlds-per-config 2 --simulator batch"
    commands = (
        f"record scml --agents Steward,Penguin --track-only Steward {record}",
        "encode scml --players Steward",
        f"train scml hrl-xf {LAYERS}",
        f"train scml dagger --init {run}/models/hrl-xf {L3} --set rounds=1 --set configs=1",
        f"train scml online --from dagger {stages('l4', 'l3', 'all')} {SMALL}",
        f"train scml online-guided --from online {stages('imitate', 'settle')} {SMALL}"
        " --set online.guide.worlds=2",
        "join scml online online online --thrifty online-guided --name both",
        "compete scml both online HRL Steward --configs 2 --steps 6 --keep 0",
        "compete scml both HRL Steward --configs 2 --steps 6 --keep 0 --simulator batch",
    )
    for command in commands:
        succeed(command, "--out", run)
    for results in (run / "results").iterdir():
        told = json.loads((results / "strength.json").read_text())
        assert {"both", "HRL", "Steward"} <= {row["player"] for row in told["players"]}
    own, both = (read_checkpoint(run / "models" / name) for name in ("online", "both"))
    assert own.thrifty is None and both.thrifty is not None
    succeed(f"export scml both -o {tmp_path}/submission.zip", "--run", run)
    names = zipfile.ZipFile(tmp_path / "submission.zip").namelist()
    assert any(name.endswith("by_field.py") for name in names)
