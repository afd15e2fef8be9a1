"""From what was booked when to the targets of the critic and the advantages of decisions.

Values are asked at the first decision of a day, advantages taken at every decision: within a day
what was booked says enough, and a world has thousands of decisions but at most 200 days.
"""

import math

import numpy as np

from understudy.data.arrays import Floats, Ints
from understudy.games.scml.learning.online.kernels import kernel
from understudy.games.scml.learning.online.experience import Course
from understudy.games.scml.learning.online.rollout_buffer import Played


def chains(played: Played | Course) -> tuple[Ints, Ints]:
    """Decisions by who decided and when, and which of them begin another one's course."""
    order = np.lexsort((np.arange(len(played.world)), played.factory, played.world))
    who = played.world[order] * 1000 + played.factory[order]
    return order, np.flatnonzero(np.diff(who, prepend=-1))


def targets(
    played: Played | Course,
    worth: Floats,
    final: Floats,
    value: Floats,
    log_ratio: Floats,
    lambda_: float,
) -> Floats:
    """What is to come beyond what each decision is worth already: V-trace from day to day.

    `worth` is what is booked, or any other potential that ends in the score. `final` are the scores
    of the decisions' factories, [decisions]; `value` is the critic's. Where the policy that learns
    is the one that played, all of `log_ratio` is 0 and this is TD(lambda).
    """
    order, first = chains(played)
    found = np.empty(len(order))
    stops = np.append(first[1:], len(order))
    course = order, first, stops, played.day, worth
    follow_back(*course, final, value, log_ratio, lambda_, found)
    return found


@kernel
def follow_back(order, first, stops, day, worth, final, value, log_ratio, lambda_, out):  # type: ignore[no-untyped-def]
    """From the last decision of each course to its first."""
    for course in range(len(first)):
        index = stops[course] - 1
        # After the last day all is booked.
        ahead, rest, likelier = final[order[index]], 0.0, 0.0
        while index >= first[course]:
            here = order[index]
            out[here] = ahead - worth[here] + rest
            likelier += log_ratio[here]
            index -= 1
            if index >= first[course] and day[order[index]] != day[here]:
                trusted = lambda_ * math.exp(min(likelier, 0.0))
                ahead, likelier = worth[here], 0.0
                rest = value[here] + trusted * (out[here] - value[here])
