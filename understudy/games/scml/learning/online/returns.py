"""From what was booked when to the targets of the critic and the advantages of decisions.

Each decision is followed by the factory's next one, a round or a day later, and values are asked at
all of them. What is booked says at once what a contract is worth, so that little of what comes much
later is needed to tell a good decision from a lucky one.
"""

import math

import numpy as np

from understudy.data.arrays import Floats, Ints
from understudy.games.scml.learning.online.experience import Course
from understudy.games.scml.learning.online.kernels import kernel
from understudy.games.scml.learning.online.player import GROUPS
from understudy.games.scml.learning.online.rollout_buffer import Played
from understudy.games.scml.players.steward_numbers import PLACES


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
    """What is to come beyond what each decision is worth already: V-trace from one to the next.

    `worth` is what is booked, or any other potential that ends in the score. `final` are the scores
    of the decisions' factories, [decisions]; `value` is the critic's. Where the policy that learns
    is the one that played, all of `log_ratio` is 0 and this is TD(lambda).
    """
    order, first = chains(played)
    found = np.empty(len(order))
    stops = np.append(first[1:], len(order))
    follow_back(order, first, stops, worth, final, value, log_ratio, lambda_, found)
    return found


@kernel
def follow_back(order, first, stops, worth, final, value, log_ratio, lambda_, out):  # type: ignore[no-untyped-def]
    """From the last decision of each course to its first."""
    for course in range(len(first)):
        # After the last decision all is booked.
        ahead, rest = final[order[stops[course] - 1]], 0.0
        for index in range(stops[course] - 1, first[course] - 1, -1):
            here = order[index]
            out[here] = ahead - worth[here] + rest
            trusted = lambda_ * math.exp(min(log_ratio[here], 0.0))
            ahead, rest = worth[here], value[here] + trusted * (out[here] - value[here])


def explained(came: Floats, value: Floats, level: Ints) -> dict[str, float]:
    """Share of the variance of what came that the critic had predicted, over all and by place."""
    some = {"critic_explains": np.ones(len(level), np.bool_)}
    some |= {f"critic_explains/{name}": level == place for place, name in enumerate(PLACES)}
    return {
        name: float(1 - (came - value)[rows].var() / max(came[rows].var(), 1e-12))
        for name, rows in some.items()
        if rows.any()
    }


def normalised(advantage: Floats, group: Ints) -> Floats:
    """By group, with mean 0 and spread 1: the first level has the most luck, and champions alone
    move scores by a fraction of what background agents do."""
    found = np.zeros_like(advantage)
    for number in range(GROUPS):
        some = group == number
        if some.sum() > 1:
            chosen = advantage[some]
            found[some] = (chosen - chosen.mean()) / (chosen.std() + 1e-8)
    return found
