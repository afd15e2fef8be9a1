"""What people bring: found by its place, run anew each time, mistakes told in one line."""

import pickle
import sys

import pytest

from understudy.data.own_code import is_reference, load_own, refer, require_name
from understudy.data.players import PlayerRef, code_stamps
from understudy.errors import InputError, did_you_mean, some
from understudy.pipeline.players import brought


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A file with a class, beside a module that it imports."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "beside_mine.py").write_text("ANSWER = 42\n")
    path = tmp_path / "mine.py"
    path.write_text(
        "from dataclasses import dataclass\n"
        "from beside_mine import ANSWER\n"
        "SEEN = []\n"
        "@dataclass\n"
        "class Mine:\n"
        "    answer: int = ANSWER\n"
        "def fails():\n"
        "    return 1 / 0\n"
    )
    return path


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("mine.py:Mine", True),
        ("/a b/mine.py:Mine", True),
        ("package.module:Mine", True),
        ("Penguin", False),
        ("mine.py", False),
        ("mine.py:", False),
        ("mine.py:my class", False),
        ("tcp://host:8786", False),
    ],
)
def test_what_is_a_reference(text, answer):
    assert is_reference(text) is answer


def test_a_file_travels_with_its_content(mine):
    """Changed or gone meanwhile, what is run is what was there."""
    code = pickle.loads(pickle.dumps(refer(f"{mine}:Mine")))
    mine.write_text("raise RuntimeError")
    assert load_own(code)().answer == 42
    mine.unlink()
    assert load_own(code)().answer == 42
    assert code.title == "mine.py:Mine" and len(code.digest) == 16


def test_nothing_is_left_of_the_time_before(mine):
    code = refer(f"{mine}:SEEN")
    load_own(code).append("a world")
    assert load_own(code) == []


def test_the_digest_follows_the_content(mine):
    before = refer(f"{mine}:Mine").digest
    assert refer(f"{mine}:fails").digest == before
    mine.write_text(mine.read_text() + "\n")
    assert refer(f"{mine}:Mine").digest != before


def test_a_module_travels_by_name(mine, monkeypatch):
    monkeypatch.chdir(mine.parent)
    code = refer("mine:Mine")
    monkeypatch.chdir("/")
    assert load_own(code)().answer == 42
    assert code.title == "mine:Mine"


def test_a_module_that_has_changed_is_another_without_being_run(mine, monkeypatch):
    monkeypatch.chdir(mine.parent)
    (mine.parent / "pack").mkdir()
    inside = mine.parent / "pack" / "inside.py"
    (mine.parent / "pack" / "__init__.py").write_text("raise RuntimeError('run')\n")
    inside.write_text("raise RuntimeError('run')\n")
    before = refer("pack.inside:Mine")
    assert before.digest and before == refer("pack.inside:Mine")
    inside.write_text("\n")
    assert refer("pack.inside:Mine").digest != before.digest
    assert refer("math:sqrt").digest is None and refer("nowhere.at.all:it").digest is None


def test_a_file_alone_is_answered_with_what_is_in_it(mine):
    with pytest.raises(InputError, match=rf"{mine} is to play: {mine}:Mine or {mine}:fails$"):
        require_name(str(mine))
    with pytest.raises(InputError, match=r"there is no file your\.py$"):
        require_name("your.py")
    mine.write_text("class Mine(:\n")
    with pytest.raises(InputError, match=rf"is to play: {mine}:NAME$"):
        require_name(str(mine))
    require_name("Penguin")


def test_it_is_called_by_its_class_and_by_more_where_that_is_taken(mine):
    assert brought(f"{mine}:Mine", ["Penguin"]).name == "Mine"
    assert brought(f"{mine}:Mine", ["Mine"]).name == "mine.Mine"
    ref = brought(f"{mine}:Mine", [])
    assert code_stamps([ref, PlayerRef("Penguin")]) == {"Mine": f"mine.py:Mine {ref.code.digest}"}


def test_mistakes_are_told_in_one_line(mine):
    with pytest.raises(InputError, match=r"no file .*your\.py"):
        refer("your.py:Mine")
    with pytest.raises(InputError, match=r"neither FILE\.py:NAME"):
        refer("Mine")
    with pytest.raises(InputError, match="there is no Yours in it; there is Mine, fails"):
        load_own(refer(f"{mine}:Yours"))
    with pytest.raises(InputError, match=r"nowhere:A cannot be imported: ModuleNotFoundError"):
        load_own(refer("nowhere:A"))
    mine.write_text("x = 1\nraise ValueError('many\\nlines')\n")
    with pytest.raises(InputError, match=r"ValueError: many lines \(line 2\)$"):
        load_own(refer(f"{mine}:Mine"))
    mine.write_text("class Mine(:\n")
    with pytest.raises(InputError, match=r"SyntaxError: .* line 1"):
        load_own(refer(f"{mine}:Mine"))


def test_the_nearest_name_is_asked_for():
    assert did_you_mean("pengiun", ["AS0", "Penguin"]) == " (did you mean Penguin?)"
    assert did_you_mean("as0", ["AS0", "Penguin"]) == " (did you mean AS0?)"
    assert did_you_mean("Nobody", ["AS0", "Penguin"]) == ""


def test_of_many_names_the_first_are_told_and_where_the_others_are():
    assert some(["a", "b"], "elsewhere") == "a, b"
    assert some("abcde", "elsewhere", most=3) == "a, b, c and 2 more (elsewhere)"
