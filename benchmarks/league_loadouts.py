"""What a league is worth in the arena with loadouts: five ways, four hunters each.

    python benchmarks/league_loadouts.py runs/loadouts --hunters runs/rushers,runs/kiters

RUN and the two runs of hunters hold a model `imitate` each, cloned from `expert`, from the three
rushers and from the three kiters (docs/league.md has the commands). Runs what is missing and prints
what came of all. It can be stopped at any moment; a league or a hunt that was stopped is done
again. All it keeps is league-loadouts.jsonl: a line for every league, with the weights of its
products, and for every hunt.

Fixed before the runs
  Figure: exploitability, the win rate (draws as half, 1,000 matches) of the strongest of four
    approximate best responses of HUNT agent-steps each. `counter` begins as the target's main agent
    with its choice moved to the loadout that is best against the product's; `imitation` with what
    the league began from; `rusher` and `kiter` as clones of those, whom no league has ever met, and
    are not held near to anybody. The strongest of four measured rates is somewhat too high, for all
    ways alike.
  Products: `last`, the main agent; `mixture`, the Nash mixture of what was kept, its MEMBERS
    likeliest. Of PSRO only the mixture is promised.
  Budget: the same agent-steps in all for every way, ROUNDS times STEPS; nobody meets a script.
  Pilot: seeds 0 and 1, six leagues of 16 M agent-steps. There a hunter that began as its target
    never found another loadout, so `counter` took its place; nothing else was changed but the
    number of steps, for want of time. The pilot's runs are no part of the figures.
  Runs: as many of the seeds 100 to 107 as time allows, whole seeds only, looked at once. Runs
    differ by 4 to 6 points (SD, in the arena without loadouts). With an SD of 5, Welch's test at
    5 % finds in four cases of five a difference of 10.0 points by 5 runs a way, 9.0 by 6, 7.5 by 8,
    4.8 by 18 (`power`). A loadout that is always the same is beaten by 16 points, a lean of 60 to
    20 to 20 by 7: what would be worth a league is seen by 6 to 8, and less is not.
  Comparison: means, unpaired, Welch's 95 % interval. League (last, mixture) and PSRO (mixture) are
    shown to be exploited less where the intervals beside the same product of self-play and of
    fictitious self-play both lie below 0.
  Loadouts alone: what the best loadout wins against the product's shares, exactly, by the matrix of
    two experts (24,000 matches). The same comparison of it is secondary.
"""

import argparse
import base64
import json
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.special import stdtrit

from understudy.data.players import PlayerRef
from understudy.data.stats import Estimate, student, welch
from understudy.games.arena.family import load
from understudy.games.arena.league import HUNTING
from understudy.games.arena.loadouts.choice import chosen, circle, exploited
from understudy.games.arena.loadouts.matches import MOVES
from understudy.games.arena.loadouts.recipes import league, sized
from understudy.league.analysis.cyclicity import cyclicity
from understudy.league.analysis.exploitability import BestResponse
from understudy.league.analysis.summary import own_nash
from understudy.league.recipe import LeagueRecipe, with_baselines
from understudy.league.rules import Overrides
from understudy.league.season import Season
from understudy.learn.policy import load_policy, save_policy
from understudy.pipeline.league import play_pairings

SEEDS = range(100, 108)
ROUNDS, STEPS, HUNT, MEMBERS = 8, 600_000, 500_000, 6
LINES = "league-loadouts.jsonl"
TARGETS = ("last", "mixture")
HUNTERS = ("counter", "imitation", "rusher", "kiter")
BASELINES = ("self-play", "fictitious")
CHALLENGERS = (("league", "last"), ("league", "mixture"), ("psro", "mixture"))
MATRIX = np.array([[0.5, 0.336, 0.664], [0.664, 0.5, 0.336], [0.336, 0.664, 0.5]])
"""Win rates of the row's loadout where two experts play: `circle`, 8,000 matches a pair."""
FREE = Overrides(kl_scale=0.0, draw=-1.0, rate_end=0.0)


class Task(NamedTuple):
    """A league, or a hunt of its product where it names one."""

    way: str
    seed: int
    target: str = ""
    hunter: str = ""


