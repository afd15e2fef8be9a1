"""Samples say what was seen and done, nothing of later, and what L1 thinks of it."""

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from tests.games.scml.memories import PLAN, SHORT, played
from understudy import games
from understudy.data import shards
from understudy.data.players import PlayerRef
from understudy.data.runs import Run
from understudy.data.samples import unpack_legal
from understudy.data.splits import split_of
from understudy.games.scml.domain import ACCEPT, BUCKETS, END, REJECT, SafetySettings
from understudy.games.scml.learning.dataset import risk_of
from understudy.games.scml.learning.encode import encode, summarise
from understudy.games.scml.learning.goal_labels import Days, GoalSettings
from understudy.games.scml.learning.samples import DAY_START_SAMPLES, ROUND_OPTIONS, ROUND_SAMPLES
from understudy.games.scml.recording.tables import RECORDINGS
from understudy.games.scml.tournament import play
from understudy.games.scml.view.columns import packed
from understudy.games.scml.view.from_recording import Recording, decisions_of
from understudy.games.scml.view.observe import observe, observed
from understudy.pipeline import encode as encode_stage

LIVE = frozenset({"Live"})
LABELS = {"response", "omitted", "quantity", "ahead", "price", "residual", "legal", "forbidden"}
TURNS = {"turn", "left", "money", "baseline"}
"""They depend on what was done in the same decision with negotiations that came before."""
TARGETS = {"reward", "outcome", "goals", "intent", "talk_gain", "day_gain"}
PLANS = {"std": PLAN, "oneshot": SHORT, "at a risk": PLAN}
RISKS = {"std": 0.0, "oneshot": 0.0, "at a risk": 0.4}
EVENING = ("bought", "bought_money", "sold", "sold_money", "produced", "shortfall", "stored")


@pytest.fixture(scope="module")
def worlds():
    return {name: played(plan, RISKS[name]) for name, plan in PLANS.items()}


@pytest.fixture(scope="module")
def recordings(worlds):
    return worlds["std"][0]


@pytest.fixture(scope="module")
def rounds(recordings):
    return encode(recordings, None)["rounds"]


def lists(table, name):
    """A column of lists as [rows, width]."""
    values = table[name].combine_chunks()
    return values.flatten().to_numpy().reshape(len(table), -1)


def features_of(table):
    return [column.name for column in table.columns if column.name not in LABELS | TARGETS]


# --- parity --------------------------------------------------------------------------------------


@pytest.mark.parametrize("track", PLANS)
def test_samples_are_bit_for_bit_what_live_agents_saw(track, worlds):
    recordings, decided, day_starts, turns = worlds[track]
    samples, settings = encode(recordings, LIVE, RISKS[track]), SafetySettings(risk=RISKS[track])
    lived = [found for name in sorted(turns) for found in turns[name]]
    for name, of_turns in (("turn", "features"), ("left", "left"), ("baseline", "baseline")):
        values = np.concatenate([getattr(found, of_turns) for found in lived])
        kept = lists(samples["rounds"], name)
        assert kept.astype(values.dtype).tobytes() == values.tobytes()
    money = np.concatenate([found.money for found in lived]).astype(np.float32)
    assert samples["rounds"]["money"].to_numpy().tobytes() == money.tobytes()
    states = [state for name in sorted(decided) for state in decided[name]]
    rounds = samples["rounds"]
    row = 0
    for state in states:
        found = observe(state, settings)
        for negotiation in range(len(state.negotiations)):
            for name in ("static", "temporal", "situation"):
                alone = getattr(found, name)[0].tobytes()
                assert rounds[name][row].values.to_numpy().tobytes() == alone
            for name in ("thread", "history", "role"):
                alone = getattr(found, name)[negotiation].tobytes()
                assert rounds[name][row].values.to_numpy().tobytes() == alone
            row += 1
        if row > 400:
            break
    assert len(rounds) == sum(len(state.negotiations) for state in states)
    bankrupt = Recording(recordings).bankrupt_from
    seen = [
        state
        for name in sorted(day_starts)
        for state in day_starts[name]
        if state.day_start.day < bankrupt[int(name[:2])]
    ]
    found = observed(packed(seen), settings)
    for name, values in (
        ("static", found.static),
        ("temporal", found.temporal),
        ("role", found.can),
    ):
        assert lists(samples["mornings"], name).tobytes() == values.tobytes()


# --- leaks ---------------------------------------------------------------------------------------


