import errno
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.learn.fitting import fit
from understudy.data.integrity.json_files import json_line
from understudy.errors import InputError
from understudy.learn.metrics_log import MetricsLogger, read_metrics


class StoppedError(Exception):
    pass


def stop_at_five(step, steps, metrics):
    if step == 5:
        raise StoppedError


def test_tensorboard_gets_the_same_numbers(samples, recipe, tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    out, talkative = tmp_path / "toy", replace(recipe, evaluate_every=1)
    with pytest.raises(StoppedError):  # step 5 is not in the checkpoint: it comes twice
        fit(talkative, samples, out, seed=1, progress=stop_at_five)
    # TensorBoard names its files by the second and reads them in the order of their names.
    time.sleep(1)
    fit(talkative, samples, out, seed=1)
    events = EventAccumulator(str(out / "tensorboard"))
    events.Reload()
    lines = read_metrics(out)
    assert set(events.Tags()["scalars"]) == lines[0].keys() - {"step"}
    found = {event.step: event.value for event in events.Scalars("val/loss")}
    assert found == pytest.approx({line["step"]: line["val/loss"] for line in lines})
    assert len(events.Scalars("val/loss")) == 12


def test_without_tensorboard_training_goes_on(monkeypatch, tmp_path, caplog):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with caplog.at_level("INFO"), MetricsLogger(tmp_path, 0) as written:
        written.write(3, {"a": 1.0})
    assert read_metrics(tmp_path) == [{"step": 3, "a": 1.0}]
    assert "no TensorBoard events" in caplog.text


def test_lines_after_the_step_and_unfinished_ones_are_dropped(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    whole = json_line({"step": 2, "a": 0.1}) + json_line({"step": 4, "a": 0.2})
    (tmp_path / "metrics.jsonl").write_text(whole + '{"step": 6, "a": 0.3}\n{"step": 8, "')
    with MetricsLogger(tmp_path, 4):
        assert (tmp_path / "metrics.jsonl").read_text() == whole


def test_a_damaged_line_is_named(tmp_path):
    (tmp_path / "metrics.jsonl").write_text('{"step": 2\n{"step": 4}\n')
    with pytest.raises(
        InputError, match=r"metrics\.jsonl, line 1, is damaged .* Start over with --fresh"
    ):
        read_metrics(tmp_path)


def test_a_full_disk_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    with MetricsLogger(tmp_path, 0) as logger:
        monkeypatch.setattr(Path, "open", full)
        with pytest.raises(
            InputError, match=r"metrics\.jsonl: No space left on device\. Free some"
        ):
            logger.write(1, {"a": 1.0})


FULL = """
import resource, signal, sys, threading
from pathlib import Path
from understudy.learn.metrics_log import tensorboard
writer = tensorboard(Path(sys.argv[1]), 0)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    for step in range(50):
        writer.add_scalar("loss", 1.0, step)
        writer.flush()
except OSError as failure:
    print(failure.strerror)
threading.Thread(target=lambda: [].pop()).start()
"""


def test_a_full_disk_is_told_once_and_not_by_a_thread_as_well(tmp_path):
    pytest.importorskip("tensorboard")
    done = subprocess.run(
        [sys.executable, "-c", FULL, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.stdout == "File too large\n"
    assert "OSError" not in done.stderr
    assert "IndexError: pop from empty list" in done.stderr  # others' threads are heard as ever
