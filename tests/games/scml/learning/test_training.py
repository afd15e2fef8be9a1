"""Training the layers of HRL-XF: small, resumable, and what it learns from adds up."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
import torch
from safetensors.torch import load_file

from tests.games.scml.memories import PLAN
from tests.learn.fitting import fit
from tests.small_runs import contents, understudy
from understudy import games
from understudy.data.files import digest
from understudy.data.players import PlayerRef
from understudy.data.runs import WEIGHTS, Run, read_manifest
from understudy.data.shards import read_shard, shard_path, shard_paths, write_shard
from understudy.data.splits import SPLITS
from understudy.errors import InputError
from understudy.games.scml.agent.checkpoint import joined, read_checkpoint
from understudy.games.scml.agent.numpy_networks import Goals
from understudy.games.scml.agent.policy import HRLPolicy
from understudy.games.scml.learning import dagger, rewards
from understudy.games.scml.learning.backfill import fill_goals
from understudy.games.scml.learning.dataset import lists, round_reader
from understudy.games.scml.learning.encode import encode
from understudy.games.scml.learning.l3 import OfferRecipe
from understudy.games.scml.learning.l4 import MAX_NEGOTIATIONS, decision_reader
from understudy.games.scml.learning.layer_recipe import GOALS_FILE
from understudy.games.scml.learning.samples import DAY_START_SAMPLES, RISK_NOTE, ROUND_SAMPLES
from understudy.games.scml.recipes import RECIPES
from understudy.games.scml.tournament import play
from understudy.games.scml.view import columns as p
from understudy.games.scml.view.from_recording import Recording
from understudy.learn import metrics_log
from understudy.learn.base import read_evaluation
from understudy.learn.metrics_log import read_metrics
from understudy.learn.recipe import TrainingJob, TrainOptions
from understudy.pipeline import train as train_stage
from understudy.report.run import run_panels

PLAYERS = ("Steward", "Greedy", "SyncRandom")


@pytest.fixture(autouse=True)
def no_tensorboard(monkeypatch):
    monkeypatch.setattr(metrics_log, "tensorboard", lambda folder, step: None)


@pytest.fixture(scope="module")
def recordings():
    players = tuple(PlayerRef(PLAYERS[(k + k // 3) % 3]) for k in range(9))
    return play.play([replace(PLAN, players=players, steps=20)]).recordings


@pytest.fixture(scope="module")
def samples(recordings, tmp_path_factory):
    """Samples of one world, said to be of each split."""
    folder = tmp_path_factory.mktemp("run") / "samples"
    for number, split in enumerate(SPLITS):
        for name, table in encode(recordings, frozenset({"Steward"})).items():
            index = table.schema.get_field_index("split")
            words = pa.array([split] * len(table))
            told = table.set_column(index, table.schema.field("split"), words)
            schema = ROUND_SAMPLES if name == "rounds" else DAY_START_SAMPLES
            write_shard(shard_path(folder, schema, f"{number:05d}"), told)
    return folder


def small(recipe, steps=12):
    return replace(
        recipe, steps=steps, batch_size=64, evaluate_every=4, checkpoint_every=4, warmup=2
    )


L3 = small(replace(RECIPES["l3"], hidden=(32, 32), width=16))
WHOLE = replace(RECIPES["hrl-xf"], l2=small(RECIPES["l2"]), l3=L3, l4=small(RECIPES["l4"]))


class StoppedError(Exception):
    pass


def stop_at(step):
    def progress(now, steps, metrics):
        if now == step:
            raise StoppedError

    return progress


# --- recipes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["l2", "l2-intent", "l3", "l3-direct", "l4"])
def test_every_layer_learns_something(samples, tmp_path, name):
    recipe = replace(small(RECIPES[name], steps=60), learning_rate=3e-3, evaluate_every=20)
    if name.startswith("l3"):
        recipe = replace(recipe, hidden=(32, 32), width=16)
    found = fit(recipe, samples, tmp_path / name, seed=0)
    lines = read_metrics(tmp_path / name)
    assert found["test"]["loss"] < 0.8 * lines[0]["train/loss"]
    assert read_evaluation(tmp_path / name) == found
    assert recipe.layer in read_checkpoint(tmp_path / name).layers


def test_the_whole_order_can_be_stopped_anywhere(samples, tmp_path):
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    evaluation = fit(WHOLE, samples, whole, seed=1)
    for step in (5, 17, 30):  # in the first, second and third layer
        with pytest.raises(StoppedError):
            fit(WHOLE, samples, stopped, seed=1, progress=stop_at(step))
    again = fit(WHOLE, samples, stopped, seed=1)
    one, other = (load_file(folder / "weights.safetensors") for folder in (whole, stopped))
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert again["test"] == evaluation["test"]
    assert set(read_checkpoint(whole).layers) == {"l2", "l3", "l4"}
    assert read_checkpoint(whole).about.goals
    HRLPolicy(read_checkpoint(whole))


def oneshot_samples(split):
    """Of one world of the other track."""
    players = tuple(PlayerRef(("Greedy", "EqualDist")[k % 2]) for k in range(6))
    other = replace(PLAN, track="oneshot", factories_per_level=(3, 3), players=players, steps=12)
    found = encode(play.play([other]).recordings, frozenset({"EqualDist"}))
    for name, table in found.items():
        index = table.schema.get_field_index("split")
        words = pa.array([split] * len(table))
        yield name, table.set_column(index, table.schema.field("split"), words)


def add_oneshot(folder, splits=SPLITS):
    for split in splits:
        for name, table in oneshot_samples(split):
            schema = ROUND_SAMPLES if name == "rounds" else DAY_START_SAMPLES
            write_shard(shard_path(folder, schema, f"oneshot-{split}"), table)


@pytest.mark.parametrize("name", ["l2", "l3", "l4"])
def test_a_model_knows_the_horizons_it_was_trained_on(samples, tmp_path, name):
    recipe = L3 if name == "l3" else small(RECIPES[name])
    recipe = replace(recipe, steps=4, players=None)
    both, short, val_only = (tmp_path / run / "samples" for run in ("both", "short", "val"))
    shutil.copytree(samples, both)
    shutil.copytree(samples, val_only)
    add_oneshot(both)
    add_oneshot(short)
    add_oneshot(val_only, ["val"])
    cases = (samples, (10,)), (both, (0, 10)), (short, (0,)), (val_only, (10,))
    for number, (folder, horizons) in enumerate(cases):
        fit(recipe, folder, tmp_path / f"{number}", seed=0)
        assert read_checkpoint(tmp_path / f"{number}").about.horizons == horizons
    only = replace(recipe, players=("EqualDist",))
    fit(only, both, tmp_path / "only", seed=0)
    assert read_checkpoint(tmp_path / "only").about.horizons == (0,)


def test_a_model_trained_on_oneshot_plays_it_and_nothing_else(tmp_path):
    add_oneshot(tmp_path / "samples")
    fit(WHOLE, tmp_path / "samples", tmp_path / "model", seed=0)
    refs = (PlayerRef("x", tmp_path / "model"), PlayerRef("Greedy"))
    std = replace(PLAN, factories_per_level=(2, 2), players=refs * 2, steps=6)
    results = play.play([replace(std, track="oneshot")]).results
    assert not results["faults"].to_numpy().any()
    with pytest.raises(InputError, match="a horizon of 0 days, not 10"):
        play.play([std])


def test_training_goes_on_from_given_weights(samples, tmp_path):
    fit(L3, samples, tmp_path / "l3", seed=0)
    on = replace(L3, init=tmp_path / "l3", learning_rate=1e-9)
    fit(on, samples, tmp_path / "on", seed=0)
    one, other = (read_checkpoint(tmp_path / name).layers["l3"] for name in ("l3", "on"))
    # What was trained before is where it begins, and with no rate to speak of where it ends.
    last = load_file(tmp_path / "on" / "last.safetensors")
    assert all(np.allclose(one[name], other[name], atol=1e-6) for name in one)
    assert all(np.allclose(one[name], last[f"l3.{name}"].numpy(), atol=1e-6) for name in one)
    run = Run(samples.parent)
    assert L3.inputs(run)["weights"] == []
    assert on.inputs(run)["weights"] == [tmp_path / "l3" / WEIGHTS]


def test_weights_that_know_goals_need_samples_that_do(samples, tmp_path):
    fit(WHOLE, samples, tmp_path / "hrl-xf", seed=0)
    on = replace(L3, init=tmp_path / "hrl-xf")
    with pytest.raises(InputError, match="understudy encode scml --goals"):
        fit(on, samples, tmp_path / "on", seed=0)
    fit(on, tmp_path / "hrl-xf" / "samples", tmp_path / "on", seed=0)
    assert read_checkpoint(tmp_path / "on").about.goals


def test_advantage_weights_go_on_from_l3_or_say_so(samples, tmp_path):
    awr = replace(L3, kind="awr", start="l3")
    run = Run(tmp_path)
    shutil.copytree(samples, run.samples)
    for ask in (awr.inputs, lambda run: fit(awr, run.samples, run.model("l3-awr"))):
        with pytest.raises(InputError, match="Train them: understudy train scml l3; or name"):
            ask(run)
    fit(L3, run.samples, run.model("l3"))
    assert awr.inputs(run)["weights"] == [run.model("l3") / WEIGHTS]
    assert fit(awr, run.samples, run.model("l3-awr"))["steps"] == L3.steps


@pytest.fixture(scope="module")
def trained(samples, tmp_path_factory):
    """A run with samples and a small HRL-XF."""
    run = Run(tmp_path_factory.mktemp("trained"))
    shutil.copytree(samples, run.samples)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metrics_log, "tensorboard", lambda folder, step: None)
        fit(WHOLE, run.samples, run.model("hrl-xf"))
    return run


@pytest.fixture
def run(trained, tmp_path):
    """The same, to spoil."""
    shutil.copytree(trained.folder, tmp_path / "run")
    return Run(tmp_path / "run")


def test_layers_trained_apart_are_joined_as_trained_together(run):
    whole = run.model("hrl-xf")
    done = understudy(f"join scml {whole}/l2 {whole}/l3 {whole}/l4 --name apart", "-o", run.folder)
    assert (done.code, done.err) == (0, "")
    assert f"compete scml apart Penguin --out {run.folder}" in done.out
    assert (run.model("apart") / WEIGHTS).read_bytes() == (whole / WEIGHTS).read_bytes()
    assert read_manifest(run.model("apart"))["finished"]


def test_layers_not_made_for_each_other_are_not_joined(run):
    l2, l3, l4 = (read_checkpoint(run.model("hrl-xf") / name) for name in ("l2", "l3", "l4"))
    assert set(joined(l2, l3, l4).layers) == {"l2", "l3", "l4"}
    other = {name: values + 1 for name, values in l2.layers["l2"].items()}
    with pytest.raises(InputError, match="goals of another L2"):
        joined(replace(l2, layers={"l2": other}), l3, l4)
    with pytest.raises(InputError, match="L3 learnt without goals"):
        joined(l2, replace(l3, about=replace(l3.about, goals=False)), l4)
    with pytest.raises(InputError, match="different horizons"):
        joined(l2, l3, replace(l4, about=replace(l4.about, horizons=(0,))))
    with pytest.raises(InputError, match="different risks"):
        joined(l2, l3, replace(l4, about=replace(l4.about, risk=0.5)))
    with pytest.raises(InputError, match="lack layer l2"):
        joined(l4, l3, l4)


def test_layers_say_the_risk_of_their_samples(recordings, samples, tmp_path):
    risky = tmp_path / "samples"
    for path in samples.glob("*.parquet"):
        table = ROUND_SAMPLES if path.name.startswith("rounds") else DAY_START_SAMPLES
        rows = read_shard(path, table)
        noted = rows.replace_schema_metadata({**rows.schema.metadata, RISK_NOTE: "0.3"})
        write_shard(risky / path.name, noted)
    for name, recipe in (("l2", small(RECIPES["l2"])), ("l3", L3), ("l4", small(RECIPES["l4"]))):
        fit(recipe, risky, tmp_path / name)
        assert read_checkpoint(tmp_path / name).about.risk == 0.3
    with pytest.raises(
        InputError, match=r"risk of 0\.3, the samples have 0\..*--risk 0\.3 --fresh"
    ):
        fit(replace(RECIPES["dagger"], init=tmp_path / "l3"), samples, tmp_path / "dagger")
    shutil.copy(samples / "rounds-00000.parquet", risky / "rounds-00000.parquet")
    with pytest.raises(InputError, match=r"different risks, 0 and 0\.3"):
        fit(L3, risky, tmp_path / "mixed")


def test_a_trained_agent_is_judged_again_layer_by_layer(run):
    known = json.loads((run.model("hrl-xf") / "evaluation.json").read_text())
    job = TrainingJob(run=run, out=run.model("hrl-xf"))
    for split in ("val", "test"):
        found = WHOLE.judge(job, split)
        assert found[split] == known[split]
        for name, layer in known["layers"].items():
            assert found["layers"][name] == {split: layer[split]}


def test_the_whole_begins_with_given_weights(run, tmp_path):
    still = {"learning_rate": 1e-12, "steps": 1}
    parts = {name: replace(getattr(WHOLE, name), **still) for name in ("l2", "l3", "l4")}
    on = replace(WHOLE, **parts, init=run.model("hrl-xf"))
    assert on.inputs(run)["weights"] == [run.model("hrl-xf") / WEIGHTS]
    fit(on, run.samples, run.model("on"))
    before, after = (read_checkpoint(run.model(name)).layers for name in ("hrl-xf", "on"))
    for layer, weights in before.items():
        for name, values in weights.items():
            assert np.allclose(values, after[layer][name], atol=1e-6), (layer, name)


def test_l3_that_goes_on_keeps_the_other_layers(run):
    before = read_checkpoint(run.model("hrl-xf"))
    fill_goals(run.samples, run.samples, run.model("hrl-xf"))
    awr = replace(L3, kind="awr", init=run.model("hrl-xf"))
    assert awr.inputs(run)["goals"] == [run.samples / GOALS_FILE]
    fit(awr, run.samples, run.model("l3-awr"))
    for name in (WEIGHTS, "last.safetensors"):
        after = read_checkpoint(run.model("l3-awr") / name)
        assert set(after.layers) == {"l2", "l3", "l4"} and after.about.goals
        for layer in ("l2", "l4"):
            for key, values in before.layers[layer].items():
                np.testing.assert_array_equal(after.layers[layer][key], values)
        changed = [
            key
            for key, values in before.layers["l3"].items()
            if (after.layers["l3"][key] != values).any()
        ]
        assert changed


def test_each_layers_curves_are_in_the_report(trained):
    titles = [panel.title for panel in run_panels(trained, [])]
    for layer in ("l2", "l3", "l4"):
        assert f"hrl-xf / {layer}: loss" in titles
    assert "hrl-xf: loss" not in titles


# --- what a manifest says ------------------------------------------------------------------------


@pytest.fixture
def no_training(monkeypatch):
    """Only what is done before and after."""
    for kind in (OfferRecipe, dagger.DaggerRecipe):
        monkeypatch.setattr(kind, "fit", lambda self, job: {"steps": 0})


@pytest.mark.parametrize("name", ["l3-awr", "dagger"])
def test_the_weights_it_began_with_are_named_and_must_stay(run, name, no_training):
    scml = games.load("scml")
    shutil.copytree(run.model("hrl-xf") / "l3", run.model("l3"))
    train_stage.train(scml, run, name)
    inputs = read_manifest(run.model(name))["inputs"]
    weights = run.model("l3") / WEIGHTS
    assert inputs["models/l3/weights.safetensors"] == digest(weights)
    assert {"samples/rounds-00000.parquet"} <= inputs.keys()
    train_stage.train(scml, run, name)  # nothing has changed: it goes on
    shutil.copy(run.model("hrl-xf") / WEIGHTS, weights)
    with pytest.raises(InputError, match="holds other work: its inputs have changed since"):
        train_stage.train(scml, run, name)


def test_weights_from_elsewhere_are_named_and_must_stay(run, tmp_path, no_training):
    scml, elsewhere = games.load("scml"), tmp_path / "other" / "mine.safetensors"
    elsewhere.parent.mkdir()
    shutil.copy(run.model("hrl-xf") / WEIGHTS, elsewhere)
    options = TrainOptions(init=elsewhere)
    train_stage.train(scml, run, "l3", options=options)
    inputs = read_manifest(run.model("l3"))["inputs"]
    assert inputs["elsewhere/other/mine.safetensors"] == digest(elsewhere)
    with pytest.raises(InputError, match="its inputs have changed since"):
        train_stage.train(scml, run, "l3")


def test_a_fresh_start_does_not_delete_what_it_begins_with(run, no_training):
    scml = games.load("scml")
    shutil.copytree(run.model("hrl-xf") / "l3", run.model("l3"))
    before = contents(run.folder)
    for init in (run.model("l3"), run.model("l3") / WEIGHTS):
        with pytest.raises(InputError, match=r"--fresh would delete .*models/l3, and with it"):
            train_stage.train(scml, run, "l3", options=TrainOptions(init=init), resume=False)
    assert contents(run.folder) == before


def test_better_decisions_count_more(samples):
    rows = round_reader("residual").decode(
        read_shard(shard_path(samples, ROUND_SAMPLES, "00000"), ROUND_SAMPLES)
    )
    awr = replace(L3, kind="awr", day_share=0.0)
    network = awr._network(0)
    found = type("PastOffer", (), {"values": torch.zeros_like(rows.gains)})()
    weight, _ = awr._weights(found, rows)
    buys = rows.limits[:, 0] > 0
    for side in (buys, ~buys):
        if side.sum() > 10:
            order = rows.gains[side, 0].argsort()
            assert (weight[side][order].diff() >= -1e-5).all()
    assert weight.mean() == pytest.approx(1, abs=1e-4)
    same, _ = L3._weights(found, rows)
    assert (same == 1).all() and network is not None


# --- what it learns from -------------------------------------------------------------------------


def test_labels_are_the_recorded_offers_as_far_as_l1_allows(samples):
    table = read_shard(shard_path(samples, ROUND_SAMPLES, "00000"), ROUND_SAMPLES)
    rows = round_reader("residual").decode(table)
    offers = rows.offers.numpy()
    assert offers.sum() > 200
    left = rows.left.numpy()[np.arange(len(offers)), rows.day.numpy()][offers]
    assert (left > 0).all()
    assert rows.allowed[torch.arange(len(offers)), rows.units].all()
    assert rows.x.shape == (len(table), RECIPES["l3"]._network(0).standard.mean.shape[0])
    assert torch.isfinite(rows.x).all() and torch.isfinite(rows.gains).all()


def test_decisions_hold_all_their_negotiations(samples):
    table = read_shard(shard_path(samples, ROUND_SAMPLES, "00000"), ROUND_SAMPLES)
    rows = decision_reader().decode(table)
    keys = {(r["slot"], r["moment"]) for r in table.select(["slot", "moment"]).to_pylist()}
    assert len(rows.there) == len(keys) == decision_reader().count(table)
    assert rows.there.sum() == len(table) and rows.there.shape[1] == MAX_NEGOTIATIONS
    weight = lists(table, "turn")[:, -1]
    mine = torch.where(rows.there, rows.score, -torch.inf).softmax(1)[rows.there]
    assert np.allclose(np.sort(mine.numpy()), np.sort(weight), atol=1e-5)


def test_goals_are_filled_in_day_by_day(samples, tmp_path):
    fit(small(RECIPES["l2"]), samples, tmp_path / "l2", seed=0)
    fill_goals(samples, tmp_path / "filled", tmp_path / "l2")
    network = Goals(read_checkpoint(tmp_path / "l2").layers["l2"])
    day_starts = read_shard(shard_path(samples, DAY_START_SAMPLES, "00000"), DAY_START_SAMPLES)
    from understudy.games.scml.learning.backfill import goals_of

    told = goals_of(day_starts, network)
    keys = zip(day_starts["slot"].to_pylist(), day_starts["day"].to_pylist(), strict=True)
    by_day = dict(zip(keys, told, strict=True))
    before, after = (
        read_shard(shard_path(folder, ROUND_SAMPLES, "00000"), ROUND_SAMPLES)
        for folder in (samples, tmp_path / "filled")
    )
    goals = lists(after, "goal_hat")
    days = zip(after["slot"].to_pylist(), after["day"].to_pylist(), strict=True)
    assert all((goals[row] == by_day[key]).all() for row, key in enumerate(days))
    assert not lists(before, "goal_hat").any() and goals.any()
    assert before.drop_columns("goal_hat").equals(after.drop_columns("goal_hat"))
    stamp = [path.stat().st_mtime_ns for path in shard_paths(tmp_path / "filled", ROUND_SAMPLES)]
    fill_goals(samples, tmp_path / "filled", tmp_path / "l2")
    assert stamp == [
        path.stat().st_mtime_ns for path in shard_paths(tmp_path / "filled", ROUND_SAMPLES)
    ]


# --- rewards -------------------------------------------------------------------------------------


def test_gains_of_all_days_add_up_to_the_score(recordings):
    recording = Recording(recordings)
    gains = rewards.day_gains(recording, recordings["days"]["profit"].to_numpy())
    day_starts = recording.day_starts()
    first = rewards.potentials(day_starts.states)[day_starts.states.facts[:, p.DAY] == 0]
    owner = day_starts.owner[day_starts.states.facts[:, p.DAY] == 0]
    total = np.zeros(len(recording.names))
    total[owner] = first
    total += gains.sum(axis=1)
    solvent = recording.bankrupt_from > 1000
    assert solvent.sum() > 5
    assert total[solvent] == pytest.approx(recording.score[solvent] - 1, abs=1e-9)


def test_a_sale_is_worth_its_margin_and_stock_what_it_may_earn():
    facts = np.zeros((1, p.NUM_FACTS))
    facts[0, [p.INITIAL, p.COST, p.PRICE_IN, p.PRICE_OUT, p.STEPS]] = [1000, 4, 10, 20, 101]
    sold = rewards.contract_worth(facts, np.array([False]), np.array([5]), np.array([21.0]))
    assert sold[0] == pytest.approx(5 * (21 - 4) / 1000)
    bought = rewards.contract_worth(facts, np.array([True]), np.array([5]), np.array([11.0]))
    assert bought[0] == pytest.approx(5 * (rewards.STOCK_USE * 100 * 16 - 11) / 1000)
    facts[0, p.PERISHABLE] = 1
    assert rewards.stock_worth(facts)[0] == 0


def test_a_negotiations_gain_fades_towards_its_beginning():
    negotiation, gained = np.array([7, 3, 7, 7, 3]), np.array([1.0, 0.5, 1.0, 1.0, 0.5])
    found = rewards.negotiation_gains(negotiation, gained)
    fade = rewards.FADE
    assert found.tolist() == pytest.approx([fade**2, 0.5 * fade, fade, 1.0, 0.5])


# --- an expert that looks on ---------------------------------------------------------------------


def test_the_expert_advises_and_does_not_play(samples, tmp_path):
    fit(L3, samples, tmp_path / "l3", seed=0)
    learner = PlayerRef("dagger+Steward", tmp_path / "l3")
    players = (learner, *map(PlayerRef, ("Greedy", "SyncRandom"))) * 3
    plan = replace(PLAN, players=players, steps=16, watched=frozenset({learner.name}))
    alone = replace(plan, players=tuple(_plain(ref) for ref in players), watched=None)
    taught, plain = (play.play([one]) for one in (plan, alone))
    scores = [table.results["score"].to_pylist() for table in (taught, plain)]
    assert scores[0] == scores[1]  # looking on changes nothing
    advice = taught.recordings["advice"]
    assert "advice" not in plain.recordings
    advised = encode(taught.recordings, frozenset({learner.name}))["rounds"]
    own = encode({k: v for k, v in taught.recordings.items() if k != "advice"}, None)["rounds"]
    own = own.filter(pa.compute.equal(own["player"], learner.name))
    assert advised["advised"].to_numpy().all() and len(advised) == len(own) <= len(advice)
    assert not own["advised"].to_numpy().any()
    for name in ("static", "temporal", "thread", "history"):
        assert advised[name].equals(own[name])
    assert not advised["response"].equals(own["response"])


def _plain(ref):
    return PlayerRef("dagger", ref.weights) if ref.weights else ref


def test_an_expert_that_cannot_look_on_is_refused(tmp_path, samples):
    fit(L3, samples, tmp_path / "l3", seed=0)
    plan = replace(PLAN, players=(PlayerRef("x+Greedy", tmp_path / "l3"),) * 9)
    with pytest.raises(InputError, match="decides one negotiation at a time and cannot look on"):
        play.play([plan])


@pytest.fixture
def played_here(monkeypatch):
    """Short worlds, played one after the other; the workers that were asked for."""
    asked = []

    def run(function, tasks, *, workers, **rest):
        asked.append(workers)
        return [function(task) for task in tasks.values()] and []

    monkeypatch.setattr(dagger.workers, "run", run)
    monkeypatch.setattr(dagger, "Tournament", _short)
    return asked


def test_dagger_plays_learns_and_resumes(run, played_here):
    recipe = replace(RECIPES["dagger"], l3=L3, rounds=2, configs=1)
    with pytest.raises(InputError, match="holds no weights to begin with"):
        fit(recipe, run.samples, run.model("dagger"))
    fit(L3, run.samples, run.model("l3"))
    goals = replace(recipe, init=run.model("hrl-xf"), rounds=1)
    fit(goals, run.samples, run.model("with-goals"))
    assert read_checkpoint(run.model("with-goals")).about.goals
    assert set(read_checkpoint(run.model("with-goals")).layers) == {"l2", "l3", "l4"}
    with pytest.raises(StoppedError):
        fit(recipe, run.samples, run.model("dagger"), progress=stop_at(6))
    found = fit(recipe, run.samples, run.model("dagger"), workers=2)
    assert played_here[-1] == 2 and found["expert"] == "Steward"
    rounds = [run.model("dagger") / f"round-{k}" for k in (1, 2)]
    first, second = (len(shard_paths(one / "samples", ROUND_SAMPLES)) for one in rounds)
    assert len(shard_paths(run.samples, ROUND_SAMPLES)) < first < second
    assert found["train"]["rows"] > 0
    HRLPolicy(read_checkpoint(run.model("dagger")))
    titles = [panel.title for panel in run_panels(run, [])]
    assert "dagger / round-1: loss" in titles and "dagger / round-2: loss" in titles


def test_the_expert_that_was_cloned_looks_on_unless_another_is_named(samples, tmp_path):
    recipe = RECIPES["dagger"]
    assert recipe.looking_on(samples) == PlayerRef("Steward")
    assert replace(recipe, expert="Penguin").looking_on(samples) == PlayerRef("Penguin")
    mine = tmp_path / "mine.py"
    mine.write_text("from scml.std.agents import SyncRandomStdAgent as Mine\n")
    own = replace(recipe, expert=f"{mine}:Mine").looking_on(samples)
    assert (own.name, own.code.place) == ("Mine", str(mine))
    with pytest.raises(InputError, match=r"no SCML agent 'Stewart' \(did you mean Steward\?\)"):
        replace(recipe, expert="Stewart").looking_on(samples)


@pytest.mark.parametrize(
    ("players", "words"),
    [
        (["Mine"], r"of Mine, who is not in the catalogue.*--expert FILE\.py:Mine"),
        (["AS0", "Steward"], "decisions of AS0, Steward; say which expert"),
        ([], "decisions of nobody"),
    ],
)
def test_whom_to_ask_must_be_known(players, words, samples, tmp_path):
    [first, *_] = shard_paths(samples, ROUND_SAMPLES)
    rows = read_shard(first, ROUND_SAMPLES).slice(0, len(players))
    index = rows.schema.get_field_index("player")
    told = rows.set_column(index, rows.schema.field("player"), pa.array(players, pa.string()))
    write_shard(shard_path(tmp_path, ROUND_SAMPLES, "00000"), told)
    with pytest.raises(InputError, match=words):
        RECIPES["dagger"].looking_on(tmp_path)


def test_an_expert_can_be_named_to_dagger_alone():
    options = TrainOptions(own={"expert": "Penguin"})
    assert RECIPES["dagger"].with_options("dagger", options).expert == "Penguin"
    with pytest.raises(InputError, match="'l3' takes no option 'expert'"):
        RECIPES["l3"].with_options("l3", options)


def _short(**named):
    from understudy.games.scml.tournament.design import Tournament

    return Tournament(**named, steps=12)
