"""Tables for the terminal: what training came to, whether a model is still right, advice."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from understudy.games.dota.report.planned import print_world
from understudy.terminal.console import out_console

if TYPE_CHECKING:  # heavy; `--help` must answer at once
    from rich.table import Table

    from understudy.games.dota.advice.recommend import Advice


def print_advice(advice: "Advice") -> None:
    """What to do next: by player items, by side wards and objectives."""
    print(f"match {advice.match_id}, minute {advice.minute}, patch {advice.patch}; ", end="")
    print(f"models trained on {', '.join(advice.trained_on)}")
    for reason in advice.reasons:
        print(reason)
    if advice.chance is None:
        return
    print(f"Radiant wins with {advice.chance:.0%}")
    for label, (middle, low, high) in advice.ahead.items():
        what = "gold" if "gold" in label else "xp"
        print(f"in three minutes its lead in {what} changes by {middle:+,.0f}", end=" ")
        print(f"(80 %: {low:+,.0f} to {high:+,.0f})")
    for slot in sorted({line["slot"] for line in advice.items}):
        rows = [line for line in advice.items if line["slot"] == slot]
        out_console.print(_item_table(rows))
    for side in sorted({line["side"] for line in advice.wards}, reverse=True):
        for kind in ("observer", "sentry"):
            rows = [line for line in advice.wards if (line["side"], line["kind"]) == (side, kind)]
            title = f"{side}: where to place the next {kind} ward"
            if rows:
                out_console.print(_advice_table(title, ("place", "x", "y", "chance", "why"), rows))
        rows = [line for line in advice.objectives if line["side"] == side]
        title = f"{side}: what may be taken"
        out_console.print(_advice_table(title, ("take", "model", "lane", "why"), rows))
    out_console.print(f"chance: how often others did it. {advice.view}.", highlight=False)


def _item_table(rows: list[dict[str, Any]]) -> "Table":
    """What can be paid now, then what must be saved for, each with the next part to buy."""
    one = rows[0]
    title = f"{one['hero']} (player {one['slot']}), about {one['cash']:,} gold at hand"
    table = _table(title, "item", "chance", "model", "still to pay", "buy next")
    table.columns[-1].justify = "left"
    for can, word in ((True, "can be paid now"), (False, "to save for")):
        some = [row for row in rows if row["affordable"] == can]
        if some:
            table.add_row(f"[bold]{word}[/bold]")
        for row in some:
            owed = f"{row['left_to_pay']:,}" + ("" if can else f"\n{row['why']}")
            table.add_row(
                row["item"], _cell("chance", row["chance"]), row["model"], owed, _next(row)
            )
    return table


def _next(row: Mapping[str, Any]) -> str:
    """The next part and its price; what else is missing."""
    if not row["parts"]:
        return "nothing: all parts are there"
    if row["next"] == row["item"]:
        return "it whole"
    words = f"{row['next']}, {row['next_cost']:,}"
    rest = len(row["parts"]) - 1 + sum(part["count"] - 1 for part in row["parts"])
    if rest:
        words += f" (then {rest} more part{'s' * (rest > 1)})"
    return words if row["next_affordable"] else f"save for {words}"


def _advice_table(title: str, names: tuple[str, ...], rows: list[dict[str, Any]]) -> "Table":
    table = _table(title, *names)
    for column in table.columns:
        column.no_wrap = column.header not in ("why", "place", "lane", "take")
        column.justify = "right" if column.header in ("x", "y", "chance", "model") else "left"
    for row in rows:
        table.add_row(*(_cell(name, row[name]) for name in names))
    return table


def _cell(name: str, value: Any) -> str:
    if name == "chance":
        return f"{value:.0%}" if value >= 0.1 else f"{value:.1%}"
    return f"{value:.0f}" if isinstance(value, float) else str(value)


def print_evaluation(evaluation: Mapping[str, Any]) -> None:
    """Print a comparison of value models, the scores of a policy, or a world model's."""
    if "futures" in evaluation:
        print_world(evaluation)
    else:
        (print_comparison if "line_up" in evaluation else print_policy)(evaluation)


def print_policy(evaluation: Mapping[str, Any]) -> None:
    """Print a policy's scores beside those of the counts it must beat."""
    print(f"counts: by {evaluation['counts']}")
    for name, scores in evaluation["policy"].items():
        if not scores["decisions"]:
            print(f"{name}: no decision in later matches, so no score")
            continue
        title = f"{name}: {scores['decisions']:,} decisions of later matches"
        table = _table(title, "score", "ours", "counts", "difference, 95 % by match")
        for score, both in scores.items():
            if score != "decisions":
                values = (_short(both[who]) for who in ("ours", "counts"))
                table.add_row(score, *values, _signed(both["beside"]))
        out_console.print(table)


def print_comparison(evaluation: Mapping[str, Any]) -> None:
    """Print all models beside the baseline, by minute, on few matches, and when not to trust."""
    for table in (
        _comparison_table(evaluation),
        _bands_table(evaluation),
        *_few_shot_tables(evaluation),
        drift_table(evaluation),
    ):
        out_console.print(table)
    error = evaluation["calibration_error"]
    print(f"calibration error of best: {error:.3f} (mean distance between predicted and observed)")


