"""The manner in which a player played a recorded match, in a few numbers, to plan by."""

from typing import Final

from understudy.games.arena.codec import actions as codec
from understudy.games.arena.codec import features as observe
from understudy.games.arena.sim import rules as r
from understudy.learn.supervised.dataset import Batch
from understudy.learn.supervised.plans import Statistic


def manner(rows: Batch) -> list[float]:
    """Means over a player's decisions in a match, in the order of MANNER's names."""
    seen = dict(zip(observe.FEATURES, rows.observation.T, strict=True))
    chosen = dict(zip(codec.HEADS, rows.action.T, strict=True))
    numbers = (
        chosen["fire"] == 1,
        chosen["ability"] == r.DASH,
        chosen["ability"] == r.SHIELD,
        chosen["interact"] == 1,
        seen["enemy_dx"].hypot(seen["enemy_dy"]),
        seen["cover_dx"].hypot(seen["cover_dy"]),
        seen["own_x"],
        seen["enemy_seen"],
    )
    return [number.float().mean().item() for number in numbers]


MANNER: Final = Statistic(
    (
        "firing",
        "dashing",
        "shielding",
        "at stations",
        "distance to the enemy",
        "distance to cover",
        "how far forward",
        "enemy in sight",
    ),
    manner,
)
