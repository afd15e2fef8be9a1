"""OpenSpiel's games are played by their rules, and exploitability is computed exactly."""

import json

import numpy as np
import pytest
import torch

from tests.small_runs import assert_refused, understudy
from understudy import games
from understudy.data.players import Mixture, PlayerRef
from understudy.games.two_player.hosted import RANDOM, HostedEnv, replays_exactly
from understudy.games.two_player.hosted_game import moves_of
from understudy.learn import metrics_log
from understudy.learn.policy import FactoredPolicy, PolicyShape, save_policy
from understudy.pipeline.pairings import Fixture

pyspiel = pytest.importorskip("pyspiel", reason="the extra openspiel is not installed")

from open_spiel.python.algorithms import exploitability as spiel_exploitability  # noqa: E402
from open_spiel.python.policy import TabularPolicy  # noqa: E402

from understudy.games.openspiel import exploitability  # noqa: E402
from understudy.games.openspiel.family import OpenSpiel  # noqa: E402
from understudy.games.openspiel.tree import tree_size, written_out  # noqa: E402
from understudy.games.openspiel.tree_env import TreeEnv  # noqa: E402

PAIR = (PlayerRef(RANDOM), PlayerRef(RANDOM))
KUHN = OpenSpiel("kuhn_poker")


def recorded(name, seeds=tuple(range(60))):
    found = games.load(f"openspiel:{name}").play(Fixture(PAIR, seeds)).recordings
    return found["matches"].to_pylist(), found["steps"].to_pylist()


def test_poker_is_dealt_by_the_seed_and_paid_by_the_rules():
    outline, steps = recorded("kuhn_poker", tuple(range(300)))
    assert {row["score"] for row in outline} == {1.0, 0.5, -0.5, -1.0}  # two chips or one, of two
    by_match = {row["match"]: [] for row in outline}
    for row in steps:
        by_match[row["match"]].append(row)
    deals = set()
    for row in outline:
        first = by_match[row["match"]][:2]  # both before the first move
        cards = [next(k for k in range(3) if one[f"seen_{2 + k}"]) for one in first]
        deals.add(tuple(cards))
        assert [one["turn"] for one in first] == [1.0, 0.0]
        moves = [one["action"] for one in by_match[row["match"]] if one["turn"]]
        if moves == [0, 0]:  # both pass: the higher card has one chip
            assert row["score"] == (0.5 if cards[0] > cards[1] else -0.5)
    assert len(deals) == 6


def test_hidden_cards_are_not_shown_to_the_other():
    """Deal other cards to the opponent: what a player sees before anybody has moved is the same."""
    state, other = (pyspiel.load_game("kuhn_poker").new_initial_state() for _ in range(2))
    for one, cards in ((state, (1, 0)), (other, (1, 2))):
        for card in cards:
            one.apply_action(card)
    match = KUHN.match()
    seen = []
    for one in (state, other):
        match.state = one
        row, legal = np.zeros(KUHN.features), np.zeros(2, bool)
        match.see(0, row, legal)
        seen.append(row)
        assert legal.all()
    np.testing.assert_array_equal(*seen)


@pytest.mark.parametrize(
    ("name", "scores"),
    [
        ("tic_tac_toe", {1.0, 0.0, -1.0}),
        ("matrix_rps", {1.0, 0.0, -1.0}),  # both at once
        ("goofspiel(num_cards=3)", {1.0, 0.0, -1.0}),
        ("liars_dice(dice_sides=3)", {1.0, -1.0}),
        ("matrix_pd", {1.0, 0.0, -1.0}),  # not zero-sum: by the difference
    ],
)
def test_games_of_every_kind_are_played(name, scores):
    outline, _ = recorded(name)
    assert {row["score"] for row in outline} == scores
    assert replays_exactly(OpenSpiel(name))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("kuhn", ("OpenSpiel has no game 'kuhn'", "kuhn_poker")),
        ("kuhn_poker(players=3)", ("is for 3 players; games here are for two",)),
    ],
)
def test_what_cannot_be_a_game_says_why_in_one_line(name, words):
    assert_refused(understudy(f"encode 'openspiel:{name}'"), *words)


def folder_of(policy, folder):
    folder.mkdir()
    save_policy(folder, policy)
    return folder


def policy_for(host, hidden=(8,), **more):
    moves = moves_of(host)
    return FactoredPolicy(PolicyShape(moves.features, moves.heads, hidden, **more), 0)


def test_who_guesses_is_as_exploitable_as_is_known():
    """Kuhn poker: the best answers win 11/24 a match on average; leduc: OpenSpiel's own tests."""
    found = exploitability.exploited(KUHN, PlayerRef("random"))
    assert found.exploitability == pytest.approx(11 / 24)
    assert found.nash_conv == pytest.approx(11 / 12)
    leduc = exploitability.exploited(OpenSpiel("leduc_poker"), PlayerRef("random"))
    assert leduc.nash_conv == pytest.approx(4.747222222222222)