def tampered_after(recordings, moment, day, rng):
    """Everything after a decision is different, and so is its own answer."""
    decisions, contracts, days = (recordings[n] for n in ("decisions", "contracts", "days"))
    later = decisions["moment"].to_numpy() > moment
    now = decisions["moment"].to_numpy() >= moment
    known = known_contracts(recordings, moment)
    answers = rng.choice(["accept", "reject", "end"], len(decisions))
    offers = {f"offered_{part}": rng.integers(1, 9, len(decisions)) for part in PARTS}
    heard = {f"heard_{part}": rng.integers(1, 9, len(decisions)) for part in PARTS}
    counts = {name: rng.integers(0, 9, len(decisions)) for name in COUNTS}
    decisions = changed(decisions, now, answer=answers, **offers)
    decisions = changed(decisions, later, **heard, **counts)
    tomorrow = days["day"].to_numpy() > day
    noise = {name: rng.integers(0, 9, len(days)) for name in NOISE}
    evening = {name: rng.integers(0, 99, len(days)) for name in (*EVENING, "profit")}
    days = changed(days, tomorrow, **noise, bankrupt=rng.random(len(days)) < 0.3)
    days = changed(days, tomorrow | (days["day"].to_numpy() == day), **evening)
    parts = {name: rng.integers(1, 9, len(contracts)) for name in ("quantity", "unit_price", "day")}
    worlds = recordings["worlds"]
    index = worlds.schema.get_field_index("scores")
    scores = pa.array([[0.5] * len(PLAN.players)], worlds.schema.field("scores").type)
    return {
        "decisions": decisions,
        "days": days,
        "contracts": changed(contracts, ~known, executed=rng.random(len(contracts)) < 0.5, **parts),
        "worlds": worlds.set_column(index, worlds.schema.field("scores"), scores),
    }


PARTS = ("quantity", "day", "price")
COUNTS = ("round", "needed_supplies", "needed_sales", "contracts")
NOISE = ("stock", "balance", "supply_quantity", "sale_price", "price_in", "highest_out")


def known_contracts(recordings, moment):
    """Which contracts had been made by then, as far as their sides' decisions tell."""
    made = defaultdict(int)
    for row in recordings["decisions"].to_pylist():
        if row["moment"] <= moment:
            made[row["factory"]] = max(made[row["factory"]], row["contracts"])
    known, count = [], Counter()
    for row in recordings["contracts"].to_pylist():
        sides = row["seller"], row["buyer"]
        known.append(any(count[side] < made[side] for side in sides))
        count.update(sides)
    return np.array(known)


def changed(table, mask, **columns):
    """The same table with other values in these columns where the mask says."""
    for name, values in columns.items():
        index = table.schema.get_field_index(name)
        field = table.schema.field(index)
        new = pc.if_else(pa.array(mask), pa.array(values).cast(field.type), table[name])
        table = table.set_column(index, field, new)
    return table


@pytest.mark.parametrize("share, risk", [(0.02, 0.0), (0.3, 0.5), (0.5, 0.0), (0.8, 0.3)])
def test_nothing_that_happens_later_reaches_a_sample(recordings, share, risk):
    rng = np.random.default_rng(int(100 * share))
    moments = np.sort(recordings["decisions"]["moment"].to_numpy())
    moment = int(moments[int(share * len(moments))])
    at = recordings["decisions"]["moment"].to_numpy() == moment
    day = int(recordings["decisions"]["day"].to_numpy()[at][0])
    before, after = (
        encode(tables, None, risk)
        for tables in (recordings, tampered_after(recordings, moment, day, rng))
    )
    columns = [name for name in features_of(ROUND_SAMPLES) if name not in TURNS]
    seen, told = (tables["rounds"].sort_by(ORDER) for tables in (before, after))
    early, early_told = (t.filter(pc.field("moment") <= moment) for t in (seen, told))
    assert len(early) and early.select(columns).equals(early_told.select(columns))
    answered = (
        early.filter(pc.field("moment") < moment),
        early_told.filter(pc.field("moment") < moment),
    )
    known = sorted(LABELS | TURNS)
    assert answered[0].select(known).equals(answered[1].select(known))
    first, first_told = (t.filter(pc.field("moment") == moment) for t in (seen, told))
    comes_first = served_before(first) == 0
    assert comes_first.any()
    for name in TURNS:
        now, now_told = (t.filter(pa.array(comes_first))[name] for t in (first, first_told))
        assert now.equals(now_told)
    columns = features_of(DAY_START_SAMPLES)
    day_starts, day_starts_told = (
        tables["mornings"].filter(pc.field("day") <= day).select(columns)
        for tables in (before, after)
    )
    assert len(day_starts) and day_starts.equals(day_starts_told)
    # Later ones are indeed of another world.
    late, late_told = (t.filter(pc.field("moment") > moment) for t in (seen, told))
    for name in ("static", "temporal", "thread", "history"):
        assert not late[name].equals(late_told[name])