class Given(NamedTuple):
    """What all tasks begin from."""

    imitation: Path
    rusher: Path
    kiter: Path
    out: Path
    scratch: str | None
    scale: float
    """Of all agent-steps; 1 but for a trial."""


@cache
def ways(scale: float = 1.0) -> dict[str, LeagueRecipe]:
    steps = round(STEPS * scale)
    found = with_baselines("league", sized("as docs/league.md advises", ROUNDS, steps, HUNT))
    return {name.removeprefix("league-"): recipe for name, recipe in found.items()}


def main() -> None:
    asked = arguments()
    print(__doc__[__doc__.index("Fixed before the runs") :])
    asked.out.mkdir(parents=True, exist_ok=True)
    folders = [run / "models" / "imitate" for run in (asked.run, *asked.hunters)]
    given = Given(*folders, asked.out, asked.scratch, asked.scale)
    run_all(given, asked)
    lines = [line for line in read_lines(asked.out / LINES) if line["seed"] in asked.seeds]
    print(report(lines))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--hunters", required=True, type=lambda s: [*map(Path, s.split(","))])
    parser.add_argument("--out", default=Path("runs/loadouts"), type=Path)
    parser.add_argument("--processes", default=1, type=int)
    parser.add_argument(
        "--seconds", default=1e9, type=float, help="begin nothing that would end later"
    )
    parser.add_argument("--seeds", default=[*SEEDS], type=lambda s: [*map(int, s.split(","))])
    parser.add_argument("--scale", default=1.0, type=float, help="of all steps, for a trial")
    parser.add_argument("--scratch", default=None, help="folder for leagues while they run")
    return parser.parse_args()


# --- one task ------------------------------------------------------------------------------------


