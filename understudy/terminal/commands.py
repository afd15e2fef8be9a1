"""Commands as games bring them, and as typer reads them."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.data.integrity.locks import wait_for_others

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from understudy.data.runs import Run
    from understudy.pipeline.game import Schedule
    from understudy.terminal.options import Working

Command = Callable[..., None]
Options = Callable[..., dict[str, Any]]
Plan = Callable[["Run", int, "Sequence[str] | None", Mapping[str, Any]], "Schedule"]
"""Of a run, what its matches are for (RECORD, COMPETE), players by name and options: a schedule."""


@dataclass(frozen=True, kw_only=True)
class Commands:
    """What a game brings to the command line, in its commands.py."""

    verbs: Mapping[str, Command]
    """Its versions of `record` and `compete`, and verbs that only some games have."""
    about: Mapping[str, str] = field(default_factory=dict)
    """A line on each verb that other games need not have."""
    options: Mapping[str, Options] = field(default_factory=dict)
    """By `encode` or `train`: a function of the game that was named and of options to add, which
    makes of them what the stage is told. It is asked whatever the game, so that it can refuse."""
    tuned: "Mapping[str, Callable[[Run, dict[str, Any], Working], None]]" = field(
        default_factory=dict
    )
    """What else than recipes `tune` can be asked for, by name, and what it is then told."""
    print_evaluation: Callable[[Mapping[str, Any]], None] | None = None
    """How `train` shows what came out; None: as for every game."""
    plan: Plan | None = None
    """Plans matches for `understudy.record` and `compete` from Python; None: it plays none."""
    strength: "Callable[[pa.Table], list[dict[str, Any]]] | None" = None
    """Results to rows that say who is how strong, with intervals."""


_WAIT = Parameter(
    "wait",
    Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[
        bool, typer.Option("--wait", help="Wait while another process writes there.")
    ],
)
"""Of every command that claims a folder."""


def typed(command: Command, added: Iterable[Parameter] = ()) -> Command:
    """`command` as typer can read it: all its options one by one.

    Those that stand together in a dataclass are taken out of it, and `added` ones of games stand
    in place of `**told`.
    """
    groups = dict[str, type[Any]]()
    parameters = list[Parameter]()
    for parameter in signature(command).parameters.values():
        if parameter.kind is Parameter.VAR_KEYWORD:
            parameters += added
        elif isinstance(group := parameter.annotation, type) and is_dataclass(group):
            groups[parameter.name] = group
            parameters += signature(group).parameters.values()
        else:
            parameters.append(parameter)

    there = {one.name for one in parameters}
    writes = "resume" in there and "wait" not in there  # it may have been added before
    if writes:
        parameters.append(_WAIT)

    @wraps(command)
    def call(**told: Any) -> None:
        if writes:
            wait_for_others(told.pop("wait"))
        for name, group in groups.items():
            told[name] = group(**{one.name: told.pop(one.name) for one in fields(group)})
        command(**told)

    call.__doc__ = _with_examples(command.__doc__)
    one_by_one = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in parameters]
    call.__signature__ = signature(command).replace(parameters=one_by_one)  # type: ignore[attr-defined]
    return call


def _with_examples(help_text: str | None) -> str | None:
    """Help whose examples stay on lines of their own, so that they can be copied."""
    return help_text and re.sub(r"\n\n( *)(?=Examples?:)", "\n\n\\1\b\n\\1", help_text)


def added_options(options: Options) -> list[Parameter]:
    """What a game's function adds to a command; its first parameter is the game that was named."""
    return list(signature(options).parameters.values())[1:]
