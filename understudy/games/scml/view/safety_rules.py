"""What the simulator does with a factory's input in one day, compiled.

`keeps`: what is left of a day's input is there the next day. `conserves`: production takes from
stock, which it does not in scml.
"""

from understudy.games.scml.kernels import kernel


@kernel
def made_of(there, ordered, lines):  # type: ignore[no-untyped-def]
    """Units made in a day: to order, of the input that is there."""
    return min(there, lines, ordered)


@kernel
def stock_after(stock, arriving, made, keeps, conserves):  # type: ignore[no-untyped-def]
    """Input in hand at the next day's start; in scml it only ever grows."""
    if not keeps:
        return 0
    left = arriving - made
    return stock + left if conserves else stock + max(0, left)


@kernel
def affordable(money, price):  # type: ignore[no-untyped-def]
    """Units that money pays for."""
    if price <= 0:
        return 0
    return max(0, int(money // price))
