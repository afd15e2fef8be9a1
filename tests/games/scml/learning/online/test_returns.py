"""What is booked, and the targets that follow from it."""

import numpy as np
import pytest

from understudy.games.scml.batch.sampler import sample
from understudy.games.scml.batch.setup import Seat, set_seats
from understudy.games.scml.batch.worlds import Worlds
from understudy.games.scml.domain import NUM_GOALS
from understudy.games.scml.learning.online.booked import booked
from understudy.games.scml.learning.online.returns import explained, targets
from understudy.games.scml.learning.online.rollout_buffer import Played
from understudy.games.scml.view import inputs


def played(world: list[int], day: list[int], worth: list[float]) -> Played:
    count, none = len(world), np.empty((0, 1), np.float32)
    return Played(
        world=np.array(world),
        factory=np.zeros(count, np.int64),
        day=np.array(day),
        level=np.zeros(count, np.int64),
        group=np.zeros(count, np.int64),
        booked=np.array(worth),
        money=np.array(worth),
        state=np.zeros((count, 1), np.float32),
        central=np.zeros((count, 1), np.float32),
        kept=np.ones(count, np.bool_),
        decision=np.empty(0, np.int64),
        thread=none,
        turn=none,
        view=none,
        left=np.empty((0, 1), np.int32),
        legal=np.empty((0, 3), np.bool_),
        drawn=np.empty((0, 1), np.int64),
        was_asked=np.empty(0, np.bool_),
        day_decision=np.empty(0, np.int64),
        day_start=np.empty((0, inputs.DAY_START_INPUTS), np.float32),
        goals=np.empty((0, NUM_GOALS), np.float32),
    )


NOTHING = np.zeros(4)
# Two decisions on day 0, one on day 1, and between them one of another world.
SOME = played([0, 1, 0, 0], [0, 5, 0, 1], [1.0, 2.0, 1.1, 1.3])
FINAL = np.array([1.5, 2.5, 1.5, 1.5])
VALUE = np.array([9.0, 9.0, 0.7, 0.4])


def test_with_lambda_1_what_comes_is_the_score_less_what_is_booked() -> None:
    found = targets(SOME, SOME.booked, FINAL, VALUE, NOTHING, 1.0)
    np.testing.assert_allclose(found, FINAL - SOME.booked)


def test_with_lambda_0_the_next_decision_is_asked() -> None:
    found = targets(SOME, SOME.booked, FINAL, VALUE, NOTHING, 0.0)
    # Until the next 1.1 is booked, and .7 is expected after that.
    np.testing.assert_allclose(found, [1.1 - 1.0 + 0.7, 0.5, 1.3 - 1.1 + 0.4, 0.2])


def test_between_them_both_count() -> None:
    found = targets(SOME, SOME.booked, FINAL, VALUE, NOTHING, 0.75)
    second = 1.3 - 1.1 + 0.25 * 0.4 + 0.75 * 0.2
    assert found[2] == pytest.approx(second)
    assert found[0] == pytest.approx(1.1 - 1.0 + 0.25 * 0.7 + 0.75 * second)


def test_what_has_become_unlikely_is_trusted_less() -> None:
    ratio = np.array([0.0, 0.0, 0.0, np.log(0.5)])
    found = targets(SOME, SOME.booked, FINAL, VALUE, ratio, 1.0)
    assert found[2] == pytest.approx(1.3 - 1.1 + 0.5 * 0.4 + 0.5 * 0.2)
    assert found[0] == pytest.approx(1.3 - 1.0 + 0.5 * 0.4 + 0.5 * 0.2)
    likelier = targets(SOME, SOME.booked, FINAL, VALUE, -ratio, 1.0)
    np.testing.assert_allclose(likelier, FINAL - SOME.booked)  # never more than fully


def test_without_ratios_it_is_generalised_advantage_estimation() -> None:
    rng = np.random.default_rng(0)
    some = played([0] * 6, [0, 0, 1, 4, 4, 4], list(rng.normal(size=6)))
    value, final = rng.normal(size=6), np.full(6, 2.0)
    after = np.append(some.booked + value, 2.0)[1:]
    error = after - some.booked - value
    wanted = [sum(0.6**k * error[t + k] for k in range(6 - t)) for t in range(6)]
    found = targets(some, some.booked, final, value, np.zeros(6), 0.6) - value
    np.testing.assert_allclose(found, wanted)


