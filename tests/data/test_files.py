import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from understudy.data.files import digest, link_folder, sweep, write_text, writing
from understudy.errors import InputError


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "new" / "a.txt"
    with writing(path) as aside:
        aside.write_text("whole")
        assert not path.exists()
    assert path.read_text() == "whole"
    assert names(path.parent) == ["a.txt"]


def test_nothing_half_written_stays_when_the_writer_fails(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "old")
    with pytest.raises(RuntimeError, match="oops"), writing(path) as aside:
        aside.write_text("ha")
        raise RuntimeError("oops")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_a_full_disk_is_one_line_and_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    write_text(path, "old")

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError) as error:
        write_text(path, "new")
    assert str(error.value) == (
        f"cannot write {path}: No space left on device. Nothing half-written was kept; free some "
        "space or choose another --out, then run the same command again"
    )
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_a_write_cut_short_by_the_system_leaves_nothing(tmp_path):
    code = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from understudy.data.files import write_text\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "write_text(Path(sys.argv[1]), 'x' * 5000)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a.txt")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert f"InputError: cannot write {tmp_path}/a.txt: File too large" in done.stderr
    assert names(tmp_path) == []


def test_a_folder_where_a_file_stands_is_one_line(tmp_path):
    (tmp_path / "a").write_text("a file")
    with pytest.raises(InputError, match=r"cannot write .*/a/b\.txt: "):
        write_text(tmp_path / "a" / "b.txt", "text")


def test_a_path_without_a_name_is_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"cannot write \.: Is a directory"):
        write_text(Path(), "")


def test_what_a_killed_process_left_is_swept_and_nothing_else(tmp_path):
    (tmp_path / "deep").mkdir()
    for name in ("a.txt", "a.txt.123.part", "deep/b.parquet.9.part", "deep/part"):
        (tmp_path / name).write_text("x")
    sweep(tmp_path)
    assert names(tmp_path) == ["a.txt", "deep"]
    assert names(tmp_path / "deep") == ["part"]


def test_a_digest_hangs_on_the_content_alone(tmp_path):
    for name, text in (("a", "one"), ("b", "one"), ("c", "two")):
        (tmp_path / name).write_text(text)
    assert digest(tmp_path / "a") == digest(tmp_path / "b") != digest(tmp_path / "c")


def test_links_to_folders_within_a_run_move_with_it(tmp_path):
    inside, outside = tmp_path / "run" / "models", tmp_path / "other"
    for folder in (inside, outside):
        folder.mkdir(parents=True)
        (folder / "weights").write_text(folder.name)
    for name, target in (("one", inside), ("two", outside), ("two", inside)):
        link = tmp_path / "run" / "leagues" / "watched" / name
        link_folder(link, target, within=tmp_path / "run")
    (tmp_path / "run").rename(tmp_path / "moved")
    links = tmp_path / "moved" / "leagues" / "watched"
    assert (links / "one" / "weights").read_text() == "models"
    assert (links / "two" / "weights").read_text() == "other"
