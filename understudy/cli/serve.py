"""The command `serve`: decisions for a running game."""

import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy import extras
from understudy.errors import InputError
from understudy.pipeline.game import load
from understudy.terminal.options import GameArg, SeedOption, run_of
from understudy.terminal.secret import secret

if TYPE_CHECKING:
    from understudy.data.runs import Run
    from understudy.serve.service import Service

HERE = "127.0.0.1"
SHORTEST = 20


def serve(
    game: GameArg,
    model: Annotated[
        str,
        typer.Argument(metavar="MODEL", help="A model of the run, or its folder; dota: shipped."),
    ],
    run: Annotated[
        Path | None, typer.Option("--run", help="Whose model it is. [default: runs/GAME]")
    ] = None,
    lines: Annotated[
        bool, typer.Option("--lines", help="JSON lines on standard input and output instead.")
    ] = False,
    port: Annotated[int, typer.Option(help="0: any that is free.", min=0, max=65535)] = 8770,
    token: Annotated[
        str | None,
        typer.Option(help="A file with the token, or - to be asked. [default: a new one]"),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(help="Write down every decision here, for record --logs."),
    ] = None,
    greedy: Annotated[
        bool, typer.Option("--greedy", help="The likeliest option instead of a draw.")
    ] = False,
    seed: SeedOption = 0,
    file: Annotated[
        Path | None, typer.Option(help="Dota: look at this live file instead of posts.")
    ] = None,
    match: Annotated[
        int | None, typer.Option(help="Dota, with --file: the match. [default: the first]")
    ] = None,
) -> None:
    """Answer a running game: observations in, actions with probabilities and value out.

    Over HTTP and WebSocket on this machine, with a token; or over standard input and output. What
    is written down with --record becomes training data: understudy record arena --logs DIR.
    For Dota: posts of the game client in, a page with chance and advice out.

    Examples:
        understudy serve arena imitate --record served
        understudy serve arena imitate --lines
        understudy serve dota shipped
        understudy serve dota shipped --file match.json
    """
    if not lines:
        extras.require(extras.EXTRAS["serve"], "understudy serve")
    if game == "dota":
        if lines or greedy:
            raise InputError("--lines and --greedy are for policies; Dota has a page: leave it out")
        _serve_dota(run_of(run, game), model, record, port, own_token(token), (file, match))
        return
    if file is not None or match is not None:
        raise InputError(f"--file and --match are for dota, not for {game}")
    service = _service(game, model, run, record, greedy, seed)
    if lines:
        from understudy.serve.lines import serve_lines

        serve_lines(service)
        return
    _serve_web(service, port, own_token(token))


def _service(
    game: str, model: str, run: Path | None, record: Path | None, greedy: bool, seed: int
) -> "Service":
    from understudy.export.numpy_policy import read_policy
    from understudy.pipeline.players import resolve
    from understudy.serve.codecs import codec_for
    from understudy.serve.decider import Decider
    from understudy.serve.service import Service
    from understudy.serve.streams import Streams

    if game == "scml":
        raise InputError(
            "an agent of scml plays inside its simulator: understudy export scml MODEL makes one "
            "that needs nothing of this program"
        )
    ref = resolve(load(game), run_of(run, game), model)
    if ref.weights is None:
        raise InputError(f"'{model}' is scripted; serve a trained model")
    policy = read_policy(ref.weights)
    codec = codec_for(game, policy.shape)
    streams = None if record is None else Streams(record, live=codec.live)
    return Service(game, ref.name, codec, Decider(policy, seed, greedy), streams)


def _serve_dota(
    run: "Run",
    model: str,
    record: Path | None,
    port: int,
    token: str,
    watched: tuple[Path | None, int | None],
) -> None:
    """The page of a running match."""
    from understudy.games.dota.advice.match_context import load_models
    from understudy.games.dota.live.gsi import CONFIGURATION, configuration
    from understudy.games.dota.live.sight import load_live
    from understudy.serve.dota import LiveService, live_app
    from understudy.serve.web import Door
    from understudy.studio.server import hosts_of, listen
    from understudy.studio.server import serve as run_server

    file, match = watched
    if file is not None and not file.is_file():
        raise InputError(f"there is no file {file} to look at")
    if record is not None:
        record.mkdir(parents=True, exist_ok=True)
    live = load_live(None if model == "shipped" else run.find_model(model))
    service = LiveService(live, load_models(), record)
    listening = listen(HERE, port)
    port = listening.getsockname()[1]

    def ready() -> None:
        print(f"page: http://{HERE}:{port}/?token={token}", flush=True)
        if file is None:
            print(f"game/dota/cfg/gamestate_integration/{CONFIGURATION}, for the client:\n")
            print(configuration(f"http://{HERE}:{port}/gsi", token), flush=True)

    app = live_app(service, Door(token, hosts_of(HERE, port)), file, match)
    run_server(app, listening, ready, largest_message=1 << 20)
    sys.exit(0)


def own_token(where: str | None) -> str:
    """The token that a person gave, or a new one."""
    given = secret(where, "--token", "UNDERSTUDY_TOKEN")
    if given is not None and len(given) < SHORTEST:
        raise InputError(f"a token must have at least {SHORTEST} characters")
    return given or secrets.token_urlsafe(32)


def _serve_web(service: "Service", port: int, token: str) -> None:
    from understudy.serve.web import Door, web_app
    from understudy.studio.server import hosts_of, listen
    from understudy.studio.server import serve as run_server

    listening = listen(HERE, port)
    port = listening.getsockname()[1]

    def ready() -> None:
        print(
            f"{service.name} of {service.game}: http://{HERE}:{port}/act token {token}", flush=True
        )

    app = web_app(service, Door(token, hosts_of(HERE, port)))
    run_server(app, listening, ready, largest_message=1 << 20)
    sys.exit(0)  # whoever asked it to end got what was asked for
