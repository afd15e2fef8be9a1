"""A game of two that is nothing but its `BatchedEnv`: all the rest is the same for every such game.

A recording holds what the players saw, could do and did, so that encoding it only leaves out the
moments in which nothing was to be chosen, and adds who decided and how the match ended for it.
Axes: N matches, two slots, F features, H heads, O options of all heads side by side.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data.arrays import Array
from understudy.data.players import PlayerRef
from understudy.data.results import both_sides, pair_results, results_of, win_rates
from understudy.data.runs import Run
from understudy.data.samples import Decisions, admitting, pack_legal, unpack_legal
from understudy.data.schema import Column, Table
from understudy.data.splits import splits_of
from understudy.pipeline.game import Awaited, Game, Played
from understudy.pipeline.pairings import Fixture

if TYPE_CHECKING:  # these take seconds to import
    from understudy.league.interface import League
    from understudy.learn.recipe import Recipe
    from understudy.learn.rl.acting.playout import Outcome
    from understudy.learn.rl.env import BatchedEnv, Observation
    from understudy.report.page import Panel

    class PlainEnv(BatchedEnv, Protocol):
        """Matches that tell what was chosen in them, by whomever."""

        chosen: "Array"
        """Int64 [N 2 H]: the options for the next step, or of the last one."""


_OUTLINE = (
    Column("match", pa.string(), "which match"),
    Column("seed", pa.int64(), "what it was drawn from"),
    Column("player_0", pa.string(), "who sat in slot 0"),
    Column("player_1", pa.string(), "who sat in slot 1"),
    Column("score", pa.float32(), "player 0's score, +1 won to -1 lost; not a number: unknown"),
    Column("steps", pa.int32(), "how long it took"),
    Column("ending", pa.string(), "ended by the rules, or cut short"),
)


def plain_game(
    *,
    name: str,
    about: str,
    players: Mapping[str, str],
    decisions: Decisions,
    make: "Callable[[int, float], PlainEnv]",
    recipes: "Callable[[], Mapping[str, Recipe]]",
    league: "Callable[[], League] | None" = None,
) -> Game:
    """A whole game; `players` are those that its matches can `script`, the expert first."""
    plain = _Plain(make, decisions, pair_results(name), *_recordings(name, decisions))
    return Game(
        name=name,
        about=about,
        players=players,
        recordings=(plain.matches, plain.steps),
        results=plain.results,
        samples=(decisions.table,),
        play=plain.play,
        encode=plain.encode,
        summarise=plain.summarise,
        recipes=recipes,
        panels=plain.panels,
        read_logs=plain.read_logs,
        league=league,
    )


def _recordings(name: str, decisions: Decisions) -> tuple[Table, Table]:
    """Matches in outline, and what was seen and done in them."""
    seen = {*decisions.features, *decisions.heads, "match", "step", "slot", "legal", "reward"}
    columns = tuple(column for column in decisions.table.columns if column.name in seen)
    made_by = f"understudy record {name}"
    return Table(name, "matches", 1, made_by, _OUTLINE), Table(
        name, "steps", decisions.table.version, made_by, columns
    )


@dataclass(frozen=True)
class _Plain:
    make: "Callable[[int, float], PlainEnv]"
    decisions: Decisions
    results: Table
    matches: Table
    steps: Table

    def play(self, fixture: Fixture) -> Played:
        """Play a match per seed, side by side; those that need not be kept in outline."""
        from understudy.learn.rl.acting.playout import Recorder, playout

        seeds = np.array(fixture.seeds, np.int64)
        game = self.make(len(seeds), 0.0)
        choosers = [self._chooser(ref, game, seeds) for ref in fixture.players]
        recorder = Recorder["Observation"](
            len(seeds) if fixture.keep is None else fixture.keep,
            lambda seen, which: (*(part[which] for part in seen), game.chosen[which]),
            lambda result, which: (result.reward[which],),
        )
        who = np.tile([0, 1], (len(seeds), 1))
        outcome = playout(game, seeds, who, choosers, see=game.observe, recorder=recorder)
        outline = self._outline(fixture, outcome)
        ids = np.array(outline["match"].to_pylist())
        return Played(
            both_sides(self.results, outline),
            {"matches": outline, "steps": self._steps_table(ids, *recorder.columns())},
        )

    def _chooser(
        self, ref: PlayerRef, game: "PlainEnv", seeds: Array
    ) -> "Callable[[Observation, Array, int], None]":
        """Lets a player choose in some matches; chance depends on seed, slot and step alone."""
        if ref.weights is None and ref.code is None:
            return lambda seen, which, slot: game.script(ref.name, which, slot)
        import torch

        from understudy.learn.policy import load_policy
        from understudy.learn.rl.acting.opponents import PolicyPlayer
        from understudy.learn.rl.acting.own_policy import OwnPolicy

        player: PolicyPlayer | OwnPolicy
        if ref.weights is None:
            assert ref.code is not None
            player = OwnPolicy(ref.code, self.decisions.heads)
        else:
            player = PolicyPlayer(load_policy(ref.weights, self.decisions), len(seeds), 2)
        rng = [[np.random.default_rng((seed, slot)) for seed in seeds] for slot in (0, 1)]
        heads = len(self.decisions.heads)
        if isinstance(player, PolicyPlayer) and player.remembers:
            for slot, draws in enumerate(rng):
                player.begin(np.arange(len(seeds)), slot, np.array([one.random() for one in draws]))

        def set_actions(seen: "Observation", which: Array, slot: int) -> None:
            uniform = np.stack([rng[slot][place].random(heads, np.float32) for place in which])
            slots = np.full(len(which), slot)
            shown = (part[which, slots] for part in seen)
            chosen = player.act(shown, torch.from_numpy(uniform), which, slots)
            game.set_actions(which, slots, chosen)

        return set_actions

    def _outline(self, fixture: Fixture, outcome: "Outcome") -> pa.Table:
        """One row per match."""
        one, other = (ref.name for ref in fixture.players)
        return self.matches.build(
            {
                "match": [f"{one}-{other}-{seed}" for seed in fixture.seeds],
                "seed": fixture.seeds,
                "player_0": [one] * len(fixture.seeds),
                "player_1": [other] * len(fixture.seeds),
                "score": outcome.score[:, 0],
                "steps": outcome.steps,
                "ending": np.where(outcome.truncated, "cut short", "ended by the rules"),
            }
        )

    def _steps_table(self, ids: Array, which: Array, step: Array, *parts: Array) -> pa.Table:
        """One row per match, step and player, in that order."""
        observation, legal, chosen = (part.reshape(-1, part.shape[2]) for part in parts[:3])
        decisions = self.decisions
        return self.steps.build(
            {
                "match": np.repeat(ids[which], 2),
                "step": np.repeat(step, 2),
                "slot": np.tile(np.array([0, 1], np.int8), len(which)),
                **dict(zip(decisions.features, observation.T, strict=True)),
                **dict(zip(decisions.heads, chosen.T, strict=True)),
                "legal": pack_legal(legal),
                "reward": parts[3].ravel(),
            }
        )

    def encode(
        self, recordings: Mapping[str, pa.Table], players: frozenset[str] | None
    ) -> dict[str, pa.Table]:
        """Samples of these players' decisions (None: everybody's)."""
        matches, steps = recordings["matches"], recordings["steps"]
        names = np.array([matches["player_0"].to_pylist(), matches["player_1"].to_pylist()])
        match = pc.index_in(steps["match"], value_set=matches["match"]).to_numpy()
        player = names[steps["slot"].to_numpy(), match]
        legal = unpack_legal(steps["legal"], self.decisions.options)
        wanted = legal.sum(1) > len(self.decisions.heads)  # there was something to choose
        if players is not None:
            wanted &= np.isin(player, list(players))
        (rows,) = wanted.nonzero()
        steps, match, player = steps.take(rows), match[rows], player[rows]
        choices = np.stack([steps[head].to_numpy() for head in self.decisions.heads], axis=1)
        legal, forbidden = admitting(self.decisions, legal[rows], choices)
        score = matches["score"].to_numpy()[match]
        splits = np.array(splits_of(map(str, matches["seed"].to_pylist())), object)
        table = self.decisions.table
        samples = table.build(
            {
                **{name: steps[name] for name in self.steps.arrow().names},
                "player": player,
                "split": splits[match],
                "legal": pack_legal(legal),
                "forbidden": forbidden,
                "outcome": np.where(steps["slot"].to_numpy() == 0, score, -score),
                "extras": pa.nulls(len(steps), pa.string()),
            }
        )
        return {table.name: samples}

    def summarise(
        self, recordings: Mapping[str, pa.Table], samples: Mapping[str, pa.Table]
    ) -> dict[str, float]:
        """Counts for the sanity summary; they add up over shards."""
        moves = samples[self.decisions.table.name]
        counts: dict[str, float] = {"matches": len(recordings["matches"]), "decisions": len(moves)}
        for name in ("split", "player", *self.decisions.heads):
            for row in pc.value_counts(moves[name]).to_pylist():
                counts[f"{name}/{row['values']}"] = row["counts"]
        counts["violations"] = int((moves["forbidden"].to_numpy() > 0).sum())
        return counts

    def read_logs(self, given: Path) -> Iterable[Awaited]:
        """Recordings from logs of other origin."""
        from understudy.games.two_player.logs import read_logs

        return read_logs(self.matches, self.steps, self.decisions, given)

    def panels(self, run: Run) -> "list[Panel]":
        """Who beats whom."""
        from understudy.report.run import strength_panel, trained_in

        trained = trained_in(run)
        found = results_of(run, self.results)
        return [strength_panel(name, win_rates(rows), trained) for name, rows in found.items()]
