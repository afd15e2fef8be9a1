"""A person in a factory: asked, masked by L1, recorded, and set beside HRL in the same world."""

import json

import pytest

from understudy.data.players import PlayerRef
from understudy.errors import InputError
from understudy.games.scml.live.match import PERSON, STEPS, ScmlLive
from understudy.games.scml.live.person import wishes_of
from understudy.pipeline.game import Seats, load

GREEDY = PlayerRef("Greedy")
REST = {"talks": {}, "rest": "world"}


def begun(seed=3):
    return ScmlLive(Seats((None, GREEDY), "human", seed))


@pytest.fixture(scope="module")
def advised():
    """Who follows the advice to the end."""
    match = begun()
    first = match.now()["question"]
    match.step(REST)
    assert match.over
    return match, first


def test_who_follows_the_advice_plays_as_hrl_does(advised):
    match, _ = advised
    told = match.now()
    assert [day["mine"] for day in told["days"]] == [day["hrl"] for day in told["days"]]
    assert len(told["days"]) == STEPS
    assert "better on no day" in told["outcome"]


def test_a_question_holds_the_mask_the_goals_and_the_advice(advised):
    _, first = advised
    assert json.loads(json.dumps(first)) == first
    assert first["day"] == 0
    assert len(first["goals"]) == 4
    assert len(first["talks"]) == 4
    for talk in first["talks"]:
        assert talk["advice"]["do"] in ("accept", "offer", "end")
        if talk["advice"]["offer"]:
            quantity, day, price = talk["advice"]["offer"]
            left = dict(map(tuple, talk["mask"]))
            assert 0 < quantity <= left[day]
            assert talk["prices"][0] <= price <= talk["prices"][1]


def test_a_recording_holds_the_person_s_decisions_and_can_be_encoded(advised):
    match, _ = advised
    tables = match.recorded()
    game = load("scml")
    assert set(tables) == {table.name for table in game.recordings}
    (world,) = tables["worlds"].to_pylist()
    assert world["players"][PERSON] == "human"
    assert set(tables["decisions"]["factory"].to_pylist()) == {PERSON}
    samples = game.encode(tables, frozenset({"human"}))
    assert all(len(rows) > 0 for rows in samples.values())


def test_what_a_person_wants_is_done_as_far_as_l1_allows():
    match = begun()
    asked = match.now()["question"]
    talks = {}
    for talk in asked["talks"]:
        day, units = talk["mask"][0] if talk["mask"] else (0, 0)
        talks[talk["partner"]] = (
            {"do": "offer", "offer": [9_999, day, talk["prices"][1]]} if units else {"do": "end"}
        )
    match.step({"talks": talks, "rest": ""})
    after = match.now()["question"]
    assert after["cuts"]
    assert all("became an offer of" in cut or "became end" in cut for cut in after["cuts"])
    for talk in after["talks"]:
        if talk["said"] is not None and (before := talks.get(talk["partner"])):
            assert talk["said"][0] < before["offer"][0]
    match.step(REST)
    assert match.over


QUESTION = {
    "talks": [{"partner": "a", "heard": None, "mask": [[1, 4]]},
              {"partner": "b", "heard": [1, 1, 1], "mask": []}],
}  # fmt: skip


@pytest.mark.parametrize(
    "done",
    [3, [], {"talks": 3}, {"rest": "ever"}, {"talks": {"c": {"do": "end"}}}, {"talks": {"a": 3}},
     {"talks": {"a": {"do": "accept"}}}, {"talks": {"a": {"do": "fly"}}}, {"talks": {"a": {}}},
     {"talks": {"a": {"do": "offer"}}}, {"talks": {"a": {"do": "offer", "offer": [0, 1, 1]}}},
     {"talks": {"a": {"do": "offer", "offer": [1, 2, 1]}}},
     {"talks": {"a": {"do": "offer", "offer": [1.5, 1, 1]}}},
     {"talks": {"b": {"do": "offer", "offer": [1, 1, 1]}}}],
)  # fmt: skip
def test_what_is_no_decision_is_refused(done):
    with pytest.raises(InputError):
        wishes_of(done, QUESTION)
    assert wishes_of(None, QUESTION).by_partner == {}
    assert set(wishes_of({"talks": {"b": {"do": "accept"}}}, QUESTION).by_partner) == {"b"}


def test_the_first_seat_is_the_person_s():
    with pytest.raises(InputError, match="take the first seat"):
        ScmlLive(Seats((GREEDY, None), "human", 1))