def served_before(rounds):
    """How many negotiations of the same decision came before, on either side."""
    weight = lists(rounds, "turn")[:, -1]
    rank = np.argsort(np.argsort(-weight, kind="stable"), kind="stable")
    return np.array([sum(rank[i] > rank[j] for j in range(len(rank))) for i in range(len(rank))])


ORDER = [("slot", "ascending"), ("step", "ascending")]


def test_targets_are_no_features():
    for table in (ROUND_SAMPLES, DAY_START_SAMPLES):
        found = set(features_of(table))
        assert not found & (LABELS | TARGETS)
        assert {"static", "temporal", "days", "role"} <= found


# --- what was done -------------------------------------------------------------------------------


def test_labels_are_what_was_answered(recordings, rounds):
    rows = rounds.drop_columns(["history", "thread", "temporal"]).to_pylist()
    index = 0
    seen = Counter()
    for one in decisions_of(recordings, None):
        for answer in one.answers:
            row = rows[index]
            index += 1
            assert (row["moment"], row["slot"], row["player"]) == (
                one.moment,
                one.factory,
                one.player,
            )
            assert row["omitted"] == answer.omitted
            if answer.response == "accept":
                assert (row["response"], row["quantity"]) == (ACCEPT, 0)
            elif answer.offer is None:
                assert (row["response"], row["quantity"]) == (END, 0)
            else:
                quantity, day, price = answer.offer
                offer = [row["quantity"], row["ahead"] + one.day, row["price"]]
                assert row["response"] == REJECT and offer == [quantity, day, price]
                sums = [a + b for a, b in zip(row["baseline"], row["residual"], strict=True)]
                assert sums == [row["quantity"], row["ahead"], row["price"]]
            assert any(row["residual"]) <= (row["response"] == REJECT)
            seen[row["response"], one.call] += 1
    assert index == len(rows)
    assert seen[ACCEPT, "counter_all"] and seen[END, "counter_all"] and seen[REJECT, "respond"]
    assert seen[REJECT, "first_proposals"] and seen[REJECT, "propose"]


def test_an_answer_that_is_none_is_no_sample(recordings, rounds):
    decisions = recordings["decisions"]
    waits = np.zeros(len(decisions), bool)
    asked = np.flatnonzero(pc.equal(decisions["call"], "counter_all").to_numpy())
    waits[asked[[3, 8]]] = True
    nothing = pa.nulls(len(decisions), pa.string())
    index = decisions.schema.get_field_index("answer")
    answer = pc.if_else(pa.array(waits), nothing, decisions["answer"])
    waiting = decisions.set_column(index, decisions.schema.field("answer"), answer)
    found = encode({**recordings, "decisions": waiting}, None)["rounds"]
    assert len(found) == len(rounds) - 2


def test_what_was_done_is_legal_and_what_l1_forbids_is_counted(recordings, rounds):
    legal = unpack_legal(rounds["legal"], ROUND_OPTIONS)
    response, ahead = rounds["response"].to_numpy(), rounds["ahead"].to_numpy()
    assert legal[np.arange(len(legal)), response].all() and legal[:, END].all()
    offers = np.flatnonzero(response == REJECT)
    assert legal[offers, 3 + ahead[offers]].all()
    counts = summarise(
        recordings, {"rounds": rounds, "mornings": encode(recordings, None)["mornings"]}
    )
    forbidden = rounds["forbidden"].to_numpy()
    assert counts["violations"] == forbidden.sum() > 0
    assert counts["violations"] == counts["unsafe/accept"] + counts["unsafe/offer"]
    bounds = lists(rounds, "left")
    too_many = rounds["quantity"].to_numpy()[offers] > bounds[offers, ahead[offers]]
    assert (forbidden[offers][too_many] == 1).all()
    assert not forbidden[response == END].any()


