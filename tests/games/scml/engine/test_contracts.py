"""The ledger delivers each contract once, on its day, unless a side has gone bankrupt."""

from understudy.games.scml.engine.contracts import Contract, Ledger


def contract(seller, buyer, day, quantity=1):
    return Contract(seller, buyer, 1, quantity, day, 20, concluded=0)


def ledger(*contracts):
    made = Ledger()
    for one in contracts:
        made.add(one)
    return made


def test_contracts_are_delivered_on_their_day_in_the_order_they_were_made():
    late, first, second = contract(0, 2, 3), contract(1, 2, 1), contract(0, 2, 1, 5)
    made = ledger(late, first, second)
    assert list(made.execute(0)) == []
    assert list(made.execute(1)) == [first, second]
    assert [one.executed for one in made.contracts] == [False, True, True]
    assert made.contracts == [late, first, second]


def test_nothing_is_delivered_twice():
    made = ledger(contract(0, 1, 1))
    assert len(list(made.execute(1))) == 1
    assert list(made.execute(1)) == []


def test_nothing_open_of_the_bankrupt_is_delivered():
    sold, bought, others, done = (
        contract(0, 2, 2),
        contract(3, 0, 2),
        contract(1, 2, 2),
        contract(0, 2, 1),
    )
    made = ledger(sold, bought, others, done)
    list(made.execute(1))
    made.nullify(0)
    assert list(made.execute(2)) == [others]
    assert [one.nullified for one in made.contracts] == [True, True, False, False]
    assert [one.executed for one in made.contracts] == [False, False, True, True]


def test_what_is_agreed_after_a_bankruptcy_counts():
    made = ledger(contract(0, 1, 2))
    made.nullify(0)
    later = contract(2, 1, 2)
    made.add(later)
    assert list(made.execute(2)) == [later]
