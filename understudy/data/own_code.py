"""What somebody brings along: a class or function of theirs, named by the place it is written at.

`FILE.py:NAME` travels as the file's text: a worker elsewhere needs no copy, and what is played is
what was there when the command began. `package.module:NAME` travels by name and must be installed
wherever it is used; the module's own file, where it has one, is stamped as well. Files beside
FILE.py can be imported where they are, on this machine.
"""

import ast
import hashlib
import re
import sys
import traceback
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from understudy.errors import InputError

_REFERENCE = re.compile(r"(?P<place>.+\.py|[A-Za-z_]\w*(\.\w+)*):(?P<name>[A-Za-z_]\w*)")
_LONGEST = 300  # characters of an error that is not ours


@dataclass(frozen=True)
class OwnCode:
    """A class or function in a file or module."""

    place: str
    """The file's full path, or the module's name."""
    name: str
    folder: str
    """Where more of it may be imported from: the file's own, or where the command was given."""
    source: bytes | None = None
    """The file's content; None: a module."""
    digest: str | None = None
    """Stands for the content of the file; None: a module that is no file of Python."""

    @property
    def title(self) -> str:
        """As people type it, without folders."""
        place = self.place if self.source is None else Path(self.place).name
        return f"{place}:{self.name}"

    @property
    def home(self) -> str:
        """The file's or module's last name, to tell apart what is called alike."""
        return Path(self.place).stem if self.source is not None else self.place.rpartition(".")[2]


def is_reference(text: str) -> bool:
    """Whether it reads FILE.py:NAME or package.module:NAME."""
    return _REFERENCE.fullmatch(text) is not None


def require_name(text: str) -> None:
    """InputError for FILE.py alone, with what may be named in it."""
    if not text.endswith(".py"):
        return
    path = Path(text).expanduser()
    if not path.is_file():
        raise InputError(f"there is no file {text}")
    try:
        body = ast.parse(path.read_bytes()).body
    except (SyntaxError, ValueError):
        body = []
    kinds = (ast.ClassDef, ast.FunctionDef)
    there = [one.name for one in body if isinstance(one, kinds) and not one.name.startswith("_")]
    choice = " or ".join(f"{text}:{name}" for name in there[:4] or ["NAME"])
    raise InputError(f"say which class or function of {text} is to play: {choice}")


def refer(text: str) -> OwnCode:
    """What FILE.py:NAME or package.module:NAME stands for; the file is read now."""
    found = _REFERENCE.fullmatch(text)
    if found is None:
        raise InputError(f"'{text}' is neither FILE.py:NAME nor package.module:NAME")
    place, name = found["place"], found["name"]
    if not place.endswith(".py"):
        folder = str(Path.cwd())
        file = _file_of(place, folder)
        return OwnCode(place, name, folder, digest=_stamp(file.read_bytes()) if file else None)
    path = Path(place).expanduser()
    if not path.is_file():
        raise InputError(f"there is no file {place}, of which {name} is to be taken")
    path = path.resolve()
    source = path.read_bytes()
    return OwnCode(str(path), name, str(path.parent), source, _stamp(source))


def _stamp(source: bytes) -> str:
    return hashlib.sha256(source).hexdigest()[:16]


def _file_of(module: str, folder: str) -> Path | None:
    """Where a module is written, looked for without running anything."""
    places: Sequence[str] | None = [folder, *sys.path]
    origin = None
    for depth, _ in enumerate(parts := module.split("."), 1):
        spec = places and PathFinder.find_spec(".".join(parts[:depth]), [*places])
        if not spec:
            return None
        places, origin = spec.submodule_search_locations, spec.origin
    return Path(origin) if origin and origin.endswith(".py") and Path(origin).is_file() else None


def load_own(code: OwnCode) -> Any:
    """The class or function itself; a file is run anew each time, so nothing is left of before."""
    try:
        with _importable(code.folder):
            module = import_module(code.place) if code.source is None else _run(code)
    except (Exception, SystemExit) as error:
        raise InputError(f"{code.title} cannot be imported: {one_line(error, code)}") from error
    if not hasattr(module, code.name):
        there = sorted(name for name, it in vars(module).items() if _is_own(it, module))
        raise InputError(
            f"{code.title}: there is no {code.name} in it; there is "
            f"{', '.join(there) or 'no class or function'}"
        )
    return getattr(module, code.name)


def one_line(error: BaseException, code: OwnCode) -> str:
    """What went wrong in somebody's code, with the line of theirs it happened in."""
    message = " ".join(str(error).split())[:_LONGEST]
    text = f"{type(error).__name__}: {message}" if message else type(error).__name__
    if isinstance(error, SyntaxError):
        return text  # it tells its line
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == code.place]
    return f"{text} (line {frames[-1].lineno})" if frames else text


def _is_own(thing: Any, module: types.ModuleType) -> bool:
    return callable(thing) and getattr(thing, "__module__", None) == module.__name__


def _run(code: OwnCode) -> types.ModuleType:
    assert code.source is not None
    module = types.ModuleType(f"understudy_own_{code.digest}_{code.home}")
    module.__file__ = code.place
    compiled = compile(code.source, code.place, "exec")
    sys.modules[module.__name__] = module  # dataclasses, pickles and others look for it there
    try:
        exec(compiled, vars(module))
    except BaseException:
        del sys.modules[module.__name__]
        raise
    return module


@contextmanager
def _importable(folder: str) -> Iterator[None]:
    """Modules in the folder can be imported: first now, last afterwards, so they hide no other."""
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
        if folder not in sys.path:
            sys.path.append(folder)
