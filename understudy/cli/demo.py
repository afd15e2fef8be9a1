"""The command `demo`: every stage once, in minutes."""

from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.commands import encode, replay, report, train
from understudy.cli.league import league
from understudy.data.runs import RUNS, Run
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
    working = Working(seed=seed, workers=workers, resume=resume)
    with no_next_steps():
        _demo(out, matches, worlds, working)
    pages = [Run(out / game).report for game in ("arena", "scml", "dota")]
    print(
        f"\nOpen {', '.join(map(str, [*pages, out / 'dota' / 'match.html']))}: no network needed."
    )


def _demo(out: Path, matches: int, worlds: int, working: Working) -> None:
    seed, workers, resume = working.seed, working.workers, working.resume
    _demo_arena(out / "arena", matches, working)
    err_console.rule("8/12  compete: our agent among champions of the supply chain")
    scml.compete(
        ["HRL", "Penguin", "AS0", "Greedy"],
        out=out / "scml",
        configs=worlds,
        worlds=scml.Worlds(competitors_per_world=4, steps=30),
        keep=1,
        working=working,
    )
    err_console.rule("9/12  compete: thousands of worlds of the compiled supply chain, in seconds")
    scml.compete(
        ["TunedSteward", "Steward", "Penguin", "AS0"],
        out=out / "scml",
        configs=worlds * 100,
        worlds=scml.Worlds(competitors_per_world=4, steps=30, simulator="batch"),
        keep=0,
        working=working,
    )
    err_console.rule("10/12  report, with a world to look into")
    report(out / "scml")
    err_console.rule("11/12  Dota: a value model of made-up matches, whose chances are known")
    made_up = dota.Sources(synthetic=1500)
    dota.record(out=out / "dota", sources=made_up, seed=seed, resume=resume)
    encode("dota", out=out / "dota", workers=workers, resume=resume)
    train("dota", "value-quick", out=out / "dota", seed=seed, resume=resume)
    err_console.rule("12/12  report, and one match with its chances, swings and advice")
    report(out / "dota")
    replay(str(out / "dota" / "9000000000"), out / "dota" / "match.html")


def _demo_arena(run: Path, matches: int, working: Working) -> None:
    seed, workers, resume = working.seed, working.workers, working.resume
    err_console.rule("1/12  record: experts play in the arena")
    arena.record(out=run, matches=matches, working=working)
    err_console.rule("2/12  encode: one row per decision")
    encode("arena", out=run, workers=workers, resume=resume)
    err_console.rule("3/12  train: clone the expert")
    train("arena", "imitate-quick", out=run, seed=seed, resume=resume)
    err_console.rule("4/12  train: refine the clone by playing")
    train("arena", "refine-quick", out=run, seed=seed, workers=workers, resume=resume)
    err_console.rule("5/12  compete: both against the scripted players")
    field = ["imitate-quick", "refine-quick", *load("arena").players]
    arena.compete(field, out=run, matches=200, working=working)
    err_console.rule("6/12  league: main agent and exploiters harden each other")
    league("arena", "demo", run, "imitate-quick", seed=seed, workers=workers, resume=resume)
    err_console.rule("7/12  report")
    report(run)
