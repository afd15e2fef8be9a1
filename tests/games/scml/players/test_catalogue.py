"""Agents by the names people type, alone and together, with nothing left of other worlds."""

import sys
from types import ModuleType

import pytest
from scml.std.agents import GreedyStdAgent
from scml.utils import DefaultAgentsOneShot, DefaultAgentsStd

from understudy.data.players import PlayerRef
from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.games.scml.domain import RULES
from understudy.games.scml.game import GAME
from understudy.games.scml.players import catalogue
from understudy.games.scml.players.resolve import known_players, resolve_all

TRACKS = tuple(RULES)
YEARS = ("2024", "2025", "2026")


# --- names and groups ----------------------------------------------------------------------------


@pytest.mark.parametrize("track", TRACKS)
def test_every_agent_is_ours_or_in_exactly_one_group(track):
    groups = [catalogue.group(name, track) for name in ("built-ins", *YEARS)]
    together = [agent for group in groups for agent in group]
    assert len(together) == len(set(together))
    assert set(together) | set(catalogue.OURS[track]) == set(catalogue.CATALOGUE[track])
    assert set(catalogue.group("all", track)) == set(catalogue.CATALOGUE[track])
    assert catalogue.group("nobody", track) == []


@pytest.mark.parametrize("track", TRACKS)
def test_no_agent_has_two_names_and_all_background_agents_are_known(track):
    paths = list(catalogue.CATALOGUE[track].values())
    assert len(paths) == len(set(paths))
    assert set(catalogue.BACKGROUND_AGENTS[track]) <= set(catalogue.group("built-ins", track))


@pytest.mark.parametrize("track", TRACKS)
def test_background_agents_are_those_of_scml_in_its_order(track):
    theirs = {"std": DefaultAgentsStd, "oneshot": DefaultAgentsOneShot}[track]
    ours = catalogue.load_for_world(catalogue.BACKGROUND_AGENTS[track], track)
    assert ours == list(theirs)


def test_names_keep_their_order_and_count_once():
    assert catalogue.names(" AS0 ,Greedy,, AS0") == ["AS0", "Greedy"]
    assert catalogue.names("Greedy,2025")[0] == "Greedy"
    assert catalogue.names("AS0,2025") == catalogue.names("2025")


@pytest.mark.parametrize("nothing", ["", " , "])
def test_no_name_at_all_is_told_which_there_are(nothing):
    with pytest.raises(InputError, match="no SCML agent is named; there is Random, SyncRandom"):
        catalogue.names(nothing, "oneshot")


def test_an_agent_of_the_other_track_is_unknown():
    assert catalogue.names("RandDist", "oneshot") == ["RandDist"]
    with pytest.raises(InputError, match=r"there is no SCML agent 'RandDist'; .* built-ins, all"):
        catalogue.names("RandDist", "std")


def test_the_best_of_a_year_come_first():
    assert catalogue.best({2025: 3}) == ["AS0", "Xeno", "UltraSuperMiracle"]
    assert catalogue.best({2024: 1, 2025: 1}, "oneshot") == ["Cautious", "CostAverse"]
    assert catalogue.best({2024: 10**3}) == catalogue.group("2024")
    assert catalogue.best({2024: 0}) == []


# --- classes -------------------------------------------------------------------------------------


def test_a_class_is_found_by_its_path():
    assert catalogue.load("Greedy") is GreedyStdAgent
    assert catalogue.load("Greedy", "oneshot").__name__ == "GreedyOneShotAgent"
    kinds = catalogue.load_for_world(["Random", "Greedy", "Random"])
    assert [kind.__name__ for kind in kinds] == [
        "RandomStdAgent",
        "GreedyStdAgent",
        "RandomStdAgent",
    ]


@pytest.fixture
def learning(monkeypatch):
    """An agent that learns in its module `class_of`, and one beside it that does not."""
    for name in ("class_of", "class_of.memory", "class_of_others"):
        module = ModuleType(name)
        module.Agent = type("Agent", (), {})
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setitem(catalogue.STD, "Learner", "class_of.Agent")
    monkeypatch.setitem(catalogue.STD, "Other", "class_of_others.Agent")
    monkeypatch.setattr(catalogue, "UNFORGETTING", ("Learner",))


@pytest.mark.usefixtures("learning")
def test_what_an_agent_keeps_in_its_module_is_forgotten_with_all_below_it():
    before = sys.modules["class_of_others"]
    with pytest.raises(ModuleNotFoundError):  # it would be imported anew, if it were on disk
        catalogue.load_for_world(["Learner", "Greedy"])
    assert "class_of" not in sys.modules and "class_of.memory" not in sys.modules
    assert sys.modules["class_of_others"] is before


@pytest.mark.usefixtures("learning")
def test_who_does_not_play_keeps_its_module():
    kept = sys.modules["class_of"]
    assert catalogue.load_for_world(["Other"]) == [sys.modules["class_of_others"].Agent]
    assert sys.modules["class_of"] is kept


# --- players -------------------------------------------------------------------------------------


def test_every_agent_is_a_known_player_and_says_where_it_comes_from():
    known = known_players()
    assert list(known)[:2] == ["Penguin", "AS0"]
    assert set(known) == {name for names in catalogue.CATALOGUE.values() for name in names}
    assert known["Steward"] == "of this project" and known["Greedy"] == "comes with scml"
    assert known["Rohn"] == "of the league of 2026" and known["Rchan"] == "of the league of 2025"


@pytest.fixture
def run(tmp_path):
    (tmp_path / "models" / "l3").mkdir(parents=True)
    return Run(tmp_path)


def test_players_groups_and_models_are_resolved_in_order_and_once(run):
    found = resolve_all(GAME, run, ["Greedy", "l3", "built-ins"], "std")
    assert [ref.name for ref in found] == ["Greedy", "l3", "Random", "SyncRandom", "DoNothing"]
    assert found[1] == PlayerRef("l3", run.model("l3").resolve())
    assert all(ref.weights is None for ref in found if ref.name != "l3")


def test_a_player_of_the_other_track_is_refused_and_an_unknown_one_too(run):
    with pytest.raises(InputError, match="there is no SCML agent 'Penguin'"):
        resolve_all(GAME, run, ["Penguin"], "oneshot")
    with pytest.raises(InputError, match=r"there is no player 'l9'.*: l3"):
        resolve_all(GAME, run, ["l9"], "std")
