"""The command `studio`: runs live in the browser."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from understudy import extras, games
from understudy.errors import InputError
from understudy.terminal.commands import Command, added_options, typed
from understudy.terminal.secret import secret

SHORTEST_TOKEN = 20
EVERYWHERE = ("0.0.0.0", "::", "*")
LOOPBACK = ("127.0.0.1", "::1", "localhost")


def studio(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RUNS]...", help="Folders of runs, or runs. [default: runs]"),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Where to listen; other than this machine wants a --token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0: any that is free.", min=0, max=65535)] = 8765,
    token: Annotated[
        str | None,
        typer.Option(
            help="A file with the token that opens it, or - to be asked. [default: a new one]"
        ),
    ] = None,
    cores: Annotated[
        int | None, typer.Option(help="That its jobs may keep busy. [default: all]", min=1)
    ] = None,
    look: Annotated[bool, typer.Option("--open/--no-open", help="Open the browser.")] = False,
) -> None:
    """Serve runs to the browser: look on while they train, compare, start, play against them.

    Only this machine is answered, and only who has the link. Ctrl-C ends it; what it has started
    goes on.

    Example: understudy studio runs --open
    """
    extras.require([*extras.EXTRAS["studio"], *extras.EXTRAS["serve"]], "understudy studio")
    from understudy.data.runs import RUNS
    from understudy.studio.access import Access
    from understudy.studio.app import studio_app
    from understudy.studio.server import hosts_of, listen, serve
    from understudy.studio.studio import Studio

    given, places = _own_token(token, host), runs or [RUNS]
    for place in places:
        if not place.is_dir():
            raise InputError(f"there is no folder {place}. Begin a run: understudy record arena")
    listening = listen(host, port)
    port = listening.getsockname()[1]
    secrets = {} if given is None else {"token": given}
    access = Access(hosts_of(host, port), cookie=f"understudy-{port}", **secrets)
    address = f"http://{'127.0.0.1' if host in LOOPBACK else host}:{port}/"

    def ready() -> None:
        link = f"{address}?token={access.token if given is None else '...'}"
        print(f"studio of {', '.join(map(str, places))}: {link}", flush=True)
        if look:
            webbrowser.open(f"{address}?token={access.token}")

    studio = Studio.of(places, verb_of, cores)
    serve(studio_app(studio, access), listening, ready)


def verb_of(verb: str, game: str) -> Command:
    """The command of a verb for a game, with all its options in its signature."""
    from understudy.cli import commands
    from understudy.cli.league import league

    shared: dict[str, Command] = {
        "encode": commands.encode,
        "train": commands.train,
        "league": league,
    }
    if verb not in shared:
        brought = games.commands(game).verbs
        if verb not in brought:
            raise InputError(f"{game} has no {verb}; it has {', '.join([*brought, *shared])}")
        return typed(brought[verb])
    told = [] if verb == "league" else commands.options_of_games(verb)
    return typed(shared[verb], [option for each in told for option in added_options(each)])


def _own_token(where: str | None, host: str) -> str | None:
    """The token that a person gave; None: a new one is made. Other machines want one."""
    if host in EVERYWHERE:
        raise InputError(
            f"--host {host} is no name that a browser calls: give the address by which other "
            "machines reach this one, --host 192.168.0.5 for one"
        )
    given = secret(where, "--token", "UNDERSTUDY_TOKEN")
    if given is None and host not in LOOPBACK:
        raise InputError(
            f"--host {host} lets other machines in: name a file with a token of your own (--token)"
        )
    if given is not None and len(given) < SHORTEST_TOKEN:
        raise InputError(f"a token must have at least {SHORTEST_TOKEN} characters")
    return given
