"""What a league is worth in the arena with loadouts: five ways, at two sizes.

    understudy record arena:loadouts --out runs/loadouts --matches 2000 --seed 11
    for bot in rusher kiter; do
        understudy record arena:loadouts --out runs/$bot --matches 1000 --seed 12 \\
            --players $bot-steel,$bot-flame,$bot-frost
    done
    for run in loadouts rusher kiter; do understudy encode arena:loadouts --out runs/$run; done
    understudy train arena:loadouts imitate --out runs/loadouts
    for bot in rusher kiter; do understudy train arena:loadouts imitate-quick --out runs/$bot; done
    python benchmarks/league_loadouts.py runs/loadouts/models/imitate --out runs/worth \\
        --rusher runs/rusher/models/imitate-quick --kiter runs/kiter/models/imitate-quick

Plays what is missing and prints what came of all; it can be stopped at any moment. All it keeps is
league-loadouts.jsonl: a line for every league, with the weights of its products, every hunt, and
every match-up.

Fixed before the runs
  Figure: what the best loadout wins against the product's choice of loadouts, exactly, by the
    matrix of two experts (24,000 matches). An even choice gives 50, always the same one 66.4 %.
  Products: `last`, the main agent; `mixture`, the Nash mixture of what was kept, its MEMBERS
    likeliest. Of PSRO only the mixture is promised.
  Settings: `usual`, a confirmation on seeds nobody has seen of what four runs a way suggested
    (-7.9 points for PSRO's mixture, -5.7 for the league's): .79 M agent-steps a run, the entropy of
    the choice of a loadout counts per step as that of every head. `large`, the same learners with
    four times the agent-steps, 3.1 M in twelve rounds. `own`, self-play of `usual` with the entropy
    of the choice 20 times per decision. One clone begins all; nobody meets a script.
  Comparison, of `usual` and of `large` each by itself: means over seeds, unpaired, Welch's 95 %
    interval and p. Six comparisons: league (last, mixture) and PSRO (mixture), beside the same
    product of self-play and of fictitious self-play. Holm's correction over the six. A product is
    shown to be exploited less where both its corrected p lie below .05 and both differences below
    0. Beside it, deciding nothing: p by ranks (Mann-Whitney), for the figure ends at 66.4.
  Runs: whole seeds, `usual` 300 to 311, `large` 400 to 405, as many as end in the time; the magnet
    afterwards, in no comparison. Sixteen seeds and ten times the steps were meant: the machine gave
    a third of a core, and both were cut while the second seed of `usual` ran. Seeds before showed
    an SD of 4.6 points for PSRO's mixture, 6 for the league's, under 1 for self-play's and
    fictitious. At a sixth of 5 % Welch's test finds in four cases of five (`power`), by 12 runs,
    5.5 points where the SDs are 4.6 and 1, 7.1 where they are 6 and 1; by 6 runs 9.5 and 12.5:
    `large` finds only what is large.
  Hunters, second, in `large` against mixtures: the win rate (draws as half, 1,000 matches) of the
    strongest of four approximate best responses of HUNT agent-steps, which all begin with the
    loadout that is best against the mixture's: `counter` as the target's likeliest member, `clone`
    as the clone of the expert, `rusher` and `kiter` as clones of bots no league has met. Holm's
    correction over four comparisons: mixtures of league and PSRO, self-play's and fictitious.
  The price of `own`, third: its self-play's last against `usual`'s of the same seed, as they are
    and with both held to each loadout, 1,000 matches each; mean of win rates (draws as half) over
    the seeds, Student's 95 % interval.
"""

import argparse
import base64
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.special import stdtrit
from scipy.stats import mannwhitneyu, ttest_ind

from understudy.data.arrays import Array
from understudy.data.players import PlayerRef
from understudy.data.stats import Estimate, student, welch
from understudy.games.arena.family import load
from understudy.games.arena.league import HUNTING
from understudy.games.arena.loadouts.choice import chosen, exploited
from understudy.games.arena.loadouts.matches import MOVES
from understudy.games.arena.loadouts.recipes import refine, sized
from understudy.games.arena.sim.rules import LOADOUTS
from understudy.league.analysis.exploitability import BestResponse
from understudy.league.analysis.summary import own_nash
from understudy.league.interface import Improve
from understudy.league.matches import pairings, tallies
from understudy.league.payoff import Tally
from understudy.league.recipe import LeagueRecipe, with_baselines
from understudy.league.rules import Overrides
from understudy.league.season import Season
from understudy.learn.policy import load_policy, save_policy
from understudy.pipeline import league_training

WAYS = ("league", "self-play", "fictitious", "psro")


