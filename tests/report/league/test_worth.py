"""Whether it was worth a league is told beside self-play of the same budget, and nothing else."""

import pytest

from understudy.report.league import worth as module
from understudy.report.league.worth import worth


def summary(way, mean, steps=1_000, hunt=500):
    found = {"mean": mean, "low": mean - 0.02, "high": mean + 0.02, "agent_steps": hunt}
    return {"way": way, "agent_steps": steps, "best_response": {"main": found}}


@pytest.fixture
def beside(tmp_path, monkeypatch):
    known = {}
    monkeypatch.setattr(module, "read_json", lambda path, shape, cure: known.get(path.parent.name))

    def put(name, found):
        (tmp_path / name).mkdir(exist_ok=True)
        known[name] = found

    put("league", summary("ByRole", 0.55))
    return tmp_path / "league", put


def test_without_self_play_beside_it_nobody_knows(beside):
    folder, put = beside
    assert "not known" in worth(folder, summary("ByRole", 0.55))
    put("shorter", summary("SelfPlay", 0.7, steps=500))
    put("hunted-longer", summary("SelfPlay", 0.7, hunt=900))
    put("psro", summary("NashResponse", 0.7))
    assert "not known" in worth(folder, summary("ByRole", 0.55))
    assert worth(folder, summary("SelfPlay", 0.55)) == ""
    assert worth(folder, {**summary("ByRole", 0.55), "best_response": {}}) == ""


@pytest.mark.parametrize(
    ("theirs", "word"), [(0.60, "worth it"), (0.56, "not told apart"), (0.50, "not worth it")]
)
def test_a_difference_is_told_with_its_interval(beside, theirs, word):
    folder, put = beside
    put("alone", summary("SelfPlay", theirs))
    told = worth(folder, summary("ByRole", 0.55))
    assert f"exploited less by {100 * (theirs - 0.55):+.0f} points" in told
    assert told.partition(": ")[2].startswith(word)


def test_where_exploitability_is_exact_it_is_that_which_is_compared(beside):
    folder, put = beside
    put("alone", {**summary("SelfPlay", 0.50), "exact": {"main agent": 0.7}})
    told = worth(folder, {**summary("ByRole", 0.55), "exact": {"main agent": 0.62}})
    assert "the exact best answer wins +8.0 points less against it" in told
    assert "One run of each" in told and "worth it" not in told
