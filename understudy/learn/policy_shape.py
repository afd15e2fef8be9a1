"""What decides which weights fit a policy, as it is written beside them. Needs no torch."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from understudy.data.extras import split
from understudy.data.samples import Decisions

SHAPE_KEY = "understudy.policy"
"""Of the metadata in a file of weights."""


@dataclass(frozen=True)
class PolicyShape:
    """All that decides which weights fit a policy."""

    features: tuple[str, ...]
    heads: dict[str, int]
    """The number of options of each head, in order."""
    hidden: tuple[int, ...]
    """Widths of the hidden layers. More or wider: finer play, slower to train and to run."""
    memory: int = 0
    """Units of the recurrent core. 0: it remembers nothing of a match but what it sees now."""
    plans: int = 0
    """Rows of the table from which a plan is drawn for each match. 0: it plays without."""
    plan_width: int = 0
    """Numbers in a plan."""

    def to_json(self) -> str:
        """As it is written into files."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> "PolicyShape":
        """The inverse of `to_json`; ValueError if `text` is something else."""
        try:
            found = json.loads(text)
            return PolicyShape(
                tuple(map(str, found["features"])),
                {str(head): int(size) for head, size in found["heads"].items()},
                tuple(map(int, found["hidden"])),
                *(int(found.get(name, 0)) for name in ("memory", "plans", "plan_width")),
            )
        except (KeyError, TypeError, AttributeError) as failure:
            raise ValueError(f"not the shape of a policy: {text[:60]}") from failure


def difference(shape: PolicyShape, expected: Decisions) -> str:
    """Why a policy of this shape cannot decide as `expected`, in words; "" if it can."""
    game = expected.table.game
    old, new = shape.features, expected.features
    if not split(new)[1]:
        old = split(old)[0]  # what rides in extras need not be told
    if len(old) != len(new):
        changed = [f"without {name}" for name in old if name not in new]
        changed += [f"with {name}" for name in new if name not in old]
        few = ", ".join([*changed[:3], *(["..."] if len(changed) > 3 else [])])
        return f"made for {len(old)} features, the {game} now has {len(new)} ({few})"
    for number, (was, now) in enumerate(zip(old, new, strict=True)):
        if was != now:
            return f"made for '{was}' as feature {number}, the {game} now has '{now}' there"
    if list(shape.heads.items()) != list(expected.heads.items()):
        return f"made for {_listed(shape.heads)}, the {game} now has {_listed(expected.heads)}"
    return ""


def _listed(heads: Mapping[str, int]) -> str:
    return "heads " + ", ".join(f"{head} ({size})" for head, size in heads.items())