def test_an_agent_behind_l1_sells_nothing_that_l1_forbids():
    players = tuple(PlayerRef(name) for name in ("L1", "SyncRandom", "L1", "Greedy", "L1", "L1"))
    plan = replace(PLAN, factories_per_level=(2, 2, 2), players=players, steps=12)
    recordings = play.play([plan]).recordings
    rounds = encode(recordings, frozenset({"L1"}))["rounds"]
    responses = Counter(rounds["response"].to_pylist())
    assert min(responses[k] for k in (ACCEPT, REJECT, END)) > 10
    assert not rounds["forbidden"].to_numpy().any()


# --- keys and consequences -----------------------------------------------------------------------


def test_every_row_is_there_once_and_knows_what_came_of_it(recordings, rounds):
    world = recordings["worlds"].to_pylist()[0]
    profit = {(r["factory"], r["day"]): r["profit"] for r in recordings["days"].to_pylist()}
    for table in encode(recordings, None).values():
        names = ["match", "step", "slot", "player", "split", "day", "reward", "outcome"]
        rows = table.select(names).to_pylist()
        assert len({(row["step"], row["slot"]) for row in rows}) == len(rows) > 100
        for row in rows:
            slot = row["slot"]
            assert row["player"] == world["players"][slot]
            assert row["outcome"] == world["scores"][slot]
            gain = profit[slot, row["day"]] / world["balances"][slot]
            assert row["reward"] == np.float32(gain)
            assert row["split"] == split_of(str(PLAN.seed))
    decisions = recordings["decisions"]
    opens = (3 - np.array(world["levels"])[decisions["factory"].to_numpy()]) % 2 == 1
    is_first = pc.equal(decisions["call"], "first_proposals").to_numpy()
    assert len(rounds) == len(decisions) - (is_first & ~opens).sum() < len(decisions)
    steps = rounds.filter(pc.field("slot") == 4)["step"].to_pylist()
    assert steps == list(range(len(steps)))


def test_only_the_asked_players_decisions_are_encoded(recordings):
    everybody, live = encode(recordings, None), encode(recordings, LIVE)
    nobody = encode(recordings, frozenset({"boss"}))
    for name, table in live.items():
        assert table.equals(everybody[name].filter(pc.field("player") == "Live"))
        assert len(nobody[name]) == 0 and nobody[name].schema == table.schema


def test_counts_add_up(worlds):
    one, other = (worlds[track][0] for track in ("std", "oneshot"))
    both = {name: pa.concat_tables([one[name], other[name]]) for name in one}
    total = Counter()
    for part in (one, other):
        total.update(summarise(part, encode(part, None)))
    whole = summarise(both, encode(both, None))
    assert whole == dict(total) and whole["matches"] == 2
    for group in ("split", "player", "response", "call"):
        parts = sum(count for name, count in whole.items() if name.startswith(f"{group}/"))
        assert parts == whole["decisions"]


@pytest.mark.parametrize("risk", [0.0, 0.3])
def test_a_recorded_run_is_encoded_and_reads_back_as_it_was(recordings, tmp_path, risk):
    run = Run(tmp_path)
    for table in RECORDINGS:
        path = shards.shard_path(run.recordings, table, "00000")
        path.parent.mkdir(exist_ok=True)
        shards.write_shard(path, recordings[table.name])
    told = {"risk": risk} if risk else {}
    counts = encode_stage.encode(games.load("scml"), run, worker=0, quiet=True, options=told)
    samples = encode(recordings, None, risk)
    assert counts == summarise(recordings, samples)
    for table in (ROUND_SAMPLES, DAY_START_SAMPLES):
        back = shards.read_shard(shards.shard_path(run.samples, table, "00000"), table)
        assert back.equals(samples[table.name])
        assert risk_of(run.samples, table) == risk


# --- goals ---------------------------------------------------------------------------------------


def days_of(recordings, **chosen):
    recording = Recording(recordings)
    day_starts = recording.day_starts()
    keys = zip(
        day_starts.owner.tolist(), day_starts.states.facts[:, 12].astype(int).tolist(), strict=True
    )
    return list(keys), Days(recording, day_starts, recordings["decisions"], GoalSettings(**chosen))


def goals_of(deeds):
    """(factory, day) -> [buckets, 2, units and money], from (factory, day, sells, ahead, q, p)."""
    found = defaultdict(lambda: np.zeros((4, 2, 2)))
    for factory, day, sells, ahead, quantity, price in deeds:
        bucket = next(k for k, (first, last) in enumerate(BUCKETS) if first <= ahead <= last)
        found[factory, day][bucket, int(sells)] += (quantity, quantity * price)
    return found


