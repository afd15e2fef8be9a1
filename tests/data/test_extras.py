"""Numbers of extras as features: what is told counts, what is not is as usual."""

import json
import math
import random

import numpy as np
import pytest

from tests.small_runs import assert_refused, tiny_recipe, understudy
from understudy.data.extras import extras_of, told_or_usual, usual, with_extras
from understudy.data.samples import decisions
from understudy.errors import InputError
from understudy.learn.policy import FactoredPolicy
from understudy.learn.policy_shape import PolicyShape, difference

TOLD = ['{"fps": 60, "ocr": {"health": "80"}}', None, '{"fps": true}', '{"fps": NaN}', "[", "[1]"]


def test_a_path_by_dots_finds_numbers_and_nothing_else():
    found = extras_of(TOLD, ["ocr.health", "fps", "ocr"])
    assert found[0].tolist()[:2] == [80, 60]
    assert math.isnan(found[0, 2])  # an object is no number
    assert found[2, 1] == 1
    assert np.isnan(np.delete(found, (0, 2), 0)).all()


def test_what_is_not_told_is_as_usual():
    mean = usual([TOLD[:3], ['{"fps": 2}', None]], ["fps"])
    assert mean == pytest.approx([(60 + 1 + 2) / 3])
    told = told_or_usual(extras_of(TOLD[:2], ["fps"]), mean)
    assert told[:, 0] == pytest.approx([60, 21])
    assert told_or_usual(np.ones((2, 1)), np.array([5.0, 7.0])).tolist() == [[1, 7], [1, 7]]


def test_a_name_that_nothing_is_told_under_is_refused_with_the_nearest():
    with pytest.raises(InputError, match=r"'fpz' .*fps, ocr\.health.*did you mean fps"):
        usual([TOLD], ["fps", "fpz"])


def test_a_policy_that_reads_extras_plays_without_them():
    plain = decisions("toy", "moves", 1, {"a": "", "b": ""}, {"head": 3})
    known = with_extras(plain, ["fps"])
    shape = PolicyShape(known.features, known.heads, (4,))
    assert difference(shape, plain) == ""
    assert difference(PolicyShape(plain.features, plain.heads, (4,)), known)
    policy = FactoredPolicy(shape, seed=1)
    policy.mean[2] = 60.0
    import torch

    told, untold = torch.tensor([[1.0, 2.0, 60.0]]), torch.tensor([[1.0, 2.0]])
    assert torch.equal(policy.with_plan(untold, torch.zeros(1, dtype=torch.int64)), told)


@pytest.mark.slow
def test_a_cue_in_the_extras_of_logs_is_learnt_by_name_and_play_goes_on_without(tmp_path):
    """Whether to fire is told by the cue alone: only who reads it can know."""
    logs, run = tmp_path / "logs", tmp_path / "run"
    logs.mkdir()
    dice = random.Random(5)
    for match in range(40):
        lines = []
        for step in range(30):
            cue = dice.random() < 0.5
            line = {"step": step, "slot": 0, "observation": {"position": [0, 0], "health": 100}}
            line |= {"action": {"fire": cue}, "extras": {"cue": float(cue)}, "done": step == 29}
            lines.append(json.dumps(line | {"outcome": dice.choice(["win", "loss"])}))
        (logs / f"m{match}.jsonl").write_text("\n".join(lines))
    for command in (f"record arena --logs {logs} --quiet", "encode arena --quiet --workers 0"):
        assert understudy(command, "--out", run).code == 0
    train = "train arena imitate-quick --quiet --set steps=200 --set learning_rate=1e-2"
    with tiny_recipe():
        assert_refused(understudy(f"{train} --set extras=cua", "--out", run), "did you mean cue")
        for name, more in (("blind", ""), ("knows", " --set extras=cue")):
            done = understudy(f"{train}{more} --name {name}", "--out", run)
            assert done.code == 0, done.err
        loss = {
            path.parent.name: json.loads(path.read_text())["test"]["loss"]
            for path in run.glob("models/*/evaluation.json")
        }
        assert loss["blind"] > 0.6 > 0.2 > loss["knows"]
        assert understudy(f"evaluate {run}/models/knows --split val").code == 0
        done = understudy("compete arena knows expert --matches 2 --workers 0 -q", "--out", run)
        assert done.code == 0, done.err
        done = understudy("train arena refine-quick --from knows --quiet", "--out", run)
        assert_refused(done, "begin with a model without")
    done = understudy(f"report {run}")
    assert done.code == 0
    assert "m0.jsonl" in (run / "report.html").read_text()  # drawn, though nothing plays it again
