"""The circle: matches follow the odds of its rules, and exploitability is computed by them."""

import numpy as np
import pytest
import torch

from tests.small_runs import assert_refused, understudy
from understudy import games
from understudy.data.players import PlayerRef
from understudy.games.circle import rules
from understudy.games.circle.exact import exact, table_of, tree
from understudy.games.circle.family import CircleGame
from understudy.games.circle.matches import PLAYERS, moves_of
from understudy.league.analysis.game_tree import best_response, expected_score
from understudy.learn.policy import FactoredPolicy, PolicyShape, save_policy

MANY = np.arange(40_000)


def played(share, one, other):
    env = CircleGame(share)(len(MANY), 0.0)
    env.reset(MANY, MANY)
    for _ in range(2):
        env.script(one, MANY, 0)
        env.script(other, MANY, 1)
        result = env.step()
    assert result.terminated.all()
    return result.score[:, 0]


@pytest.mark.parametrize(
    "pair", [("expert", "style-1"), ("guesser", "style-3"), ("style-2", "expert")]
)
def test_scores_are_those_of_the_tree(pair):
    tables = [table_of(0.6, PlayerRef(name)) for name in pair]
    assert played(0.6, *pair).mean() == pytest.approx(
        expected_score(tree(0.6), *tables), abs=4 / np.sqrt(len(MANY))
    )


def test_every_style_is_beaten_by_the_next_and_none_by_all():
    for style in range(rules.STYLES):
        ahead = [rules.CIRCLE[other, style] for other in range(rules.STYLES)]
        assert np.argmax(ahead) == (style + 1) % rules.STYLES
    np.testing.assert_allclose(rules.CIRCLE, -rules.CIRCLE.T, atol=1e-12)
    found = {name: exact(0.6).win_rate({PlayerRef(name): 1.0}) for name in PLAYERS}
    best = 1 / (1 + np.exp(-rules.EDGE * 0.6 * np.sin(2 * np.pi / 5)))
    assert found["style-0"] == pytest.approx(best)
    every = {PlayerRef(f"style-{k}"): 1.0 for k in range(rules.STYLES)}
    assert exact(0.6).win_rate(every) == pytest.approx(0.5)


def test_without_a_circle_only_skill_can_be_exploited():
    assert exact(0.0).win_rate({PlayerRef("style-0"): 1.0}) == pytest.approx(0.5)
    assert exact(1.0).win_rate({PlayerRef("guesser"): 1.0}) == pytest.approx(0.5)


def test_nobody_sees_a_style_or_a_riddle_before_its_time():
    """Other seeds and choices: what is seen when styles are chosen is the same for all."""
    env = CircleGame(0.5)(64, 0.0)
    env.reset(np.arange(64), np.arange(64))
    seen, legal = env.observe()
    assert (seen == seen[0, 0]).all() and not seen.any()
    assert legal[:, :, : rules.STYLES].all() and legal[:, :, rules.STYLES :].sum() == 128
    shown = []
    for style in (0, 3):
        env.reset(np.arange(64), np.arange(64))
        for slot in (0, 1):
            env.set_actions(np.arange(64), np.full(64, slot), np.tile([style, 0], (64, 1)))
        env.step()
        shown.append(env.observe().observation)
    np.testing.assert_array_equal(*shown)


def test_a_policy_is_written_out_as_it_acts(tmp_path):
    moves = moves_of("circle:0.6")
    policy = FactoredPolicy(PolicyShape(moves.features, moves.heads, (8,)), 0)
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.normal_(generator=torch.Generator().manual_seed(1))
    save_policy(tmp_path, policy)
    table = table_of(0.6, PlayerRef("drawn", tmp_path))
    env = CircleGame(0.6)(8, 0.0)
    env.reset(np.arange(8), np.arange(8))
    for stage in range(2):
        seen = (torch.from_numpy(part[:, 0]) for part in env.observe())
        found = policy.probabilities(*seen).double().numpy()
        for match in range(8):
            if stage == 0:
                np.testing.assert_allclose(table[0], found[match, : rules.STYLES], atol=1e-6)
                continue
            row = table[1 + env.riddle[match], : rules.ANSWERS]
            np.testing.assert_allclose(row, found[match, rules.STYLES :], atol=1e-6)
        env.step()
    assert best_response(tree(0.6), table).win_rate > 0.5


@pytest.mark.parametrize("name", ["circle:2", "circle:0.60", "circle:much"])
def test_a_share_is_a_number_from_0_to_1(name):
    assert_refused(understudy(f"encode {name}"), f"no game '{name}'", "such as circle:0.6")


def test_a_league_says_how_exploitable_it_is_by_the_rules():
    assert games.load("circle:0.6").league().exact.win_rate({PlayerRef("expert"): 1.0}) == (
        pytest.approx(exact(0.6).win_rate({PlayerRef("expert"): 1.0}))
    )