def _comparison_table(evaluation: Mapping[str, Any]) -> "Table":
    parts = evaluation["split"]
    words = (
        f"{name} {part['matches']:,} ({_span(part['patches'])})" for name, part in parts.items()
    )
    names = ("log\nloss", "beside LR-7", "AUC", "by\nmatch", "dGold\nRMSE", "dXP\nRMSE")
    table = _table(f"model comparison: {', '.join(words)}", "model", *names)
    for name, score in evaluation["line_up"].items():
        table.add_row(
            name.replace("XGBoost", "XGB"),
            _short(score["log_loss"]),
            _signed(score["beside_bar"]),
            _short(score["auc"]),
            _short(score["log_loss_by_match"]),
            f"{score['dgold_rmse']:,.0f}",
            f"{score['dxp_rmse']:,.0f}",
        )
    return table


def _span(patches: list[str]) -> str:
    return patches[0] if len(patches) == 1 else f"{patches[0]}-{patches[-1]}"


def _bands_table(evaluation: Mapping[str, Any]) -> "Table":
    table = _table("by minute", "minutes", "rows", "LR-7", "best", "best beside LR-7", "AUC")
    for band, scores in evaluation["bands"].items():
        table.add_row(
            band,
            f"{scores['rows']:,}",
            *(_short(scores["log_loss"][name]) for name in ("LR-7", "best")),
            _signed(scores["beside_bar"]),
            _short(scores["auc"]["best"]),
        )
    return table


def _few_shot_tables(evaluation: Mapping[str, Any]) -> list["Table"]:
    """Means of every method; how far draws lie apart for the one to use."""
    from understudy.games.dota.value.calibration import CHOSEN

    rows = evaluation["few_shot"]
    methods = ("intercept", "platt", "isotonic", "shrunk")
    title = "calibrated on so many test matches: loss less that of zero-shot, mean of draws"
    chance = _table(title, "matches", *methods, f"{CHOSEN}, 95 % of draws")
    changes = _table(
        "and RMSE of the changes less that of zero-shot",
        *("matches", "dGold", "95 % of draws", "dXP", "95 % of draws"),
    )
    for row in rows:
        means = (f"{row[name]['mean']:+.4f}".replace("0.", ".") for name in methods)
        chance.add_row(str(row["matches"]), *means, _signed(row[CHOSEN]))
        parts = ((row[f"{name} shrunk"]) for name in ("dgold", "dxp"))
        words = [(f"{p['mean']:+.2f}", f"{p['low']:+.2f} to {p['high']:+.2f}") for p in parts]
        changes.add_row(str(row["matches"]), *words[0], *words[1])
    return [chance, changes] if rows else []


def drift_table(evaluation: Mapping[str, Any]) -> "Table":
    """Patch by patch: loss, slope, and a verdict."""
    title = "is it still right? (slope 1: leads mean what they meant; below: it is too sure)"
    table = _table(
        title, "patch", "matches", "log\nloss", "slope", "fit\nsaves", "beyond\nrange", "verdict"
    )
    table.columns[-1].justify = "left"
    for row in evaluation["drift"]:
        slope = f"{row['slope']:.2f} ({row['slope_low']:.2f} to {row['slope_high']:.2f})"
        share = f"{row['out_of_range']:.1%}"
        loss = _short(row["log_loss"])
        patch = f"{row['patch']} {row['part']}" if "part" in row else row["patch"]
        table.add_row(patch, f"{row['matches']:,}", loss, slope, _saved(row), share, row["verdict"])
    return table


def _saved(row: Mapping[str, Any]) -> str:
    """What calibrating takes off the log loss of matches left out of its fit."""
    if not row.get("calibrating_error"):
        return "-"
    return f"{row['calibrating']:+.4f}".replace("0.", ".")


def print_calibration(made: Mapping[str, Any]) -> None:
    """What was changed, and why."""
    gain = f"{made['gain']:+.4f} ± {made['gain_error']:.4f}".replace("0.", ".")
    print(f"{made['matches']:,} matches", end="")
    print(f", {made['left_out']:,} of training left out" if made["left_out"] else "")
    print(f"calibrating takes {gain} off the log loss of matches left out of its fit")
    if made["slope"] == 1 and made["shift"] == 0:
        print("not shown to help, so chances stay as they are")
    else:
        print(f"log odds times {made['slope']:.3f}, plus {made['shift']:+.3f}")
    for label, amount in made["biases"].items():
        print(f"{label}: {amount:+.0f}")


def _table(title: str, first: str, *others: str) -> "Table":
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right")
    return table


def _short(share: float) -> str:
    """.5362, to save room."""
    return f"{share:.4f}".removeprefix("0")


def _signed(estimate: Mapping[str, float]) -> str:
    """-.0285 (-.0414 to -.0153)."""
    parts = [f"{estimate[name]:+.4f}".replace("0.", ".", 1) for name in ("mean", "low", "high")]
    return f"{parts[0]} ({parts[1]} to {parts[2]})"
