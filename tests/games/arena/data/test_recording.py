"""A recording says what the player saw and did; its samples say the same, and nothing of later."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.data import shards
from understudy.data.players import PlayerRef
from understudy.data.samples import unpack_legal
from understudy.data.splits import SPLITS, split_of
from understudy.errors import InputError
from understudy.games.arena.codec import actions as codec
from understudy.games.arena.codec import features as observe
from understudy.games.arena.data.encode import MOVES, encode, summarise
from understudy.games.arena.data.tables import (
    MATCHES,
    RECORDED_VIEW,
    RESULTS,
    STEPS,
    actions_of,
    results,
    rules_of,
    views_of,
)
from understudy.games.arena.play import play as match
from understudy.games.arena.play.play import play
from understudy.games.arena.play.policy import ArenaPolicy
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim import state as v
from understudy.learn.policy import FactoredPolicy, PolicyShape, save_policy
from understudy.pipeline.pairings import Fixture

few = settings(max_examples=10, deadline=None, derandomize=True)
FIRST_OPTION = np.cumsum([0, *codec.HEADS.values()])[:-1]


class Remembering:
    """A player that notes what it saw, what it might have done, and what it did."""

    def __init__(self, player):
        self.player = player
        self.notes = {}

    def act(self, views, world, running, slot):
        actions = self.player.act(views, world, running, slot)
        features, legal = observe.features(views), observe.legal(views)
        choices = codec.encode(actions)
        for k, i in enumerate(running):
            key = int(world.seed[i]), int(world.steps[i]), slot
            self.notes[key] = features[k].tobytes(), legal[k].tobytes(), choices[k].tolist()
        return actions


def fixture(one="expert", other="collector", seeds=range(6)):
    return Fixture((PlayerRef(one), PlayerRef(other)), tuple(seeds))


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    """The folder of a policy that has learnt nothing: it does all sorts of things."""
    folder = tmp_path_factory.mktemp("models") / "novice"
    shape = PolicyShape(MOVES.features, MOVES.heads, (16,))
    save_policy(folder, FactoredPolicy(shape, seed=3))
    return folder


@pytest.fixture(scope="module")
def recordings():
    """Six matches of the expert against the collector."""
    return play(fixture()).recordings


def features_of(moves):
    return np.stack([moves[name].to_numpy() for name in observe.FEATURES], axis=1)


def choices_of(moves):
    return np.stack([moves[name].to_numpy() for name in codec.HEADS], axis=1)


def changed(table, mask, **columns):
    """The same table with other values in these columns where the mask says."""
    for name, values in columns.items():
        place = table.schema.get_field_index(name)
        field = table.schema.field(place)
        old = table[name].to_numpy()
        new = np.where(mask, values, old)
        table = table.set_column(place, field, pa.array(new, type=field.type))
    return table


# --- parity --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pair", [("expert", "collector"), ("novice", "camper"), ("rusher", "kiter")]
)
def test_samples_are_bit_for_bit_what_the_players_saw_and_did(pair, weights, monkeypatch):
    live = {}

    def remembering(ref):
        live[ref.name] = Remembering(original(ref))
        return live[ref.name]

    original = match.player
    monkeypatch.setattr(match, "player", remembering)
    refs = tuple(PlayerRef(name, weights if name == "novice" else None) for name in pair)
    tables = play(Fixture(refs, (1, 2, 2**50, 4))).recordings
    moves = encode(tables, None)["moves"]
    seed = {row["match"]: row["seed"] for row in tables["matches"].to_pylist()}
    features, choices = features_of(moves), choices_of(moves)
    legal = unpack_legal(moves["legal"], observe.NUM_OPTIONS)
    rows = moves.select(["match", "step", "slot", "player", "forbidden"]).to_pylist()
    assert len(rows) == sum(len(one.notes) for one in live.values()) > 200
    for k, row in enumerate(rows):
        seen, allowed, done = live[row["player"]].notes[
            seed[row["match"]], row["step"], row["slot"]
        ]
        assert row["player"] == pair[row["slot"]]
        assert features[k].tobytes() == seen
        assert choices[k].tolist() == done
        assert legal[k].tobytes() == allowed
        assert row["forbidden"] == 0


def test_a_recording_holds_every_step_of_both_players_in_order(recordings):
    matches, steps = recordings["matches"].to_pylist(), recordings["steps"]
    expected = [
        (row["match"], t, slot) for row in matches for t in range(row["steps"]) for slot in (0, 1)
    ]
    keys = steps.select(["match", "step", "slot"]).to_pydict().values()
    assert list(zip(*keys, strict=True)) == expected


def test_rewards_add_up_to_the_score_and_events_tell_of_the_kill(recordings):
    steps = recordings["steps"].to_pydict()
    for row in recordings["matches"].to_pylist():
        mine = [k for k, name in enumerate(steps["match"]) if name == row["match"]]
        for slot, sign in ((0, 1), (1, -1)):
            reward = [steps["reward"][k] for k in mine if steps["slot"][k] == slot]
            assert sum(reward) == sign * row["score"]
        killed = [bool(steps["events"][k] & r.KILLED) for k in mine]
        assert not any(killed[:-2])
        assert killed[-2:] == [row["score"] > 0, row["score"] < 0] or row["ending"] != "kill"


def test_the_outcome_of_a_sample_is_that_players_score(recordings):
    score = {row["match"]: row["score"] for row in recordings["matches"].to_pylist()}
    moves = encode(recordings, None)["moves"].select(["match", "slot", "outcome"]).to_pylist()
    assert {row["outcome"] for row in moves} == {1.0, -1.0}
    for row in moves:
        assert row["outcome"] == (1 - 2 * row["slot"]) * score[row["match"]]


def test_only_the_asked_players_decisions_are_encoded(recordings):
    everybody = encode(recordings, None)["moves"]
    expert = encode(recordings, frozenset({"expert"}))["moves"]
    assert expert.equals(everybody.filter(pc.equal(everybody["player"], "expert")))
    assert 2 * len(expert) == len(everybody)
    nobody = encode(recordings, frozenset({"boss"}))["moves"]
    assert len(nobody) == 0 and nobody.schema == everybody.schema


# --- the clock, and the version of the rules -----------------------------------------------------


def test_the_clock_in_a_sample_is_that_of_its_step(recordings):
    moves = encode(recordings, None)["moves"]
    step = moves["step"].to_numpy()
    expected = ((r.MAX_STEPS - step) / r.MAX_STEPS).astype(np.float32)
    assert moves["time_left"].to_numpy().tobytes() == expected.tobytes()
    np.testing.assert_allclose(moves["time_left"].to_numpy(), 1 - step / r.MAX_STEPS, atol=1e-7)
    assert moves["time_left"].to_numpy().max() == 1


def test_recordings_and_samples_carry_the_version_of_the_rules(recordings):
    assert rules_of(recordings["matches"]) == rules_of(recordings["steps"]) == r.VERSION
    assert MOVES.table.version == r.VERSION


def test_recordings_made_before_the_clock_was_seen_are_encoded_with_it(recordings):
    old = {name: table.replace_schema_metadata(None) for name, table in recordings.items()}
    assert rules_of(old["steps"]) == 1
    assert encode(old, None)["moves"].equals(encode(recordings, None)["moves"])


def test_recordings_of_newer_rules_are_refused_with_a_cure(recordings):
    newer = {
        name: table.replace_schema_metadata({"rules": str(r.VERSION + 1)})
        for name, table in recordings.items()
    }
    with pytest.raises(InputError, match=r"version 3 of the arena's rules.*knows 2.*Update it"):
        encode(newer, None)


def test_a_policy_that_does_not_see_the_clock_is_refused_with_a_cure(tmp_path):
    blind = PolicyShape(tuple(n for n in MOVES.features if n != "time_left"), MOVES.heads, (4,))
    save_policy(tmp_path / "blind", FactoredPolicy(blind))
    message = r"made for 19 features, the arena now has 20 \(with time_left\)\. Train again: "
    with pytest.raises(InputError, match=message):
        ArenaPolicy.load(tmp_path / "blind")


# --- leaks ---------------------------------------------------------------------------------------


@few
@given(t=st.integers(0, 80), seed=st.integers(0, 2**32))
def test_nothing_that_happens_later_reaches_a_sample(recordings, t, seed):
    rng = np.random.default_rng(seed)
    matches, steps = recordings["matches"], recordings["steps"]
    later = steps["step"].to_numpy() > t
    assert later.any()
    rows = len(steps)
    floats = {name: rng.normal(0, 50, rows) for name in (*RECORDED_VIEW, "reward")}
    acts = {name: rng.integers(0, 2, rows) for name in r.ACTION}
    events = rng.integers(0, 2**10, rows)
    tampered = {
        "steps": changed(steps, later, **floats, **acts, events=events),
        "matches": changed(
            matches,
            np.ones(len(matches), bool),
            score=rng.choice([-1, 0, 1], len(matches)),
            steps=rng.integers(1, 600, len(matches)),
        ),
    }
    before, after = encode(recordings, None)["moves"], encode(tampered, None)["moves"]
    known = ~later
    columns = [name for name in before.column_names if name != "outcome"]
    assert before.select(columns).filter(known).equals(after.select(columns).filter(known))
    assert not np.array_equal(features_of(before)[later], features_of(after)[later])


def test_no_feature_is_computed_from_anything_but_its_own_row(recordings):
    """Rows in any order, or any of them alone, give the same samples."""
    rng = np.random.default_rng(1)
    steps = recordings["steps"]
    order = rng.permutation(len(steps))[:200]
    chosen = {**recordings, "steps": steps.take(order)}
    whole = encode(recordings, None)["moves"]
    assert encode(chosen, None)["moves"].equals(whole.take(order))


def test_the_outcome_is_no_feature():
    assert not {"outcome", "score", "reward", "extras"} & set(MOVES.features)
    assert list(MOVES.features) == list(observe.FEATURES)


# --- batches, splits, results --------------------------------------------------------------------


def test_recordings_do_not_depend_on_how_matches_are_put_together(recordings, weights):
    parts = [play(fixture(seeds=seeds)).recordings for seeds in ((0,), (1, 2, 3), (4, 5))]
    for name in ("matches", "steps"):
        assert pa.concat_tables(part[name] for part in parts).equals(recordings[name])
    refs = PlayerRef("novice", weights), PlayerRef("rusher")
    together = play(Fixture(refs, (7, 8, 9))).recordings
    alone = [play(Fixture(refs, (seed,))).recordings for seed in (7, 8, 9)]
    for name in ("matches", "steps"):
        assert pa.concat_tables(one[name] for one in alone).equals(together[name])


@pytest.mark.parametrize("keep", [0, 2, 6, 99])
def test_matches_beyond_those_to_keep_are_recorded_in_outline(recordings, keep):
    tables = play(replace(fixture(), keep=keep)).recordings
    assert tables["matches"].equals(recordings["matches"])
    kept = recordings["matches"]["match"].to_pylist()[:keep]
    steps = recordings["steps"]
    assert tables["steps"].equals(
        steps.filter(pc.is_in(steps["match"], pa.array(kept, pa.string())))
    )


def test_a_match_and_its_rematch_share_their_split():
    tables = [
        play(fixture(*pair, range(40, 70))).recordings
        for pair in (("rusher", "expert"), ("expert", "rusher"))
    ]
    by_seed = {}
    for one in tables:
        seed = {row["match"]: row["seed"] for row in one["matches"].to_pylist()}
        moves = encode(one, None)["moves"]
        for name, split in set(
            zip(*moves.select(["match", "split"]).to_pydict().values(), strict=True)
        ):
            by_seed.setdefault(seed[name], []).append((name, split))
    assert len(by_seed) == 30
    for seed, found in by_seed.items():
        names, splits = zip(*found, strict=True)
        assert len(names) == len(set(names)) == 2
        assert set(splits) == {split_of(str(seed))}
    assert {splits[0][1] for splits in by_seed.values()} == set(SPLITS)


def test_results_have_two_rows_per_match_one_the_mirror_of_the_other(recordings):
    matches = recordings["matches"].to_pylist()
    table = results(recordings["matches"])
    RESULTS.check(table.schema, "results")
    rows = table.to_pylist()
    assert len(rows) == 2 * len(matches)
    for k, row in enumerate(matches):
        mine, theirs = rows[2 * k : 2 * k + 2]
        assert (mine["player"], mine["opponent"], mine["slot"]) == ("expert", "collector", 0)
        assert (theirs["player"], theirs["opponent"], theirs["slot"]) == ("collector", "expert", 1)
        assert mine["score"] == row["score"] == -theirs["score"]
        for name in ("match", "seed", "steps", "ending"):
            assert mine[name] == theirs[name] == row[name]


@pytest.mark.parametrize(
    ("ending", "pair", "seeds"),
    [
        ("kill", ("expert", "rusher"), range(4)),
        ("double kill", ("rusher", "rusher"), range(200)),
        ("timeout", ("camper", "camper"), range(4)),
    ],
)
def test_endings_are_named_for_what_happened(ending, pair, seeds):
    rows = play(fixture(*pair, seeds)).recordings["matches"].to_pylist()
    chosen = [row for row in rows if row["ending"] == ending]
    assert chosen
    for row in chosen:
        assert (row["steps"] == r.MAX_STEPS) == (ending == "timeout")
        assert abs(row["score"]) == (1 if ending == "kill" else 0)
        assert row["layout"] in r.LAYOUT_NAMES and row["origin"] == "played"


# --- sanity counts -------------------------------------------------------------------------------


def test_counts_add_up_over_shards(recordings):
    parts = [play(fixture(seeds=seeds)).recordings for seeds in ((0, 1), (2, 3, 4, 5))]
    total = Counter()
    for part in parts:
        total.update(summarise(part, encode(part, None)))
    moves = encode(recordings, None)["moves"]
    whole = summarise(recordings, {"moves": moves})
    assert {name: count for name, count in whole.items() if count} == {
        name: count for name, count in total.items() if count
    }
    rows = len(moves)
    assert whole["matches"] == 6 and whole["decisions"] == rows == len(recordings["steps"])
    for group in ("split", "player", "outcome", *codec.HEADS):
        assert sum(n for name, n in whole.items() if name.startswith(f"{group}/")) == rows
    assert sum(n for name, n in whole.items() if name.startswith("ending/")) == 6
    assert whole["violations"] == 0


def test_a_match_whose_outcome_is_unknown_is_no_draw(recordings):
    matches = recordings["matches"]
    place = matches.schema.get_field_index("score")
    score = [None, *matches["score"].to_pylist()[1:]]
    told = matches.set_column(place, matches.field("score"), pa.array(score, pa.float32()))
    unsure = {**recordings, "matches": told}
    moves = encode(unsure, None)["moves"]
    of_first = np.array(moves["match"].to_pylist()) == matches["match"][0].as_py()
    outcome = moves["outcome"].to_numpy()
    assert np.isnan(outcome[of_first]).all() and np.isfinite(outcome[~of_first]).all()
    counts = summarise(unsure, {"moves": moves})
    assert counts["outcome/unknown"] == of_first.sum() > 0 == counts["outcome/drawn"]


def test_a_forbidden_action_in_a_recording_is_counted_and_made_possible(recordings):
    steps = recordings["steps"]
    views, empty = views_of(steps), np.zeros(len(steps), bool)
    reloading = np.flatnonzero(views[:, v.RELOAD] > 0)[[0, 5]]
    cooling = np.flatnonzero(views[:, v.DASH_COOLDOWN] > 0)[3]
    assert cooling not in reloading
    fires, dashes = empty.copy(), empty.copy()
    fires[reloading] = True
    dashes[[reloading[0], cooling]] = True
    dash_too = views[reloading[0], v.DASH_COOLDOWN] > 0
    planted = changed(changed(steps, fires, fire=1), dashes, ability=r.DASH)
    moves = encode({**recordings, "steps": planted}, None)["moves"]
    forbidden = moves["forbidden"].to_numpy()
    assert set(np.flatnonzero(forbidden)) == {*reloading, cooling}
    assert forbidden[reloading].tolist() == [1 + dash_too, 1] and forbidden[cooling] == 1
    assert summarise({**recordings, "steps": planted}, {"moves": moves})["violations"] == 3
    # What was done was possible: every chosen option is legal, so its likelihood is never 0.
    legal = unpack_legal(moves["legal"], observe.NUM_OPTIONS)
    assert np.take_along_axis(legal, choices_of(moves) + FIRST_OPTION, axis=1).all()


# --- on disk -------------------------------------------------------------------------------------


def test_tables_come_back_from_disk_bit_for_bit(recordings, tmp_path):
    moves = encode(recordings, None)["moves"]
    for table, rows in (
        (MATCHES, recordings["matches"]),
        (STEPS, recordings["steps"]),
        (MOVES.table, moves),
    ):
        path = shards.shard_path(tmp_path, table, "00000")
        shards.write_shard(path, rows)
        back = shards.read_shard(path, table)
        assert back.equals(rows) and back.schema.equals(rows.schema, check_metadata=True)
    back = {
        table.name: shards.read_shard(shards.shard_path(tmp_path, table, "00000"), table)
        for table in (MATCHES, STEPS)
    }
    assert views_of(back["steps"]).tobytes() == views_of(recordings["steps"]).tobytes()
    assert actions_of(back["steps"]).tobytes() == actions_of(recordings["steps"]).tobytes()
    assert encode(back, None)["moves"].equals(moves)


def test_a_policy_draws_the_same_whoever_it_plays_beside(weights):
    """The dice depend on the match and the step: one row of many is as the row alone."""
    player = ArenaPolicy.load(weights)
    seen = []
    for seeds in ((5,), (3, 4, 5, 6)):
        world = match.World(len(seeds))
        world.reset(seeds)
        for _ in range(30):
            actions = np.zeros((len(seeds), 2, len(r.ACTION)), np.float32)
            for slot in range(2):
                running = np.arange(len(seeds))
                actions[:, slot] = player.act(world.view[:, slot], world, running, slot)
            world.step(actions)
        seen.append(world.view[seeds.index(5)].tobytes())
    assert seen[0] == seen[1]
