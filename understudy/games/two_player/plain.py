"""A game of two that is nothing but its `BatchedEnv`: all the rest is the same for every such game.

A recording holds what the players saw, could do and did, so that encoding it only leaves out the
moments in which nothing was to be chosen, and adds who decided and how the match ended for it.
Axes: N matches, two slots, F features, H heads, O options of all heads side by side.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
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
    from understudy.league.interface import League, Pairing
    from understudy.learn.recipe import Recipe
    from understudy.learn.rl.acting.crowd import Crowd
    from understudy.learn.rl.acting.opponents import PolicyPlayer
    from understudy.learn.rl.acting.own_policy import OwnPolicy
    from understudy.learn.rl.acting.playout import Outcome
    from understudy.learn.rl.env import BatchedEnv, Observation
    from understudy.pipeline.game import Live
    from understudy.report.page import Panel

    class PlainEnv(BatchedEnv, Protocol):
        """Matches that tell what was chosen in them, by whomever."""

        chosen: "Array"
        """Int64 [N 2 H]: the options for the next step, or of the last one."""

    Chooser = Callable[[Observation, Array, int], None]


AT_ONCE = 512
"""Matches of a league that are played side by side: environments of others are made for each."""
_AHEAD = 32
"""Steps for which chance is drawn at once."""
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
    plain = Plain(make, decisions, pair_results(name), *_recordings(name, decisions))
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
        replay=plain.replay,
        live=plain.live,
        read_logs=plain.read_logs,
        league=None if league is None else partial(plain.league, league),
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
class Plain:
    """A game of two by its environment and its decisions."""

    make: "Callable[[int, float], PlainEnv]"
    decisions: Decisions
    results: Table
    matches: Table
    steps: Table

    def play(self, fixture: Fixture) -> Played:
        """Play a match per seed, side by side; those that need not be kept in outline."""
        one, other = fixture.players
        return self._play([(one, other, seed) for seed in fixture.seeds], fixture.keep)

    def league(self, made: "Callable[[], League]") -> "League":
        """The game's own, whose pairs are played many at once unless it says otherwise."""
        found = made()
        return found if found.play else replace(found, play=self.play_pairings)

    def play_pairings(self, pairings: "Sequence[Pairing]") -> pa.Table:
        """Many pairs at once: a player decides for all its matches together, whoever it meets."""
        seats = [
            (*pair, seed)
            for pairing in pairings
            for pair in (pairing.players, pairing.players[::-1])
            for seed in pairing.seeds
        ]
        parts = [seats[at : at + AT_ONCE] for at in range(0, len(seats), AT_ONCE)]
        tables = [self._play(part, 0).results for part in parts]
        return pa.concat_tables([self.results.arrow().empty_table(), *tables])

    def _play(
        self, seats: "Sequence[tuple[PlayerRef, PlayerRef, int]]", keep: int | None
    ) -> Played:
        """Matches of two and a seed, side by side to their end."""
        from understudy.learn.rl.acting.playout import Recorder, playout

        everybody = list(dict.fromkeys(one for *both, _ in seats for one in both))
        number = {one: place for place, one in enumerate(everybody)}
        who = np.array([[number[one], number[other]] for one, other, _ in seats])
        seeds = np.array([seed for *_, seed in seats], np.int64)
        game = self.make(len(seeds), 0.0)
        choosers, who = self._choosers(everybody, who, game, seeds)
        recorder = Recorder["Observation"](
            len(seeds) if keep is None else keep,
            lambda seen, which: (*(part[which] for part in seen), game.chosen[which]),
            lambda result, which: (result.reward[which],),
        )
        outcome = playout(game, seeds, who, choosers, see=game.observe, recorder=recorder)
        outline = self.outline(seats, outcome)
        ids = np.array(outline["match"].to_pylist())
        return Played(
            both_sides(self.results, outline),
            {"matches": outline, "steps": self.steps_table(ids, *recorder.columns())},
        )

    def _choosers(
        self, everybody: "Sequence[PlayerRef]", who: Array, game: "PlainEnv", seeds: Array
    ) -> "tuple[list[Chooser], Array]":
        """Those of all players, and whose each seat [N 2] is: who can chooses as one crowd."""
        refs = {place: ref for place, ref in enumerate(everybody) if ref.weights is not None}
        players, seats = self._trained(refs, who) if refs else ({}, who)
        return [
            self._choosing(players[place], game, seeds, seats == place)
            if place in players
            else self.chooser(ref, game, seeds, seats == place)
            for place, ref in enumerate(everybody)
        ], seats

    def _trained(
        self, refs: "Mapping[int, PlayerRef]", who: Array
    ) -> "tuple[dict[int, PolicyPlayer | Crowd], Array]":
        from understudy.learn.policy import load_policy
        from understudy.learn.rl.acting.crowd import crowded

        weights = {place: ref.weights for place, ref in refs.items() if ref.weights is not None}
        loaded = {place: load_policy(path, self.decisions) for place, path in weights.items()}
        return crowded(loaded, who)

    def chooser(self, ref: PlayerRef, game: "PlainEnv", seeds: Array, sits: Array) -> "Chooser":
        """Lets a player choose where it sits [N 2]."""
        if ref.weights is not None:
            players, _ = self._trained({1: ref}, sits.astype(int))
            return self._choosing(players[1], game, seeds, sits)
        if ref.code is None:
            return lambda seen, which, slot: game.script(ref.name, which, slot)
        from understudy.learn.rl.acting.own_policy import OwnPolicy

        return self._choosing(OwnPolicy(ref.code, self.decisions.heads), game, seeds, sits)

    def _choosing(
        self,
        player: "PolicyPlayer | OwnPolicy | Crowd",
        game: "PlainEnv",
        seeds: Array,
        sits: Array,
    ) -> "Chooser":
        """Chance depends on seed, slot and step alone."""
        import torch

        from understudy.learn.rl.acting.opponents import PolicyPlayer

        rng = [
            {place: np.random.default_rng((seeds[place], slot)) for place in np.flatnonzero(here)}
            for slot, here in enumerate(sits.T)
        ]
        heads = len(self.decisions.heads)
        if isinstance(player, PolicyPlayer) and player.remembers:
            for slot, draws in enumerate(rng):
                lots = np.array([one.random() for one in draws.values()])
                player.begin(np.array([*draws], np.int64), slot, lots)

        drawn, steps = np.zeros((2, len(seeds), _AHEAD, heads), np.float32), [0, 0]

        def uniform(which: Array, slot: int) -> Array:
            at = steps[slot] % _AHEAD
            for place in which if at == 0 else ():
                drawn[slot, place] = rng[slot][place].random((_AHEAD, heads), np.float32)
            steps[slot] += 1
            return drawn[slot, which, at]

        def set_actions(seen: "Observation", which: Array, slot: int) -> None:
            slots = np.full(len(which), slot)
            shown = (part[which, slots] for part in seen)
            chosen = player.act(shown, torch.from_numpy(uniform(which, slot)), which, slots)
            game.set_actions(which, slots, chosen)

        return set_actions

    def outline(
        self, seats: "Sequence[tuple[PlayerRef, PlayerRef, int]]", outcome: "Outcome"
    ) -> pa.Table:
        """One row per match."""
        return self.matches.build(
            {
                "match": [f"{one.name}-{other.name}-{seed}" for one, other, seed in seats],
                "seed": [seed for *_, seed in seats],
                "player_0": [one.name for one, *_ in seats],
                "player_1": [other.name for _, other, _ in seats],
                "score": outcome.score[:, 0],
                "steps": outcome.steps,
                "ending": np.where(outcome.truncated, "cut short", "ended by the rules"),
            }
        )

    def steps_table(self, ids: Array, which: Array, step: Array, *parts: Array) -> pa.Table:
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
            found = pc.value_counts(moves[name]).to_pylist()
            if name in self.decisions.heads:
                found.sort(key=lambda row: row["values"])
            counts |= {f"{name}/{row['values']}": row["counts"] for row in found}
        counts["violations"] = int((moves["forbidden"].to_numpy() > 0).sum())
        return counts

    def live(self) -> "Live":
        """How a person plays it: turn by turn, among the options that it has."""
        from understudy.games.two_player.live import plain_live

        return plain_live(self)

    def replay(self, run: Run, match: str) -> str:
        """A page of one recorded match."""
        from understudy.games.two_player.replay import match_page

        return match_page(self, run, match)

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
