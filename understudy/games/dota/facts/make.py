"""Make the tables of facts from the `dotaconstants` package (OpenDota, MIT licence).

    python -m understudy.games.dota.facts.make PACKAGE/build

PACKAGE is what `npm pack dotaconstants` unpacks to. Costs are those of its newest patch.
"""

import csv
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def make(build: Path, out: Path = HERE) -> None:
    """Write heroes.csv, items.csv and patches.csv."""
    heroes = sorted(_read(build / "heroes.json").values(), key=lambda hero: hero["id"])
    _write(
        out / "heroes.csv",
        ("id", "key", "name"),
        ((hero["id"], hero["name"], hero["localized_name"]) for hero in heroes),
    )
    items = sorted(_read(build / "items.json").items(), key=lambda item: item[1]["id"])
    _write(
        out / "items.csv",
        ("id", "key", "name", "cost", "neutral_tier", "components"),
        (
            (
                item["id"],
                key,
                item.get("dname") or key.replace("_", " ").title(),
                item.get("cost") or 0,
                item.get("tier") or "",
                " ".join(item.get("components") or ()),
            )
            for key, item in items
        ),
    )
    patches = _read(build / "patch.json")
    _write(
        out / "patches.csv",
        ("id", "name", "date"),
        ((patch["id"], patch["name"], patch["date"][:10]) for patch in patches),
    )


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _write(path: Path, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