class Setting(NamedTuple):
    """How large leagues are, and how the choice of a loadout is kept mixed."""

    seeds: Sequence[int]
    rounds: int = 8
    steps: int = 100_000
    """Agent-steps of a round."""
    ways: Sequence[str] = WAYS
    entropy: Mapping[str, float] = {}
    hunters: Sequence[str] = ()


HUNTERS = ("counter", "clone", "rusher", "kiter")
SETTINGS = {
    "usual": Setting(range(300, 312)),
    "large": Setting(range(400, 406), rounds=12, steps=262_144, hunters=HUNTERS),
    "own": Setting(range(300, 312), ways=("self-play",), entropy={"loadout": 20.0}),
}
MATCHES, HUNT, MEMBERS = 20, 200_000, 6
LINES = "league-loadouts.jsonl"
PRODUCTS = ("last", "mixture")
BASELINES = ("self-play", "fictitious")
CHALLENGERS = (("league", "last"), ("league", "mixture"), ("psro", "mixture"))
HELD = ("as they are", *LOADOUTS)
MATRIX = np.array([[0.5, 0.336, 0.664], [0.664, 0.5, 0.336], [0.336, 0.664, 0.5]])
"""Win rates of the row's loadout where two experts play: `choice.circle`, 8,000 matches a pair."""
FREE = Overrides(kl_scale=0.0, draw=-1.0, rate_end=0.0)
Line = Mapping[str, Any]


class Task(NamedTuple):
    """A league; a hunt of its mixture, or its last one against `usual`'s, where `meets` says so."""

    setting: str
    way: str
    seed: int
    meets: str = ""


class Given(NamedTuple):
    """What all tasks begin from."""

    imitation: PlayerRef
    bots: Mapping[str, PlayerRef]
    scratch: str | None


