"""Leagues of many factories: matches are paired comparisons, training jobs learn from them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from understudy.data.players import PlayerRef
from understudy.data.runs import WEIGHTS, Run
from understudy.games.scml.agent.checkpoint import read_checkpoint
from understudy.games.scml.agent.policy import CLONE, SHIPPED
from understudy.games.scml.game import GAME
from understudy.games.scml.league import recipes
from understudy.games.scml.league.duels import compared, duel, play_pairings
from understudy.games.scml.league.training import among_opponents, train
from understudy.games.scml.learning.online.fields import Company
from understudy.games.scml.learning.online.learner import LearnerSettings
from understudy.games.scml.learning.online.rollout_buffer import Played
from understudy.league.interface import LearnerJob, Opponent, Pairing
from understudy.league.matches import tallies
from understudy.league.rules import Overrides
from understudy.pipeline.league import league
from understudy.pipeline.league_training import MEMORY

COMPANY = Company(most_days=12)
SMALL = replace(
    recipes.SETTINGS,
    learner=LearnerSettings(epochs=1, batch_size=256, critic_hidden=32),
    company=COMPANY,
    worlds=3,
)


def folder_of(weights: Path, folder: Path) -> PlayerRef:
    folder.mkdir(parents=True)
    (folder / WEIGHTS).write_bytes(weights.read_bytes())
    return PlayerRef(folder.name, folder)


def job(out: Path, *opponents: Opponent, **changes: object) -> LearnerJob:
    hrl = PlayerRef("HRL")
    met = opponents or (Opponent(None, 0.5), Opponent(PlayerRef("Steward"), 0.5))
    given = {"name": "main-1", "agent_steps": 2_000, "seed": 4, **changes}
    return LearnerJob(start=hrl, imitation=hrl, opponents=met, out=out, **given)  # type: ignore[arg-type]


def test_the_factories_of_a_duel_lie_at_the_same_level() -> None:
    found = [duel(COMPANY, 10**18 + seed) for seed in range(60)]
    for one in found:
        levels = np.repeat(np.arange(len(one.layout.sizes)), one.layout.sizes)
        assert one.other != one.layout.mine
        assert levels[one.other] == levels[one.layout.mine]
        assert one.layout.days <= 12
    assert {one.layout.place for one in found} == {"first", "middle", "last"}
    assert len({one.layout.seed for one in found}) == 60
    assert duel(COMPANY, 10**18) == duel(COMPANY, 10**18)


def test_each_factory_is_a_match_between_what_both_made_of_it() -> None:
    players = PlayerRef("Steward"), PlayerRef("DoNothing")
    seeds = tuple(10**18 + k for k in range(4))
    rows = play_pairings([Pairing(players, seeds)], COMPANY).to_pylist()
    scores = compared(players, [duel(COMPANY, seed) for seed in seeds])
    assert len(rows) == 4 * len(seeds)
    for index, seed in enumerate(seeds):
        for factory in (0, 1):
            name = f"-{seed}-{factory}"
            own = {row["player"]: row for row in rows if row["match"].endswith(name)}
            gain = scores[factory, 0, index] - scores[factory, 1, index]
            assert own["Steward"]["score"] == pytest.approx(np.clip(gain, -1, 1), abs=1e-6)
            assert own["DoNothing"]["score"] == -own["Steward"]["score"]
            assert own["Steward"]["slot"] == factory
    counted = tallies(play_pairings([Pairing(players, seeds)], COMPANY))
    assert sum(tally.games for tally in counted.values()) == 2 * len(seeds)


def test_a_player_beside_its_equal_draws_every_match() -> None:
    twins = PlayerRef("Steward"), PlayerRef("TunedSteward")
    scores = compared((twins[0], twins[0]), [duel(COMPANY, 10**18 + k) for k in range(3)])
    assert np.array_equal(scores[:, 0], scores[:, 1])
    last = next(
        seed for seed in range(10**18, 10**19) if duel(COMPANY, seed).layout.place == "last"
    )
    # At the last level both play by the same numbers.
    found = play_pairings([Pairing(twins, (last,))], COMPANY).to_pylist()
    assert {row["score"] for row in found} == {0.0}


def test_a_training_job_learns_l3_alone_and_always_the_same(tmp_path: Path) -> None:
    found = [train(SMALL, job(tmp_path / name)) for name in "ab"]
    assert found[0] == found[1] and found[0].agent_steps >= 2_000
    one, other, start = (
        read_checkpoint(path)
        for path in (tmp_path / "a" / WEIGHTS, tmp_path / "b" / WEIGHTS, SHIPPED)
    )
    for layer, weights in one.layers.items():
        same = [np.array_equal(values, other.layers[layer][key]) for key, values in weights.items()]
        assert all(same)
        moved = any(
            not np.array_equal(values, start.layers[layer][key]) for key, values in weights.items()
        )
        assert moved == (layer == "l3")
    again = replace(job(tmp_path / "c"), start=PlayerRef("main-1", tmp_path / "a"))
    assert (tmp_path / "a" / MEMORY).is_file()
    assert train(SMALL, again).metrics != found[0].metrics


def test_only_an_exploiter_is_rewarded_for_being_above(tmp_path: Path) -> None:
    steward = Opponent(PlayerRef("Steward"), 1.0)
    played = read_checkpoint(SHIPPED)
    plain, rival = (
        among_opponents(SMALL, job(tmp_path, steward, overrides=Overrides(rivalry=how)), played, 0)
        for how in (0.0, 1.0)
    )
    assert np.array_equal(plain.scores, rival.scores)
    mine = plain.scores[plain.played.world]
    assert plain.final == pytest.approx(mine)
    beside = plain.final - rival.final
    # One number for each world: the score of whoever sits beside the learner.
    assert all(len(set(beside[plain.played.world == k].round(9))) == 1 for k in range(3))
    assert np.abs(beside).max() > 0.1


def test_opponents_sit_where_they_were_drawn(tmp_path: Path) -> None:
    clone = folder_of(CLONE, tmp_path / "clone")
    start = read_checkpoint(SHIPPED)
    alone = among_opponents(SMALL, job(tmp_path, Opponent(clone, 1.0)), start, 0)
    itself = among_opponents(SMALL, job(tmp_path, Opponent(None, 1.0)), start, 0)

    def seats(played: Played) -> set[tuple[int, int]]:
        return {*zip(played.world.tolist(), played.factory.tolist(), strict=True)}

    factories = seats(alone.played)
    assert len(factories) == SMALL.worlds
    assert (
        seats(itself.played) > factories
    )  # the learner plays its rivals, too, and learns from them


@pytest.mark.slow
def test_a_whole_league_is_run_and_measured(tmp_path: Path) -> None:
    tiny = recipes.sized("tiny", 2, 900, 4)
    small = recipes.league_of(SMALL, {"tiny": replace(tiny, exploiter_steps=300)})
    game = replace(GAME, league=lambda: small)
    summary = league(game, Run(tmp_path), "tiny", worker=0)
    names = {one["name"] for one in summary["players"]}
    assert {"HRL", "Steward", "TunedSteward", "Penguin", "AS0"} < names
    assert any(name.startswith("main-") for name in names)
    assert 0 <= summary["best_response"]["main"]["mean"] <= 1
