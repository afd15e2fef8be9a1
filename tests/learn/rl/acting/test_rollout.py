"""Acting: what is kept of play, whom the learner meets, and that a rollout is a pure function."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.learn.rl.toy_matches import NUMBERS, ROUNDS, ToyMatches, toy_with_limit
from understudy.learn.policy import FactoredPolicy, PolicyShape
from understudy.learn.rl.acting.job import Job
from understudy.learn.rl.acting.opponents import Opponent, packed, unpacked
from understudy.learn.rl.acting.rollout import collect
from understudy.learn.rl.acting.seating import seating
from understudy.learn.rl.env import SELF, BatchedEnv

SHAPE = PolicyShape(NUMBERS.features, NUMBERS.heads, (8,))
PLAYER, OTHER = (packed(FactoredPolicy(SHAPE, seed)) for seed in (0, 1))
MIXED = (
    Opponent(SELF, 0.5),
    Opponent("right", 0.2),
    Opponent("zero", 0.1),
    Opponent("past", 0.2, OTHER),
)


def job(**changes):
    settled = Job(
        make=ToyMatches,
        player=PLAYER,
        opponents=MIXED,
        matches=20,
        steps=11,
        discount=0.9,
        pseudo_reward=0.0,
        seed=(1, 2),
        version=7,
        sees_others=True,
    )
    return replace(settled, **changes)


def equal(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[k], other[k]) for k in one)
    return np.array_equal(one, other)


# --- who sits where ------------------------------------------------------------------------------


def test_places_are_shared_out_by_probability():
    where = seating(20, 2, MIXED)
    assert where.mirrored == 10
    assert where.row[:20].tolist() == list(range(20))  # both seats of ten places
    assert (where.row[20:] // 2).tolist() == list(range(10, 20))
    assert np.bincount(where.row[20:] % 2).tolist() == [5, 5]
    assert where.others[:, 0].tolist() == [row ^ 1 for row in where.row]
    assert where.place.tolist() == [row // 2 for row in where.row]


def test_probabilities_need_not_sum_to_1_and_nobody_is_left_out():
    assert seating(10, 2, [Opponent(SELF, 3.0), Opponent("right", 1.0)]).mirrored == 8
    assert seating(10, 2, [Opponent(SELF, 99.0), Opponent("right", 0.1)]).mirrored == 9
    assert seating(10, 2, [Opponent(SELF, 1.0)]).mirrored == 10
    assert seating(10, 2, [Opponent("right", 1.0)]).mirrored == 0


def test_three_seats_have_two_others_each():
    where = seating(3, 3, [Opponent("right", 1.0)])
    assert where.row.tolist() == [0, 4, 8]
    assert where.others.tolist() == [[1, 2], [5, 3], [6, 7]]


def test_somebody_must_be_met():
    with pytest.raises(ValueError, match="nobody to meet"):
        seating(10, 2, [Opponent("right", 0.0)])
    with pytest.raises(ValueError, match="probability -1"):
        Opponent("right", -1.0)
    with pytest.raises(ValueError, match="brings no weights"):
        Opponent(SELF, 1.0, OTHER)


def test_opponents_are_met_by_their_probabilities():
    tally = collect(job(matches=400, steps=80, sees_others=False)).tally
    played = {name: sum(counts) for name, counts in tally.items()}
    assert set(played) == {SELF, "right", "zero", "past"}
    assert sum(played.values()) == 400 * 80 / ROUNDS
    for name, share in ((SELF, 0.5), ("right", 0.2), ("zero", 0.1), ("past", 0.2)):
        assert played[name] / 8000 == pytest.approx(share, abs=0.02)


def test_the_tally_is_from_the_learners_side():
    tally = collect(job(opponents=(Opponent("right", 1.0),), matches=200)).tally
    won, drawn, lost = tally["right"]
    assert won == 0 and lost > 5 * drawn  # nobody beats one who is always right


# --- what is kept --------------------------------------------------------------------------------


def test_a_rollout_tells_what_happened():
    rollout = collect(job())
    play = rollout.sequences()
    assert play.steps == 11 and play.size == 30
    assert play.observation.shape == (12, 30, 3) and play.others.shape == (12, 30, 3)
    assert (play.version == 7).all() and play.counts.all() and not play.truncated.any()
    # Matches last four steps, and nothing is gained before the last.
    over = torch.arange(11) % ROUNDS == ROUNDS - 1
    assert (play.discount == torch.where(over, 0.0, 0.9)[:, None]).all()
    assert (play.reward[~over] == 0).all() and play.reward[over].abs().sum() > 0


def test_log_probabilities_are_those_of_the_policy_that_played():
    play = collect(job()).sequences()
    policy = unpacked(PLAYER)
    for t in range(play.steps):
        distribution = policy.distribution(play.observation[t], play.legal[t])
        found = distribution.log_prob_by_head(play.action[t].long())
        torch.testing.assert_close(found, play.log_prob[t], rtol=0, atol=1e-6)
        chosen = distribution.probabilities().gather(
            1, play.action[t].long() + torch.tensor([0, 3])
        )
        assert (chosen > 0).all()


def test_the_others_views_are_those_of_the_other_seat():
    play = collect(job(opponents=(Opponent(SELF, 1.0),))).sequences()
    first, second = play.observation[:, 0::2], play.observation[:, 1::2]
    assert torch.equal(play.others[:, 0::2], second) and torch.equal(play.others[:, 1::2], first)
    assert collect(job(sees_others=False)).play["others"].shape == (12, 30, 0)


def test_rewards_in_self_play_are_opposite():
    play = collect(job(opponents=(Opponent(SELF, 1.0),))).sequences()
    assert torch.equal(play.reward[:, 0::2], -play.reward[:, 1::2])


def test_pseudo_rewards_come_beside_the_score_and_leave_the_tally_alone():
    plain, helped = collect(job()), collect(job(pseudo_reward=0.125))
    assert plain.tally == helped.tally
    extra = helped.play["reward"] - plain.play["reward"]
    shown = helped.play["observation"][:-1].argmax(2)
    assert np.array_equal(extra, 0.125 * (helped.play["action"][..., 0] == shown))


def test_a_draw_can_be_worth_something_and_stays_a_draw():
    plain, eager = collect(job()), collect(job(draw=-0.5))
    assert plain.tally == eager.tally
    changed = eager.play["reward"] - plain.play["reward"]
    terminated, level = plain.play["discount"] == 0, plain.play["reward"] == 0
    assert (terminated & level).any() and (terminated & ~level).any()
    assert np.array_equal(changed, np.where(terminated & level, -0.5, 0.0))
    truncated = collect(job(make=toy_with_limit, steps=9, draw=-0.5))
    assert (truncated.play["reward"] == 0).all()  # nobody has drawn a match that has not ended


def test_a_match_cut_short_is_looked_at_once_more():
    play = collect(job(make=toy_with_limit, steps=9)).sequences()
    # Two steps, then an idle one that shows the last state; then the next match.
    place = torch.arange(9) % 3
    assert torch.equal(play.truncated, (place == 1)[:, None].expand(9, 30))
    assert torch.equal(play.counts, (place != 2)[:, None].expand(9, 30))
    expected = torch.where(place == 2, 0.0, 0.9)[:, None].expand(9, 30)
    assert torch.equal(play.discount, expected)
    assert (play.reward == 0).all()


# --- a pure function -----------------------------------------------------------------------------


def test_the_same_job_gives_the_same_rollout_also_after_a_journey():
    first = collect(job())
    again = collect(pickle.loads(pickle.dumps(job())))
    for one, other in zip(first, again, strict=True):
        assert equal(one, other)
    moved = collect(job(seed=(1, 3)))
    assert not equal(first.play, moved.play)


def test_a_rollout_goes_on_where_the_one_before_ended():
    before = collect(job(steps=6))
    after = collect(job(steps=5, state=before.state, seed=(5,)))
    np.testing.assert_array_equal(after.play["observation"][0], before.play["observation"][-1])
    over = (np.arange(5) + 6) % ROUNDS == ROUNDS - 1
    np.testing.assert_array_equal(after.play["discount"][:, 0] == 0, over)


def test_an_idle_step_is_not_forgotten_between_rollouts():
    before = collect(job(make=toy_with_limit, steps=5))
    assert before.play["truncated"][-1].all()
    after = collect(job(make=toy_with_limit, steps=2, state=before.state))
    assert not after.play["counts"][0].any() and after.play["counts"][1].all()


def test_an_opponent_who_is_gone_is_replaced_and_the_others_play_on():
    before = collect(job(steps=2))
    fewer = (Opponent(SELF, 0.5), Opponent("right", 0.5))
    after = collect(job(steps=2, state=before.state, opponents=fewer))
    names = np.array(before.state["opponent"])
    kept = np.isin(names, [SELF, "right"])
    assert set(after.state["opponent"]) == {SELF, "right"}
    # Those who play on are now in their fifth step, of a new match; the others in their third.
    assert (after.state["game"]["step_of"] == np.where(kept, 0, 2)).all()


def test_other_shares_of_self_play_begin_anew_only_where_they_must():
    before = collect(job(steps=2))
    more = collect(job(steps=1, state=before.state, opponents=(Opponent(SELF, 1.0),)))
    assert more.play["reward"].shape == (1, 40)
    assert (more.state["game"]["step_of"] == np.repeat([3, 1], 10)).all()
    both = (Opponent(SELF, 0.5), Opponent("right", 0.5))
    before = collect(job(steps=2, opponents=both))
    shifted = (Opponent(SELF, 1.5), Opponent("right", 0.5))
    after = collect(job(steps=1, state=before.state, opponents=shifted))
    assert (after.state["game"]["step_of"] == np.repeat([3, 1, 3], [10, 5, 5])).all()


def test_weights_survive_packing():
    policy = FactoredPolicy(SHAPE, 3)
    again = unpacked(packed(policy)).state_dict()
    assert all(torch.equal(again[name], tensor) for name, tensor in policy.state_dict().items())


def test_the_toy_is_a_game():
    assert isinstance(ToyMatches(3), BatchedEnv)
