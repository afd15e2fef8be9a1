"""What L1 counts on of supplies to come, by its definition, its borders and whom it concerns."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.games.scml.states import PROFILE, state
from understudy.data.players import PlayerRef
from understudy.errors import InputError
from understudy.games.scml.agent.checkpoint import read_checkpoint, write_checkpoint
from understudy.games.scml.agent.hrl import HRLAgent, L1Agent
from understudy.games.scml.agent.l1_safety import RemainingCapacity
from understudy.games.scml.agent.policy import CLONE
from understudy.games.scml.domain import LINES, RISK, SafetySettings
from understudy.games.scml.tournament.design import WorldPlan
from understudy.games.scml.tournament.play import play
from understudy.games.scml.view.columns import packed
from understudy.games.scml.view.commitments import count_supply, counted_on
from understudy.games.scml.view.observe import observe

FIRST = replace(PROFILE, level=0, suppliers=0)


def after(supplies, profile=FIRST, **more):
    """The state on the last of days with these supplies."""
    counts = np.zeros(LINES, np.int64)
    for units in supplies:
        count_supply(counts, units)
    supplied = tuple(counts.tolist())
    today = {"day": len(supplies) - 1, "supply_quantity": supplies[-1], "supplied": supplied}
    return state(profile=profile, **today, **more)


def counted(supplies, risk, profile=FIRST):
    return counted_on(packed([after(supplies, profile)]).facts[0], risk)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    supplies=st.lists(st.integers(0, 13), min_size=1, max_size=30),
    hundredths=st.integers(0, 100),
)
def test_it_is_the_most_that_came_on_a_share_of_the_days_and_an_empty_one(supplies, hundredths):
    days = [*supplies, 0]
    enough = [
        units
        for units in range(1, LINES + 1)
        if any(came >= units for came in days)
        and 100 * sum(came < units for came in days) <= hundredths * len(days)
    ]
    assert counted(supplies, hundredths / 100) == max(enough, default=0)


def test_worked_example():
    supplies = [6, 4, 8, 5, 7, 6, 6, 9, 3]  # with the empty day ten: tenths of risk take one each
    found = [counted(supplies, tenths / 10) for tenths in range(11)]
    assert found == [0, 3, 4, 5, 6, 6, 6, 7, 8, 9, 9]


@pytest.mark.parametrize("risk, days", [(0.5, 1), (0.34, 2), (0.25, 3), (0.1, 9), (0.0, 200)])
def test_a_small_risk_waits_for_days_enough(risk, days):
    assert counted([7] * days, risk) == (7 if risk else 0)
    assert counted([7] * (days - 1) or [0], risk) == 0


def test_what_can_be_promised_grows_for_the_days_to_come_alone():
    here = after([5, 6, 6, 5], stock=1, sold=(2, 3))
    known, risked = (RemainingCapacity(here, SafetySettings(risk=risk)).book for risk in (0, 0.5))
    assert (risked.arriving - known.arriving).tolist() == [0] + [5] * 10
    assert risked.money.tolist() == known.money.tolist()
    seen = [observe(here, SafetySettings(risk=risk)) for risk in (0, 0.5)]
    assert all(a.tobytes() == b.tobytes() for a, b in zip(*seen, strict=True))  # known alone
    left = [RemainingCapacity(here, SafetySettings(risk=risk)).by_day(False) for risk in (0, 0.5)]
    # Tomorrow's 3 must come from the 4 that today leaves in stock, or from the 5 counted on.
    assert left[0].tolist() == [1, 1, *[4] * 9]
    assert left[1].tolist() == [4, 6, *[10] * 9]


@pytest.mark.parametrize(
    "profile", [PROFILE, replace(PROFILE, level=2), replace(FIRST, horizon=0, perishable=True)]
)
def test_nobody_but_the_first_level_of_standard_worlds_counts_on_anything(profile):
    here = after([6, 6, 6], profile)
    known, risked = (RemainingCapacity(here, SafetySettings(risk=risk)).book for risk in (0.0, 1.0))
    for name, one, other in zip(known._fields, known, risked, strict=True):
        assert one.tobytes() == other.tobytes(), name


@pytest.mark.parametrize("risk", [-0.1, 1.1])
def test_a_risk_is_a_chance(risk):
    with pytest.raises(InputError, match="a chance from 0 to 1"):
        SafetySettings(risk=risk)


def test_weights_play_with_the_risk_they_were_trained_with_and_the_audit_shows_it(tmp_path):
    shipped = read_checkpoint(CLONE)
    assert shipped.about.risk == 0.0  # files of before say nothing of it
    bold = tmp_path / "bold.safetensors"
    write_checkpoint(bold, replace(shipped, about=replace(shipped.about, risk=0.4)))
    assert read_checkpoint(bold).about.risk == 0.4
    for simulator in ("engine", "batch"):
        calm, risky = (sales(PlayerRef("x", path), simulator) for path in (CLONE, bold))
        assert calm["unsafe"] == 0 < risky["unsafe"]
        assert risky["over_lines"] == 0


def sales(ref, simulator):
    """What the first factory of a small world sold."""
    around = [PlayerRef(name) for name in ("L1", "Greedy", "Greedy", "Greedy", "Greedy")]
    plan = WorldPlan(
        "m",
        "test",
        track="std",
        factories_per_level=(2, 2, 2),
        steps=20,
        seed=0,
        run=0,
        players=(ref, *around),
        slots=(0,),
        simulator=simulator,
        recorded=False,
    )
    rows = play([plan]).results.to_pylist()
    return next(row for row in rows if row["competes"])


def test_who_is_asked_decides_over_the_weights():
    for kind, risk, expected in ((HRLAgent, 0.3, 0.3), (HRLAgent, None, None), (L1Agent, 0, 0)):
        assert kind(risk=risk).risk == expected
    assert 0 < RISK <= 1