def test_what_a_critic_explains_is_told_by_place() -> None:
    came, level = np.array([1.0, 3.0, 0.0, 4.0]), np.array([0, 0, 2, 2])
    found = explained(came, np.array([1.0, 3.0, 2.0, 2.0]), level)
    assert found["critic_explains/first"] == 1.0
    assert found["critic_explains/last"] == 0.0  # it says the mean
    assert found["critic_explains"] == pytest.approx(1 - 2.0 / came.var())
    assert "critic_explains/middle" not in found


def test_any_potential_leaves_the_order_of_courses_as_it_is() -> None:
    # Return and potential add up to the score, whatever the potential: nothing else gets better.
    for worth in (SOME.booked, np.array([0.0, 7.0, -3.0, 2.0])):
        found = targets(SOME, worth, FINAL, VALUE, NOTHING, 1.0)
        np.testing.assert_allclose(found + worth, FINAL)


def world() -> Worlds:
    fixed = sample([(2, 2)], [20], [5])
    set_seats(fixed[0], [Seat("DoNothing")] * 4)
    return Worlds(fixed)


def test_nothing_agreed_and_nothing_supplied_is_money() -> None:
    worlds = world()
    me = 3  # of the last level: nothing comes in
    worlds.state["sale_units"][0, me] = worlds.state["sale_money"][0, me] = 0
    assert booked(worlds.fixed[0], worlds.state[0], me) == 1.0


def test_a_sale_is_worth_its_price_less_cost_where_it_can_be_made() -> None:
    worlds = world()
    rules, state, me = worlds.fixed[0], worlds.state[0], 3
    rules["storage"][me] = 0.0
    state["sale_units"][me], state["sale_money"][me], state["stock"][me] = 4, 400, 3
    penalty = rules["penalty"][me, 0] * state["price"][2]
    wanted = 300 - 3 * rules["cost"][me] - penalty  # one unit is short
    assert booked(rules, state, me) == pytest.approx(1 + wanted / rules["initial"][me])


def test_an_order_that_supplies_to_come_will_meet_is_not_short() -> None:
    worlds = world()
    rules, state, me, tomorrow = worlds.fixed[0], worlds.state[0], 0, 1
    rules["storage"][me] = rules["disposal"][me] = 0.0
    trades = slice(*rules["trades_until"][tomorrow : tomorrow + 2])
    mine = (rules["trade_factory"][trades] == me) & (rules["trade_product"][trades] == 0)
    assert mine.sum() == 1
    rules["trade_units"][trades][mine] = coming = 6
    state["supply_units"][me] = state["supply_money"][me] = 0
    for ordered, short in ((coming, 0), (coming + 1, 1)):
        state["sure"][me, 2:, tomorrow] = ordered, 100 * ordered
        penalty = short * rules["penalty"][me, tomorrow] * state["price"][1]
        wanted = (100 - rules["cost"][me]) * coming - penalty
        assert booked(rules, state, me) == pytest.approx(1 + wanted / rules["initial"][me])
    state["sure"][me, 2:, tomorrow] = 0  # what nobody has ordered is not looked up
    assert booked(rules, state, me) == 1.0


def test_stock_is_paid_for_until_the_end() -> None:
    worlds = world()
    rules, state, me = worlds.fixed[0], worlds.state[0], 3
    state["sale_units"][me] = state["sale_money"][me] = 0
    rules["storage"][me], state["stock"][me] = 0.1, 5
    wanted = 20 * 5 * 0.1 * state["price"][1]
    assert booked(rules, state, me) == pytest.approx(1 - wanted / rules["initial"][me])


def test_at_the_end_the_score_is_booked() -> None:
    fixed = sample([(3, 3)], [12], [9])
    set_seats(fixed[0], [Seat("Steward")] * 6)
    worlds = Worlds(fixed)
    worlds.play()
    for me in range(6):
        assert booked(worlds.fixed[0], worlds.state[0], me) == pytest.approx(worlds.scores[0, me])
