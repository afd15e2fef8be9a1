"""A match of the arena that a person plays in the browser, or watches, a decision at a time.

A person is told what a policy is told, as a picture: its own state, what its eyes can see, where it
saw the enemy last. One thing more is drawn, the enemy's health while it is in sight. What it does
becomes the options that a policy chooses among; those that the rules forbid at that moment are not
done, so that a recording of a person holds no violations.
"""

import json
import time
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.data.arrays import Array
from understudy.errors import InputError
from understudy.games.arena.codec import actions as codec
from understudy.games.arena.codec import features
from understudy.games.arena.play.play import Player, outline_of, player, steps_table
from understudy.games.arena.replay import cover_of, frame_of, measures
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim.world import World
from understudy.games.arena.viewer import live_head
from understudy.pipeline.game import Live, Seats

HUMAN = "human"
"""The origin of matches with a person in them."""
_HERE = np.array([0])
_HIDDEN = ("magazine", "reserve", "reload", "dash_cooldown", "shield_cooldown", "hold")
_NOTHING: Mapping[str, Any] = {}
Frame = Mapping[str, Any]


def live() -> Live:
    """How the arena is played and watched."""
    return Live(
        about="Ten decisions a second. Move with W A S D, aim with the mouse or the arrow keys, "
        "fire with a click or Space, Shift dashes, Q raises the shield, E reloads or uses a "
        "station. On a touch screen the left half moves, the right half aims and fires.",
        head=live_head,
        begin=ArenaLive,
    )


class ArenaLive:
    """One match."""

    def __init__(self, seats: Seats) -> None:
        self.seats = seats
        self.names = [seats.person if ref is None else ref.name for ref in seats.players]
        self.over = False
        self._players: list[Player | None] = [
            None if ref is None else player(ref) for ref in seats.players
        ]
        self._world = World(1)
        self._world.reset([seats.seed])
        self._steps: list[tuple[Array, Array, Array, Array]] = []
        self._extras: list[str | None] = []
        self._asked = time.monotonic()
        self._warm_up()

    def _warm_up(self) -> None:
        """What is loaded at the first decision is loaded before anybody waits for it."""
        world = World(1)
        world.reset([0])
        for slot, one in enumerate(self._players):
            if one is not None:
                one.act(world.view[:, slot], world, _HERE, slot)
        codec.encode(np.zeros((1, len(r.ACTION)), np.float32))
        features.legal(world.view[:, 0])
        world.step(np.zeros((1, 2, len(r.ACTION)), np.float32))
        fresh = [None if ref is None else player(ref) for ref in self.seats.players]
        self._players = fresh  # those that remember have seen another match

    @property
    def _watcher(self) -> int | None:
        """The slot of the person; None where nobody or everybody is one."""
        people = [slot for slot, one in enumerate(self._players) if one is None]
        return people[0] if len(people) == 1 else None

    def scene(self) -> dict[str, Any]:
        """Players, cover, stations and measures."""
        return {
            **measures(),
            "players": self.names,
            "cover": cover_of(self._world),
            "seat": self._watcher,
            "most_steps": r.MAX_STEPS,
        }

    def now(self) -> dict[str, Any]:
        """One frame, as the person may see it."""
        frame, seat = frame_of(self._world), self._watcher
        if seat is not None:
            frame = seen_by(frame, seat, cover_of(self._world))
        told = {"step": int(self._world.steps[0]), "frame": frame}
        return told | ({"outcome": self._outcome()} if self.over else {})

    def step(self, done: Any) -> None:
        """A tenth of a second."""
        world, actions = self._world, np.zeros((1, 2, len(r.ACTION)), np.float32)
        for slot, one in enumerate(self._players):
            views = world.view[:, slot]
            if one is None:
                actions[0, slot] = permitted(action_of(done, slot), views)
            else:
                actions[0, slot] = one.act(views, world, _HERE, slot)[0]
        view = world.view[0].copy()
        world.step(actions)
        self._steps.append((view, actions[0], world.reward[0].copy(), world.events[0].copy()))
        self._note_pace()
        self.over = bool(world.status[0] != r.RUNNING)

    def _note_pace(self) -> None:
        """That it was a person, and how many milliseconds it took for this decision."""
        now = time.monotonic()
        told = json.dumps({HUMAN: True, "ms": round(1000 * (now - self._asked))})
        self._asked = now
        self._extras += [told if one is None else None for one in self._players]

    def _score(self) -> float:
        killed = (self._world.events[0] & r.KILLED) > 0
        return float(killed[0]) - float(killed[1])

    def _outcome(self) -> str:
        score = self._score()
        ending = "out of time" if self._world.status[0] == r.TRUNCATED else "both down"
        return f"draw: {ending}" if score == 0 else f"{self.names[score < 0]} wins"

    def recorded(self) -> dict[str, pa.Table]:
        """Both views, as any other recording has them."""
        one, other = self.names
        ids = np.array([f"{one}-{other}-{self.seats.seed}"])
        parts = [np.stack(part) for part in zip(*self._steps, strict=True)]
        count = len(self._steps)
        return {
            "matches": outline_of(
                self._world, ids, np.array([self.names]), np.array([self._score()]), HUMAN
            ),
            "steps": steps_table(
                *(ids, np.zeros(count, np.int64), np.arange(count, dtype=np.int32)),
                *parts,
                extras=pa.array(self._extras, pa.string()),
            ),
        }


