"""What a risk is worth at the first level: one factory changes hands, on worlds that chose nothing.

    python benchmarks/scml_risk.py [--risks 0,0.1,0.2,0.3,0.5] [--model NAME=PATH] [--worlds 512]

L1, the shipped weights and models play the same first-level factory of the same worlds with the
same dice, at each risk (`SafetySettings`), in both fields of `scml_strength.py`. Statistic, fixed
before the run: the mean over worlds of a player's score less its own at the first of the risks,
with Student's 95 % interval over worlds. Beside it, over all worlds: units that were sold and not
made, of those sold; and sales that were unsafe when they were agreed, by what was known
(`safety_audit.py`, which never takes a risk), of all. Weights are played as they are, whatever risk
they learnt with.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from understudy.data.arrays import Array, Floats
from understudy.data.stats import student
from understudy.games.scml.agent.policy import SHIPPED, policy_of
from understudy.games.scml.batch import course
from understudy.games.scml.batch.learnt.policy import ManyDecisions, play
from understudy.games.scml.batch.setup import Seat, set_seat
from understudy.games.scml.batch.worlds import Log, Worlds
from understudy.games.scml.domain import SafetySettings
from understudy.games.scml.recording.safety_audit import UNSAFE, AuditedDays, beyond_safety
from understudy.games.scml.tournament.batch_play import BUYER, DUE, SELLER, SIGNED, UNITS
from understudy.games.scml.tuning.trials import Field, Layout, layout, worlds_of

AT_ONCE = 32
FIELDS: tuple[Field, ...] = ("official", "champions")
SCORE, SOLD, SHORT, SALES, UNSAFE_SALES = range(5)


def in_hands(layouts: Sequence[Layout], seat: Seat, learners: Sequence[ManyDecisions]) -> Floats:
    """What the factory did in these hands, [worlds, 5]: score, then counts as named above."""
    parts = [layouts[at : at + AT_ONCE] for at in range(0, len(layouts), AT_ONCE)]
    return np.concatenate([_some(part, seat, learners) for part in parts])


def _some(layouts: Sequence[Layout], seat: Seat, learners: Sequence[ManyDecisions]) -> Floats:
    fixed = worlds_of(layouts)
    for row, one in zip(fixed, layouts, strict=True):
        set_seat(row, one.mine, seat)
    worlds, log = Worlds(fixed), Log.of(len(layouts), max(one.days for one in layouts))
    play(worlds, learners, log)
    scores, signed = worlds.scores, worlds.state["signed"]
    return np.array(
        [
            (scores[k, one.mine], *_counts(fixed[k], log, k, int(signed[k]), one.mine))
            for k, one in enumerate(layouts)
        ]
    )


def _counts(fixed: Array, log: Log, world: int, signed: int, me: int) -> tuple[int, ...]:
    """Units sold and short, sales and those that were unsafe."""
    days, count = int(fixed["days"]), int(fixed["factories"])
    notes = log.days[world, :days, :count].astype(np.int64)
    columns = course.STOCK, course.SUPPLY, course.SALE, course.BANKRUPT
    columns += course.SOLD, course.PRODUCED, course.SHORT
    audited = AuditedDays(*(notes[:, :, column] for column in columns))
    contracts = log.contracts[world, :signed]
    made = contracts[:, [SELLER, BUYER, UNITS, DUE, SIGNED]].astype(np.int64)
    lines = fixed["lines"][:count].tolist()
    beyond = beyond_safety(lines, days, made, audited, True, bool(fixed["conserves"]))
    sold, short = audited.sold[:, me].sum(), audited.shortfall[:, me].sum()
    return int(sold), int(short), int((made[:, 0] == me).sum()), int(beyond[me, UNSAFE])


def lines_of(name: str, risks: Sequence[float], found: Sequence[Floats]) -> list[str]:
    """Rows of a table in Markdown."""
    rows = list[str]()
    for risk, one in zip(risks, found, strict=True):
        gap = student((one[:, SCORE] - found[0][:, SCORE]).tolist())
        gain = f"{gap.value:+.4f} [{gap.low:+.4f}, {gap.high:+.4f}]" if rows else ""
        short = 100 * one[:, SHORT].sum() / max(one[:, SOLD].sum(), 1)
        unsafe = 100 * one[:, UNSAFE_SALES].sum() / max(one[:, SALES].sum(), 1)
        cells = f"{one[:, SCORE].mean():.3f} | {gain} | {short:.2f} % | {unsafe:.1f} %"
        rows.append(f"| {name}, risk {risk:g} | {cells} |")
    return rows


def main() -> None:
    """Print a table for each field."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--risks", default="0,0.1,0.2,0.3,0.5")
    parser.add_argument("--worlds", type=int, default=512)
    parser.add_argument("--block", type=int, default=15_000_031)
    parser.add_argument("--model", action="append", default=[], help="NAME=PATH of weights")
    parser.add_argument("--field", choices=FIELDS)
    wanted = parser.parse_args()
    risks = [float(risk) for risk in wanted.risks.split(",")]
    weights = {"HRL": SHIPPED} | {
        name: Path(path) for name, _, path in (model.partition("=") for model in wanted.model)
    }
    for field in [wanted.field] if wanted.field else FIELDS:
        layouts = [layout(field, "first", wanted.block, k) for k in range(wanted.worlds)]
        heads = f"score | to risk {risks[0]:g} | units short | unsafe sales"
        print(f"\n{field}, {len(layouts):,} worlds\n\n| first level | {heads} |")
        print("|---|---|---|---|---|", flush=True)
        found = [in_hands(layouts, Seat("L1", risk=risk), ()) for risk in risks]
        print(*lines_of("L1", risks, found), sep="\n", flush=True)
        for name, path in weights.items():
            asked = [ManyDecisions(policy_of(path), SafetySettings(risk=risk)) for risk in risks]
            found = [in_hands(layouts, Seat(None), [one]) for one in asked]
            print(*lines_of(name, risks, found), sep="\n", flush=True)


if __name__ == "__main__":
    main()
