"""States of a factory in the middle of a chain, written by hand."""

from dataclasses import replace

from understudy.games.scml.view.state import Commitments, DayStart, FactoryProfile, State

PROFILE = FactoryProfile(
    steps=50,
    levels=3,
    level=1,
    lines=10,
    cost=2,
    horizon=10,
    initial_balance=1000.0,
    catalog_in=10,
    catalog_out=20,
    perishable=False,
    suppliers=4,
    consumers=4,
)
DAY_START = DayStart(
    day=5,
    stock=0,
    balance=1000.0,
    supply_quantity=0,
    supply_price=0,
    sale_quantity=0,
    sale_price=0,
    price_in=10.0,
    price_out=20.0,
    prices_in=(9, 11),
    prices_out=(18, 22),
    storage_cost=0.02,
    disposal_cost=0.0,
    shortfall_penalty=0.5,
)


def by_day(*values):
    return values + (0,) * (11 - len(values))


def state(bought=(), sold=(), negotiations=(), profile=PROFILE, **day_start):
    bought, sold = by_day(*bought), by_day(*sold)
    commitments = Commitments(
        bought, tuple(10 * q for q in bought), sold, tuple(20 * q for q in sold)
    )
    return State(profile, replace(DAY_START, **day_start), commitments, tuple(negotiations))
