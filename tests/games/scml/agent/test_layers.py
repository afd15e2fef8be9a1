"""L2, L3 and L4: networks in training and in play, choices and offers, weights on disk."""

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from understudy.data.players import PlayerRef
from understudy.errors import InputError
from understudy.games.scml.agent import l3_offers as l3
from understudy.games.scml.agent.checkpoint import (
    About,
    Checkpoint,
    feature_names,
    read_checkpoint,
    write_checkpoint,
)
from understudy.games.scml.agent.hrl import HRLAgent, L1Agent
from understudy.games.scml.agent.numpy_networks import Goals, Offers, Scores, raw_goals
from understudy.games.scml.agent.policy import (
    SHIPPED,
    SHIPPED_ONESHOT,
    HRLPolicy,
    draw,
    shipped_for,
)
from understudy.games.scml.engine.config import draw as draw_world
from understudy.games.scml.engine.random_state import random_state_kept
from understudy.games.scml.engine.world import World
from understudy.games.scml.learning.layer_recipe import weights_of
from understudy.games.scml.learning.networks import GoalNetwork, OfferNetwork, PriorityNetwork
from understudy.games.scml.players import catalogue
from understudy.games.scml.reference.scml_simulator import quiet, scml_world
from understudy.games.scml.tournament.design import WorldPlan
from understudy.games.scml.tournament.play import play
from understudy.games.scml.view import features as f
from understudy.games.scml.view import inputs

RNG = np.random.default_rng(5)
SCHEMES = ("residual", "direct")


def shaken(network, seed=3, much=0.3):
    """With other weights than those it begins with, so that all of them matter."""
    drawn = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in network.parameters():
            weight += much * torch.randn(weight.shape, generator=drawn)
        network.standard.std += 0.5
        network.standard.mean -= 0.2
    return network.eval()


def rows(count):
    x = RNG.normal(size=(count, inputs.ROUND_INPUTS)).astype(np.float32)
    history = RNG.random((count, f.HISTORY, len(f.PAST_OFFER))).astype(np.float32)
    length = RNG.integers(0, f.HISTORY + 1, count)
    return x, history, length


# --- choices and offers --------------------------------------------------------------------------


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    scheme=st.sampled_from(SCHEMES),
    left=st.integers(1, 30),
    units=st.integers(1, 30),
    low=st.integers(1, 60),
    span=st.integers(0, 12),
    at=st.floats(0, 1),
    base=st.floats(0, 1),
)
def test_an_offer_survives_the_way_into_choices_and_back(scheme, left, units, low, span, at, base):
    def one(value):
        return np.array([value])

    baseline = (left + 1) // 2
    option = l3.units_option(scheme, one(units), one(left), one(baseline))
    assert 0 <= option[0] < l3.HEADS[scheme]["units"]
    assert l3.units_of(scheme, option, one(left), one(baseline))[0] == min(units, left)
    assert l3.units_mask(scheme, one(left), one(baseline))[0, option[0]]
    price, high = round(low + at * span), low + span
    base_price = round(low + base * span)
    option = l3.price_option(scheme, one(price), one(low), one(high), one(base_price))
    back = l3.price_of(scheme, option, one(low), one(high), one(base_price))[0]
    assert abs(back - price) <= max(0.5, span / 20 + 0.5)
    if price in (low, high):  # where agreements lie
        assert back == price


def test_no_residual_is_the_baseline():
    left, base = np.array([7]), np.array([4])
    assert l3.units_of("residual", np.array([l3.UNITS]), left, base)[0] == 4
    prices = np.array([18]), np.array([22]), np.array([21])
    assert l3.price_of("residual", np.array([l3.TENTHS]), *prices)[0] == 21
    assert l3.units_option("residual", np.array([7]), left, base)[0] == l3.UNITS + 3


def test_a_purchase_is_no_larger_than_money_allows():
    limits = l3.OfferLimits(*map(np.array, ([True], [[10] * 11], [25.0], [9], [11], [10], [30])))
    left, base = limits.on(np.array([0]))
    assert (left[0], base[0]) == (10, 2)
    assert limits._replace(buys=np.array([False])).on(np.array([0]))[1][0] == 5


def test_draws_are_legal_and_as_warm_as_asked():
    scores, legal = np.array([5.0, 1.0, 3.0, 2.9]), np.array([False, True, True, True])
    rng = random.Random(0)
    assert {draw(scores, legal, 0.0, rng) for _ in range(50)} == {2}
    warm = [draw(scores, legal, 1.0, rng) for _ in range(4000)]
    share = np.bincount(warm, minlength=4) / len(warm)
    expected = np.exp([-np.inf, 1.0, 3.0, 2.9])
    assert share == pytest.approx(expected / expected.sum(), abs=0.03)