def ways(setting: str) -> dict[str, LeagueRecipe]:
    """All at the same agent-steps."""
    size = SETTINGS[setting]
    recipe = sized("as docs/league.md advises", size.rounds, size.steps, 0)
    found = with_baselines("league", replace(recipe, matches=MATCHES))
    return {name.removeprefix("league-"): recipe for name, recipe in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("imitation", type=Path, help="the clone of the expert")
    parser.add_argument("--rusher", type=Path, required=True, help="the clone of rushers")
    parser.add_argument("--kiter", type=Path, required=True, help="the clone of kiters")
    parser.add_argument("--out", default=Path("runs/worth"), type=Path)
    parser.add_argument("--seconds", default=1e9, type=float, help="begin nothing after so many")
    parser.add_argument("--settings", default=[*SETTINGS], type=lambda s: s.split(","))
    parser.add_argument("--scratch", default=None, help="folder for leagues while they run")
    asked = parser.parse_args()
    print(__doc__[__doc__.index("Fixed before the runs") :])
    asked.out.mkdir(parents=True, exist_ok=True)
    bots = {name: PlayerRef(name, getattr(asked, name)) for name in ("rusher", "kiter")}
    given = Given(PlayerRef("imitation", asked.imitation), bots, asked.scratch)
    begun, path = time.monotonic(), asked.out / LINES
    for task in tasks(asked.settings):
        lines = read_lines(path)
        if time.monotonic() - begun < asked.seconds and not any(of(line) == task for line in lines):
            line = do(given, task, lines)
            with path.open("a") as file:
                file.write(json.dumps(line) + "\n")
            told = line["by_loadout"] if not task.meets else line.get("mean", line.get("won"))
            print(f"{' '.join(map(str, task))} {told}, {line['cpu_seconds']:.0f} CPU s", flush=True)
    print(report(read_lines(path)))


def tasks(settings: Sequence[str]) -> Iterator[Task]:
    """Of every setting the leagues, seed by seed, then hunts; the price; at last the magnet."""
    for name in settings:
        size = SETTINGS[name]
        yield from (Task(name, way, seed) for seed in size.seeds for way in size.ways)
        hunts = [(way, seed, by) for seed in size.seeds for way in size.ways for by in size.hunters]
        yield from (Task(name, *hunt) for hunt in hunts)
    if {"usual", "own"} <= {*settings}:
        yield from (Task("own", "self-play", seed, "usual") for seed in SETTINGS["own"].seeds)
    for name in settings:
        if name != "own":
            yield from (Task(name, "magnet", seed) for seed in SETTINGS[name].seeds)


# --- one task ------------------------------------------------------------------------------------


def do(given: Given, task: Task, lines: Sequence[Line]) -> dict[str, Any]:
    begun = time.process_time()
    folder = Path(tempfile.mkdtemp(prefix="loadouts-", dir=given.scratch))
    known = {of(line): line for line in lines}
    try:
        if task.meets in HUNTERS:
            found = hunt(given, task, known[task._replace(meets="")], folder)
        elif task.meets:
            pair = [task._replace(meets=""), Task(task.meets, task.way, task.seed)]
            found = match_up([known[one] for one in pair], folder)
        else:
            found = play_league(given, task, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {**task._asdict(), **found, "cpu_seconds": time.process_time() - begun}


def learning(setting: str) -> Improve:
    """One training job of the setting, in smaller batches than usual: there are few steps."""
    objective = replace(refine.objective, entropy_by_head=SETTINGS[setting].entropy)
    recipe = replace(refine, objective=objective, rollouts=1, matches=256, learning_rate=4e-4)
    return partial(league_training.train, recipe)


def play_league(given: Given, task: Task, folder: Path) -> dict[str, Any]:
    """A whole league; its products' shares, and the mixture's weights."""
    game = load("loadouts")
    hooks = game.league()
    season = Season(
        folder=folder / "league",
        game=game.name,
        recipe=ways(task.setting)[task.way],
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
            for name in refs
        },
    }


def carried(shares: Mapping[str, float], loadouts: Mapping[str, Sequence[float]]) -> Array:
    """How often who draws one of these for every match takes each loadout."""
    return np.array(sum(share * np.array(loadouts[name]) for name, share in shares.items()))


def weights_of(player: PlayerRef) -> list[Path]:
    assert player.weights is not None
    return sorted(player.weights.glob("weights.*"))


def unpacked(line: Line, names: Iterable[str], folder: Path) -> dict[str, PlayerRef]:
    """Players of a league that has ended."""
    for name in names:
        (folder / name).mkdir(parents=True)
        for file, content in line["weights"][name].items():
            (folder / name / file).write_bytes(base64.b64decode(content))
    return {name: PlayerRef(name, folder / name) for name in names}


def hunt(given: Given, task: Task, known: Line, folder: Path) -> dict[str, Any]:
    """One approximate best response; it learns as usual, for it need not stay mixed."""
    game = load("loadouts")
    shares = known["products"]["mixture"]
    target = unpacked(known, shares, folder / "target")
    begins = {
        "counter": target[max(shares, key=lambda name: shares[name])],
        "clone": given.imitation,
        **given.bots,
    }[task.meets]
    best = int((MATRIX @ carried(shares, known["loadouts"])).argmax())
    start = PlayerRef(task.meets, carrying(begins, best, folder / "begins"))
    met = task.meets not in given.bots
    found = BestResponse(
        target={target[name]: share for name, share in shares.items()},
        start=start,
        imitation=given.imitation if met else start,
        agent_steps=HUNT,
        overrides=replace(HUNTING, rate_end=0.0) if met else FREE,
        matches=1_000,
        seed=task.seed,
        folder=folder / "hunt",
        results=game.results,
    ).measure(learning("usual"), game.league().play)
    return {name: found[name] for name in ("mean", "low", "high", "agent_steps")}


def match_up(pair: Sequence[Line], folder: Path) -> dict[str, Any]:
    """What the last of the first league wins against that of the second, by `HELD`."""
    play = load("loadouts").league().play
    assert play is not None
    players = []
    for line in pair:
        (name,) = line["products"]["last"]
        label = line["setting"]
        ref = unpacked(line, [name], folder / label)[name]
        held = [carrying(ref, one, folder / f"{label}-{one}") for one in range(len(LOADOUTS))]
        assert ref.weights is not None
        players.append([PlayerRef(label, where) for where in (ref.weights, *held)])
    won = {}
    for held, own, other in zip(HELD, *players, strict=True):
        found = tallies(play(pairings([(own, other)], 1_000, pair[0]["seed"], 10**7)))
        total = Tally()
        for (first, _), tally in found.items():
            total = total.plus(tally if first == own.name else tally.turned())
        won[held] = total.points / total.games
    return {"won": won}


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


def power(runs: int, one: float, other: float, tail: float = 0.025 / 6) -> float:
    """The difference that so many runs a way find in four cases of five, given the two SDs."""
    parts = [one**2 / runs, other**2 / runs]
    degrees = sum(parts) ** 2 / sum(part**2 / (runs - 1) for part in parts)
    return float((stdtrit(degrees, 1 - tail) + stdtrit(degrees, 0.8)) * np.sqrt(sum(parts)))


def report(lines: Sequence[Line]) -> str:
    """Of every setting the products by loadout, their comparison, the hunts; the price of `own`."""
    parts = []
    for setting, size in SETTINGS.items():
        if here := whole_seeds(lines, setting):
            cells = [[way, *row(here, way)] for way in ways_of(here)]
            heads = ["way", "runs", *PRODUCTS, "seed by seed: last", "mixture"]
            parts += [f"\n{setting}: what the best loadout wins\n", table(heads, cells)]
            if told := verdicts(here, by_loadout, CHALLENGERS):
                parts.append(table(VERDICT, told))
        if hunts := whole_hunts(lines, setting):
            parts.append(f"\n{setting}: the strongest of {len(size.hunters)} hunters\n")
            cells = [[way, *hunted_row(hunts, way)] for way in size.ways]
            parts.append(table(["way", "runs", "strongest", *HUNTERS, "seed by seed"], cells))
            challengers = [one for one in CHALLENGERS if one[1] == "mixture"]
            parts.append(table(VERDICT, verdicts(hunts, strongest, challengers)))
    if met := [line["won"] for line in lines if line["meets"] == "usual"]:
        cells = [[held, written(student([one[held] for one in met]))] for held in HELD]
        parts.append(f"\nself-play's last, own against usual, {len(met)} seeds\n")
        parts.append(table(["loadout", "won"], cells))
    return "\n".join(parts)


def whole_seeds(lines: Sequence[Line], setting: str) -> list[Line]:
    """The leagues of seeds of which all ways have ended, and the magnet's."""
    own = [line for line in lines if line["setting"] == setting and not line["meets"]]
    needed = {*SETTINGS[setting].ways}
    return [one for one in own if needed <= {o["way"] for o in own if o["seed"] == one["seed"]}]


def whole_hunts(lines: Sequence[Line], setting: str) -> list[Line]:
    """The hunts of seeds of which all have ended."""
    own = [line for line in lines if line["setting"] == setting and line["meets"] in HUNTERS]
    each = len(SETTINGS[setting].ways) * len(SETTINGS[setting].hunters)
    return [one for one in own if sum(o["seed"] == one["seed"] for o in own) == each]


def ways_of(lines: Sequence[Line]) -> list[str]:
    """Which have been played, the compared ones first."""
    return [way for way in (*WAYS, "magnet") if any(line["way"] == way for line in lines)]


def by_loadout(lines: Sequence[Line], way: str, product: str) -> list[float]:
    return [line["by_loadout"][product] for line in lines if line["way"] == way]


def strongest(lines: Sequence[Line], way: str, product: str = "mixture") -> list[float]:
    """The best hunter's win rate, seed by seed; only mixtures are hunted."""
    assert product == "mixture"
    own = [line for line in lines if line["way"] == way]
    seeds = sorted({line["seed"] for line in own})
    return [max(line["mean"] for line in own if line["seed"] == seed) for seed in seeds]


def row(lines: Sequence[Line], way: str) -> list[str]:
    each = [by_loadout(lines, way, product) for product in PRODUCTS]
    spread = [
        f"{written(student(found))}" + (f", SD {stdev(found):.1%}" if found[1:] else "")
        for found in each
    ]
    return [str(len(each[0])), *spread, *(", ".join(f"{x:.1%}" for x in found) for found in each)]


def hunted_row(lines: Sequence[Line], way: str) -> list[str]:
    found = strongest(lines, way)
    each = [
        mean(ln["mean"] for ln in lines if (ln["way"], ln["meets"]) == (way, hunter))
        for hunter in HUNTERS
    ]
    seeds = ", ".join(f"{one:.1%}" for one in found)
    return [str(len(found)), written(student(found)), *(f"{one:.1%}" for one in each), seeds]


VERDICT = ("product", "less", "difference", "p", "Holm", "by ranks", "exploited less")
Figure = Callable[[Sequence[Line], str, str], list[float]]


def verdicts(
    lines: Sequence[Line], figure: Figure, challengers: Sequence[tuple[str, str]]
) -> list[list[str]]:
    """Every challenger beside both baselines, corrected for all of these comparisons."""
    pairs = [(way, product, other) for way, product in challengers for other in BASELINES]
    both = [(figure(lines, way, what), figure(lines, other, what)) for way, what, other in pairs]
    if any(len(one) < 2 or len(other) < 2 for one, other in both):
        return []
    gaps = [welch(one, other) for one, other in both]
    raw = [float(ttest_ind(one, other, equal_var=False).pvalue) for one, other in both]
    ranks = [float(mannwhitneyu(one, other).pvalue) for one, other in both]
    corrected = holm(raw)
    less = [p < 0.05 and gap.value < 0 for p, gap in zip(corrected, gaps, strict=True)]
    cells = []
    for at, (way, product, other) in enumerate(pairs):
        whole = all(less[at - at % len(BASELINES) :][: len(BASELINES)])
        told = [f"{p:.4f}" for p in (raw[at], corrected[at], ranks[at])]
        shown = "shown" if whole else "not shown"
        cells.append([f"{way}, {product}", other, written(gaps[at], signed=True), *told, shown])
    return cells


def holm(found: Sequence[float]) -> list[float]:
    """These p, corrected for how many they are (Holm 1979)."""
    order = np.argsort(found)
    steps = np.asarray(found)[order] * np.arange(len(found), 0, -1)
    corrected = np.empty(len(found))
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return [float(one) for one in corrected]


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
