"""`import understudy`: at once, and from there everything that other programs may rely on."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import understudy
from tests.small_runs import tiny_recipe
from understudy.errors import InputError

HEAVY = ("torch", "scml", "negmas", "numpy", "pyarrow", "gymnasium", "typer")


def loaded_after(program):
    """Which of the heavy packages a new interpreter has imported at the end of a program."""
    program += f"; import sys; print(*(name for name in {HEAVY} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return set(done.stdout.split())


def test_importing_it_imports_nothing_heavy():
    assert loaded_after("import understudy; dir(understudy); understudy.__version__") == set()


def test_what_records_and_competes_is_found_without_torch_or_scml():
    assert not {"torch", "scml"} & loaded_after("from understudy import record, compete, train")


@pytest.mark.parametrize("name", understudy.__all__)
def test_every_name_is_listed_and_leads_somewhere(name):
    assert name in dir(understudy)
    assert getattr(understudy, name) is getattr(understudy, name)
    assert getattr(getattr(understudy, name), "__name__", name) == name


def test_type_checkers_see_the_same_names_at_the_same_places():
    """They read the block under TYPE_CHECKING, which nothing runs."""
    tree = ast.parse(Path(understudy.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.name: node.module.removeprefix("understudy.")
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == understudy._HOMES
    assert sorted([*seen, "__version__"]) == sorted(understudy.__all__)


def test_a_name_that_is_not_there_is_an_ordinary_mistake():
    with pytest.raises(AttributeError, match="module 'understudy' has no attribute 'recrod'"):
        understudy.recrod  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'recrod' from 'understudy'"):
        from understudy import recrod  # noqa: F401


def test_the_arena_from_recording_to_strength(tmp_path):
    run = tmp_path / "run"
    here = {"out": run, "workers": 0}
    opponents = {"opponents": ["rusher", "kiter"], "matches": 40, "seed": 9}
    assert understudy.record("arena", **here, **opponents) == run / "recordings"
    counts = understudy.encode("arena", **here)
    assert counts["matches"] == 40
    with tiny_recipe():
        evaluation = understudy.train("arena", "imitate-quick", out=str(run), seed=9)
    assert evaluation["steps"] > 0
    rows = understudy.compete("arena", ["imitate-quick", "expert"], matches=6, **here)
    assert [(row["player"], row["opponent"], row["matches"]) for row in rows] == [
        ("expert", "imitate-quick", 6),
        ("imitate-quick", "expert", 6),
    ]
    assert sum(row["points"] for row in rows) == pytest.approx(1)
    policy = understudy.load_policy(str(run / "models" / "imitate-quick"))
    assert not policy.training


def test_it_plays_what_the_command_plays(tmp_path):
    """The same defaults, so the same run: the command finds nothing left to do."""
    from tests.small_runs import succeed

    understudy.record("arena", out=tmp_path, matches=4, workers=0)
    made = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")}
    succeed("record arena --matches 4", tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")} == made


def test_a_tiny_world_of_scml(tmp_path):
    options = {"configs": 1, "steps": 6, "max_worlds_per_config": 2, "workers": 0}
    competitors = ["Greedy", "Random"]
    recordings = understudy.record("scml", out=tmp_path, players=competitors, **options)
    assert list(recordings.glob("worlds-*.parquet"))
    rows = understudy.compete("scml", competitors, out=tmp_path, keep=0, **options)
    assert sorted(row["player"] for row in rows) == competitors
    for row in rows:
        assert row["adjusted"][0] is not None


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda out: understudy.record("chess", out=out), "there is no game 'chess'"),
        (lambda out: understudy.record("dota", out=out), "dota is not played here"),
        (lambda out: understudy.train("arena", "magic", out=out), "has no recipe 'magic'"),
        (lambda out: understudy.compete("arena", ["expert", "me"], out=out), "no player 'me'"),
        (lambda out: understudy.load_policy(out), "holds no trained policy"),
    ],
)
def test_a_mistake_is_named_and_leaves_nothing_behind(tmp_path, wrong, says):
    with pytest.raises(InputError, match=says):
        wrong(tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_an_option_that_no_game_has_is_refused(tmp_path):
    with pytest.raises(TypeError, match="matchs"):
        understudy.record("arena", out=tmp_path / "run", matchs=3)
    assert not (tmp_path / "run").exists()
