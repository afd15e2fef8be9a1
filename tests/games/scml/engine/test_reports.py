"""Financial reports: on every fifth day, of everybody, with what went wrong so far."""

import pytest

from tests.games.scml.chains import factory_config
from understudy.games.scml.engine.factory import Factory
from understudy.games.scml.engine.reports import PERIOD, Reports


def factory(*breaches, balance=1000.0, bankrupt=False):
    made = Factory(factory_config(), conserve_stock=False)
    made.breach_levels = list(breaches)
    made.balance, made.bankrupt = balance, bankrupt
    return made


def test_reports_appear_every_fifth_day_and_stay():
    reports = Reports()
    assert reports.of("a") is None and reports.at(0) is None
    for day in range(2 * PERIOD + 3):
        reports.publish(day, {"a": factory(0, balance=100.0 + day)})
    assert list(reports.of("a")) == [0, PERIOD, 2 * PERIOD]
    assert [report.cash for report in reports.of("a").values()] == [100, 105, 110]


def test_between_two_reports_the_older_one_is_the_latest():
    reports = Reports()
    for day in (0, PERIOD):
        reports.publish(day, {"a": factory(0, balance=day), "b": factory(0)})
    assert reports.at(PERIOD - 1)["a"].step == 0
    assert reports.at(PERIOD + 3)["a"].step == PERIOD
    assert reports.at(10**6).keys() == {"a", "b"}
    assert reports.at(-1) is None


def test_a_report_says_how_often_and_how_badly_contracts_were_broken():
    reports = Reports()
    reports.publish(0, {"a": factory(0, 0.5, 0, 1.0), "b": factory(0, balance=-3.0, bankrupt=True)})
    a, b = reports.at(0)["a"], reports.at(0)["b"]
    assert a.breach_prob == pytest.approx(2 / 4)
    assert a.breach_level == pytest.approx(1.5 / 4)
    assert (b.breach_prob, b.breach_level) == (0, 0)
    assert (a.is_bankrupt, b.is_bankrupt, b.cash) == (False, True, -3)
    assert (a.agent_id, a.agent_name, a.assets) == ("a", "a", 0)
