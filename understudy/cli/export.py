"""The command `export`: what was trained, for programs that have nothing of this one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy import extras
from understudy.errors import InputError
from understudy.pipeline.game import load
from understudy.terminal.options import GameArg, run_of

if TYPE_CHECKING:
    from understudy.data.runs import Run

RunOption = Annotated[
    Path | None, typer.Option("--run", help="Whose model it is. [default: runs/GAME]")
]


def export(
    game: GameArg,
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A model of the run, or its folder; what comes with the program: HRL, shipped.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Where to write. [default: submission.zip, policy.onnx or .pt2, value-model/]",
        ),
    ] = None,
    onnx: Annotated[bool, typer.Option("--onnx", help="A policy as ONNX (the default).")] = False,
    torch: Annotated[bool, typer.Option("--torch", help="A policy as a program of torch.")] = False,
    name: Annotated[str, typer.Option(help="Of an scml agent: its class.")] = "MyAgent",
    run: RunOption = None,
) -> None:
    """Write a model for other programs: a submission, an ONNX file, JSON.

    scml: one zip as the league takes it, which needs scml and numpy alone. dota: the value model as
    JSON with a scorer in numpy. Every other game: the policy as ONNX or for torch.

    Examples:
        understudy export scml HRL -o submission.zip --name MyAgent
        understudy export arena imitate --onnx -o policy.onnx
        understudy export dota shipped -o value-model
    """
    there = run_of(run, game)
    if game in ("scml", "dota"):
        for option in (word for word, given in (("onnx", onnx), ("torch", torch)) if given):
            raise InputError(f"--{option} is for policies of games of two, not for {game}")
        load(game).require()
        (_submission if game == "scml" else _value_model)(there, model, out, name)
        return
    if onnx and torch:
        raise InputError("give --onnx or --torch, not both")
    _policy(game, there, model, out, torch)


def _submission(run: "Run", model: str, out: Path | None, name: str) -> None:
    from understudy.export.submission import export_submission, weights_named

    made = export_submission(weights_named(run, model), out or Path("submission.zip"), name)
    print(f"{made.path}: {made.files} files, {made.size / 1e6:.2f} MB, track {made.track}")
    print(f"It needs scml and numpy. Unpack it and see it play: python {name}/agent.py")


def _value_model(run: "Run", model: str, out: Path | None, _name: str) -> None:
    from understudy.export.value_model import JSON_FILE, SCORER, export_value_model, model_named

    folder = out or Path("value-model")
    made = export_value_model(model_named(run, model), folder)
    print(f"{folder / JSON_FILE}: {len(made['columns'])} columns, patches {made['patches']}")
    print(f"{folder / SCORER}: python {folder / SCORER} < features.jsonl")


def _policy(game: str, run: "Run", model: str, out: Path | None, torch: bool) -> None:
    from understudy.data.files import write_bytes
    from understudy.pipeline.players import resolve

    if not torch:
        extras.require(["onnx"], "understudy export --onnx")
    ref = resolve(load(game), run, model)
    if ref.weights is None:
        raise InputError(f"'{model}' is scripted and has no weights to export; name a model")
    path = out or Path("policy.pt2" if torch else "policy.onnx")
    content = _as_torch(ref.weights, game) if torch else _as_onnx(ref.weights, game)
    write_bytes(path, content)
    print(f"{path}: {len(content) / 1e6:.2f} MB. Inputs, outputs, a host: docs/hosting.md")


def _as_onnx(weights: Path, game: str) -> bytes:
    from understudy.export.numpy_policy import read_policy
    from understudy.export.onnx_policy import onnx_policy

    return onnx_policy(read_policy(weights), _about(weights, game))


def _as_torch(weights: Path, game: str) -> bytes:
    from understudy.export.torch_policy import torch_policy
    from understudy.learn.policy import load_policy

    return torch_policy(load_policy(weights), _about(weights, game))


def _about(weights: Path, game: str) -> dict[str, Any]:
    """What a file says of where it came from."""
    from understudy.data.files import digest
    from understudy.data.runs import WEIGHTS, read_manifest
    from understudy.versions import versions

    manifest = read_manifest(weights)
    recipe = "" if manifest is None else manifest["settings"].get("recipe", "")
    return {
        "game": game,
        "recipe": str(recipe),
        "weights": digest(weights / WEIGHTS),
        "made_by": f"understudy {versions()['understudy']}",
    }
