"""A person at a plain game: shown what its seat knows, offered what is legal, recorded."""

import json

import numpy as np
import pytest

from tests import nim_package
from tests.games.two_player.test_plain import PAIR, CutShort, Nim, game
from understudy.data.players import PlayerRef
from understudy.errors import InputError
from understudy.pipeline.game import Seats, load
from understudy.pipeline.pairings import Fixture

EXPERT = PlayerRef("expert")


def begun(found, *players, person="human", seed=1):
    return found.live().begin(Seats(players, person, seed))


def first_option(match):
    """The first legal option of each head; None where there is no choice."""
    now = match.now()
    if not now["chooses"]:
        return None
    ends = np.cumsum(list(match.scene()["heads"].values()))
    return [int(part.argmax()) for part in np.split(np.array(now["legal"]), ends[:-1])]


def finish(match):
    while not match.over:
        match.step(first_option(match))
    return match


def test_a_match_of_two_scripts_is_the_one_that_is_recorded():
    match = finish(begun(game(Nim), *PAIR, seed=5))
    found = game(Nim).play(Fixture(PAIR, (5,))).recordings
    assert match.recorded()["steps"].equals(found["steps"])
    assert match.recorded()["matches"].equals(found["matches"])


def test_a_person_chooses_is_recorded_and_can_be_learnt_from():
    match = finish(begun(game(Nim), EXPERT, None, person="me"))
    tables = match.recorded()
    (row,) = tables["matches"].to_pylist()
    assert (row["player_0"], row["player_1"]) == ("expert", "human me")
    assert abs(row["score"]) == 1.0
    winner = "expert" if row["score"] > 0 else "human me"
    assert match.now()["outcome"] == f"{winner} wins"
    moves = nim_package.module().MOVES.table.name
    samples = game(Nim).encode(tables, frozenset({"human me"}))[moves]
    assert len(samples) > 0
    assert not any(samples["forbidden"].to_pylist())


def test_what_is_not_legal_is_not_done():
    match = begun(game(Nim), None, EXPERT)
    while not match.now()["chooses"]:
        match.step(None)
    legal = match.now()["legal"]
    wrong = [None, [], [99], [-1], ["0"], [True], 3, {}, [0, 0], [1.0]]
    if False in legal:
        wrong.append([legal.index(False)])
    for done in wrong:
        with pytest.raises(InputError):
            match.step(done)
    assert match.now()["step"] == len(match._rows)


def test_a_match_that_is_cut_short_says_so():
    assert finish(begun(game(CutShort), *PAIR)).now()["outcome"] == "a draw, cut short"


def test_connect_four_is_a_board_seen_from_the_person_s_side():
    pytest.importorskip("pygame")
    match = begun(load("pettingzoo:connect_four_v3"), None, PlayerRef("random"))
    now = match.now()
    assert np.shape(now["board"]) == (6, 7)
    assert now["options"][0] == "column 1"
    match.step([3])
    assert match.now()["board"][5][3] == 1
    match.step(first_option(match))
    assert sorted(np.unique(match.now()["board"]).tolist()) == [0, 1, 2]
    finish(match)
    assert json.loads(json.dumps(match.now()))["outcome"]


def test_poker_shows_a_hand_and_not_the_other_s():
    pytest.importorskip("pyspiel")
    leduc = load("openspiel:leduc_poker")
    texts = set()
    for seed in range(30):
        match = begun(leduc, None, PlayerRef("random"), seed=seed)
        now = match.now()
        assert now["text"]
        assert {"Call", "Raise"} & set(now["options"])
        state = match._shown.state
        texts.add((now["text"], state.information_state_string(0)))
        finish(match)
        assert match._shown.score() == pytest.approx(match._score)
    assert all(told == own for told, own in texts)
