"""The program: every command, those of games among them, and how it ends."""

import errno
import os
import re
import signal
import sys
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from understudy import extras, games
from understudy.cli import commands
from understudy.cli.demo import demo
from understudy.cli.export import export
from understudy.cli.follow import follow
from understudy.cli.league import league
from understudy.cli.sections import Sectioned
from understudy.cli.selftest import selftest
from understudy.cli.serve import serve
from understudy.cli.setup import setup
from understudy.cli.studio import studio
from understudy.cli.tune import tune
from understudy.data.elsewhere.remote import copied
from understudy.data.integrity.locks import released
from understudy.errors import InputError, did_you_mean
from understudy.terminal.commands import Command, added_options, typed
from understudy.terminal.console import err_console
from understudy.terminal.stopping import stopping

EXAMPLES = """\b
From recorded matches to an agent, step by step:
    understudy record arena --matches 2000       experts play, everything is written down
    understudy encode arena                      one row per decision
    understudy train arena imitate-small         clone the expert
    understudy train arena refine-ppo            make the clone stronger by playing
    understudy compete arena refine-ppo expert   who wins, with intervals
    understudy league arena --recipe quick       improve against each other
    understudy report runs/arena                 one page to look at

\b
The supply chain, where agents of the league already play:
    understudy compete scml Penguin AS0 built-ins     who is stronger, slot by slot
    understudy compete scml my_agent.py:MyAgent Penguin --why MyAgent   where yours loses, and why
    understudy record scml --agents Penguin --configs 20    what each saw, offered and answered
    understudy encode scml                            one row per negotiation and decision
    understudy train scml hrl-xf                      an agent that plays as they did

\b
Dota 2, from recorded matches only:
    understudy record dota --files matches/           OpenDota's answers, as tables
    understudy encode dota                            one row per minute
    understudy train dota value                       who will win, beside plain baselines
    understudy drift dota --model RUN/models/value    is it still right on this run's patches?
    understudy recommend dota match.json --minute 15  what to do next

Every step can be stopped and run again: it goes on where it was. `understudy demo` does all of
it small. A step works in a run, the folder given by --out.
"""

SEEDS_NAMES = {
    **{"output-dir": "out", "out_dir": "out", "num-workers": "workers", "resumable": "resume"},
    **{"n-competitors-per-world": "competitors-per-world", "horizon_sec": "horizon"},
    **{"actor-rollouts": "rollouts", "learner-updates": "updates"},
    **{"supervised-checkpoint": "init", "pseudo-reward-scale": "pseudo-reward"},
}
"""Options that had another name in the seeds; that one is understood as well."""

_SHARED = {
    "record": "Play matches; write down what players saw and did.",
    "compete": "Let players meet; say who is stronger.",
}
"""Verbs that most games have, each in its own version."""


_OF_THE_MACHINE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.EIO}
"""Trouble that no file is named with."""


def app() -> typer.Typer:
    """All commands there are: for every game, those of every game and those it brings itself."""
    made = typer.Typer(
        cls=OneLine,
        help="Turn recorded matches of competitive games into agents that win.",
        epilog="Begin with: understudy demo",
        add_completion=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={
            "help_option_names": ["-h", "--help"],
            "token_normalize_func": lambda name: SEEDS_NAMES.get(name, name),
        },
    )
    made.callback(epilog=EXAMPLES, invoke_without_command=True)(_root)
    every: tuple[Command, ...] = (
        *(
            league,
            _with_options(commands.encode),
            _with_options(commands.train),
            _with_options(tune),
        ),
        *(
            commands.evaluate,
            commands.report,
            commands.compare,
            commands.check,
            commands.compact,
            commands.replay,
            commands.recipes,
        ),
        *(export, serve, follow, studio, demo, selftest, setup),
    )
    for command in every:
        made.command()(typed(command))
    _add_verbs(made)
    return made


def _with_options(command: Command) -> Command:
    """A command of every game, with the options that games add to it."""
    told = commands.options_of_games(command.__name__)
    return typed(command, [option for each in told for option in added_options(each)])


def _add_verbs(made: typer.Typer) -> None:
    """Commands with a version per game."""
    brought = {name: games.commands(name) for name in games.names()}
    families = {name: games.commands(name) for name in games.families()}
    about = dict(_SHARED)
    for one in (*brought.values(), *families.values()):
        about |= one.about
    groups = {}
    for verb, line in about.items():
        having = [name for name in families if verb in families[name].verbs]
        versions = [one.verbs[verb] for one in brought.values() if verb in one.verbs]
        shown = versions or [families[name].verbs[verb] for name in having]
        groups[verb] = by_game(made, verb, line, having, examples(shown))
    for name, one in brought.items():
        for verb, command in one.verbs.items():
            groups[verb].command(name)(typed(command))


