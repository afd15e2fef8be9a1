"""Weights made before some features were there play on as they did."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest
from safetensors import safe_open

from tests.games.scml.states import state
from understudy.games.scml.agent import checkpoint as c
from understudy.games.scml.agent import numpy_networks as networks
from understudy.games.scml.agent.hrl import HRLAgent
from understudy.games.scml.agent.policy import CLONE, CLONE_ONESHOT, HRLPolicy
from understudy.games.scml.engine.config import draw
from understudy.games.scml.engine.random_state import random_state_kept
from understudy.games.scml.engine.world import World
from understudy.games.scml.players import catalogue
from understudy.games.scml.view import features as f
from understudy.games.scml.view import inputs
from understudy.games.scml.view.columns import NUM_SUMS, packed
from understudy.games.scml.view.observe import observed
from understudy.games.scml.view.state import OpenNegotiation, PastOffer

MISSING = frozenset().union(*c.ADDED)
FILES = {"std": CLONE, "oneshot": CLONE_ONESHOT}


def raw(path):
    """A file as it is on disk, under today's names of tensors."""
    with safe_open(path, framework="numpy") as file:
        about = json.loads(file.metadata()["understudy.hrl-xf"])
        layers = {}
        for key in file.keys():  # noqa: SIM118
            layer, _, name = key.partition(".")
            layers.setdefault(layer, {})[name.replace("spread", "std")] = file.get_tensor(key)
    return about["features"], layers


def known_in(layer):
    return np.array([name not in MISSING for name in inputs.READ[layer]])


@pytest.mark.parametrize("track", FILES)
def test_new_features_are_read_and_make_no_difference(track):
    made_for, before = raw(FILES[track])
    found = c.read_checkpoint(FILES[track])
    assert made_for == c.feature_names(MISSING) != c.feature_names() == found.about.features
    assert before.keys() == found.layers.keys() == inputs.READ.keys()
    for layer, weights in found.layers.items():
        first = "each.0.weight" if layer == "l4" else "torso.0.weight"
        known, old = known_in(layer), before[layer]
        assert weights["standard.mean"].shape == known.shape
        for name, value in (("standard.mean", 0), ("standard.std", 1)):
            assert (weights[name][known] == old[name]).all()
            assert (weights[name][~known] == value).all()
        read, beside = np.split(weights[first], [len(known)], axis=1)
        assert not read[:, ~known].any()
        assert (np.concatenate([read[:, known], beside], axis=1) == old[first]).all()
        rest = weights.keys() - {"standard.mean", "standard.std", first}
        assert all((weights[name] == old[name]).all() for name in rest) and rest


def test_every_new_feature_is_one_that_a_layer_reads():
    everything = {f"{group}.{name}" for group, names in inputs.GROUPS.items() for name in names}
    assert everything > MISSING and len(MISSING) == len(f.MEMORY) + 1
    assert set(inputs.READ["l3"]) > MISSING and set(inputs.READ["l4"]) > MISSING
    assert MISSING & set(inputs.READ["l2"]) == {"static.stock_log"}


def test_names_of_inputs_lie_as_the_inputs_do():
    """Each part is filled with a number of its own."""
    sizes = {group: len(names) for group, names in inputs.GROUPS.items()}
    number = {name: k for k, name in enumerate(("static", "temporal", "situation", "thread"))}
    number |= {"goals": 5, "turn": 6, "role": 7}

    def part(name, *shape):
        return np.full((1, *shape), number[name], np.float32)

    static, situation = part("static", sizes["static"]), part("situation", sizes["situation"])
    temporal = part("temporal", 11, sizes["temporal"])
    goals, thread = part("goals", inputs.NUM_GOALS), part("thread", sizes["thread"])
    turn = part("turn", sizes["turn"])
    shared = inputs.state_input(static, temporal, situation, goals)
    overall = inputs.overall_input(static, situation, goals)
    rows = {
        "l2": inputs.day_start_input(static, temporal, part("role", 2)),
        "l3": np.concatenate([shared, inputs.negotiation_input(thread, turn)], axis=1),
        "l4": np.concatenate([thread, overall], axis=1),
    }
    for layer, names in inputs.READ.items():
        assert rows[layer][0].tolist() == [number[name.split(".")[0]] for name in names]


def test_weights_for_today_are_left_alone_and_others_refused():
    checkpoint = c.read_checkpoint(CLONE)
    again = c.widened(checkpoint)
    assert again is not None and again.about == checkpoint.about
    for layer, weights in again.layers.items():
        assert all((weights[name] == checkpoint.layers[layer][name]).all() for name in weights)
    unknown = replace(checkpoint, about=replace(checkpoint.about, features="unheard of"))
    assert c.widened(unknown) is None


# --- in play -------------------------------------------------------------------------------------


class Narrow:
    """A layer with the weights of before, which sees only what there was to read then."""

    known = None

    def standard(self, x):
        return super().standard(x[:, self.known])


def narrow_policy(monkeypatch, path):
    """The policy as it was before there was anything to widen."""
    policy = HRLPolicy(c.read_checkpoint(path))
    monkeypatch.setattr(networks, "_check", lambda *_: None)
    _, layers = raw(path)
    for layer, kind, arguments in (
        ("l2", networks.Goals, ()),
        ("l3", networks.Offers, (policy.about.scheme,)),
        ("l4", networks.Scores, ()),
    ):
        old = type(kind.__name__, (Narrow, kind), {"known": known_in(layer)})
        setattr(policy, layer, old(layers[layer], *arguments))
    return policy


def contracts(policy, track, seed):
    class Played(HRLAgent):
        def init(self):
            super().init()
            self._policy = policy

    config = draw((3, 3, 2) if track == "std" else (3, 3), 12, seed, track)
    kinds = [Played, catalogue.load("Greedy", track)] * 3 + [Played] * 2
    with random_state_kept():
        random.seed(seed)
        players = [(kind, {}) for kind in kinds[: len(config.factories)]]
        return World(config, players, strict=True).run().ledger.contracts


@pytest.mark.parametrize("track", FILES)
def test_the_shipped_agents_sign_what_they_signed_before(track, monkeypatch):
    wide = HRLPolicy(c.read_checkpoint(FILES[track]))
    narrow = narrow_policy(monkeypatch, FILES[track])
    for seed in range(2):
        found = contracts(wide, track, seed)
        assert found == contracts(narrow, track, seed) and len(found) > 20


def test_the_clone_decides_the_same_whatever_it_remembers():
    policy, chosen = HRLPolicy(c.read_checkpoint(CLONE)), []
    for memory in ((0.0,) * NUM_SUMS, tuple(map(float, range(3, 3 + NUM_SUMS)))):
        talk = OpenNegotiation("a", False, 2, (PastOffer(False, 3, 5, 18),), memory)
        columns = packed([state(stock=9, negotiations=[talk, replace(talk, partner="b")])])
        seen = observed(columns)
        goals = policy.goal_input(columns, policy.goals(columns, seen))
        thought = policy.think(seen, goals)
        x = np.concatenate([thought.state, seen.thread[:1], np.zeros((1, len(f.TURN)))], axis=1)
        chosen.append(
            (policy.rank(columns, seen, goals), policy.l3.hidden(x, thought.histories[:1]))
        )
    (one, hidden), (other, same) = chosen
    assert (hidden == same).all() and (one.weight == other.weight).all()
