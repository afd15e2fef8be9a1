"""How a stage stands, by what lies in its folder."""

import os
import time

import pytest

from tests.studio.small_run import GONE, lock, lock_of_this_process, model, small_run, stage, tasks
from understudy.data.runs import MANIFEST, Run, read_manifest
from understudy.studio.live.catalogue import Catalogue
from understudy.studio.live.notes import Notes, read_notes, write_notes
from understudy.studio.live.stages import SILENT_SECONDS, stage_of


@pytest.fixture
def run(tmp_path):
    return small_run(tmp_path / "a")


def state(run, folder, **told):
    found = stage_of(run, folder, **told)
    return found.state, found.said


def test_done_is_what_the_manifest_says(run):
    found = stage_of(run, run.model("imitate"))
    assert (found.state, found.kind, found.game) == ("done", "train", "arena")
    assert found.place == "models/imitate"
    assert found.progress.share == 1
    assert found.figures["val/loss"] == pytest.approx(0.2)
    assert found.ended - found.begun == 600
    assert stage_of(run, run.samples) is None


def test_a_stage_with_a_living_writer_runs_and_says_how_far_it_is(run):
    folder = model(run, "more", steps=25, total=100, finished=None)
    lock_of_this_process(folder)
    found = stage_of(run, folder)
    assert (found.state, found.progress.share) == ("running", 0.25)
    assert found.seconds_left == pytest.approx(3 * (found.written - found.begun))


def test_a_killed_one_is_stalled_and_one_that_was_stopped_is_not(run):
    folder = model(run, "more", total=100, finished=None)
    assert state(run, folder) == ("stopped", "not finished; the same command goes on")
    lock(folder, GONE)
    assert state(run, folder) == (
        "stalled",
        f"process {GONE} is gone without a word: it was killed",
    )


def test_a_living_one_that_writes_nothing_is_stalled_by_its_own_pace(run):
    folder = model(run, "more", steps=10, total=100, finished=None)
    lock_of_this_process(folder)
    begun = stage_of(run, folder).begun
    for path in [folder, *folder.iterdir()]:
        os.utime(path, (begun + 1000, begun + 1000))  # a line every 100 s
    assert state(run, folder, now=begun + 1000 + 799)[0] == "running"
    words = f"process {os.getpid()} has written nothing for 801 s"
    assert state(run, folder, now=begun + 1000 + 801) == ("stalled", words)
    for path in [folder, *folder.iterdir()]:
        os.utime(path, (begun + 10, begun + 10))
    assert state(run, folder, now=begun + 10 + SILENT_SECONDS - 1)[0] == "running"
    assert state(run, folder, now=begun + 10 + SILENT_SECONDS + 1)[0] == "stalled"


def test_tasks_are_counted_and_their_failures_told(run):
    folder = stage(run.result("x"), "compete", finished=None)
    tasks(folder, total=8, done=3, failed=["00003"])
    found = stage_of(run, folder)
    assert (found.progress.done, found.progress.total, found.progress.unit) == (3, 8, "tasks")
    assert found.failed == {"00003": "ValueError: no"}


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe", b'{"stage": 3}', b"[" * 100_000])
def test_a_damaged_manifest_is_a_note(run, content):
    folder = run.model("imitate")
    (folder / MANIFEST).write_bytes(content)
    found = stage_of(run, folder)
    assert found.state == "damaged"
    assert str(folder) in found.said


def test_the_catalogue_finds_runs_and_notices_what_changes(tmp_path):
    small_run(tmp_path / "a")
    small_run(tmp_path / "b")
    (tmp_path / "empty").mkdir()
    (tmp_path / "b\x1b[31m").mkdir()
    small_run(tmp_path / "b\x1b[31m" / "x")
    small_run(tmp_path / "evil\nname")
    catalogue = Catalogue([tmp_path])
    catalogue.look()
    assert list(catalogue.runs) == ["a", "b"]
    assert catalogue.left_out == (r"'evil\nname'",)
    assert catalogue["a"].state == "done"
    before = catalogue["a"]
    catalogue.look()
    assert catalogue["a"] == before
    model(Run(tmp_path / "a"), "imitate", total=20, finished=None)
    time.sleep(0.01)
    catalogue.look()
    assert catalogue["a"].state == "stopped"
    for path in sorted((tmp_path / "b").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    catalogue.look()
    assert list(catalogue.runs) == ["a"]


def test_a_run_can_be_named_itself_and_equal_names_are_told_apart(tmp_path):
    for place in ("x/a", "y/a"):
        small_run(tmp_path / place)
    catalogue = Catalogue([tmp_path / "x" / "a", tmp_path / "y"])
    catalogue.look()
    assert list(catalogue.runs) == ["a", "y~a"]
    assert catalogue.home == tmp_path / "x"
    assert catalogue.name_of(tmp_path / "y" / "a") == "y~a"


def test_notes_lie_beside_the_run_and_are_kept(run):
    assert read_notes(run) == Notes()
    assert write_notes(run, "", "") == Notes()
    assert not run.notes.exists()
    told = write_notes(run, "good, old,good", "first\r\nsecond ")
    assert told == Notes(("good", "old"), "first\nsecond") == read_notes(run)
    assert read_manifest(run.recordings) is not None