def test_a_mixture_is_as_exploitable_as_who_draws_for_each_match(tmp_path):
    """Of one, as that one; of several no more than they are on average."""
    players = [PlayerRef("random")]
    for seed in (1, 2):
        policy = policy_for(KUHN)
        with torch.no_grad():
            for parameter in policy.parameters():
                parameter.normal_(generator=torch.Generator().manual_seed(seed))
        players.append(PlayerRef(f"p{seed}", folder_of(policy, tmp_path / str(seed))))
    alone = [exploitability.exploited(KUHN, one).nash_conv for one in players]
    for one, known in zip(players, alone, strict=True):
        found = exploitability.exploited(KUHN, Mixture("m", ((one, 1.0),)))
        assert found.nash_conv == pytest.approx(known)
    shares = (0.5, 0.3, 0.2)
    mixed = Mixture("m", tuple(zip(players, shares, strict=True)))
    found = exploitability.exploited(KUHN, mixed).nash_conv
    assert found < np.dot(shares, alone)
    exact = exploitability.exact(KUHN).win_rate(dict(mixed.shares))
    scale = (KUHN.spiel.max_utility() - KUHN.spiel.min_utility()) / 2
    assert 0.5 + found / scale / 4 == pytest.approx(exact)


def test_a_policy_that_remembers_has_no_table(tmp_path):
    folder = folder_of(policy_for(KUHN, memory=4), tmp_path / "model")
    command = f"exploitability openspiel:kuhn_poker {folder} --out"
    assert_refused(understudy(command, tmp_path), "remembers or plans")


@pytest.mark.parametrize(
    ("name", "words"), [("connect_four", "states: too many"), ("matrix_rps", "move in turn")]
)
def test_where_it_cannot_be_computed_it_says_so(name, words, tmp_path):
    command = f"exploitability openspiel:{name} random --out"
    assert_refused(understudy(command, tmp_path), words)


def test_a_tree_is_measured_by_random_descents():
    """Kuhn poker has 58 states in all, chance and ends included; the first is not counted."""
    assert tree_size(KUHN.spiel) == pytest.approx(57, rel=0.1)


def test_learning_by_play_makes_kuhn_poker_less_exploitable(tmp_path):
    game = "openspiel:kuhn_poker"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metrics_log, "tensorboard", lambda folder, step: None)
        for command in (
            f"record {game} --matches 300",
            f"encode {game}",
            f"train {game} imitate-quick",
            f"train {game} refine-quick --iterations 8 --updates 16",
        ):
            done = understudy(command, "--out", tmp_path, "--quiet", "--workers", "0")
            assert (done.code, done.err) == (0, "")
    command = f"exploitability {game} random imitate-quick refine-quick"
    found = json.loads(understudy(f"{command} --json", "--out", tmp_path).out)
    assert found["imitate-quick"]["exploitability"] == pytest.approx(11 / 24, abs=0.1)
    assert found["refine-quick"]["exploitability"] < 0.6 * found["imitate-quick"]["exploitability"]
    assert "NashConv" in understudy(command, "--out", tmp_path).out


def assert_same(one, other):
    for mine, theirs in zip(one, other, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "liars_dice(dice_sides=3)"])
def test_matches_by_the_tree_are_the_same_to_the_last_bit(name):
    host, every = OpenSpiel(name), np.arange(60)
    quick, slow = host(60, 0.0), HostedEnv(host, 60, 0.0)
    assert isinstance(quick, TreeEnv)
    for env in (quick, slow):
        env.reset(every, 5 * every)
    for step in range(12):
        if step == 3:
            again = host(60, 0.0)
            again.restore(quick.state())
            quick = again
        assert_same(quick.observe(), slow.observe())
        for env in (quick, slow):
            env.script(RANDOM, every, 0)
            env.script(RANDOM, every, 1)
        assert_same(quick.step(), slow.step())
        over = np.flatnonzero(~slow.turn.any(1))
        for env in (quick, slow):
            env.reset(over, over + 1000 * step)


@pytest.mark.parametrize("name", ["kuhn_poker", "liars_dice(dice_sides=3)"])
def test_the_best_answer_is_what_openspiel_computes(name, tmp_path):
    """By its own algorithm, for a policy of ours whose weights are drawn."""
    host = OpenSpiel(name)
    policy = policy_for(host)
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.normal_(generator=torch.Generator().manual_seed(1))
    folder = folder_of(policy, tmp_path / "model")
    rows, written = exploitability.table_of(host, folder), written_out(host)
    theirs = TabularPolicy(host.spiel)
    for state, row in zip(theirs.states, theirs.action_probability_array, strict=True):
        seat = state.current_player()
        key = state.information_state_tensor(seat)
        shown = written.seen[written.first, seat] == np.float32(key)
        (same,) = np.nonzero(shown.all(1) & (written.tree.owner == seat))
        row[:] = rows[same[0]]
    expected = spiel_exploitability.nash_conv(host.spiel, theirs)
    found = exploitability.exploited(host, PlayerRef("drawn", folder))
    assert found.nash_conv == pytest.approx(expected)


def test_large_games_are_played_state_by_state():
    assert isinstance(OpenSpiel("connect_four")(1, 0.0), HostedEnv)
    assert isinstance(KUHN(1, 0.5), HostedEnv)  # which knows pseudo-rewards
    assert games.load("openspiel:connect_four").league().exact is None
