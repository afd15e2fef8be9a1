"""What a league is worth in the arena with loadouts: five ways, with the choice kept mixed or not.

    understudy record arena:loadouts --out runs/loadouts --matches 2000 --seed 11
    understudy record arena:loadouts --out runs/rushers --matches 1000 --seed 12 \\
        --players rusher-steel,rusher-flame,rusher-frost
    for run in loadouts rushers; do understudy encode arena:loadouts --out runs/$run; done
    understudy train arena:loadouts imitate --out runs/loadouts
    understudy train arena:loadouts imitate-quick --out runs/rushers
    python benchmarks/league_loadouts.py runs/loadouts/models/imitate \\
        runs/rushers/models/imitate-quick --out runs/worth

Plays what is missing and prints what came of all; it can be stopped at any moment. All it keeps is
league-loadouts.jsonl: a line for every league, with the weights of its mixture, and every hunt.

Fixed before the runs
  Settings: `usual`, in which the entropy of the choice of a loadout counts as that of every other
    head, per step, a hundredth of the others' for it is made once a match; `own`, in which it
    counts 20 times per choice (of 0, 5 and 20 the one with which self-play of seed 0 stayed mixed).
  Figure: what the best loadout wins against the product's choice of loadouts, exactly, by the
    matrix of two experts (24,000 matches). An even choice gives 50, always the same one 66.4 %.
  Products: `last`, the main agent; `mixture`, the Nash mixture of what was kept, its MEMBERS
    likeliest. Of PSRO only the mixture is promised.
  Budget: ROUNDS times STEPS agent-steps in all for every way, from one clone; nobody meets a
    script. That is little; the choice turns round in one or two rounds.
  Comparison: means over seeds, unpaired, Welch's 95 % interval, each setting by itself. League
    (last, mixture) and PSRO (mixture) are shown to be exploited less where the intervals beside the
    same product of self-play and of fictitious self-play both lie below 0.
  Runs: four seeds, 200 to 203, and 204 and 205 too if time allows, decided before anything is
    looked at; whole seeds only. Pilot (seeds 0 to 3, other sizes among them): SD of the mixture's
    figure about 1 point for PSRO (50.6, 52.2), 6 for the league (56.1, 65.0), under 1 for self-play
    and fictitious self-play (66). With SDs of 4 and 1, Welch's test at 5 % finds in four cases of
    five a difference of 8.2 points by 4 runs a way, 5.7 by 6 (`power`): enough for PSRO, if it does
    as in the pilot, not for the league.
  Hunters, second: in `usual`, against the mixtures of all but the magnet, the win rate (draws as
    half, 1,000 matches) of the stronger of two approximate best responses of HUNT agent-steps:
    `counter` begins as the target's likeliest member with its choice moved to the loadout that is
    best against the mixture's; `rusher` as a clone of rushers, whom no league has met.
"""

import argparse
import base64
import json
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.special import stdtrit

from understudy.data.arrays import Array
from understudy.data.players import PlayerRef
from understudy.data.stats import Estimate, student, welch
from understudy.games.arena.family import load
from understudy.games.arena.league import HUNTING
from understudy.games.arena.loadouts.choice import chosen, exploited
from understudy.games.arena.loadouts.matches import MOVES
from understudy.games.arena.loadouts.recipes import refine, sized
from understudy.league.analysis.exploitability import BestResponse
from understudy.league.analysis.summary import own_nash
from understudy.league.interface import Improve
from understudy.league.recipe import LeagueRecipe, with_baselines
from understudy.league.rules import Overrides
from understudy.league.season import Season
from understudy.learn.policy import load_policy, save_policy
from understudy.pipeline import league_training

SETTINGS: dict[str, dict[str, float]] = {"usual": {}, "own": {"loadout": 20.0}}
SEEDS = range(200, 206)
ROUNDS, STEPS, MATCHES, HUNT, MEMBERS = 8, 100_000, 20, 200_000, 6
LINES = "league-loadouts.jsonl"
PRODUCTS = ("last", "mixture")
HUNTERS = ("counter", "rusher")
HUNTED = ("league", "self-play", "fictitious", "psro")
BASELINES = ("self-play", "fictitious")
CHALLENGERS = (("league", "last"), ("league", "mixture"), ("psro", "mixture"))
MATRIX = np.array([[0.5, 0.336, 0.664], [0.664, 0.5, 0.336], [0.336, 0.664, 0.5]])
"""Win rates of the row's loadout where two experts play: `choice.circle`, 8,000 matches a pair."""
FREE = Overrides(kl_scale=0.0, draw=-1.0, rate_end=0.0)
Line = Mapping[str, Any]


