"""Metrics that grow, thinned as they come: nothing that a chart would show is lost."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.studio.small_run import small_run
from understudy.data.integrity.json_files import json_line
from understudy.data.runs import ModelFolder, Run
from understudy.report.run import read_metrics
from understudy.report.training import training_panels
from understudy.studio.live import curves
from understudy.studio.live.curves import Curves, Series, last_line, thinned


@pytest.fixture
def folder(tmp_path):
    return small_run(tmp_path / "a", steps=50).model("imitate")


def append(folder, *lines):
    with ModelFolder(folder).metrics.open("a") as file:
        file.write("".join(json_line(line) for line in lines))


def test_a_short_file_is_drawn_as_in_a_static_report(folder):
    append(folder, {"step": 60, "val/accuracy/fire": 0.5, "val/majority/fire": 0.4, "kl": 0.1})
    read = Curves(folder)
    read.read()
    assert training_panels("m", read.lines()) == training_panels("m", read_metrics(folder))


def test_what_is_written_later_is_added_and_half_a_line_waits(folder):
    read = Curves(folder)
    read.read()
    line = json_line({"step": 51, "train/loss": 7.0})
    with ModelFolder(folder).metrics.open("a") as file:
        file.write(line[:10])
        file.flush()
        read.read()
        assert read.lines()[-1]["step"] == 50
        file.write(line[10:])
    read.read()
    assert read.lines()[-1] == {"step": 51, "train/loss": 7.0}


def test_a_file_written_anew_is_read_anew(folder):
    read = Curves(folder)
    read.read()
    path = ModelFolder(folder).metrics
    path.rename(path.with_suffix(".old"))
    append(folder, {"step": 3, "train/loss": 9.0})
    read.read()
    assert read.lines() == [{"step": 3, "train/loss": 9.0}]


def test_lines_that_are_none_are_counted_and_left_out(folder):
    with ModelFolder(folder).metrics.open("a") as file:
        file.write('nonsense\n[1]\n{"step": 70, "a": "x", "b": null, "c": 1e301, "d": [2]}\n')
        file.write("[" * 5000 + "\n")
    append(folder, {"step": 71, "train/loss": 0.5})
    read = Curves(folder)
    read.read()
    assert read.lines()[-1] == {"step": 71, "train/loss": 0.5}
    assert read.bad_lines == 3
    assert not {"a", "b", "c", "d"} & {name for line in read.lines() for name in line}


def test_a_file_that_is_gone_has_no_lines(folder):
    read = Curves(folder)
    read.read()
    ModelFolder(folder).metrics.unlink()
    assert not read.read()
    assert last_line(folder) == {}


def test_the_last_line_is_the_last_whole_one(folder):
    append(folder, {"step": 99, "kl": 2.0})
    with ModelFolder(folder).metrics.open("a") as file:
        file.write('{"step": 100')
    assert last_line(folder) == {"step": 99, "kl": 2.0}


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=400), st.integers(4, 60))
def test_thinned_points_are_few_and_keep_every_extreme_of_each_stretch(values, most):
    points = np.array([(float(x), y) for x, y in enumerate(values)])
    kept = thinned(points, most)
    assert len(kept) <= 4 * max(1, most // 4)
    assert {tuple(point) for point in kept} <= {tuple(point) for point in points}
    assert tuple(kept[0]) == tuple(points[0])
    assert tuple(kept[-1]) == tuple(points[-1])
    assert kept[:, 1].min() == points[:, 1].min()
    assert kept[:, 1].max() == points[:, 1].max()


def test_a_spike_stays_however_often_a_series_is_thinned():
    series, rng = Series(), np.random.default_rng(4)
    for number in range(30):
        x = np.arange(number * 2000, (number + 1) * 2000, dtype=float)
        y = rng.normal(size=2000)
        if number == 3:
            y[77] = 99.0
        series.add(np.stack([x, y], axis=1))
    points = series.points()
    assert len(points) <= curves.THINNED
    assert [6077.0, 99.0] in points.tolist()
    # Stretches are equal in steps, so the beginning is kept as finely as the end.
    assert 0.4 < np.mean(points[:, 0] < 30_000) < 0.6


def test_a_glance_sees_the_whole_length_of_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(curves, "LOOK", 400)
    folder = small_run(tmp_path / "a", steps=5000).model("imitate")
    found = Curves(folder).glance()
    assert (found[0]["step"], found[-1]["step"]) == (1, 5000)
    assert len(found) < 2500
    assert all(json.loads(json.dumps(line)) for line in found)


def test_curves_are_kept_for_those_asked_for_last(tmp_path):
    many = curves.AllCurves(most=2)
    first = many.of(tmp_path / "a")
    many.of(tmp_path / "b")
    assert many.of(tmp_path / "a") is first
    many.of(tmp_path / "c")
    assert many.of(tmp_path / "a") is first
    assert Run(tmp_path).folder == tmp_path
