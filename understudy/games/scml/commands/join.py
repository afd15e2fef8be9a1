"""`join scml`: one agent of layers that were trained apart."""

from typing import Annotated

import typer

from understudy.terminal.options import OutOption, ResumeOption, run_of

LayerArg = Annotated[
    str, typer.Argument(help="The model with this layer: a name in the run, or a folder.")
]


def join(
    l2: LayerArg,
    l3: LayerArg,
    l4: LayerArg,
    out: OutOption = None,
    name: Annotated[str, typer.Option(help="What to call the agent.")] = "joined",
    thrifty: Annotated[
        str | None,
        typer.Option(help="A whole model for the first level while buyers order little, as HRL's."),
    ] = None,
    resume: ResumeOption = True,
) -> None:
    """Put layers that were trained apart into one agent that plays.

    L3 must have learnt with the goals of this very L2: encode --goals fills them in.

    Example: understudy join scml l2 l3 l4

    Example: understudy join scml online online online --thrifty online-guided
    """
    from understudy.data.runs import WEIGHTS, begin, finish
    from understudy.games.scml.agent.checkpoint import joined, read_checkpoint, write_checkpoint

    run = run_of(out, "scml")
    told = {"l2": l2, "l3": l3, "l4": l4} | ({} if thrifty is None else {"thrifty": thrifty})
    folders = {part: run.find_model(model) for part, model in told.items()}
    parts = {part: read_checkpoint(folder) for part, folder in folders.items()}
    made = joined(parts["l2"], parts["l3"], parts["l4"])
    if thrifty is not None:
        made = made.with_thrifty(parts["thrifty"].needs("l2", "l3", "l4"))
    target = run.named_model(name)
    layers = {part: run.place(folder / WEIGHTS) for part, folder in folders.items()}
    inputs = {layers[part]: folder / WEIGHTS for part, folder in folders.items()}
    settings = {"game": "scml", "name": name, "layers": layers}
    begin(target, "join", settings, inputs=inputs, resume=resume)
    write_checkpoint(target / WEIGHTS, made)
    finish(target)
    print(f"{target}: let it play: understudy compete scml {name} Penguin --out {run.folder}")
