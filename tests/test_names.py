import pytest

from understudy.data.runs import LeagueFolder, Run
from understudy.errors import InputError
from understudy.names import LONGEST, fault_of, joined, plain_name, shown

GOOD = ["imitate", "expert-rusher-17", "main from itself", "chess_v6", "a.b", "..a", "Ωmega", "7"]
BAD = {
    **dict.fromkeys(["", " ", " a", "a ", "a\t"], "empty or begins or ends"),
    **dict.fromkeys([".", "..", "..."], "means a folder"),
    **dict.fromkeys(["../x", "/", "/etc", "a/b", "a\\b", "..\\x"], "holds a / or"),
    **dict.fromkeys(
        ["a\nb", "a\0b", "\x1b[2J", "a\u202eb", "a\ud800b", "a\u2028b"], "cannot be seen"
    ),
    "x" * (LONGEST + 1): "longer than",
    "é" * (LONGEST // 2 + 1): "longer than",
}


@pytest.mark.parametrize("name", [*GOOD, "x" * LONGEST, "é" * (LONGEST // 2)])
def test_good_names_are_left_alone(name):
    assert fault_of(name) is None
    assert plain_name(name, "a name") == name


@pytest.mark.parametrize("name", BAD, ids=ascii)
def test_bad_names_are_refused_wherever_they_become_a_path(name, tmp_path):
    run, league = Run(tmp_path), LeagueFolder(tmp_path)
    for place in (run.model, run.result, run.league, league.player, league.replay):
        with pytest.raises(InputError, match=BAD[name]) as error:
            place(name)
        assert str(error.value).isprintable()


def test_a_message_shows_a_name_shortly_and_tames_it():
    assert shown("a b") == "'a b'"
    assert shown("\x1b[2J") == r"'\x1b[2J'"
    assert len(shown("x" * 500)) == 60


def test_a_name_of_many_words_is_short_and_still_its_own():
    assert joined(["a", "b", 400, 0]) == "a-b-400-0"
    many = [f"player{number}" for number in range(40)]
    one, other = joined([*many, 400, 0]), joined([*many, 400, 1])
    assert one != other and one.startswith("player0-player1-") and len(one) < 120
    foreign = joined(["象棋" * 60, 2, 0])
    assert fault_of(foreign) is None and len(foreign.encode()) < 120
