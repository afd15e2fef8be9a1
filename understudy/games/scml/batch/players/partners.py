"""Which partners: those of a side, those heard, and some of them together."""

from understudy.games.scml.batch import speech
from understudy.games.scml.batch.kernels import kernel
from understudy.games.scml.batch.state import ACCEPT, CROWD, DAY, NOBODY


@kernel
def gather_met(world, me, buys, places):  # type: ignore[no-untyped-def]
    """All partners of a side, in the order their talks were called for; how many."""
    count = 0
    for index in range(world.num_met[me]):
        if speech.is_supplier(world.met[me, index]) == buys:
            places[count] = world.met[me, index]
            count += 1
    return count


@kernel
def gather_unanswered(world, me, buys, places):  # type: ignore[no-untyped-def]
    """All partners of a side whose offer was not accepted, heard or not, in their order."""
    count, start = 0, 0 if buys else CROWD
    for place in range(start, start + CROWD):
        if world.talk[me, place] != NOBODY and world.answer[me, place] != ACCEPT:
            places[count] = place
            count += 1
    return count


@kernel
def gather_side(world, me, buys, places):  # type: ignore[no-untyped-def]
    """All partners of a side that there were talks with today, in their order; how many."""
    count, start = 0, 0 if buys else CROWD
    for place in range(start, start + CROWD):
        if world.talk[me, place] != NOBODY:
            places[count] = place
            count += 1
    return count


@kernel
def gather_heard(world, me, buys, today, places):  # type: ignore[no-untyped-def]
    """Partners of a side with an offer for today, or for a day to come, in their order."""
    count = 0
    for index in range(world.num_heard[me]):
        place = world.heard[me, index]
        is_today = world.table[world.talk[me, place], DAY] == world.day
        if speech.is_supplier(place) == buys and is_today == today:
            spot = count
            while spot > 0 and places[spot - 1] > place:
                places[spot] = places[spot - 1]
                spot -= 1
            places[spot] = place
            count += 1
    return count


@kernel
def next_choice(chosen, size, count):  # type: ignore[no-untyped-def]
    """The next `size` of `count` numbers, in the order of itertools; False: that was the last."""
    for index in range(size - 1, -1, -1):
        if chosen[index] < index + count - size:
            chosen[index] += 1
            for later in range(index + 1, size):
                chosen[later] = chosen[later - 1] + 1
            return True
    return False


@kernel
def previous_choice(chosen, size, count):  # type: ignore[no-untyped-def]
    """The one before, where the last is the `size` highest; False: that was the first."""
    for index in range(size - 1, -1, -1):
        if chosen[index] > (chosen[index - 1] + 1 if index > 0 else 0):
            chosen[index] -= 1
            for later in range(index + 1, size):
                chosen[later] = later + count - size
            return True
    return False
