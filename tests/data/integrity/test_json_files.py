import json
import math
import os
from typing import NotRequired, TypedDict

import pytest

from understudy.data.integrity.json_files import (
    fitting_together,
    json_line,
    read_json,
    read_lines,
    write_json,
)
from understudy.errors import InputError


class Shape(TypedDict):
    name: str
    sizes: list[int]
    share: NotRequired[float]


GOOD = {"name": "a", "sizes": [1, 2], "share": 0.5, "more": {"x": None}}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.json"
    write_json(path, GOOD)
    return path


def refusal(path, reads=read_json):
    with pytest.raises(InputError) as error:
        reads(path, Shape, "Make it again")
    message = str(error.value)
    assert message.startswith(str(path))
    assert "Make it again" in message
    assert "\n" not in message
    return message


def test_what_is_written_comes_back_with_all_its_keys_and_without_its_seal(path):
    assert read_json(path, Shape, "") == GOOD
    assert list(json.loads(path.read_text())) == [*GOOD, "seal"]
    assert read_json(path.with_name("none.json"), Shape, "") is None


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"name": "a", "siz', "is damaged"),
        (b"\xff\xfe{}", "codec can't decode"),
        (b"[]", "Expected 'object', got 'array'"),
        (b'{"name": "a"}', "missing required field 'sizes'"),
        (b'{"name": "a", "sizes": [1, "2"]}', "at '$.sizes[1]'"),
        (b'{"name": 3, "sizes": []}', "at '$.name'"),
        (b'{"name": "a", "sizes": [' + b"9" * 5000 + b"]}", "is damaged"),
        (b"[" * 200_000, "nested too deeply"),
        (b"", "is damaged"),
        (b"\0" * 100, "is damaged"),
        (b'{"name": "\\ud800", "sizes": []}', "surrogates not allowed"),
        (b'{"name": "a", "sizes": [], "seal": true}', "its seal is none"),
    ],
)
def test_anything_else_is_one_line_with_file_place_and_cure(path, content, words):
    path.write_bytes(content)
    assert words in refusal(path)


def test_a_changed_value_is_found_though_it_is_of_the_right_shape(path):
    path.write_text(path.read_text().replace("0.5", "0.6"))
    assert 'take its "seal" out' in refusal(path)
    known = json.loads(path.read_text())
    del known["seal"]
    path.write_text(json.dumps(known))
    assert read_json(path, Shape, "")["share"] == 0.6


def test_a_pipe_a_folder_and_a_link_that_leads_nowhere_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    for name, word in (("pipe", "a pipe"), ("folder", "a folder"), ("link", "leads nowhere")):
        with pytest.raises(InputError, match=word):
            read_json(tmp_path / name, Shape, "")


def test_a_seal_of_nothing_is_damage(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"name": "a", "sizes": [], "seal": null}')
    with pytest.raises(InputError, match="seal"):
        read_json(path, Shape, "")


def test_lines_have_a_checksum_each_and_an_unfinished_last_one_is_left_out(tmp_path):
    path = tmp_path / "a.jsonl"
    first, second = {"name": "a", "sizes": [1]}, {"name": "b", "sizes": [], "share": math.nan}
    path.write_text(json_line(first) + json_line(second) + json_line(first)[:-5])
    found = read_lines(path, Shape, "")
    assert found[0] == first
    assert len(found) == 2
    path.write_text(json_line(first) + json_line(first).replace("[1]", "[7]"))
    assert "line 2, is damaged (it does not match its checksum)" in refusal(path, read_lines)
    path.write_bytes((json_line(first) * 3).encode().replace(b"sizes", b"s\rzes", 2))
    assert "line 1, is damaged" in refusal(path, read_lines)  # and not the end of all lines
    path.write_text('{"name": "old", "sizes": []}\n')  # made before there were checksums
    assert read_lines(path, Shape, "") == [{"name": "old", "sizes": []}]
    assert read_lines(tmp_path / "none", Shape, "") == []


def test_parts_that_do_not_fit_together_are_the_files_fault(tmp_path):
    told = r"do not fit together \(KeyError: 'a'\)\. Cure"
    with pytest.raises(InputError, match=told), fitting_together(tmp_path, "Cure"):
        {}["a"]
