"""A module of ours and all it imports of ours, as one package that stands alone.

Modules lie side by side under their last names and import each other relatively, so that the
package works wherever it is put. Imports inside functions are left as they are: none of ours may be
among them.
"""

import ast
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

_OURS = "understudy."


def package_of(first: str, instead: Mapping[str, str]) -> dict[str, str]:
    """Sources by file name: of the module `first`, and of all that is reached from it.

    `instead` names modules that stand in for others. ValueError where two have one last name.
    """
    found = dict[str, str]()
    homes = dict[str, str]()
    waiting = [first]
    while waiting:
        asked = waiting.pop()
        name = asked.rpartition(".")[2]
        if homes.setdefault(name, asked) != asked:
            raise ValueError(f"{asked} and {homes[name]} would be one file of the package")
        if f"{name}.py" not in found:
            source = _path_of(instead.get(asked, asked)).read_text(encoding="utf-8")
            found[f"{name}.py"] = _standing_alone(source)
            waiting += _ours(source)
    return dict(sorted(found.items()))


def _path_of(module: str) -> Path:
    spec = find_spec(module)
    assert spec is not None and spec.origin is not None, module
    return Path(spec.origin)


def _ours(source: str) -> Iterator[str]:
    """The modules of ours that a source imports, by full name; for type checkers alone: none."""
    for node in _at_import(ast.parse(source)):
        module = node.module or ""
        if module.startswith(_OURS):
            for one in node.names:
                whole = f"{module}.{one.name}"
                yield whole if _is_module(whole) else module


def _at_import(tree: ast.Module) -> Iterator[ast.ImportFrom]:
    return (node for node in tree.body if isinstance(node, ast.ImportFrom))


def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # its parent is a module, not a package
        return False


def _standing_alone(source: str) -> str:
    """The same with relative imports, which name modules by their last names."""
    lines = source.splitlines()
    for node in sorted(ast.walk(ast.parse(source)), key=lambda one: -getattr(one, "lineno", 0)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_OURS):
            assert node.end_lineno is not None
            indent = " " * node.col_offset
            lines[node.lineno - 1 : node.end_lineno] = [
                indent + line for line in _relative(node.module or "", node.names)
            ]
    return "\n".join(lines) + "\n"


def _relative(module: str, names: list[ast.alias]) -> Iterator[str]:
    for one in names:
        called = f" as {one.asname}" if one.asname else ""
        if _is_module(f"{module}.{one.name}"):
            yield f"from . import {one.name}{called}"
        else:
            yield f"from .{module.rpartition('.')[2]} import {one.name}{called}"
