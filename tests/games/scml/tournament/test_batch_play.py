"""Tournaments in the compiled simulator: the same tables, from the same games."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow.compute as pc
import pytest

from understudy.data.players import PlayerRef
from understudy.data.runs import WEIGHTS
from understudy.errors import InputError
from understudy.games.scml.agent.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from understudy.games.scml.agent.policy import CLONE, CLONES, SHIPPED
from understudy.games.scml.batch.learnt.policy import ManyDecisions
from understudy.games.scml.engine.config import draw
from understudy.games.scml.engine.world import World
from understudy.games.scml.players import catalogue
from understudy.games.scml.recording.days import day_ledger
from understudy.games.scml.recording.recorder import Recorder, recorded
from understudy.games.scml.recording.safety_audit import safety_audit
from understudy.games.scml.reference.dice import dice_thrown, rolling
from understudy.games.scml.reference.verify_batch import DicedHRL, diced
from understudy.games.scml.tournament import batch_play
from understudy.games.scml.tournament.batch_play import check_playable, dice_seed, prepare
from understudy.games.scml.tournament.design import Tournament, WorldPlan
from understudy.games.scml.tournament.play import play

NAMES = ("Greedy", "Penguin", "SyncRandom", "TunedSteward", "AS0", "Random")


def plan(number, **changed):
    sizes = ((2, 3), (3, 2, 2))[number % 2]
    players = tuple(PlayerRef(NAMES[(number + i) % len(NAMES)]) for i in range(sum(sizes)))
    return WorldPlan(
        match=f"m{number}",
        field="test",
        track="std",
        factories_per_level=sizes,
        steps=25,
        seed=50 + number,
        run=number,
        players=players,
        slots=(0,),
        simulator="batch",
        conserve_stock=number == 2,
        **changed,
    )


def hosted(one):
    """The same world in the hosting engine, with the same dice."""
    config = draw(one.factories_per_level, one.steps, one.seed, one.track)
    kinds = [
        diced(ref.name, one.track)
        if ref.weights is None
        else type("Model", (DicedHRL,), {"checkpoint": ref.weights})
        for ref in one.players
    ]
    with dice_thrown(dice_seed(one), len(kinds)):
        players = [(kind, {}) for kind in rolling(kinds)]
        return World(config, players, conserve_stock=one.conserve_stock).run()


def check_results(plans):
    """The rows of `results`, once they are seen to be those of the hosting engine."""
    rows = play(plans).results.to_pylist()
    for one in plans:
        own, world = [row for row in rows if row["match"] == one.match], hosted(one)
        assert [row["score"] for row in own] == [factory.score for factory in world.factories]
        assert [row["player"] for row in own] == [ref.name for ref in one.players]
        contracts = world.ledger.contracts
        days = day_ledger(world.config, contracts, one.conserve_stock)
        audits = safety_audit(world.config, contracts, days, one.conserve_stock)
        for row, audit in zip(own, audits, strict=True):
            assert {name: row[name] for name in audit._fields} == audit._asdict()
    return rows


def test_results_are_those_of_the_hosting_engine_audit_and_all():
    rows = check_results([plan(number) for number in range(4)])
    assert sum(row["agreements"] for row in rows) > 100


def model(folder, **changed):
    """The folder of a trained model: the shipped weights, drawn from otherwise."""
    shipped = read_checkpoint(SHIPPED)
    about = replace(shipped.about, **changed)
    write_checkpoint(folder / WEIGHTS, Checkpoint(shipped.layers, about))
    return PlayerRef(folder.name, folder)


def by_field(folder):
    """The same of a model that has other weights for a first level with thrifty buyers."""
    own, other = read_checkpoint(CLONE), read_checkpoint(CLONES["HorizonAwareClone"])
    write_checkpoint(folder / WEIGHTS, own.with_thrifty(other))
    return PlayerRef(folder.name, folder)


@pytest.mark.parametrize("track", ["std", "oneshot"])
def test_learnt_players_decide_as_hosted_ones(tmp_path, track):
    """Weights of the package and a model's, beside each other and native players, in one batch."""
    learnt = [PlayerRef("HRL")]
    if track == "std":
        learnt += [
            model(tmp_path / "warm", response_temperature=0.7),
            *map(PlayerRef, CLONES),
        ]
    native = map(PlayerRef, catalogue.BACKGROUND_AGENTS[track])
    among = [*learnt, PlayerRef("L1"), *native]
    plans = [plan(number) for number in (0, 1, 2, 4)]
    if track == "oneshot":
        plans = [replace(one, factories_per_level=(2, 3), conserve_stock=False) for one in plans]
    plans = [
        replace(
            one,
            track=track,
            players=tuple(
                among[(one.run + i) % len(among)] for i in range(sum(one.factories_per_level))
            ),
        )
        for one in plans
    ]
    rows = check_results(plans)
    for ref in learnt:
        assert sum(row["agreements"] for row in rows if row["player"] == ref.name) > 10
    assert any(one.conserve_stock for one in plans) == (track == "std")