# --- training and play say the same --------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
def test_l3_in_play_is_l3_in_training(scheme):
    network = shaken(OfferNetwork(scheme, (48, 32), 16, 2, seed=1))
    played = Offers(weights_of(network), scheme)
    x, history, length = rows(40)
    with torch.no_grad():
        hidden = network(*map(torch.from_numpy, (x, history, length)))
        found = played.hidden(x, played.histories(history, length))
        assert np.allclose(found, hidden.numpy(), rtol=1e-3, atol=1e-4)
        for name in ("response", "day"):
            trained = getattr(network, name)(hidden).numpy()
            assert np.allclose(played.linear(name, found), trained, rtol=1e-3, atol=1e-3)
        for day, left in ((0, 3), (10, 25)):
            many = torch.full((40,), day), torch.full((40,), left)
            on_day = network.on(hidden, *many)
            assert np.allclose(played.on(found, day, left), on_day.numpy(), rtol=1e-3, atol=1e-3)


def test_l2_and_l4_in_play_are_those_in_training():
    l2, l4 = shaken(GoalNetwork((32, 32), 1)), shaken(PriorityNetwork(16, 1))
    x = RNG.normal(size=(9, inputs.DAY_START_INPUTS)).astype(np.float32)
    scales = np.abs(RNG.normal(size=(9, 4))).astype(np.float32) * 10
    thread = RNG.normal(size=(9, inputs.THREAD_INPUTS)).astype(np.float32)
    overall = RNG.normal(size=(1, inputs.OVERALL_INPUTS)).astype(np.float32)
    with torch.no_grad():
        goals = raw_goals(l2(torch.from_numpy(x)).numpy(), scales)
        both = np.concatenate([thread, np.repeat(overall, 9, axis=0)], axis=1)
        scores = l4(torch.from_numpy(both), torch.zeros(9, dtype=torch.long), 1).numpy()
    assert np.allclose(Goals(weights_of(l2))(x, scales), goals, rtol=1e-3, atol=1e-3)
    assert np.allclose(Scores(weights_of(l4))(thread, overall), scores, rtol=1e-3, atol=1e-3)


def test_padding_and_what_comes_later_change_nothing():
    network = shaken(OfferNetwork("residual", (32,), 16, 2, seed=1)).history
    _, history, _ = rows(6)
    length = torch.tensor([0, 1, 3, 9, 20, 40])
    history = torch.from_numpy(history)
    with torch.no_grad():
        found = network(history, length)
        for row, count in enumerate(length.tolist()):
            alone = network(history[row : row + 1, : max(count, 1)], length[row : row + 1])
            assert torch.allclose(found[row], alone[0], atol=1e-5)
            noisy = history.clone()
            noisy[row, count:] = 99.0  # the padding
            assert torch.equal(network(noisy, length)[row], found[row])
    assert not found[0].any() and found[1:].abs().sum(1).min() > 0.1


def test_an_earlier_offer_does_not_see_a_later_one():
    layer = shaken(OfferNetwork("residual", (32,), 16, 2, seed=1)).history.layers[0]
    x = torch.randn(2, 8, 16, generator=torch.Generator().manual_seed(0))
    changed = x.clone()
    changed[:, 5:] += 1
    with torch.no_grad():
        before, after = layer(x), layer(changed)
    assert torch.equal(before[:, :5], after[:, :5]) and not torch.equal(before[:, 5:], after[:, 5:])


def test_l4_weighs_a_set():
    played = Scores(weights_of(shaken(PriorityNetwork(16, 1))))
    thread = RNG.normal(size=(7, inputs.THREAD_INPUTS)).astype(np.float32)
    overall = RNG.normal(size=(1, inputs.OVERALL_INPUTS)).astype(np.float32)
    order = RNG.permutation(7)
    assert np.allclose(played(thread[order], overall), played(thread, overall)[order], atol=1e-4)
    alone = played(thread[:1], overall)[0]
    assert abs(played(thread, overall)[0] - alone) > 1e-3  # the others matter


# --- in a world ----------------------------------------------------------------------------------


def plan(players, steps=14, **options):
    refs = tuple(players[k % len(players)] for k in range(9))
    options = {"track": "std", "factories_per_level": (3, 3, 3)} | options
    return WorldPlan("m", "test", steps=steps, seed=4, run=0, players=refs, slots=(0,), **options)


def write_model(folder, network, about, **layers):
    folder.mkdir()
    told = {"l3": weights_of(network), **layers}
    write_checkpoint(folder / "weights.safetensors", Checkpoint(told, about))
    return folder


