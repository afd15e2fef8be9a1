"""`import understudy`: at once, and from there everything that other programs may rely on."""

import ast
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
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


def test_a_room_does_not_hide_a_function_of_its_name():
    program = "import understudy.league.season, understudy; print(understudy.league.__module__)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("understudy.api.stages\n", "")


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
    assert not policy.network.training
    assert "imitate-quick" in rows.table() and "<th>points</th>" in rows._repr_html_()
    page = rows.report(tmp_path / "page.html")
    assert page.path.is_file() and page._repr_html_().startswith("<iframe srcdoc=")
    assert counts.table().splitlines()[0].split() == ["figure", "value"]
    assert evaluation.folder == run / "models" / "imitate-quick"
    shard = next(iter(rows.run.recordings.glob("matches-*.parquet")))
    shown = understudy.replay(run / pq.read_table(shard)["match"][0].as_py())
    assert shown.path is None and "<script" in shown.html
    assert 'sandbox="allow-scripts"' in shown._repr_html_() and "<script" not in shown._repr_html_()


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
        (lambda out: understudy.encode("chess", out=out), "there is no game 'chess'"),
        (lambda out: understudy.train("chess", "imitate", out=out), "there is no game 'chess'"),
        (lambda out: understudy.train("arena", "magic", out=out), "has no recipe 'magic'"),
        (lambda out: understudy.compete("arena", ["expert", "me"], out=out), "no player 'me'"),
        (lambda out: understudy.load_policy(out), "there is no folder"),
        (lambda out: understudy.load_policy(out.parent), "holds no trained policy"),
        (lambda out: understudy.compete("arena", "expert", out=out), "at least two different"),
        (lambda out: understudy.league("arena", "magic", out=out), "no league 'magic'"),
    ],
)
def test_a_mistake_is_named_and_leaves_nothing_behind(tmp_path, wrong, says):
    with pytest.raises(InputError, match=says):
        wrong(tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_an_option_that_no_game_has_is_refused(tmp_path):
    with pytest.raises(InputError, match="record takes no option 'matchs' for arena"):
        understudy.record("arena", out=tmp_path / "run", matchs=3)
    with pytest.raises(InputError, match="compete takes no option 'matches' for scml"):
        understudy.compete("scml", ["Greedy", "Random"], out=tmp_path / "run", matches=3)
    assert not (tmp_path / "run").exists()


def test_options_of_one_game_are_read_as_the_command_reads_them(tmp_path):
    with pytest.raises(InputError, match="must be whole minutes"):
        understudy.encode("dota", out=tmp_path / "run", horizon=90)
    with pytest.raises(InputError, match=r"there is no patch '6\.1'"):
        understudy.train("dota", "value-quick", out=tmp_path / "run", test_patch="6.1")
    with pytest.raises(InputError, match="train takes no option 'test_patch' for arena"):
        understudy.train("arena", "imitate-quick", out=tmp_path / "run", test_patch="7.39")
    with pytest.raises(InputError, match="encode takes no option 'horizon' for arena"):
        understudy.encode("arena", out=tmp_path / "run", horizon=60)
    with pytest.raises(InputError, match="learns from samples"):
        understudy.train("arena", "imitate-quick", out=tmp_path / "run", iterations=3)
    assert not (tmp_path / "run").exists()


# --- what comes back -----------------------------------------------------------------------------


def test_a_result_is_rows_a_table_and_a_frame(tmp_path):
    from understudy.api.results import Competition
    from understudy.data.runs import Run

    rows = [{"player": "<b>", "score": [0.5, 0.25, 0.75], "n": 3}, {"player": "x", "more": None}]
    result = Competition(rows, Run(tmp_path), "arena")
    assert result == rows and result[0]["n"] == 3
    assert result.table().splitlines() == [
        "player             score  n  more",
        "<b>     0.5 [0.25, 0.75]  3",
        "x",
    ]
    assert "&lt;b&gt;" in result._repr_html_() and "<b>" not in result._repr_html_()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "pandas", None)
        with pytest.raises(InputError, match="pip install pandas"):
            result.to_frame()


def test_a_page_is_not_printed_whole():
    from understudy.api.pages import Page

    assert repr(Page("<!doctype html>")) == "Page(path=None)"


def test_a_frame_has_intervals_as_columns(tmp_path):
    pytest.importorskip("pandas")
    from understudy.api.results import Competition
    from understudy.data.runs import Run

    result = Competition([{"player": "a", "score": [1.0, 0.0, 2.0]}], Run(tmp_path), "scml")
    assert result.to_frame().iloc[0].to_dict() == {
        **{"player": "a", "score": 1.0, "score_low": 0.0, "score_high": 2.0}
    }


@pytest.fixture(name="folder", scope="module", params=[0, 6])
def _folder(request, tmp_path_factory):
    """A policy that was never trained, with and without a memory."""
    from understudy.learn.policy import FactoredPolicy, save_policy
    from understudy.learn.policy_shape import PolicyShape

    folder = tmp_path_factory.mktemp("policy")
    shape = PolicyShape(("a", "b", "c"), {"move": 3, "fire": 2}, (8,), memory=request.param)
    save_policy(folder, FactoredPolicy(shape, seed=1))
    return folder


def test_a_policy_acts_within_its_mask(folder):
    import numpy as np

    policy = understudy.load_policy(folder, seed=3)
    mask = [False, True, False, True, True]
    drawn = np.stack([policy.act([0.1, 2, -1], mask) for _ in range(50)])
    assert drawn.shape == (50, 2) and set(drawn[:, 0]) == {1} and set(drawn[:, 1]) == {0, 1}
    policy.reset(seed=3)
    again = np.stack([policy.act([0.1, 2, -1], mask) for _ in range(50)])
    np.testing.assert_array_equal(again, drawn)
    policy.reset()
    assert policy.act(np.zeros((4, 3)), greedy=True).shape == (4, 2)


def test_a_policy_says_what_its_network_says(folder):
    import numpy as np
    import torch

    policy = understudy.load_policy(folder)
    if policy.network.shape.memory:
        first = policy.decide(np.ones(3)).memory
        assert not np.array_equal(policy.decide(np.ones(3)).memory, first)
        policy.reset()
        np.testing.assert_array_equal(policy.decide(np.ones(3)).memory, first)
        return
    seen = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    legal = np.ones((5, 5), bool)
    said = policy.network.probabilities(torch.tensor(seen), torch.tensor(legal)).numpy()
    np.testing.assert_allclose(policy.decide(seen).probabilities, said, atol=1e-6)


def test_shapes_that_do_not_fit_are_told(folder):
    import numpy as np

    policy = understudy.load_policy(folder)
    with pytest.raises(InputError, match=r"the observation has shape \(1, 2\), not \(1, 3\)"):
        policy.act([0, 1])
    with pytest.raises(InputError, match=r"the mask has shape \(1, 2\), not \(1, 5\)"):
        policy.act([0, 1, 2], [True, False])
    for wrong in ("abc", {"health": 1}, [[1, 2, 3], [1]]):
        with pytest.raises(InputError, match="not rows of numbers"):
            policy.act(wrong)
    with pytest.raises(InputError, match="not finite"):
        policy.act([0, 1, np.nan])
    with pytest.raises(InputError, match="the mask leaves no option of"):
        policy.act([0, 1, 2], [False, False, False, True, True])
    policy.act(np.zeros((2, 3)))
    if policy.network.shape.memory:
        with pytest.raises(InputError, match="reset"):
            policy.act(np.zeros((3, 3)))
