"""The supply chain on the command line, a file per command, and its tournaments from Python."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from understudy.games.scml.commands.compete import compete
from understudy.games.scml.commands.encode import encode_options
from understudy.games.scml.commands.join import join
from understudy.games.scml.commands.record import record
from understudy.games.scml.commands.train import train_options
from understudy.games.scml.commands.tune import STEWARD, tune_options, tune_steward
from understudy.games.scml.commands.verify import verify
from understudy.games.scml.commands.worlds import Worlds
from understudy.terminal.commands import Commands

if TYPE_CHECKING:
    import pyarrow as pa

    from understudy.data.runs import Run
    from understudy.pipeline.game import Schedule

__all__ = ["COMMANDS", "Worlds", "compete", "join", "record", "verify"]


def plan(
    run: "Run", purpose: int, players: Sequence[str] | None, options: Mapping[str, Any]
) -> "Schedule":
    """A tournament: `configs`, `seed`, `keep`, and the options of `Worlds`."""
    from understudy.data.manifests import Size, grown
    from understudy.data.runs import COMPETE, RECORD
    from understudy.games.scml.players.catalogue import best
    from understudy.games.scml.tournament.schedule import schedule

    defaults = {"configs": 40, "keep": 3} if purpose == COMPETE else {"configs": 5, "keep": None}
    told = {**defaults, **options}
    configs, seed, keep = (told.pop(name) for name in ("configs", "seed", "keep"))
    size, more = Size(configs), told.pop("more", None)
    if purpose == RECORD:
        size = grown(run.recordings, "configs", configs, more)
    worlds = Worlds(**told)
    competitors = players or best(dict.fromkeys((2026, 2025, 2024), 5), worlds.rules())
    tournament = worlds.tournament(run, competitors, size.total, seed)
    if purpose == COMPETE:
        tournament.require_rivals()
    return schedule(tournament, purpose=purpose, keep=keep, parts=size.parts)


def strength(results: "pa.Table") -> list[dict[str, Any]]:
    """A row per player."""
    from understudy.games.scml.strength.strength import assess

    return [dict(row) for row in assess(results).to_json()["players"]]


COMMANDS = Commands(
    verbs={"record": record, "compete": compete, "verify": verify, "join": join},
    about={
        "verify": "Hold a fast engine of ours against the real simulator.",
        "join": "Put layers that were trained apart into one agent.",
    },
    options={"encode": encode_options, "train": train_options, "tune": tune_options},
    tuned={STEWARD: tune_steward},
    plan=plan,
    strength=strength,
)
