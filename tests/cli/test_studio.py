"""The command `studio` refuses, in a line, what would let others in or never be reached."""

import pytest

from tests.small_runs import assert_refused, understudy


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ("--host 0.0.0.0", "--host 192.168.0.5"),
        ("--host 192.168.0.5", "--token"),
        ("--token nowhere.txt", "names a file"),
    ],
)
def test_what_would_let_others_in_is_refused(tmp_path, told, words):
    assert_refused(understudy(f"studio {tmp_path} {told}"), words)


def test_a_short_token_is_refused(tmp_path):
    (tmp_path / "token").write_text("short\n")
    done = understudy(f"studio {tmp_path} --token {tmp_path / 'token'}")
    assert_refused(done, "at least 20 characters")
    assert "short" not in done.err


def test_a_folder_that_is_not_there_is_refused_with_the_cure(tmp_path):
    assert_refused(understudy(f"studio {tmp_path}/none"), "understudy record arena")