def do(given: Given, task: Task, known: Mapping[str, Any] | None) -> dict[str, Any]:
    """What came of a task; `known` is the line of the league whose product is hunted."""
    begun = time.process_time()
    folder = Path(tempfile.mkdtemp(prefix="loadouts-", dir=given.scratch))
    try:
        line = (
            play_league(given, task, folder) if known is None else hunt(given, task, known, folder)
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {**task._asdict(), **line, "cpu_seconds": time.process_time() - begun}


def play_league(given: Given, task: Task, folder: Path) -> dict[str, Any]:
    """A whole league; its products' shares and weights."""
    game, hooks = load("loadouts"), league()
    season = Season(
        folder=folder / "league",
        game=game.name,
        recipe=ways(given.scale)[task.way],
        start=PlayerRef("imitation", given.imitation),
        scripted=(),
        results=game.results,
        play=hooks.play or partial(play_pairings, game),
        improve=hooks.improve,
        seed=task.seed,
    )
    state = season.run()
    main = state.roster.mains()[0].version
    nash = sorted(own_nash(state).items(), key=lambda one: -one[1])[:MEMBERS]
    products = {"last": {main: 1.0}, "mixture": {n: s / sum(dict(nash).values()) for n, s in nash}}
    refs = {name: season.player_ref(name) for shares in products.values() for name in shares}
    members = state.roster.members()
    return {
        "products": products,
        "main": main,
        "loadouts": {name: chosen(ref).tolist() for name, ref in refs.items()},
        "agent_steps": state.agent_steps,
        "match_steps": state.match_steps,
        "cyclic": cyclicity(state.payoff.points(members)).named("value"),
        "weights": {
            name: {p.name: base64.b64encode(p.read_bytes()).decode() for p in weights_of(ref)}
            for name, ref in refs.items()
            if name != "imitation"
        },
    }


def weights_of(player: PlayerRef) -> list[Path]:
    assert player.weights is not None
    return sorted(player.weights.glob("weights.*"))


def hunt(given: Given, task: Task, known: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """One approximate best response."""
    game, hooks = load("loadouts"), league()
    for name, files in known["weights"].items():
        (folder / name).mkdir()
        for file, content in files.items():
            (folder / name / file).write_bytes(base64.b64decode(content))
    own = PlayerRef("imitation", given.imitation)

    def ref(name: str) -> PlayerRef:
        return own if name == "imitation" else PlayerRef(name, folder / name)

    shares = known["products"][task.target]
    others = {"rusher": given.rusher, "kiter": given.kiter}
    start = own
    if task.hunter == "counter":
        mixed = sum(share * np.array(known["loadouts"][name]) for name, share in shares.items())
        best = int((MATRIX @ mixed).argmax())
        start = PlayerRef("counter", carrying(ref(known["main"]), best, folder / "counter"))
    elif task.hunter in others:
        start = PlayerRef(task.hunter, others[task.hunter])
    met = task.hunter in ("imitation", "counter")
    found = BestResponse(
        target={ref(name): share for name, share in shares.items()},
        start=start,
        imitation=own if met else start,
        agent_steps=round(HUNT * given.scale),
        overrides=Overrides(kl_scale=HUNTING.kl_scale, draw=-1.0, rate_end=0.0) if met else FREE,
        matches=1_000,
        seed=task.seed,
        folder=folder / "hunt",
        results=game.results,
    ).measure(hooks.improve, hooks.play or partial(play_pairings, game))
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


# --- many ----------------------------------------------------------------------------------------


def tasks(lines: Sequence[Mapping[str, Any]], seeds: Sequence[int]) -> Iterator[Task]:
    """What can be done now, in order: by seed, leagues before the hunts of their products."""
    done = {Task(*(line[name] for name in Task._fields)) for line in lines}
    for seed in seeds:
        for way in ways():
            if (first := Task(way, seed)) not in done:
                yield first
                continue
            for target in TARGETS:
                for hunter in HUNTERS:
                    if (then := Task(way, seed, target, hunter)) not in done:
                        yield then


def run_all(given: Given, asked: argparse.Namespace) -> None:
    """Side by side; a line is written as soon as a task has ended."""
    begun, lines = time.monotonic(), read_lines(given.out / LINES)
    if next(tasks(lines, asked.seeds), None) is None:
        return
    with ProcessPoolExecutor(1, get_context("fork")) as alone:  # compiles for all, onto the disk
        alone.submit(compiled, given).result()
    print(f"compiled after {time.monotonic() - begun:.0f} s", flush=True)
    longest = {False: 0.0, True: 0.0}  # seconds of a league, of a hunt
    with ProcessPoolExecutor(asked.processes, get_context("fork")) as pool:
        going: dict[Future[dict[str, Any]], tuple[Task, float]] = {}
        while True:
            left = asked.seconds - (time.monotonic() - begun)
            busy = {task for task, _ in going.values()}
            able = [
                task
                for task in tasks(lines, asked.seeds)
                if task not in busy and 1.1 * longest[bool(task.target)] < left
            ]
            for task in able[: asked.processes - len(going)]:
                future = pool.submit(do, given, task, league_of(task, lines))
                going[future] = task, time.monotonic()
            if not going:
                return
            for future in wait(going, return_when=FIRST_COMPLETED).done:
                (task, since), line = going.pop(future), future.result()
                hunts = bool(task.target)
                longest[hunts] = max(longest[hunts], time.monotonic() - since)
                lines.append(line)
                with (given.out / LINES).open("a") as file:
                    file.write(json.dumps(line) + "\n")
                what = f"{' '.join(map(str, task))} {line.get('mean', '')}"
                took, cpu = time.monotonic() - begun, line["cpu_seconds"]
                print(f"{took:.0f} s: {what}, {cpu:.0f} CPU s", flush=True)


def league_of(task: Task, lines: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The line of the league whose product a task hunts."""
    wanted = task.way, task.seed, ""
    same = (ln for ln in lines if (ln["way"], ln["seed"], ln["target"]) == wanted)
    return next(same) if task.target else None


def compiled(given: Given) -> None:
    """A moment of everything."""
    circle(matches=64)
    one = PlayerRef("imitation", given.imitation)
    with tempfile.TemporaryDirectory(dir=given.scratch) as folder:
        BestResponse(
            target={one: 1.0},
            start=one,
            imitation=one,
            agent_steps=30_000,
            matches=4,
            seed=0,
            folder=Path(folder) / "hunt",
            results=load("loadouts").results,
        ).measure(league().improve, partial(play_pairings, load("loadouts")))


def read_lines(path: Path) -> list[dict[str, Any]]:
    """All that has ended; a line that was cut says nothing."""
    found = []
    for line in path.read_text().splitlines() if path.is_file() else []:
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found


# --- what came of them ---------------------------------------------------------------------------


def power(runs: int, sd: float) -> float:
    """The difference that so many runs a way find in four cases of five, Welch's test at 5 %."""
    degrees = 2 * runs - 2
    return float((stdtrit(degrees, 0.975) + stdtrit(degrees, 0.8)) * sd * np.sqrt(2 / runs))


def report(lines: Sequence[Mapping[str, Any]]) -> str:
    matrix, lines = MATRIX, whole_seeds(lines)
    parts = [f"Loadouts of two experts, win rates of the row's: {matrix.tolist()}\n"]
    parts.append(
        f"Found in four cases of five (SD 5 points): {power(8, 5):.1f} points by 8 runs a way\n"
    )
    told = []
    for way in ways():
        own = [line for line in lines if line["way"] == way and not line["target"]]
        for target in TARGETS:
            found = strongest(lines, way, target)
            each = [hunted(lines, way, target, hunter) for hunter in HUNTERS]
            if not found or not own:
                continue
            choice = [alone(line, target, matrix) for line in own]
            told.append(
                (
                    way,
                    target,
                    str(len(found)),
                    written(student(found)),
                    *(f"{mean(one):.1%}" if one else "" for one in each),
                    written(student(choice)),
                    f"{mean(line['cyclic']['value'] for line in own):.0%}",
                )
            )
    heads = ["way", "product", "runs", "strongest of four", *HUNTERS, "by loadout alone", "cyclic"]
    parts.append(table(heads, told))
    parts.append(
        table(
            ["product", "less", "exploitability", "exploited less", "by loadout alone"],
            [*verdicts(lines)],
        )
    )
    return "\n".join(parts)


def whole_seeds(lines: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Of seeds of which every way and every hunt has ended."""
    each = len(ways()) * (1 + len(TARGETS) * len(HUNTERS))
    count = Counter(line["seed"] for line in lines)
    return [line for line in lines if count[line["seed"]] == each]


def verdicts(lines: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    for way, target in CHALLENGERS:
        for other in BASELINES:
            one, two = strongest(lines, way, target), strongest(lines, other, target)
            if min(len(one), len(two)) > 1:
                gap = welch(one, two)
                choice = welch(*(by_loadout(lines, each, target) for each in (way, other)))
                shown = "shown" if gap.high < 0 else "not shown"
                told = written(gap, signed=True), shown, written(choice, signed=True)
                yield f"{way}, {target}", f"{other}, {target}", *told


def by_loadout(lines: Sequence[Mapping[str, Any]], way: str, target: str) -> list[float]:
    return [alone(ln, target, MATRIX) for ln in lines if ln["way"] == way and not ln["target"]]


def hunted(lines: Sequence[Mapping[str, Any]], way: str, target: str, hunter: str) -> list[float]:
    wanted = (way, target, hunter)
    return [ln["mean"] for ln in lines if (ln["way"], ln["target"], ln["hunter"]) == wanted]


def strongest(lines: Sequence[Mapping[str, Any]], way: str, target: str) -> list[float]:
    """Of every run whose four hunts have ended, the best hunter's win rate."""
    found: dict[int, list[float]] = {}
    for line in lines:
        if (line["way"], line["target"]) == (way, target):
            found.setdefault(line["seed"], []).append(line["mean"])
    return [max(rates) for rates in found.values() if len(rates) == len(HUNTERS)]


def alone(line: Mapping[str, Any], target: str, matrix: Any) -> float:
    """What the best loadout wins against the product's shares."""
    shares = line["products"][target]
    mixed = sum(share * np.array(line["loadouts"][name]) for name, share in shares.items())
    return exploited(matrix, mixed)


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
