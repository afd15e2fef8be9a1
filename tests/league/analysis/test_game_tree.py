"""Exact best responses: of games whose answer is known, and beside trying every plan there is."""

from itertools import product

import numpy as np
import pytest

from understudy.league.analysis import game_tree
from understudy.league.analysis.game_tree import CHANCE, END, GameTree

GAIN = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])


def thrown(gain):
    """Both choose at once: the second does not see what the first did."""
    rows, columns = gain.shape
    ends = rows * columns
    return GameTree(
        parent=np.r_[0, np.zeros(rows, int), np.repeat(1 + np.arange(rows), columns)],
        choice=np.r_[0, np.arange(rows), np.tile(np.arange(columns), rows)],
        player=np.r_[0, np.ones(rows, int), np.full(ends, END)],
        state=np.r_[0, np.ones(rows, int), np.full(ends, -1)],
        chance=np.ones(1 + rows + ends),
        score=np.r_[0.0, np.zeros(rows), gain.ravel()],
        legal=np.ones((2, rows), bool),
    )


def dealt(seed=0):
    """Chance deals one of two cards to the first player; it acts, the second acts, it acts again.

    The second sees the first's choice and not the card; utilities are drawn.
    """
    rng = np.random.default_rng(seed)
    parent, choice, player, state = [0], [0], [CHANCE], [-1]
    chance, score, last = [1.0], [0.0], [0]
    plan = [
        (0, lambda card, *_: card),
        (1, lambda card, one, *_: 2 + one),
        (0, lambda card, one, two: 4 + 4 * card + 2 * one + two),
        (END, None),
    ]
    paths = {0: ()}
    for who, number in plan:
        level = []
        for node in last:
            for option in (0, 1):
                path = (*paths[node], option)
                place = len(parent)
                parent.append(node)
                choice.append(option)
                player.append(who)
                state.append(-1 if number is None else number(*path))
                chance.append((0.3, 0.7)[option] if player[node] == CHANCE else 1.0)
                score.append(float(rng.uniform(-1, 1)) if who == END else 0.0)
                paths[place] = path
                level.append(place)
        last = level
    return GameTree(*map(np.array, (parent, choice, player, state, chance, score)),
                    np.ones((12, 2), bool))  # fmt: skip


def drawn(tree, seed):
    table = np.random.default_rng(seed).random(tree.legal.shape) ** 3 * tree.legal
    return table / table.sum(1, keepdims=True)


def pure(tree, seat):
    """Every plan of a player, as tables; the other's rows are even."""
    own = np.flatnonzero(tree.owner == seat)
    for options in product(*(np.flatnonzero(tree.legal[state]) for state in own)):
        table = tree.even()
        table[own] = np.eye(tree.legal.shape[1])[list(options)]
        yield table


def test_rock_paper_scissors():
    tree = thrown(GAIN)
    assert game_tree.best_response(tree, tree.even()) == pytest.approx((0.0, 0.0))
    rock = np.tile([1.0, 0.0, 0.0], (2, 1))
    assert game_tree.best_response(tree, rock).win_rate == 1.0
    leaning = np.tile([0.5, 0.3, 0.2], (2, 1))
    assert game_tree.best_response(tree, leaning) == pytest.approx((0.3, 0.3))  # paper: .5 - .2
    assert game_tree.best_response(tree, leaning).win_rate == pytest.approx(0.65)


@pytest.mark.parametrize("seed", range(3))
def test_the_best_answer_is_the_best_of_all_plans(seed):
    tree = dealt(seed)
    table = drawn(tree, seed)
    found = game_tree.best_response(tree, table)
    first = max(game_tree.expected_score(tree, plan, table) for plan in pure(tree, 0))
    second = max(-game_tree.expected_score(tree, table, plan) for plan in pure(tree, 1))
    assert found == pytest.approx((first, second))


@pytest.mark.parametrize("seed", range(3))
def test_a_mixture_plays_as_whoever_draws_a_table_for_each_match(seed):
    """Against everybody, and so it is exploited as much; the mean of the tables is not the same."""
    tree = dealt(seed)
    tables, shares = [drawn(tree, 10 + k) for k in range(3)], [0.5, 0.3, 0.2]
    mixed, other = game_tree.mixture(tree, tables, shares), drawn(tree, 99)
    for seats in (lambda one: (one, other), lambda one: (other, one)):
        score = game_tree.expected_score(tree, *seats(mixed))
        each = [game_tree.expected_score(tree, *seats(one)) for one in tables]
        assert score == pytest.approx(np.dot(shares, each))
    mean = np.tensordot(shares, tables, 1)
    assert not np.allclose(mean, mixed)


def test_what_is_no_table_is_refused():
    tree = thrown(GAIN)
    with pytest.raises(ValueError, match="a table of"):
        game_tree.best_response(tree, np.ones((1, 3)) / 3)
    with pytest.raises(ValueError, match="probabilities"):
        game_tree.best_response(tree, np.ones((2, 3)))


def test_nodes_are_in_order_and_a_state_lies_at_one_depth():
    tree = thrown(GAIN)
    parts = {name: getattr(tree, name) for name in tree.__dataclass_fields__}
    with pytest.raises(ValueError, match="order of their depth"):
        GameTree(**parts | {"parent": np.r_[0, 0, 0, 0, 1, np.zeros(8, int)]})
    with pytest.raises(ValueError, match="one depth"):
        GameTree(**parts | {"state": np.r_[1, np.ones(3, int), np.full(9, -1)]})