COLD = About(features=feature_names(), offer_temperature=0.0)


def test_an_untrained_l3_plays_exactly_like_l1(tmp_path):
    untrained = write_model(tmp_path / "none", OfferNetwork("residual", seed=7), COLD)
    company = [PlayerRef("Greedy"), PlayerRef("SyncRandom")]
    decided = []
    for player in (PlayerRef("x", untrained), PlayerRef("L1")):
        played = play([plan([player, *company])])
        decided.append(played.recordings["decisions"])
    assert len(decided[0]) > 1000 and decided[0].equals(decided[1])


def test_a_random_l3_promises_nothing_unsafe(tmp_path):
    hot = replace(COLD, offer_temperature=3.0, response_temperature=3.0)
    wild = write_model(tmp_path / "wild", shaken(OfferNetwork("residual", seed=7), much=0.02), hot)
    direct = replace(hot, scheme="direct")
    other = write_model(
        tmp_path / "direct", shaken(OfferNetwork("direct", seed=7), much=0.02), direct
    )
    players = [PlayerRef("wild", wild), PlayerRef("Greedy"), PlayerRef("direct", other)]
    found = play([plan(players, steps=25)]).results.to_pylist()
    ours = [row for row in found if row["player"] != "Greedy"]
    assert all(row["unsafe"] == row["faults"] == row["over_lines"] == 0 for row in ours)
    assert sum(row["sales"] for row in ours) > 20


def test_the_shipped_agent_plays_the_same_in_both_simulators():
    players = [PlayerRef("HRL"), PlayerRef("Greedy"), PlayerRef("SyncRandom")]
    one = plan(
        players,
        steps=8,
        factories_per_level=(3, 3),
    )
    one = replace(one, players=one.players[:6])
    ours, theirs = (play([replace(one, simulator=s)]).results for s in ("engine", "scml"))
    assert ours.equals(theirs)
    assert ours["agreements"].to_numpy().sum() > 20


def contracts(kind, **options):
    """What is agreed in a world where such an agent, made with these options, has two factories."""
    with random_state_kept():
        seed_everything(3)
        agent, other = (kind, options), (catalogue.load("Greedy"), {})
        world = World(draw_world((2, 2), 12, 4), [agent, other, agent, other], strict=True).run()
    return world.ledger.contracts


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)


def test_no_checkpoint_is_l1_and_one_left_out_is_the_classs_own():
    l1, shipped = contracts(L1Agent), contracts(HRLAgent)
    assert min(len(l1), len(shipped)) > 20 and l1 != shipped
    assert contracts(HRLAgent, checkpoint=None) == l1
    assert contracts(HRLAgent, checkpoint=str(SHIPPED)) == shipped
    assert contracts(L1Agent, checkpoint=SHIPPED) == shipped


UNFIT = r"of 10 days, not 0: record worlds .* or play L1 \(checkpoint=None\)"


class Standard(HRLAgent):
    """With the weights of the other track."""

    checkpoint = SHIPPED


@pytest.mark.parametrize(
    ("kind", "options"),
    [(Standard, {}), (HRLAgent, {"checkpoint": SHIPPED})],
    ids=["of the class", "named"],
)
def test_unfit_weights_are_refused_however_they_were_given(kind, options):
    """Not played without, nor written down as a fault of the agent: it is the user's choice."""
    config, greedy = draw_world((2, 2), 6, 1, "oneshot"), catalogue.load("Greedy", "oneshot")
    with pytest.raises(InputError, match=UNFIT):
        World(config, [(kind, options), *[(greedy, {})] * 3]).run()
    World(config, [(HRLAgent, {"checkpoint": None}), *[(greedy, {})] * 3], strict=True).run()


def test_unfit_weights_are_refused_in_scml_too(tmp_path):
    config, greedy = draw_world((2, 2), 6, 1, "oneshot"), catalogue.load("Greedy", "oneshot")
    with quiet(), pytest.raises(InputError, match=UNFIT):
        scml_world(config, [Standard, *[greedy] * 3], str(tmp_path)).run()


def test_every_track_has_weights_of_its_own():
    assert shipped_for(10) == SHIPPED and shipped_for(0) == SHIPPED_ONESHOT
    assert read_checkpoint(SHIPPED_ONESHOT).about.horizons == (0,)
    assert SHIPPED_ONESHOT.stat().st_size < 1e6
    config, dist = draw_world((2, 2), 12, 1, "oneshot"), catalogue.load("RandDist", "oneshot")

    def contracts(kind, **options):
        with random_state_kept():
            random.seed(1)
            np.random.seed(1)
            players = [(kind, options), (dist, {}), (kind, options), (dist, {})]
            return World(config, players, strict=True).run().ledger.contracts

    shipped = contracts(HRLAgent)
    assert len(shipped) > 10
    assert shipped == contracts(HRLAgent, checkpoint=SHIPPED_ONESHOT) != contracts(L1Agent)