class OneLine(Sectioned):
    """Commands whose trouble with files is one line, wherever it arises."""

    def invoke(self, ctx: Any) -> Any:
        """What the command returns; InputError for a file or disk that fails."""
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as failure:
            mistake = extras.cured(failure, f"understudy {ctx.invoked_subcommand}")
            raise mistake or failure from failure
        except EOFError as failure:  # typer would say that somebody had stopped it
            from understudy.workers.attempt import line_of

            raise InputError(
                f"a file ends before its time ({line_of(failure)}). Make that file again"
            ) from failure
        except UnicodeDecodeError as failure:
            raise InputError(
                f"a file is not a text in UTF-8 ({failure.reason} at byte {failure.start}). Save "
                "it as UTF-8, then run the same command again"
            ) from failure
        except MemoryError as failure:
            raise InputError(
                "there is too little memory for this. Use fewer --workers, or a larger machine; "
                "what was done is kept"
            ) from failure
        except BrokenPipeError:
            raise  # whoever read our output has gone
        except OSError as failure:
            if line := _trouble(failure):
                raise InputError(line) from failure
            raise  # no file's fault: perhaps ours


def _trouble(failure: OSError) -> str:
    """What to say of a file or machine that fails; "" where it is perhaps our fault."""
    if failure.filename is None and failure.errno not in _OF_THE_MACHINE:
        return ""
    path = "this machine" if failure.filename is None else os.fsdecode(failure.filename)
    return (
        f"cannot use {path if path.isprintable() else ascii(path)}: {failure.strerror}. "
        "Mend that, then run the same command again; what was done is kept"
    )


class ByGame(TyperGroup):
    """A command with one version per game, because games have different options."""

    @property
    def families(self) -> list[str]:
        """Families of games that have it."""
        known = games.families()
        return [one for one in known if str(self.name) in games.commands(one).verbs]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """A line for each game, whole."""
        if self.commands:
            listed = [(n, one.get_short_help_str(limit=200)) for n, one in self.commands.items()]
            with formatter.section("Games"):
                formatter.write_dl(listed)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The version for the game that is named first."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            known = [*self.commands, *(f"{family}:NAME" for family in self.families)]
            told = f"there is no game '{args[0]}' to {self.name}{did_you_mean(args[0], known)}"
            if args[0].partition(":")[0] in {*games.names(), *games.families()}:
                told = f"{args[0]} has no {self.name}"
            raise InputError(f"{told}; there is {', '.join(known)}")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The version for a game; one of a family is made when it is named."""
        found = super().get_command(ctx, cmd_name)
        if found is not None or cmd_name.partition(":")[0] not in games.families():
            return found
        command = games.commands(cmd_name).verbs.get(str(self.name))
        if command is None:
            return None
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(cmd_name)(typed(command))
        return typer.main.get_command(alone)


def examples(commands: Iterable[Command]) -> list[str]:
    """Of each the first command line that its help gives as an example."""
    found = [re.search(r"understudy .+", command.__doc__ or "") for command in commands]
    return [one[0] for one in found if one]


def by_game(
    app: typer.Typer, name: str, about: str, families: Sequence[str], shown: Sequence[str]
) -> typer.Typer:
    """A command with one version per game, and for the games of these families."""
    group = typer.Typer(cls=ByGame, help=about, rich_markup_mode=None, invoke_without_command=True)
    named = [f"{family}:NAME" for family in families]
    further = " and ".join([", ".join(named[:-1]), *named[-1:]] if named[1:] else named)

    known = f"Games by name: {further}.\n\n" if families else ""
    lines = "".join(f"\n    {one}" for one in shown)

    @group.callback(epilog=f"{known}\b\nExamples; each has a --help of its own:{lines}")
    def _teach(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            print(context.get_help())

    app.add_typer(group, name=name, help=about)
    return group


def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Turn recorded matches of competitive games into agents that win."""
    if version:
        from importlib.metadata import version as installed

        print(f"understudy {installed('understudy')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def main() -> None:
    """Run a command. A user's mistake is one line and exit code 2; a bug of ours is a traceback."""
    # Work is spread over processes; threads that wait for each other are many times slower.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with stopping() as stopped:
        try:
            _run(stopped)
        except Exception:
            if not stopped:
                raise
            _end(stopped)  # while something was put up or taken down, as a progress bar


@released
def _run(stopped: list[int]) -> None:
    try:
        with copied(sys.argv[1:]) as arguments:
            if app()(arguments, standalone_mode=False) == 130 or stopped:  # typer's Ctrl-C
                raise KeyboardInterrupt
    except InputError as mistake:
        _fail(str(mistake))
    except typer.Abort:
        _fail("stopped")
    except KeyboardInterrupt:
        _end(stopped)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing more to be said
        sys.exit(128 + getattr(signal, "SIGPIPE", 13))
    except Exception as problem:
        if line := _mistake(problem):
            _fail(line)
        raise


def _end(stopped: list[int]) -> None:
    err_console.print("understudy: stopped; the same command goes on from here", style="yellow")
    sys.exit(128 + (stopped or [signal.SIGINT])[0])


def _mistake(problem: Exception) -> str:
    """What to say of a failure before any command began; "" where it is a bug of ours."""
    if isinstance(problem, OSError):
        return _trouble(problem)
    if not hasattr(problem, "format_message"):
        return ""
    where = getattr(getattr(problem, "ctx", None), "command_path", "")  # click's own words
    verb = where.rpartition("understudy")[2]
    return f"{problem.format_message().rstrip('.')}. See: understudy{verb} --help"


def _fail(line: str) -> None:
    print(f"understudy: {line}", file=sys.stderr)
    sys.exit(2)