@pytest.mark.parametrize("rivals", [("Greedy", "SyncRandom"), ("Penguin", "AS0")])
def test_weights_by_field_change_on_the_same_days_as_hosted_ones(tmp_path, monkeypatch, rivals):
    """Among built-ins buyers ask for much sooner or later, among champions hardly ever."""
    among, asked = (by_field(tmp_path / "both"), *map(PlayerRef, rivals)), Counter[bool]()
    numbers, answer = (0, 2, 3), ManyDecisions.answer
    plans = [
        replace(one, players=tuple(among[i % 3] for i in range(sum(one.factories_per_level))))
        for one in map(plan, numbers)
    ]

    def counted(self, fixed, state, waiting):
        asked[self.policy.thrifty is None] += len(waiting)
        answer(self, fixed, state, waiting)

    monkeypatch.setattr(ManyDecisions, "answer", counted)
    check_results(plans)
    all_, thrifty = asked[False], asked[True]
    assert all_ > thrifty > 0


def test_each_model_plays_by_its_own_weights(tmp_path):
    """One policy in all seats; then half of them are a model that differs in its draws."""
    cold = model(tmp_path / "cold", offer_temperature=0.0)
    hrl = replace(plan(0), players=(PlayerRef("HRL"),) * 5)
    both = replace(hrl, players=(PlayerRef("HRL"), cold) * 2 + (cold,))
    alone, mixed = (play([one]).results["score"].to_pylist() for one in (hrl, both))
    assert alone != mixed
    check_results([both])


def decisions_live(one):
    """What the recorder writes of the same world in the hosting engine, with the same dice."""
    config = draw(one.factories_per_level, one.steps, one.seed, one.track)
    recorder, kinds = Recorder(len(one.players)), [diced(ref.name, "std") for ref in one.players]
    seats = [seat for seat, ref in enumerate(one.players) if ref.name in (one.watched or NAMES)]
    with dice_thrown(dice_seed(one), len(kinds)):
        players = [(kind, {}) for kind in recorded(rolling(kinds), recorder, seats)]
        World(config, players, conserve_stock=one.conserve_stock).run()
    contracts = hosted(one).ledger.contracts
    days = day_ledger(config, contracts, one.conserve_stock)
    return contracts, recorder.table(one.match, config, days.ranges)


def test_recorded_worlds_are_those_of_the_hosting_recorder_decisions_and_all():
    plans = [plan(0), plan(1, recorded=False), plan(3, watched=frozenset({"AS0", "Greedy"}))]
    written = play(plans).recordings
    assert {row["match"] for row in written["days"].to_pylist()} == {"m0", "m3"}
    for one in (plans[0], plans[2]):
        contracts, decisions = decisions_live(one)
        assert decisions.num_rows > 500
        of_world = {
            name: table.filter(pc.equal(table["match"], one.match))
            for name, table in written.items()
        }
        assert of_world["contracts"].num_rows == len(contracts)
        assert of_world["decisions"].equals(decisions)


def test_more_decisions_than_there_is_room_for_are_no_recording(monkeypatch):
    monkeypatch.setattr(batch_play, "DECISIONS_A_DAY", 10)
    with pytest.raises(RuntimeError, match="decisions at once, there is room for 10"):
        play([plan(0)])


def test_a_world_does_not_depend_on_those_beside_it():
    alone = play([plan(3)]).results["score"].to_numpy()
    among = play([plan(0), plan(3), plan(2)]).results
    chosen = np.array(among["match"].to_pylist()) == "m3"
    assert (among["score"].to_numpy()[chosen] == alone).all()
    other = play([replace(plan(3), run=9)]).results["score"].to_numpy()
    assert (other != alone).any()


def test_strangers_are_refused_with_the_reason(tmp_path):
    with pytest.raises(InputError, match="HorizonAware cannot play in the compiled simulator"):
        check_playable([PlayerRef("Penguin"), PlayerRef("HorizonAware")], "std")
    with pytest.raises(InputError, match="nobody can look on"):
        check_playable([PlayerRef("warm+Steward", tmp_path)], "std")
    with pytest.raises(InputError, match="there are no weights"):
        check_playable([PlayerRef("gone", tmp_path)], "std")
    with pytest.raises(InputError, match="a horizon of 10 days, not 0"):
        check_playable([model(tmp_path / "std")], "oneshot")
    with pytest.raises(InputError, match="--trace tells of agents"):
        play([plan(0, trace=tmp_path / "trace.jsonl")])


def test_a_tournament_is_refused_before_its_first_world():
    strange = PlayerRef("HorizonAware"), PlayerRef("HRL")
    with pytest.raises(InputError, match="HorizonAware cannot play"):
        prepare(Tournament(field="official", competitors=strange, configs=1, simulator="batch"))
    fit = PlayerRef("Penguin"), PlayerRef("HRL")
    prepare(Tournament(field="official", competitors=fit, configs=1, simulator="batch"))
