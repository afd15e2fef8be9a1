"""The house is kept: rooms, files and functions stay small and typed, each word has one home."""

import ast
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "understudy"
MODULES = sorted(PACKAGE.rglob("*.py"))

MOST_MODULES = 14
"""Of a folder."""
MOST_LINES = 400
"""Of a file."""
MOST_FUNCTION_LINES = 60

MAY_BE_TWICE = {
    "VERSION",  # of another format in each module
    "Array",  # numpy's type written short
}

RUN_PATHS = {
    *("runs", "recordings", "samples", "models", "results", "leagues"),
    *("report.html", "trace.jsonl", "manifest.json"),
}
KNOWS_PATHS = "data/runs.py"


def place(path):
    return path.relative_to(PACKAGE).as_posix()


@cache
def tree(path):
    return ast.parse(path.read_text())


def functions(path):
    """Every function of a module, methods and inner ones too."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def is_compiled(function):
    """numba knows a kernel's types; annotations could only contradict it."""
    return any("kernel" in ast.unparse(mark) for mark in function.decorator_list)


def words(path):
    """The public names a module assigns at its top, each with its value as written."""
    for node in tree(path).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for name in (part for target in targets for part in ast.walk(target)):
                if isinstance(name, ast.Name) and not name.id.startswith("_"):
                    yield name.id, ast.unparse(node.value)


def package_of(path):
    """What is read as one: a game, or a folder beside the games."""
    parts = path.relative_to(PACKAGE).parts
    return "/".join(parts[: 2 if parts[0] == "games" else 1])


def run_paths(path):
    """Lines where a path of a run is put together by hand: FOLDER / "samples", Path("runs/x")."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            parts = [node.left, node.right]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in {"Path", "PurePath"}:
            parts = node.args
        else:
            continue
        for part in parts:
            written = part.value if isinstance(part, ast.Constant) else None
            if isinstance(written, str) and RUN_PATHS.intersection(written.split("/")):
                yield f"{place(path)}:{part.lineno}: {written!r}"


def assert_none(found):
    """Nothing was found; else all of it is shown."""
    found = list(found)
    assert not found, "\n  ".join(["", *found])


def test_a_room_holds_few_modules():
    rooms = Counter(place(path.parent) for path in MODULES)
    assert_none(f"{room}: {count}" for room, count in rooms.items() if count > MOST_MODULES)


def test_files_are_short():
    lengths = {place(path): len(path.read_text().splitlines()) for path in MODULES}
    assert_none(f"{path}: {lines}" for path, lines in lengths.items() if lines > MOST_LINES)


def test_functions_are_short():
    assert_none(
        f"{place(path)}:{function.lineno}: {function.name}, {lines} lines"
        for path in MODULES
        for function in functions(path)
        if (lines := function.end_lineno - function.lineno + 1) > MOST_FUNCTION_LINES
    )


def test_every_function_says_what_it_returns():
    assert_none(
        f"{place(path)}:{function.lineno}: {function.name}"
        for path in MODULES
        for function in functions(path)
        if function.returns is None and not is_compiled(function)
    )


def test_a_word_is_defined_once_in_its_package():
    homes = defaultdict(set)
    for path in MODULES:
        for word, value in words(path):
            homes[package_of(path), word, value].add(place(path))
    assert_none(
        f"{word} = {value}: {', '.join(sorted(paths))}"
        for (_, word, value), paths in homes.items()
        if len(paths) > 1 and word not in MAY_BE_TWICE
    )


def test_one_module_knows_the_paths_of_a_run():
    assert_none(
        found for path in MODULES if place(path) != KNOWS_PATHS for found in run_paths(path)
    )


def test_commits_are_checked_as_make_check_does():
    """The hooks of .pre-commit-config.yaml are the lines of the target."""
    yaml = pytest.importorskip("yaml")
    target = re.search(r"^check:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    wanted = [
        line.strip().removeprefix("@$(BIN)/").removesuffix(" .") for line in target[1].splitlines()
    ]
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    entries = [
        hook["entry"].removeprefix(".venv/bin/").removesuffix(" --force-exclude") for hook in hooks
    ]
    assert entries == wanted
    assert {hook["language"] for hook in hooks} == {"system"}  # nothing is fetched
