"""What came of a league, in a sentence: how strong, whether that is all, how exploitable, by whom,
and how cyclic."""

from collections.abc import Mapping
from typing import Any

Values = Mapping[str, Any]


def verdict(summary: Values) -> str:
    """Of a finished league's summary; nothing where its main agent has not met its beginning."""
    main = next((one for one in summary["players"] if "main" in one["present"]), None)
    start = next((one for one in summary["players"] if one["rating"] == one["low"]), None)
    if main is None or start is None:
        return ""
    pair = main["name"], start["name"]
    met = [one for one in summary["win_rates"] if (one["player"], one["opponent"]) == pair]
    parts = [f"{main['name']} {_strength(met[0], start['name'])}" if met else main["name"]]
    weakness = _exactly(summary) or _weakness(summary)
    parts += filter(None, [_unsettled(summary, main), weakness, _cyclic(summary)])
    return "; ".join(parts) + "."


def strongest(summary: Values) -> tuple[str, Values] | None:
    """The best response that wins most, and what it was measured to win."""
    found = summary["best_response"]
    name = max(found, key=lambda one: float(found[one]["mean"]), default=None)
    return None if name is None else (name, found[name])


def _strength(rate: Values, start: str) -> str:
    word = "beats" if rate["low"] > 0.5 else "loses to" if rate["high"] < 0.5 else "is level with"
    return f"{word} {start}, which all began as, {_share(rate)}"


def _unsettled(summary: Values, main: Values) -> str:
    """Where the main agent surely beats what it was before the last third of its snapshots.

    In PSRO that says nothing: every version is a best response of its own.
    """
    past = sorted(
        one["name"]
        for one in summary["players"]
        if one.get("learner") == main.get("learner", "main") and one["name"] != main["name"]
    )
    if len(past) < 3 or summary.get("way") == "NashResponse":
        return ""
    pair = main["name"], past[-(len(past) // 3)]
    met = [one for one in summary["win_rates"] if (one["player"], one["opponent"]) == pair]
    if not met or met[0]["low"] <= 0.5:
        return ""
    beaten = f"it beats {pair[1]}, which it was, {_share(met[0])}"
    return f"it had not settled ({beaten}): more rounds may help"


def _weakness(summary: Values) -> str:
    found = strongest(summary)
    if found is None:
        return ""
    name, one = found
    begun = "from the main agent itself" if name.endswith("from itself") else "from the beginning"
    many = len(summary["best_response"])
    which = f"the strongest of {many} approximate best responses" if many > 1 else "a best response"
    return f"{which} ({one['agent_steps']:,} agent-steps {begun}) wins {_share(one)} against it"


def _exactly(summary: Values) -> str:
    known = summary.get("exact") or {}
    told = [f"{100 * rate:.1f} % against the {what}" for what, rate in known.items()]
    return f"the exact best answer wins {' and '.join(told)}" if told else ""


def _cyclic(summary: Values) -> str:
    known = summary.get("cyclicity")
    if not known or not known["n"]:
        return ""
    share = _share(known, "value")
    if known["high"] < 0.1:
        return f"ratings explain who beats whom (cyclic share {share}): self-play may do as well"
    if known["low"] > 0.1:
        return f"players beat each other in circles (cyclic share {share}): play their Nash mixture"
    return f"how cyclic its players are is open (share {share})"


def _share(found: Values, name: str = "mean") -> str:
    mean, low, high = (100 * float(found[part]) for part in (name, "low", "high"))
    return f"{mean:.0f} % [{low:.0f}, {high:.0f}]"
