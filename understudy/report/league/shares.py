"""Shares over time as a grid: a row per opponent, a column per round, darker for more."""

from collections.abc import Mapping
from html import escape


def shares_over_time(
    rounds: Mapping[int, Mapping[str, float]],
    *,
    title: str,
    first: Mapping[str, str] | None = None,
) -> str:
    """`rounds` holds for each round the shares by name; `first` renames rows to stand on top."""
    top = first or {}
    names = list(dict.fromkeys(name for shares in rounds.values() for name in shares))
    names.sort(key=lambda name: name not in top)  # the others stay as they came
    most = max((share for shares in rounds.values() for share in shares.values()), default=1.0)
    heads = "".join(f'<th scope="col">{number}</th>' for number in rounds)
    body = "".join(_row(top.get(name, name), name, rounds, most or 1.0) for name in names)
    return (
        f'<figure class="chart heat shares"><figcaption>{escape(title)}</figcaption>'
        f'<div class="scroll"><table><thead><tr><td class="corner">round</td>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div></figure>"
    )


def _row(label: str, name: str, rounds: Mapping[int, Mapping[str, float]], most: float) -> str:
    cells = "".join(
        _cell(label, number, shares.get(name, 0.0), most) for number, shares in rounds.items()
    )
    text = escape(label)
    return f'<tr><th scope="row" title="{text}">{text}</th>{cells}</tr>'


def _cell(label: str, number: int, share: float, most: float) -> str:
    if share <= 0:
        return '<td class="none"></td>'
    hint = escape(f"{label}, round {number}: {share:.1%}")
    text = f"{share:.0%}" if share >= 0.005 else ""
    return f'<td style="--color:var(--s1);--heat:{share / most:.0%}" title="{hint}">{text}</td>'