def action_of(done: Any, slot: int) -> Array:
    """What a person asked for, in the floor's frame, as the rules take it; None: nothing."""
    told = _NOTHING if done is None else done
    if not isinstance(told, Mapping):
        raise InputError("that is no decision")
    side = -1.0 if slot else 1.0
    action = np.zeros(len(r.ACTION), np.float32)
    action[[r.MOVE_X, r.MOVE_Y]] = [side * part for part in _pair(told.get("move"))]
    action[[r.AIM_X, r.AIM_Y]] = [side * part for part in _pair(told.get("aim"))]
    action[r.FIRE], action[r.INTERACT] = bool(told.get("fire")), bool(told.get("use"))
    ability = told.get("ability", "none")
    if ability not in codec.ABILITIES:
        raise InputError(f"there is no such ability; there is {', '.join(codec.ABILITIES)}")
    action[r.ABILITY] = codec.ABILITIES.index(ability)
    return action


def _pair(given: Any) -> tuple[float, float]:
    """A direction, each part from -1 to 1."""
    if given is None:
        return 0.0, 0.0
    if not isinstance(given, Sequence) or len(given) != 2:
        raise InputError("a direction is two numbers")
    if not all(isinstance(part, int | float) and isfinite(part) for part in given):
        raise InputError("a direction is two finite numbers")
    x, y = (min(max(float(part), -1.0), 1.0) for part in given)
    return x, y


def permitted(action: Array, views: Array) -> Array:
    """The nearest action of a policy's options, without what the rules forbid now."""
    options = codec.encode(action[None])[0]
    first = 0
    legal = features.legal(views)[0]
    for place, size in enumerate(codec.HEADS.values()):
        if not legal[first + options[place]]:
            options[place] = 0  # only to fire, to use and the abilities are ever forbidden
        first += size
    done: Array = codec.decode(options)
    return done


def seen_by(frame: Frame, seat: int, cover: Sequence[Sequence[float]]) -> dict[str, Any]:
    """A frame without what the player in a seat cannot know."""

    def own(name: str, instead: Any) -> list[Any]:
        return [told if slot == seat else instead for slot, told in enumerate(frame[name])]

    seen, sees, eyes = {**frame}, frame["sees"][seat], (frame["x"][seat], frame["y"][seat])
    seen |= {name: own(name, 0.0) for name in _HIDDEN} | {"sees": own("sees", False)}
    seen |= {"memory_x": own("memory_x", eyes[0]), "memory_y": own("memory_y", eyes[1])}
    if not sees:
        seen |= {name: own(name, 0.0) for name in ("aim_x", "aim_y", "shield")}
        seen |= {"events": own("events", []), "health": own("health", float(r.HEALTH))}
        seen |= {name: own(name, frame[f"memory_{name}"][seat]) for name in ("x", "y")}
    if frame["health"][1 - seat] <= 0:  # who is down has been seen falling
        seen["health"] = frame["health"]
    seen["shots"] = [
        shot for shot in frame["shots"] if shot[2] == seat or _in_sight(eyes, shot[:2], cover)
    ]
    return seen


def _in_sight(
    eyes: tuple[float, float], point: Sequence[float], cover: Sequence[Sequence[float]]
) -> bool:
    """Whether nothing stands between two points, and they are not too far apart."""
    (x, y), (to_x, to_y) = eyes, point
    if (to_x - x) ** 2 + (to_y - y) ** 2 > r.SIGHT**2:
        return False
    return not any(_crosses(x, y, to_x - x, to_y - y, box) for box in cover)


def _crosses(x: float, y: float, dx: float, dy: float, box: Sequence[float]) -> bool:
    """Whether the way from (x, y) by (dx, dy) enters a box: by slabs."""
    enter, leave = 0.0, 1.0
    for at, by, low, high in ((x, dx, box[0], box[2]), (y, dy, box[1], box[3])):
        if abs(by) < 1e-12:
            if not low <= at <= high:
                return False
            continue
        near, far = sorted(((low - at) / by, (high - at) / by))
        enter, leave = max(enter, near), min(leave, far)
    return enter < leave
