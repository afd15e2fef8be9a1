"""Which worlds are played, and by whom: what the commands that play tournaments share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.pipeline.game import load

if TYPE_CHECKING:
    from understudy.data.runs import Run
    from understudy.games.scml.domain import Track
    from understudy.games.scml.tournament.design import Tournament

LIMIT = 3600.0
"""Seconds for a task of a few worlds, unless --task-seconds says otherwise: a call of an agent that
takes too long is interrupted after a minute, so only what is stuck in C code gets here."""
TrackOption = Annotated[str, typer.Option(help="Which rules: std or oneshot.")]


@dataclass(frozen=True)
class Worlds:
    """Which worlds are played and by whom: options that `record` and `compete` share."""

    field: Annotated[
        str, typer.Option("--field", help="Their company: official, champions or penguins.")
    ] = "official"
    runs: Annotated[
        int, typer.Option(help="Worlds with the same players but another random state.")
    ] = 1
    competitors_per_world: Annotated[
        int | None,
        typer.Option(
            "--competitors-per-world",
            help="How many compete in one world. [default: 2 to 4; champions: all, at most 15]",
        ),
    ] = None
    max_worlds_per_config: Annotated[
        int | None,
        typer.Option(
            help="Of each configuration; at least as many as compete in one world. "
            "[default: each plays every slot once]"
        ),
    ] = None
    target_worlds: Annotated[
        int | None, typer.Option(help="How many worlds in all, instead of so many of each.")
    ] = None
    round_robin: Annotated[
        bool, typer.Option(help="Everybody plays equally often, or sets are drawn at random.")
    ] = True
    steps: Annotated[
        int | None,
        typer.Option(help="Days of every world. [default: 50 to 200, as in the league]"),
    ] = None
    track: TrackOption = "std"
    simulator: Annotated[
        str,
        typer.Option(
            help="engine: ours; scml: the real package, same worlds, much slower; batch: compiled, "
            "much faster, for the players it has, HRL and models."
        ),
    ] = "engine"
    conserve_stock: Annotated[
        bool,
        typer.Option("--conserve-stock", help="Production takes from stock; in scml it does not."),
    ] = False

    isolate: Annotated[
        bool,
        typer.Option(
            "--isolate", help="Play each world with agents of others in a process of its own."
        ),
    ] = False

    def rules(self) -> "Track":
        """Those of the track."""
        from understudy.games.scml.domain import track_named

        return track_named(self.track)

    def tournament(
        self, run: "Run", players: Sequence[str], configs: int, seed: int
    ) -> "Tournament":
        """These players, by name or as models of the run, in such worlds."""
        from understudy.games.scml.players.resolve import resolve_all
        from understudy.games.scml.tournament.design import (
            Tournament,
            design_named,
            simulator_named,
        )

        rules = self.rules()
        return Tournament(
            field=design_named(self.field),
            competitors=resolve_all(load("scml"), run, players, rules),
            track=rules,
            simulator=simulator_named(self.simulator),
            configs=configs,
            runs=self.runs,
            competitors_per_world=self.competitors_per_world,
            max_worlds_per_config=self.max_worlds_per_config,
            target_worlds=self.target_worlds,
            round_robin=self.round_robin,
            steps=self.steps,
            seed=seed,
            conserve_stock=self.conserve_stock,
        )


OF_THE_LEAGUE = Worlds()
