"""Every feature has a name, a column, and one place where it is computed."""

import ast
import inspect
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.games.scml.agent.test_l1_safety import state
from understudy.games import scml
from understudy.games.scml import kernels
from understudy.games.scml.batch import kernels as batch_kernels
from understudy.games.scml.batch.learnt import kernels as learnt_kernels
from understudy.games.scml.domain import DAYS, SafetySettings
from understudy.games.scml.learning.online import kernels as online_kernels
from understudy.games.scml.view import day_features, memory, negotiation_features, observe, turns
from understudy.games.scml.view import features as f
from understudy.games.scml.view.columns import packed
from understudy.games.scml.view.commitments import empty_book

TABLES = {
    "STATIC_AT": f.STATIC,
    "TEMPORAL_AT": f.TEMPORAL,
    "SITUATION_AT": f.SITUATION,
    "THREAD_AT": f.THREAD,
    "PAST_OFFER_AT": f.PAST_OFFER,
    "TURN_AT": f.TURN,
}
BLOCKS = {
    "TURN_AT": {f"left_{day}" for day in range(1, DAYS)},
    "THREAD_AT": {name for name in f.THREAD if name.startswith("day_")},
}
"""Written in a loop: from left_0 on, and from DAY_IN_THREAD on."""


def written(source):
    """(table, column) of each line that writes a feature by its name: `out[at.price] = ...`."""
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef):
            tables = dict(aliases(function))
            for node in ast.walk(function):
                if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                    yield from names_in(node.slice, tables)


def aliases(function):
    """`at` -> STATIC_AT, from `at = f.STATIC_AT`, or several such at once."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            both = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            pairs = zip(target.elts, value.elts, strict=True) if both else [(target, value)]
            for name, table in pairs:
                if isinstance(table, ast.Attribute) and table.attr in TABLES:
                    yield name.id, table.attr


def names_in(where, tables):
    for node in ast.walk(where):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id in tables:
                yield tables[node.value.id], node.attr
            elif node.attr == "DAY_IN_THREAD":
                yield "THREAD_AT", node.attr


@pytest.fixture(scope="module")
def found():
    modules = day_features, negotiation_features, memory, turns
    return Counter(pair for module in modules for pair in written(inspect.getsource(module)))


@pytest.mark.parametrize("table", TABLES)
def test_every_feature_is_written_by_its_name_exactly_once(found, table):
    by_name = {name: count for (owner, name), count in found.items() if owner == table}
    assert by_name.pop("DAY_IN_THREAD", None) == (1 if table == "THREAD_AT" else None)
    named = [name for name in TABLES[table] if name not in BLOCKS.get(table, ())]
    assert by_name == dict.fromkeys(named, 1)


@pytest.mark.parametrize("module", [day_features, negotiation_features, memory, turns])
def test_no_feature_is_written_by_a_number(module):
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            last = node.slice.elts[-1] if isinstance(node.slice, ast.Tuple) else node.slice
            numbers = [part for part in ast.walk(last) if isinstance(part, ast.Constant)]
            assert not numbers, ast.unparse(node)


@pytest.mark.parametrize("table", TABLES)
def test_columns_lie_in_the_order_of_the_table(table):
    columns = getattr(f, table)
    assert columns._fields == tuple(TABLES[table]) and columns == tuple(range(len(columns)))


def test_blocks_lie_where_their_loops_write():
    day_columns = [getattr(f.THREAD_AT, f"day_{name}") for name in f.TEMPORAL]
    assert day_columns == [f.DAY_IN_THREAD + k for k in range(len(f.TEMPORAL))]
    left = [getattr(f.TURN_AT, f"left_{day}") for day in range(DAYS)]
    assert left == [f.TURN_AT.left_0 + day for day in range(DAYS)]


def test_nothing_is_left_over_from_before():
    """The arrays of a state are not cleared first, so each number must be written."""
    columns = packed([state(), state(day=49)])
    out = observe.observed(columns)
    before = [part.copy() for part in (out.static, out.situation, out.can, out.money)]
    for part in (out.static, out.situation, out.can, out.money):
        part[:] = np.nan
    day_features.fill_states(
        columns, SafetySettings().numbers, empty_book(), np.zeros((4, DAYS)), out
    )
    for part, same in zip((out.static, out.situation, out.can, out.money), before, strict=True):
        assert np.array_equal(part, same)


@pytest.mark.parametrize(
    "where, rooms",
    [
        (kernels, "[!b]*/*.py"),
        (batch_kernels, "batch/*.py batch/players/**/*.py"),
        (learnt_kernels, "batch/learnt/*.py"),
        (online_kernels, "learning/online/*.py"),
    ],
)
def test_compiled_code_is_forgotten_when_any_of_its_sources_changes(where, rooms):
    folder, game = Path(where.__file__).parent, Path(scml.__file__).parent
    patterns = where.SOURCES.split()
    sources = {path.resolve() for pattern in patterns for path in folder.glob(pattern)}
    there = {path for room in rooms.split() for path in game.glob(room)}
    compiled = {path.resolve() for path in there if "kernel\ndef " in path.read_text()}
    assert compiled and compiled <= sources
    for pattern in patterns:
        assert list(folder.glob(pattern)), pattern
