"""The commands listed in `understudy --help`: by what somebody wants, in the order of use."""

from typing import Any, Final

from typer.core import TyperGroup

SECTIONS: Final = {
    "From recordings to an agent": ("demo", "record", "encode", "train", "compete", "league"),
    "Look and judge": ("report", "replay", "compare", "studio", "evaluate", "exploitability"),
    "Settings": ("recipes", "tune", "split", "join", "compact"),
    "Advice on recorded matches": ("recommend", "drift", "calibrate"),
    "Take it out": ("export", "serve", "follow"),
    "Trust and installation": ("check", "verify", "selftest", "setup"),
}
OTHER: Final = "Of installed games"


def sections_of(names: list[str]) -> dict[str, list[str]]:
    """The commands there are, by section; what no section names comes last."""
    listed = {name for section in SECTIONS.values() for name in section}
    found = {title: [n for n in section if n in names] for title, section in SECTIONS.items()}
    return found | {OTHER: [name for name in names if name not in listed]}


class Sectioned(TyperGroup):
    """Commands listed by section, each with the whole first sentence of what it does."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the sections that have commands."""
        for title, names in sections_of(self.list_commands(ctx)).items():
            if not names:
                continue
            with formatter.section(title):
                formatter.write_dl(
                    [(name, self.commands[name].get_short_help_str(limit=200)) for name in names],
                    col_max=14,
                )