def test_weights_that_are_not_there_are_no_fault_of_an_agent_either(tmp_path):
    bad = HRLAgent, {"checkpoint": tmp_path / "nowhere"}
    with pytest.raises(
        InputError, match=r"nowhere: there are no weights\. Train again: understudy"
    ):
        World(draw_world((1, 1), 6, 1), [bad, (L1Agent, {})])


# --- weights on disk -----------------------------------------------------------------------------


def test_bad_weights_are_one_clear_line(tmp_path):
    (tmp_path / "text").write_text("hello")
    with pytest.raises(InputError, match="not the weights of HRL-XF"):
        read_checkpoint(tmp_path / "text")
    save_file({"a": np.zeros(3)}, tmp_path / "foreign")
    with pytest.raises(InputError, match="not the weights of HRL-XF"):
        read_checkpoint(tmp_path / "foreign")
    with pytest.raises(InputError, match="there are no weights"):
        HRLAgent(checkpoint=tmp_path / "nowhere")
    whole = SHIPPED.read_bytes()
    (tmp_path / "cut").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="not the weights of HRL-XF"):
        HRLAgent(checkpoint=tmp_path / "cut")


def test_weights_for_something_else_are_refused(tmp_path):
    l3_weights = weights_of(OfferNetwork("residual", seed=1))
    wrong = tmp_path / "wrong.safetensors"
    for checkpoint, complaint in (
        (Checkpoint({"l3": l3_weights}, replace(COLD, features="old")), "made for other features"),
        (
            Checkpoint({"l4": weights_of(PriorityNetwork(8, 1))}, COLD),
            "lack layer l3; they have l4",
        ),
        (Checkpoint({"l3": l3_weights}, replace(COLD, goals=True)), "lack layer l2"),
        (Checkpoint({"l3": l3_weights}, replace(COLD, scheme="direct")), "L3's weights do not fit"),
        (Checkpoint({"l3": l3_weights}, replace(COLD, scheme="odd")), "scheme 'odd'"),
        (Checkpoint({"l9": l3_weights}, COLD), "does not belong there"),
    ):
        write_checkpoint(wrong, checkpoint)
        with pytest.raises(InputError, match=complaint):
            HRLPolicy(read_checkpoint(wrong))


def test_weights_of_another_horizon_are_refused(tmp_path):
    short = replace(COLD, horizons=(0,))
    folder = write_model(tmp_path / "oneshot", OfferNetwork("residual", seed=1), short)
    with pytest.raises(InputError, match="a horizon of 0 days, not 10"):
        play([plan([PlayerRef("x", folder), PlayerRef("Greedy")])])


def test_weights_come_back_as_they_were(tmp_path):
    path = tmp_path / "w.safetensors"
    network = shaken(OfferNetwork("direct", (32,), 16, 1, seed=2))
    about = About(
        features=feature_names(), scheme="direct", horizons=(10, 0), offer_temperature=0.5
    )
    write_checkpoint(path, Checkpoint({"l3": weights_of(network)}, about))
    back = read_checkpoint(path)
    assert back.about == about
    assert all((back.layers["l3"][k] == v).all() for k, v in weights_of(network).items())
    assert isinstance(SHIPPED, Path) and SHIPPED.stat().st_size < 4e6
    assert L1Agent.checkpoint is None


def test_weights_written_under_the_old_names_are_still_read(tmp_path):
    """The shipped ones are: standard.spread, response_heat and offer_heat."""
    about = About(features=feature_names(), response_temperature=0.25, offer_temperature=0.75)
    new, old = tmp_path / "new.safetensors", tmp_path / "old.safetensors"
    write_checkpoint(new, Checkpoint({"l4": weights_of(shaken(PriorityNetwork(8, 1)))}, about))
    tensors = {name.replace(".std", ".spread"): values for name, values in load_file(new).items()}
    assert "l4.standard.spread" in tensors
    plain = json.dumps(vars(about)).replace("_temperature", "_heat")
    save_file(tensors, old, {"understudy.hrl-xf": plain})
    expected, found = read_checkpoint(new), read_checkpoint(old)
    assert found.about == expected.about == about
    assert found.layers["l4"].keys() == expected.layers["l4"].keys()
    assert (found.layers["l4"]["standard.std"] == expected.layers["l4"]["standard.std"]).all()
    assert "standard.std" in read_checkpoint(SHIPPED).layers["l2"]
