"""HRL-XF with its weights as one folder in a zip, as the supply-chain league takes agents.

    NAME/                  what is submitted
      agent.py             the class, MAIN_AGENT; run it: it plays a small tournament
      hrl_xf/*.py          the agent's own modules, copied, with relative imports
      hrl_xf/weights.npz   the layers
      requirements.txt  README.md  LICENSE

Nothing of this program, no torch and no numba is needed to play; scml and numpy are. Copied
modules are the ones that play here, so both decide alike (`benchmarks/scml_submission.py`).
"""

import io
import keyword
import zipfile
from importlib import metadata
from pathlib import Path
from string import Template
from typing import NamedTuple

from understudy.data.files import digest, write_bytes
from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.export.source import package_of
from understudy.export.standalone.checkpoint import WEIGHTS, write_checkpoint
from understudy.games.scml.agent.checkpoint import read_checkpoint, weights_file
from understudy.games.scml.agent.layers import About
from understudy.games.scml.agent.policy import (
    CLONES,
    HRL,
    SHIPPED,
    SHIPPED_ONESHOT,
    HRLPolicy,
)
from understudy.games.scml.domain import RULES
from understudy.versions import versions

PACKAGE = "hrl_xf"
_TEMPLATES = Path(__file__).parent / "templates" / "submission"
_AGENT = "understudy.games.scml.agent.hrl"
_STANDALONE = "understudy.export.standalone"
_INSTEAD = {
    "understudy.games.scml.kernels": f"{_STANDALONE}.kernels",
    **{
        f"understudy.games.scml.agent.{name}": f"{_STANDALONE}.{name}"
        for name in ("checkpoint", "trace", "numpy_transformer")
    },
}
_TIME = (1980, 1, 1, 0, 0, 0)  # of every file in the zip: the same weights give the same bytes


class Submission(NamedTuple):
    """What was written."""

    path: Path
    files: int
    size: int
    track: str


def export_submission(weights: Path, out: Path, name: str) -> Submission:
    """Write the zip; InputError where the weights cannot play or the name is no class's."""
    if not name.isidentifier() or keyword.iskeyword(name) or not name.isascii():
        raise InputError(f"--name {name}: the name of a class is letters, digits and _, as MyAgent")
    if out.suffix != ".zip":
        raise InputError(f"-o {out}: the league takes a zip; give a name that ends in .zip")
    checkpoint = read_checkpoint(weights)
    HRLPolicy(checkpoint)  # or it is told now what is missing
    with io.BytesIO() as file:
        write_checkpoint(file, checkpoint)
        layers = file.getvalue()
    track = _track(checkpoint.about)
    texts = _texts(name, track, weights_file(weights))
    modules = {f"{PACKAGE}/{one}": text for one, text in package_of(_AGENT, _INSTEAD).items()}
    content: dict[str, bytes] = {
        **{path: text.encode() for path, text in {**texts, **modules}.items()},
        f"{PACKAGE}/__init__.py": b'"""HRL-XF, exported."""\n',
        f"{PACKAGE}/{WEIGHTS}": layers,
    }
    whole = _zipped({f"{name}/{path}": bytes_ for path, bytes_ in sorted(content.items())})
    write_bytes(out, whole)
    return Submission(out, len(content), len(whole), track)


def weights_named(run: Run, model: str) -> Path:
    """The weights that a person means: of the package by name, a model of the run, or a path."""
    shipped = {HRL: SHIPPED, f"{HRL}-oneshot": SHIPPED_ONESHOT, **CLONES}
    if model in shipped:
        return shipped[model]
    return Path(model) if Path(model).is_file() else run.find_model(model)


def _track(about: About) -> str:
    return next(track for track, rules in RULES.items() if rules.horizon in about.horizons)


def _zipped(files: dict[str, bytes]) -> bytes:
    with io.BytesIO() as written:
        with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as file:
            for path, content in files.items():
                entry = zipfile.ZipInfo(path, _TIME)
                entry.external_attr = 0o644 << 16  # may be read by all
                file.writestr(entry, content, zipfile.ZIP_DEFLATED)
        return written.getvalue()


def _texts(name: str, track: str, weights: Path) -> dict[str, str]:
    known = versions()
    told = {
        "name": name,
        "track": track,
        "package": PACKAGE,
        "weights": WEIGHTS,
        "version": metadata.version("understudy"),
        "digest": digest(weights),
        "scml": known.get("scml", "0.8.4"),
        "tournament": "anac2024_std" if track == "std" else "anac2024_oneshot",
        "rivals": _RIVALS[track],
    }
    return {
        path.name.removesuffix(".txt"): Template(path.read_text("utf-8")).substitute(told)
        for path in sorted(_TEMPLATES.glob("*.txt"))
    }


_RIVALS = {
    "std": "from scml.std.agents import GreedyStdAgent as A, RandomStdAgent as B",
    "oneshot": "from scml.oneshot.agents import GreedyOneShotAgent as A, RandDistOneShotAgent as B",
}