class Task(NamedTuple):
    """A league, or a hunt of its mixture where a hunter is named."""

    setting: str
    way: str
    seed: int
    hunter: str = ""


class Given(NamedTuple):
    """What all tasks begin from."""

    imitation: PlayerRef
    rusher: PlayerRef
    scratch: str | None


def ways() -> dict[str, LeagueRecipe]:
    """All at the same agent-steps."""
    recipe = replace(sized("as docs/league.md advises", ROUNDS, STEPS, 0), matches=MATCHES)
    found = with_baselines("league", recipe)
    return {name.removeprefix("league-"): recipe for name, recipe in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("imitation", type=Path, help="the clone of the expert")
    parser.add_argument("rusher", type=Path, help="the clone of rushers")
    parser.add_argument("--out", default=Path("runs/worth"), type=Path)
    parser.add_argument("--seconds", default=1e9, type=float, help="begin nothing after so many")
    parser.add_argument("--seeds", default=[*SEEDS], type=lambda s: [*map(int, s.split(","))])
    parser.add_argument("--settings", default=[*SETTINGS], type=lambda s: s.split(","))
    parser.add_argument("--scratch", default=None, help="folder for leagues while they run")
    asked = parser.parse_args()
    print(__doc__[__doc__.index("Fixed before the runs") :])
    asked.out.mkdir(parents=True, exist_ok=True)
    given = Given(
        PlayerRef("imitation", asked.imitation), PlayerRef("rusher", asked.rusher), asked.scratch
    )
    begun, path = time.monotonic(), asked.out / LINES
    for task in tasks(asked.settings, asked.seeds):
        lines = read_lines(path)
        if time.monotonic() - begun < asked.seconds and not any(of(line) == task for line in lines):
            line = do(given, task, lines)
            with path.open("a") as file:
                file.write(json.dumps(line) + "\n")
            told = line["mean"] if task.hunter else line["by_loadout"]
            print(f"{' '.join(map(str, task))} {told}, {line['cpu_seconds']:.0f} CPU s", flush=True)
    print(report([line for line in read_lines(path) if line["seed"] in asked.seeds]))


def tasks(settings: Sequence[str], seeds: Sequence[int]) -> Iterator[Task]:
    """In order: seed by seed the leagues of a setting, then of the next, then the hunts."""
    for setting in settings:
        yield from (Task(setting, way, seed) for seed in seeds for way in ways())
    if "usual" in settings:
        hunts = [(seed, way, hunter) for seed in seeds for way in HUNTED for hunter in HUNTERS]
        yield from (Task("usual", way, seed, hunter) for seed, way, hunter in hunts)


# --- one task ------------------------------------------------------------------------------------


def do(given: Given, task: Task, lines: Sequence[Line]) -> dict[str, Any]:
    begun = time.process_time()
    folder = Path(tempfile.mkdtemp(prefix="loadouts-", dir=given.scratch))
    try:
        if task.hunter:
            known = next(line for line in lines if of(line) == task._replace(hunter=""))
            found = hunt(given, task, known, folder)
        else:
            found = play_league(given, task, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {**task._asdict(), **found, "cpu_seconds": time.process_time() - begun}


def learning(setting: str) -> Improve:
    """One training job of the setting, in smaller batches than usual: there are few steps."""
    objective = replace(refine.objective, entropy_by_head=SETTINGS[setting])
    recipe = replace(refine, objective=objective, rollouts=1, matches=256, learning_rate=4e-4)
    return partial(league_training.train, recipe)


def play_league(given: Given, task: Task, folder: Path) -> dict[str, Any]:
    """A whole league; its products' shares, and the mixture's weights."""
    game = load("loadouts")
    hooks = game.league()
    season = Season(
        folder=folder / "league",
        game=game.name,
        recipe=ways()[task.way],
        start=given.imitation,
        scripted=(),
        results=game.results,
        play=hooks.play,
        improve=learning(task.setting),
        seed=task.seed,
    )
    state = season.run()
    likeliest = sorted(own_nash(state).items(), key=lambda one: -one[1])[:MEMBERS]
    total = sum(share for _, share in likeliest)
    main = state.roster.mains()[0].version
    products = {"last": {main: 1.0}, "mixture": {name: share / total for name, share in likeliest}}
    refs = {name: season.player_ref(name) for shares in products.values() for name in shares}
    loadouts = {name: chosen(ref).tolist() for name, ref in refs.items()}
    return {
        "products": products,
        "loadouts": loadouts,
        "by_loadout": {
            name: exploited(MATRIX, carried(shares, loadouts)) for name, shares in products.items()
        },
        "agent_steps": state.agent_steps,
        "weights": {
            name: {
                p.name: base64.b64encode(p.read_bytes()).decode() for p in weights_of(refs[name])
            }
            for name in products["mixture"]
        },
    }


def carried(shares: Mapping[str, float], loadouts: Mapping[str, Sequence[float]]) -> Array:
    """How often who draws one of these for every match takes each loadout."""
    return np.array(sum(share * np.array(loadouts[name]) for name, share in shares.items()))


def weights_of(player: PlayerRef) -> list[Path]:
    assert player.weights is not None
    return sorted(player.weights.glob("weights.*"))


def hunt(given: Given, task: Task, known: Line, folder: Path) -> dict[str, Any]:
    """One approximate best response; it learns as usual, for it need not stay mixed."""
    game = load("loadouts")
    for name, files in known["weights"].items():
        (folder / name).mkdir()
        for file, content in files.items():
            (folder / name / file).write_bytes(base64.b64decode(content))
    shares = known["products"]["mixture"]
    start, overrides = given.rusher, FREE
    if task.hunter == "counter":
        best = int((MATRIX @ carried(shares, known["loadouts"])).argmax())
        likeliest = PlayerRef("likeliest", folder / max(shares, key=lambda name: shares[name]))
        start = PlayerRef("counter", carrying(likeliest, best, folder / "counter"))
        overrides = replace(HUNTING, rate_end=0.0)
    found = BestResponse(
        target={PlayerRef(name, folder / name): share for name, share in shares.items()},
        start=start,
        imitation=given.imitation if task.hunter == "counter" else start,
        agent_steps=HUNT,
        overrides=overrides,
        matches=1_000,
        seed=task.seed,
        folder=folder / "hunt",
        results=game.results,
    ).measure(learning("usual"), game.league().play)
    return {name: found[name] for name in ("mean", "low", "high", "agent_steps")}


def carrying(player: PlayerRef, loadout: int, out: Path) -> Path:
    """The weights of a player that chooses this loadout nearly always, and else plays as it did."""
    assert player.weights is not None
    policy = load_policy(player.weights, MOVES)
    with torch.no_grad():
        last = policy.options.bias[-len(MATRIX) :]
        policy.options.weight[-len(MATRIX) :] = 0.0
        last[:] = torch.tensor([4.0 if one == loadout else 0.0 for one in range(len(MATRIX))])
    out.mkdir()
    save_policy(out, policy)
    return out


def read_lines(path: Path) -> list[dict[str, Any]]:
    """All that has ended; a line that was cut says nothing."""
    found = []
    for line in path.read_text().splitlines() if path.is_file() else []:
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found


def of(line: Line) -> Task:
    return Task(*(line[name] for name in Task._fields))


# --- what came of them ---------------------------------------------------------------------------


def power(runs: int, one: float, other: float) -> float:
    """The difference that so many runs a way find in four cases of five, given the two SDs."""
    parts = [one**2 / runs, other**2 / runs]
    degrees = sum(parts) ** 2 / sum(part**2 / (runs - 1) for part in parts)
    return float((stdtrit(degrees, 0.975) + stdtrit(degrees, 0.8)) * np.sqrt(sum(parts)))


def report(lines: Sequence[Line]) -> str:
    """Of every setting the products by loadout, their comparison, and the hunts."""
    parts = [f"SDs of 4 and 1 points: {power(4, 4, 1):.1f} by 4 runs, {power(6, 4, 1):.1f} by 6\n"]
    for setting in SETTINGS:
        if here := whole_seeds(lines, setting):
            cells = [[way, *row(here, way)] for way in ways()]
            heads = ["way", "runs", *PRODUCTS, "seed by seed: last", "mixture"]
            parts += [f"\n{setting}: what the best loadout wins\n", table(heads, cells)]
            heads = ["product", "less", "difference", "exploited less"]
            parts.append(table(heads, [*verdicts(here, by_loadout)]))
    if hunts := whole_hunts(lines):
        parts.append("\nusual: the stronger of two hunters against the mixture\n")
        cells = [[way, *hunted_row(hunts, way)] for way in HUNTED]
        parts.append(table(["way", "runs", "stronger", *HUNTERS, "seed by seed"], cells))
        challengers = [one for one in CHALLENGERS if one[1] == "mixture"]
        told = verdicts(hunts, lambda lines, way, _: stronger(lines, way), challengers)
        parts.append(table(["product", "less", "difference", "exploited less"], [*told]))
    return "\n".join(parts)


def whole_seeds(lines: Sequence[Line], setting: str) -> list[Line]:
    """The leagues of seeds of which all ways have ended."""
    own = [line for line in lines if line["setting"] == setting and not line["hunter"]]
    return [one for one in own if sum(o["seed"] == one["seed"] for o in own) == len(ways())]


def whole_hunts(lines: Sequence[Line]) -> list[Line]:
    """The hunts of seeds of which all have ended."""
    own, each = [line for line in lines if line["hunter"]], len(HUNTED) * len(HUNTERS)
    return [one for one in own if sum(o["seed"] == one["seed"] for o in own) == each]


def by_loadout(lines: Sequence[Line], way: str, product: str) -> list[float]:
    return [line["by_loadout"][product] for line in lines if line["way"] == way]


def row(lines: Sequence[Line], way: str) -> list[str]:
    each = [by_loadout(lines, way, product) for product in PRODUCTS]
    spread = [f"{written(student(found))}, SD {stdev(found):.1%}" for found in each if found[1:]]
    return [str(len(each[0])), *spread, *(", ".join(f"{x:.1%}" for x in found) for found in each)]


def hunted_row(lines: Sequence[Line], way: str) -> list[str]:
    found = stronger(lines, way)
    each = [
        mean(ln["mean"] for ln in lines if (ln["way"], ln["hunter"]) == (way, hunter))
        for hunter in HUNTERS
    ]
    seeds = ", ".join(f"{one:.1%}" for one in found)
    return [str(len(found)), written(student(found)), *(f"{one:.1%}" for one in each), seeds]


def stronger(lines: Sequence[Line], way: str) -> list[float]:
    """The best hunter's win rate, seed by seed."""
    own = [line for line in lines if line["way"] == way and line["hunter"]]
    seeds = sorted({line["seed"] for line in own})
    return [max(line["mean"] for line in own if line["seed"] == seed) for seed in seeds]


def verdicts(
    lines: Sequence[Line], figure: Any, challengers: Sequence[tuple[str, str]] = CHALLENGERS
) -> Iterator[list[str]]:
    for way, product in challengers:
        for other in BASELINES:
            one, two = figure(lines, way, product), figure(lines, other, product)
            if min(len(one), len(two)) > 1:
                gap = welch(one, two)
                shown = "shown" if gap.high < 0 else "not shown"
                yield [f"{way}, {product}", other, written(gap, signed=True), shown]


def written(found: Estimate, *, signed: bool = False) -> str:
    form = "{:+.1%}" if signed else "{:.1%}"
    value, low, high = (form.format(one) for one in (found.value, found.low, found.high))
    return f"{value} ({low} to {high})" if found.bounded else value


def table(heads: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """In Markdown."""
    body = [f"| {' | '.join(one)} |" for one in cells]
    return "\n".join([f"| {' | '.join(heads)} |", f"|---|{'---|' * (len(heads) - 1)}", *body, ""])


if __name__ == "__main__":
    main()
