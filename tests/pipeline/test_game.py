"""How games are found, and what they put off importing."""

import pickle
import sys

import pytest

from tests.nim_package import put_entry_points
from tests.small_runs import assert_refused, understudy
from understudy import games
from understudy.errors import InputError
from understudy.pipeline.game import Lazy, lazy, load, modules

SLOW = """
calls = []
RECIPES = {"magic": 1}
def add(one, other=0):
    calls.append(one)
    return one + other
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A further folder that games may lie in."""
    monkeypatch.setattr(games, "__path__", [*games.__path__, str(tmp_path)])
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("understudy.games.zz")]:
        del sys.modules[name]


def put(home, **files):
    for name, text in files.items():
        path = home / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def test_a_game_is_a_folder_with_a_game_or_a_file_that_makes_one(home):
    before = modules()
    put(
        home,
        zzfolder__game="GAME = 'a folder'",
        zzfile="import sys\nGAME: str = 'a file'\n",
        zzhelper="def help_games():\n    GAME = 'none'\n# GAME = ...\nGAMES = ()\n",
        zzparts__commands="COMMANDS = ()",
    )
    assert {name: modules()[name] for name in modules() if name not in before} == {
        "zzfile": "understudy.games.zzfile",
        "zzfolder": "understudy.games.zzfolder.game",
    }
    assert list(modules()) == sorted(modules()) == list(games.names())
    assert load("zzfolder") == "a folder" and load("zzfile") == "a file"
    with pytest.raises(InputError, match="there is no game 'zzhelper'; there is arena, dota, scml"):
        load("zzhelper")


def test_the_games_that_come_along():
    assert set(games.names()) >= {"arena", "dota", "scml"}
    assert not {"kernels", "two_player"} & set(games.names())


def test_help_imports_no_game_that_is_one_file_and_names_its_commands(home):
    put(home, zzbroken="raise RuntimeError('it was imported')\nGAME = None")
    for verb in ("record", "compete"):
        assert "  zzbroken  " in understudy(f"{verb} --help").out
        done = understudy(f"{verb} zzbroken --help")
        assert done.code == 0 and "--matches" in done.out
    with pytest.raises(RuntimeError, match="it was imported"):
        understudy("record zzbroken")


def test_a_folder_without_commands_is_a_game_of_two_and_one_with_them_brings_its_own(home):
    own = "from understudy.terminal.commands import Commands\ndef dig(): 'Dig a hole.'\n"
    own += "COMMANDS = Commands(verbs={'zzdig': dig}, about={'zzdig': 'Dig anything.'})"
    put(home, zzplain__game="GAME = 1", zzown__game="GAME = 2", zzown__commands=own)
    assert set(games.commands("zzplain").verbs) == {"record", "compete"}
    assert set(games.commands("zzown").verbs) == {"zzdig"}
    assert "Dig anything." in understudy("--help").out
    assert "Dig a hole." in understudy("zzdig zzown --help").out
    assert "zzown" not in understudy("record --help").out


def test_a_lazy_function_is_imported_by_its_first_call(home):
    put(home, zzslow=SLOW)
    add = lazy("understudy.games.zzslow:add")
    assert "understudy.games.zzslow" not in sys.modules
    assert add(2, other=3) == 5
    assert sys.modules["understudy.games.zzslow"].calls == [2]


def test_a_lazy_table_is_handed_out_as_it_is(home):
    put(home, zzslow=SLOW)
    found = lazy("understudy.games.zzslow:RECIPES")()
    assert found is sys.modules["understudy.games.zzslow"].RECIPES


def test_a_lazy_function_travels_to_other_processes():
    assert pickle.loads(pickle.dumps(lazy("a:b"))) == Lazy("a:b")


# --- games of installed packages -----------------------------------------------------------------


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """A folder of the path that packages can be installed into."""
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("zz")]:
        del sys.modules[name]


def install(packages, name, module, text):
    """A package of that one module, which brings a game."""
    place = packages / f"{module.replace('.', '/')}.py"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    put_entry_points(packages, f"package-of-{name}", {"understudy.games": {name: module}})
    sys.path[:] = [*sys.path, str(packages / name)]  # a new path, as a new process has


OF_ARENA = """
from dataclasses import replace
from understudy.games.arena.game import GAME as ARENA
GAME = replace(ARENA, name={name!r})
"""


def test_an_installed_package_brings_a_game(packages):
    install(packages, "zzchess", "zzchess_game", OF_ARENA.format(name="zzchess"))
    assert modules()["zzchess"] == "zzchess_game" and "zzchess" in games.names()
    assert "zzchess_game" not in sys.modules
    assert load("zzchess") is sys.modules["zzchess_game"].GAME
    assert set(games.commands("zzchess").verbs) == {"record", "compete"}
    assert "  zzchess  " in understudy("record --help").out


def test_an_installed_game_cannot_take_the_name_of_one_of_ours(packages):
    install(packages, "arena", "zzarena", "raise RuntimeError")
    assert load("arena").about and modules()["arena"] == "understudy.games.arena.game"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "import zznothing",
            "cannot be imported: ModuleNotFoundError(\"No module named 'zznothing'\"",
        ),
        ("GAME = 7", "has a GAME that is a int, not a Game"),
        (OF_ARENA.format(name="zzother"), "has a GAME that is named 'zzother'"),
        ("raise KeyError", "cannot be imported: KeyError()"),
    ],
)
def test_a_broken_installed_game_is_one_line_and_stops_nobody_else(packages, text, words):
    install(packages, "zzbad", "zzbad.game", "")
    (packages / "zzbad" / "__init__.py").write_text(text if "raise" in text else "")
    (packages / "zzbad" / "game.py").write_text(text)
    done = understudy("record zzbad --matches 2")
    assert_refused(done, "the installed game 'zzbad' (zzbad.game) ", words)
    assert understudy("recipes arena").code == 0
