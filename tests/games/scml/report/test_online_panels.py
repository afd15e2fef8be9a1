"""Learning by play in a report, of files whose parts do not fit together."""

import json

import pytest

from understudy.data.integrity.json_files import DamagedError, json_line
from understudy.data.runs import Run
from understudy.games.scml.learning.online.measure import HABITS
from understudy.games.scml.report.online_panels import online_panels

STAGE = {
    "mean": 1.0,
    "places": {"first": 1.0},
    "bankrupt": 0.0,
    "habits": {"first": dict.fromkeys(HABITS, 0.5)},
}
GAIN = {"gain": 0.1, "standard_error": 0.02}
LATER = {**STAGE, **GAIN, "over_start": {"first": GAIN}}
EVALUATION = {"steps": 1, "seconds": 1.0, "chosen": "start", "stages": {"start": STAGE}}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, 3),
        ({"stages": {}}, 1),
        ({"chosen": "l3", "stages": {"start": STAGE, "l3": LATER}}, 3),
        ({"chosen": "nobody"}, "its parts do not fit together (KeyError: 'nobody')"),
        ({"stages": {"start": {**STAGE, "mean": "much"}}}, "got 'str' - at '$.stages"),
        ({"stages": {"start": {**STAGE, "gain": 0.1}}}, "KeyError: 'standard_error'"),
    ],
)
def test_what_does_not_fit_is_one_line(tmp_path, change, words):
    folder = Run(tmp_path).model("play")
    folder.mkdir(parents=True)
    (folder / "metrics.jsonl").write_text(json_line({"step": 1, "score": 1.0, "score/first": 1.0}))
    (folder / "evaluation.json").write_text(json.dumps({**EVALUATION, **change}))
    if isinstance(words, int):
        found = online_panels(Run(tmp_path))
        assert len(found) == words
        assert ("Where it gains" in str(found)) == ("l3" in str(change))
        return
    with pytest.raises(DamagedError) as refusal:
        online_panels(Run(tmp_path))
    assert str(folder) in str(refusal.value) and words in str(refusal.value)
