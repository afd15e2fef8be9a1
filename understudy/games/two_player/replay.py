"""A recorded match of a plain game as a page: step by step what who chose knew, and what it chose.

A match is played once more by the recorded choices, for games that can show themselves; of others,
and where what is seen then is not what was recorded, the features that are not 0 are shown.
"""

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data import shards
from understudy.data.arrays import Array
from understudy.data.runs import Run
from understudy.data.samples import unpack_legal
from understudy.errors import InputError
from understudy.games.two_player.hosted import HostedEnv, Picture, Pictured
from understudy.report.page import Panel, page

if TYPE_CHECKING:
    from understudy.games.two_player.plain import Plain

_HERE, _FEATURES_MOST = np.array([0]), 24
_STYLE = "<style>.moments pre { overflow-x: auto; margin: .3rem 0 1rem }</style>"


def match_page(plain: "Plain", run: Run, match: str) -> str:
    """One recorded match of a run; InputError where it has none of that name."""
    outline, steps = _recorded(plain, run, match)
    names = [outline["player_0"], outline["player_1"]]
    if names[0] == names[1]:
        names = [f"{names[0]}, {which}" for which in ("first", "second")]
    score, told = outline["score"], "a draw"
    if score is None or score != score:
        told = "how it ended is unknown"
    elif score:
        told = f"{names[score < 0]} wins"
    moments = "".join(_moments(plain, outline["seed"], names, steps))
    html = f'<ol class="moments" start="0">{moments}</ol>'
    note = (
        "What is shown is what the one who chooses saw; numbers on a board are the planes of that, "
        "which usually begin with its own. Whoever had nothing to choose is left out."
    )
    about = f"{told}; {outline['steps']} steps, {outline['ending']}"
    panel = Panel(match, html, note, head=_STYLE, wide=True, finding=about)
    return page(f"{names[0]} against {names[1]}", run.title, [panel])


def _recorded(plain: "Plain", run: Run, match: str) -> tuple[dict[str, Any], pa.Table]:
    """The match in outline, and its steps."""
    for folder in (run.recordings, *sorted(run.results.glob("*/"))):
        for path in sorted(folder.glob(f"{plain.matches.name}-*.parquet")):
            rows = shards.read_shard(path, plain.matches)
            found = rows.filter(pc.equal(rows["match"], match)).to_pylist()
            if not found:
                continue
            steps_path = shards.shard_path(folder, plain.steps, shards.shard_key(path))
            steps = shards.read_shard(steps_path, plain.steps)
            steps = steps.filter(pc.equal(steps["match"], match))
            if len(steps):
                return found[0], steps.sort_by([("step", "ascending"), ("slot", "ascending")])
    raise InputError(f"{run.folder} has no recording of match '{match}' step by step")


def _moments(
    plain: "Plain", seed: int | None, names: Sequence[str], steps: pa.Table
) -> Iterator[str]:
    """A list item for each step in which somebody chose."""
    decisions = plain.decisions
    seen, chosen = (
        np.stack([steps[name].to_numpy() for name in which], 1).reshape(-1, 2, len(which))
        for which in (tuple(decisions.features), tuple(decisions.heads))
    )
    legal = unpack_legal(steps["legal"], decisions.options).reshape(len(seen), 2, -1)
    pictures = _pictures(plain, seed, seen, chosen)
    for step, (now, picture) in enumerate(zip(seen, pictures, strict=True)):
        told = [
            f"<b>{escape(names[slot])}</b> chooses "
            f"<b>{escape(_choice(plain, picture[slot], chosen[step, slot]))}</b>"
            f"<pre>{escape(_knows(plain, picture[slot], now[slot]))}</pre>"
            for slot in (0, 1)
            if legal[step, slot].sum() > len(decisions.heads)
        ]
        if told:
            yield f'<li value="{step}">{"".join(told)}</li>'


def _pictures(
    plain: "Plain", seed: int | None, seen: Array, chosen: Array
) -> Iterator[tuple[Picture, Picture]]:
    """What both slots knew in each step, in the game's own words; empty where it has none."""
    nothing = (Picture(), Picture())
    env, shown = begun(plain, seed or 0)
    shown = None if seed is None else shown
    for now, options in zip(seen, chosen, strict=True):
        if not isinstance(shown, Pictured) or not np.allclose(env.observe().observation[0], now):
            shown = None
            yield nothing
            continue
        yield shown.picture(0), shown.picture(1)
        env.set_actions(_HERE[[0, 0]], np.array([0, 1]), options)
        if not isinstance(env, HostedEnv):
            shown.step(options)  # type: ignore[attr-defined]
        env.step()


def begun(plain: "Plain", seed: int) -> tuple[Any, Any]:
    """A match by itself, and what can show it: it, or where it is but looked up, one beside it."""
    env: Any = plain.make(1, 0.0)
    env.reset(_HERE, np.array([seed], np.int64))
    if isinstance(env, HostedEnv):
        return env, env.matches[0]
    make = getattr(plain.make, "match", None)
    if make is None:
        return env, None
    beside = make()
    beside.reset(seed)
    return env, beside


def _choice(plain: "Plain", picture: Picture, options: Array) -> str:
    """What was chosen, by the game's words for it where it has some."""
    heads = plain.decisions.heads
    first = np.cumsum([0, *heads.values()])
    words = []
    for head, start, option in zip(heads, first, options.tolist(), strict=False):
        known = picture.options[start + option] if picture.options else ""
        words.append(known or f"{head} {option}")
    return ", ".join(words)


def _knows(plain: "Plain", picture: Picture, seen: Array) -> str:
    """What a player knew."""
    if picture.text:
        return picture.text
    if picture.board:
        return "\n".join(" ".join(str(cell or ".") for cell in line) for line in picture.board)
    told = [
        f"{name} {value:.3g}"
        for name, value in zip(plain.decisions.features, seen, strict=True)
        if value
    ]
    more = [f"and {len(told) - _FEATURES_MOST} more"] if len(told) > _FEATURES_MOST else []
    return ", ".join([*told[:_FEATURES_MOST], *more])
