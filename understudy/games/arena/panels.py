"""What a report shows of the arena: who beats whom, and its most telling matches."""

from typing import Any

from understudy.data.results import results_of, win_rates
from understudy.data.runs import Run
from understudy.games.arena.data.tables import RESULTS
from understudy.games.arena.replay import recorded_matches, replay
from understudy.games.arena.sim.rules import MAX_STEPS
from understudy.games.arena.viewer import replay_panel
from understudy.report.page import Panel
from understudy.report.run import strength_panel, trained_in

MAX_REPLAYS = 6


def panels(run: Run) -> list[Panel]:
    """Strength, then replays; none without results and recordings."""
    strength = [
        strength_panel(name, win_rates(results), trained_in(run))
        for name, results in results_of(run, RESULTS).items()
    ]
    return [*strength, *_replays(run)]


def _replays(run: Run) -> list[Panel]:
    """Those of trained players first."""
    chosen = sorted(recorded_matches(run), key=lambda item: _dullness(run, item[1]))
    picked, pairs = [], dict[tuple[str, ...], int]()
    for path, outline in chosen:
        pair = tuple(sorted((outline["player_0"], outline["player_1"])))
        if pairs.get(pair, 0) >= 2 or not 1 < outline["steps"] <= MAX_STEPS:  # some variety
            continue
        pairs[pair] = pairs.get(pair, 0) + 1
        picked.append(replay(run, path, outline))
        if len(picked) == MAX_REPLAYS:
            break
    return [replay_panel(picked)] if picked else []


def _dullness(run: Run, outline: dict[str, Any]) -> tuple[bool, int, bool, int]:
    """Sorts the matches worth watching first: with a trained player, decided, about 20 s long.

    Those of logs come after those that can be played again, with cover and shots.
    """
    names = (outline["player_0"], outline["player_1"])
    trained = sum(run.model(name).is_dir() for name in names)
    logged, dull = outline["seed"] is None, outline["ending"] == "timeout"
    return logged, -trained, dull, abs(outline["steps"] - 200)
