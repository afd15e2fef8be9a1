import random

import pytest

from understudy.data.integrity import seals
from understudy.data.integrity.seals import BLANK, is_broken, is_broken_file, is_sealed, sealed


def test_a_sealed_content_is_whole_and_any_flipped_bit_breaks_it():
    whole = sealed(f'{{"a": [1, 2], "seal": "{BLANK}"}}\n'.encode())
    assert is_sealed(whole)
    assert not is_broken(whole)
    for place in range(len(whole) * 8):
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        assert is_broken(bytes(flipped))


def test_the_last_blank_is_the_seal():
    content = f"{BLANK} {BLANK} end".encode()
    whole = sealed(content)
    assert whole.startswith(BLANK.encode())
    assert not is_broken(whole)


def test_what_has_no_place_for_a_seal_is_a_mistake_of_ours():
    with pytest.raises(ValueError, match="no place for a seal"):
        sealed(b"{}")


def test_files_without_a_seal_are_read_as_they_are(tmp_path):
    path = tmp_path / "a"
    for content in (b"", b"anything", b"understudy-2"):
        path.write_bytes(content)
        assert not is_broken_file(path)


def test_a_file_that_changes_is_looked_at_again(tmp_path):
    path = tmp_path / "a"
    dice = random.Random(0)
    path.write_bytes(dice.randbytes(10_000) + BLANK.encode() + dice.randbytes(100))
    seals.seal_file(path)
    assert not is_broken_file(path)
    content = bytearray(path.read_bytes())
    content[77] ^= 4
    path.write_bytes(content)
    assert is_broken_file(path)


def test_a_blank_seal_that_another_program_copied_is_none(tmp_path):
    path = tmp_path / "a"
    path.write_text(f"rows {BLANK} more")
    assert not is_broken_file(path)
