"""Players by name, and digests that change with any of their weights."""

import pytest

from understudy.data.files import digest
from understudy.data.players import Mixture, PlayerRef, code_stamps, weights_digest
from understudy.errors import InputError


def test_scripted_players_have_no_weights():
    assert weights_digest(PlayerRef("expert")) is None


def test_a_player_is_its_name_and_folder(tmp_path):
    assert PlayerRef("a", tmp_path) == PlayerRef("a", tmp_path) != PlayerRef("a")
    assert {PlayerRef("a"): 1}[PlayerRef("a")] == 1


def test_one_file_of_weights_is_its_own_digest(tmp_path):
    (tmp_path / "weights.safetensors").write_bytes(b"one")
    (tmp_path / "manifest.json").write_text("{}")  # not weights
    found = weights_digest(PlayerRef("a", tmp_path))
    assert found == digest(tmp_path / "weights.safetensors")
    assert weights_digest(PlayerRef("another name", tmp_path)) == found


@pytest.mark.parametrize("changed", ["weights.a", "weights.b"])
def test_a_change_of_any_file_shows(tmp_path, changed):
    for name in ("weights.b", "weights.a"):
        (tmp_path / name).write_bytes(name.encode())
    player = PlayerRef("a", tmp_path)
    before = weights_digest(player)
    assert before == f"{digest(tmp_path / 'weights.a')}+{digest(tmp_path / 'weights.b')}"
    (tmp_path / changed).write_bytes(b"other")
    assert weights_digest(player) != before


def test_missing_weights_are_told_in_the_callers_words(tmp_path):
    player = PlayerRef("a", tmp_path)
    with pytest.raises(InputError, match=f"^{tmp_path} holds no weights yet. Finish its training"):
        weights_digest(player)
    with pytest.raises(InputError, match=f"^a in {tmp_path} is gone$"):
        weights_digest(player, "{name} in {folder} is gone")


def test_what_stands_for_a_mixture_changes_with_any_weights_and_any_share(tmp_path):
    folders = [tmp_path / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
        (folder / "weights.safetensors").write_text(folder.name)
    one, other = (PlayerRef(folder.name, folder) for folder in folders)

    def mixed(*shares):
        return weights_digest(Mixture("m", tuple(zip((one, other), shares, strict=False))))

    before = mixed(0.5, 0.5)
    assert before == mixed(0.5, 0.5)
    scripts = weights_digest(Mixture("m", ((PlayerRef("a"), 0.5), (PlayerRef("c"), 0.5))))
    assert len({before, mixed(0.4, 0.6), mixed(1.0), scripts}) == 4
    (folders[1] / "weights.safetensors").write_text("other")
    assert mixed(0.5, 0.5) != before
    assert code_stamps([Mixture("m", ((one, 1.0),))]) == {}


def test_a_mixture_without_the_weights_of_a_player_is_told(tmp_path):
    with pytest.raises(InputError, match="holds no weights yet"):
        weights_digest(Mixture("m", ((PlayerRef("a", tmp_path), 1.0),)))
