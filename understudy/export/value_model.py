"""Dota's value model as JSON that says how each of its columns is made, and a scorer in numpy.

    value.json   columns: features, scale, factor, weights; constants; what each feature is
    score.py     chances from features, with numpy alone; others can be written from value.json

A column is the sum of some features times `scale` times a `factor` of the minute t and of all
gold earned; the log odds that Radiant wins are the sum of columns times their weights, plus the
constant.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from understudy.data.files import digest, write_text
from understudy.data.runs import Run
from understudy.games.dota.advice.match_context import SHIPPED
from understudy.games.dota.features import features as observe
from understudy.games.dota.features.encode import GROUPS, names_of
from understudy.games.dota.features.team_rating import Strength
from understudy.games.dota.value.checkpoint import MODEL_FILE, NAMES, ValueModel, load
from understudy.games.dota.value.symmetric import RANKS
from understudy.versions import versions

FORMAT = 3
SCORER = "score.py"
JSON_FILE = "value.json"
_SCORER = Path(__file__).parent / "templates" / "dota" / f"{SCORER}.txt"


class _Column(NamedTuple):
    """How a column is made."""

    features: tuple[str, ...]
    scale: float = 1.0
    factor: str = "1"


def _of_lead(name: str) -> dict[str, _Column]:
    lead, change = (f"radiant_{name}_adv",), (f"{name}_adv_change_3",)
    return {
        name: _Column(lead, 0.001),
        f"{name} x time": _Column(lead, 0.001, "min(t,60)/30"),
        f"{name} / root of all gold": _Column(lead, 0.001, "1/sqrt(max(all_gold/1000,1))"),
        f"{name} / root of time": _Column(lead, 0.001, "1/sqrt(max(t,1))"),
        f"{name} change": _Column(change, 0.001),
    }


_MADE: Mapping[str, _Column] = {
    **_of_lead("gold"),
    **_of_lead("xp"),
    "towers": _Column(("towers_1", "towers_2", "towers_3", "towers_4")),
    "barracks": _Column(("barracks_melee", "barracks_range")),
    "strength": _Column(("strength_teams",)),
    "strength early": _Column(("strength_teams",), factor="exp(-t/15)"),
    "strength x time": _Column(("strength_teams",), factor="min(t,60)/30"),
    "experience": _Column(("strength_experience",)),
    "experience early": _Column(("strength_experience",), factor="exp(-t/15)"),
    **{
        f"gold of rank {rank} / root of time": _Column(
            (f"gold_rank_{rank}",), 0.001, "1/sqrt(max(t,1))"
        )
        for rank in RANKS
    },
}
"""Columns that are no feature by themselves: `value/symmetric.py`, in words."""


def columns() -> dict[str, _Column]:
    """How every column of the model is made; KeyError where that is not written here."""
    known = {name for group in GROUPS for name in names_of(group)}
    return {
        name: _MADE[name] if name not in known or name in _MADE else _Column((name,))
        for name in NAMES
    }


def export_value_model(model: Path, out: Path) -> dict[str, Any]:
    """Write both files into the folder `out`; what is in value.json."""
    path = model / MODEL_FILE if model.is_dir() else model
    content = described(load(path), digest(path))
    write_text(out / JSON_FILE, json.dumps(content, indent=1) + "\n")
    write_text(out / SCORER, _SCORER.read_text(encoding="utf-8"))
    return content


def described(model: ValueModel, mark: str) -> dict[str, Any]:
    """All of a model, as values."""
    weights = model.linear.weights
    errors = model.linear.standard_errors
    assert errors is not None
    made = columns()
    return {
        "format": FORMAT,
        "made_by": f"understudy {versions()['understudy']}",
        "model": mark,
        "patches": list(model.patches),
        "trained_between": {name: list(pair) for name, pair in model.feature_ranges.items()},
        "t": "minutes since the horn: the feature t_min",
        "all_gold": "gold earned by all ten: the feature gold_total",
        "columns": [
            {
                "name": name,
                "features": list(how.features),
                "scale": how.scale,
                "factor": how.factor,
                "weights": {label: float(values[k]) for label, values in weights.items()},
                "standard_error": float(errors[k]),
            }
            for k, (name, how) in enumerate(made.items())
        ],
        "constants": {label: float(values[-1]) for label, values in weights.items()},
        "predicts": {
            "y_win": "the chance that Radiant wins, through 1/(1+exp(-x))",
            "y_dgold_adv": "change of Radiant's lead in gold over the next three minutes; the "
            "linear part, without the trees",
            "y_dxp_adv": "the same for xp",
        },
        "features": _features({name for one in made.values() for name in one.features}),
    }


def _features(used: set[str]) -> dict[str, dict[str, str]]:
    """Of each feature that is used: its group, what that holds, and what swapping sides does."""
    said = {group: _first_line(make.__doc__) for group, make in observe.GROUPS.items()}
    said["strength"] = _first_line(Strength.__doc__)
    return {
        name: {"group": group, "of": said[group], "when_sides_swap": _swapped(name)}
        for group in GROUPS
        for name in names_of(group)
        if name in used
    }


def _first_line(text: str | None) -> str:
    return (text or "").strip().split("\n")[0]


def _swapped(name: str) -> str:
    return "stays" if name in observe.EVEN else "changes its sign"


def model_named(run: Run, model: str) -> Path:
    """The model that a person means: `shipped`, a model of the run, or a path."""
    if model == "shipped":
        return SHIPPED
    return Path(model) if Path(model).is_file() else run.find_model(model)