def assert_goals(keys, goals, expected):
    hits = 0
    for key, row in zip(keys, goals.reshape(-1, 4, 2, 2), strict=True):
        assert np.allclose(row[:, :, 0], expected[key][:, :, 0])
        traded = expected[key][:, :, 0] > 0
        money = expected[key][traded]
        assert np.allclose(row[traded][:, 1], money[:, 1] / money[:, 0])
        hits += traded.sum()
    assert hits > 50


@pytest.mark.parametrize("track", PLANS)
def test_intent_is_the_first_offer_in_each_negotiation(track, worlds):
    recordings = worlds[track][0]
    level = recordings["worlds"]["levels"][0].as_py()
    rows = sorted(recordings["decisions"].to_pylist(), key=lambda row: row["moment"])
    first = {}
    for row in rows:
        if row["offered_quantity"] is not None:
            first.setdefault((row["factory"], row["day"], row["partner"]), row)
    deeds = [
        (
            factory,
            day,
            level[partner] > level[factory],
            row["offered_day"] - day,
            row["offered_quantity"],
            row["offered_price"],
        )
        for (factory, day, partner), row in first.items()
    ]
    keys, days = days_of(recordings)
    assert_goals(keys, days.from_intent(), goals_of(deeds))


def test_deals_alone_are_what_was_agreed_that_day(recordings):
    deeds = [
        (row[side], row["concluded"], side == "seller", row["day"] - row["concluded"], *what(row))
        for row in recordings["contracts"].to_pylist()
        for side in ("seller", "buyer")
    ]
    alone = {"softness": 0.0, "gap_share": 0.0, "vain_share": 0.0, "vain_weight": 0.0}
    keys, days = days_of(recordings, **alone, spot_weight=1e-12)
    assert_goals(keys, days.from_deeds(), goals_of(deeds))


def what(row):
    return row["quantity"], row["unit_price"]


def test_what_else_makes_up_the_goals(recordings):
    def units(**chosen):
        keys, days = days_of(recordings, **chosen)
        return keys, days.from_deeds().reshape(-1, 4, 2, 2)[..., 0], days

    plain = {"softness": 0.0, "gap_share": 0.0, "vain_share": 0.0}
    _, deals, days = units(**plain)
    _, soft, _ = units(**(plain | {"softness": 0.5}))
    # spread, never lost, and only where a delivery is possible
    assert np.allclose(soft.sum(axis=1), deals.sum(axis=1)) and not np.allclose(soft, deals)
    assert not soft[~days.reachable].any()
    keys, vain, _ = units(**(plain | {"vain_share": 1.0}))
    last, dealt = {}, set()
    for row in sorted(recordings["decisions"].to_pylist(), key=lambda row: row["moment"]):
        if row["offered_quantity"] is not None:
            last[row["factory"], row["day"], row["partner"]] = row["offered_quantity"]
    for row in recordings["contracts"].to_pylist():
        dealt |= {(row["seller"], row["concluded"], row["buyer"])}
        dealt |= {(row["buyer"], row["concluded"], row["seller"])}
    expected = Counter()
    for (factory, day, partner), quantity in last.items():
        if (factory, day, partner) not in dealt:
            expected[factory, day] += quantity
    more = (vain - deals).sum(axis=(1, 2))
    assert np.allclose(more, [expected[key] for key in keys])
    _, gaps, _ = units(**(plain | {"gap_share": 1.0}))
    left = gaps - deals
    assert (left >= -1e-9).all() and (left.sum(axis=1) <= 10 + 1e-9).all() and left.sum() > 10
    assert (np.diff(left, axis=1) <= 1e-9).all()  # the nearer the more


def test_prices_are_steady_and_of_the_side_that_can(recordings):
    keys, days = days_of(recordings)
    level = recordings["worlds"]["levels"][0].as_py()
    for goals in (days.from_deeds(), days.from_intent()):
        rows = goals.reshape(-1, 4, 2, 2)
        first = np.array([level[factory] == 0 for factory, _ in keys])
        last = np.array([level[factory] == 2 for factory, _ in keys])
        assert not rows[first][:, :, 0].any() and not rows[last][:, :, 1].any()
        assert (rows[~first][:, :, 0, 1] > 0).all() and (rows[~last][:, :, 1, 1] > 0).all()
        assert np.isfinite(goals).all()
