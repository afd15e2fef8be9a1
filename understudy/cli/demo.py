"""The command `demo`: every stage once, in minutes."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from understudy.cli.commands import encode, replay, report, train
from understudy.cli.league import league
from understudy.data.runs import RUNS, Run
from understudy.extras import EXTRAS, is_there, lacking
from understudy.games.arena import commands as arena
from understudy.games.dota import commands as dota
from understudy.games.scml import commands as scml
from understudy.pipeline.game import load
from understudy.terminal.console import err_console, no_next_steps
from understudy.terminal.options import ResumeOption, SeedOption, WorkersOption, Working


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write.")] = RUNS / "demo",
    matches: Annotated[int, typer.Option(help="To record in the arena.")] = 1000,
    worlds: Annotated[int, typer.Option(help="Configurations of the supply chain.")] = 8,
    seed: SeedOption = 0,
    workers: WorkersOption = None,
    resume: ResumeOption = True,
) -> None:
    """Go through every stage once, in minutes: the arena, the supply chain, Dota.

    Example: understudy demo --out runs/demo
    """
    parts = _parts(out, matches, worlds, Working(seed=seed, workers=workers, resume=resume))
    done = [part for part in parts if all(map(is_there, part.needs))]
    with no_next_steps():
        for number, part in enumerate(done, start=1):
            err_console.rule(f"{number}/{len(done)}  {part.title}")
            part.play()
    for part in (one for one in parts if one not in done):
        missing = next(module for module in part.needs if not is_there(module))
        print(f"Left out: {part.title}. {lacking('It', missing)}")
    pages = [page for part in done for page in part.pages]
    print(f"\nOpen {', '.join(map(str, pages))}: no network needed.")


class Part(NamedTuple):
    """One thing that the demo does."""

    title: str
    play: Callable[[], object]
    needs: tuple[str, ...] = ()
    """Modules beyond the core's; where one is missing, the part is left out."""
    pages: tuple[Path, ...] = ()
    """What it leaves to look at."""


def _parts(out: Path, matches: int, worlds: int, working: Working) -> list[Part]:
    return [
        *_arena(out / "arena", matches, working),
        *_scml(out / "scml", worlds, working),
        *_dota(out / "dota", working),
    ]


def _arena(run: Path, matches: int, working: Working) -> list[Part]:
    seed, workers, resume = working.seed, working.workers, working.resume
    field = ["imitate-quick", "refine-quick", *load("arena").players]
    how: Any = {"seed": seed, "workers": workers, "resume": resume}
    return [
        Part(
            "record: experts play in the arena",
            lambda: arena.record(out=run, matches=matches, working=working),
        ),
        Part(
            "encode: one row per decision",
            lambda: encode("arena", out=run, workers=workers, resume=resume),
        ),
        Part(
            "train: clone the expert",
            lambda: train("arena", "imitate-quick", out=run, seed=seed, resume=resume),
        ),
        Part(
            "train: refine the clone by playing",
            lambda: train("arena", "refine-quick", out=run, **how),
        ),
        Part(
            "compete: both against the scripted players",
            lambda: arena.compete(field, out=run, matches=200, working=working),
        ),
        Part(
            "league: main agent and exploiters harden each other",
            lambda: league("arena", "demo", run, "imitate-quick", **how),
        ),
        Part("report", lambda: report(run), pages=(Run(run).report,)),
    ]


def _scml(run: Path, worlds: int, working: Working) -> list[Part]:
    needs = load("scml").needs
    rivals = ["Penguin", "AS0"] if is_there("scml_agents") else ["Steward", "SyncRandom"]
    field: Any = {"competitors_per_world": 4, "steps": 30}
    return [
        Part(
            f"compete: our agent among {', '.join(rivals)} and Greedy of the supply chain",
            lambda: scml.compete(
                ["HRL", *rivals, "Greedy"],
                out=run,
                configs=worlds,
                worlds=scml.Worlds(**field),
                keep=1,
                working=working,
            ),
            needs,
        ),
        Part(
            "compete: thousands of worlds of the compiled supply chain, in seconds",
            lambda: scml.compete(
                ["TunedSteward", "Steward", "Penguin", "AS0"],
                out=run,
                configs=worlds * 100,
                worlds=scml.Worlds(**field, simulator="batch"),
                keep=0,
                working=working,
            ),
            needs,
        ),
        Part("report, with a world to look into", lambda: report(run), needs, (Run(run).report,)),
    ]


def _dota(run: Path, working: Working) -> list[Part]:
    seed, workers, resume = working.seed, working.workers, working.resume
    made_up, match, page = dota.Sources(synthetic=1500), run / "9000000000", run / "match.html"
    return [
        Part(
            "Dota: made-up matches, whose chances are known",
            lambda: dota.record(out=run, sources=made_up, seed=seed, resume=resume),
        ),
        Part(
            "encode: one row per minute",
            lambda: encode("dota", out=run, workers=workers, resume=resume),
        ),
        Part(
            "train: who will win, beside plain baselines",
            lambda: train("dota", "value-quick", out=run, seed=seed, resume=resume),
            EXTRAS["dota"],
        ),
        Part("report", lambda: report(run), pages=(Run(run).report,)),
        Part(
            "replay: one match with its chances, swings and advice",
            lambda: replay(str(match), page),
            pages=(page,),
        ),
    ]
