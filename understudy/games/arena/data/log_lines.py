"""The parts of one logged line, each read or refused: names, observation, action, outcome."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from understudy.games.arena.codec.actions import ABILITIES
from understudy.games.arena.codec.features import FEATURES, MEMORY_STEPS
from understudy.games.arena.data.tables import RECORDED_VIEW
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim import state as v
from understudy.names import fault_of_place, shown

# Our name for a key: the names it goes by. The first that is there counts.
_SYNONYMS: Final = {
    "match": ("match", "match_id", "episode", "episode_id"),
    "step": ("step", "t", "tick", "timestep"),
    "slot": ("slot", "agent", "agent_id", "player_id"),
    "player": ("player", "player_name", "name"),
    "observation": ("observation", "obs", "state", "features"),
    "action": ("action", "act"),
    "reward": ("reward", "rew"),
    "terminated": ("terminated", "terminal"),
    "truncated": ("truncated", "timeout"),
    "done": ("done",),
    "outcome": ("outcome", "result"),
    "extras": ("extras", "info"),
}
_FIELD_SYNONYMS: Final = {"hp": "health", "ammo": "magazine", "ammo_reserve": "reserve"}
_VECTORS: Final = {
    "position": ("x", "y"),
    "velocity": ("vx", "vy"),
    "aim": ("facing_x", "facing_y"),
    "facing": ("facing_x", "facing_y"),
    "cover": ("cover_x", "cover_y"),
}
_OUTCOMES: Final = {"win": 1.0, "won": 1.0, "draw": 0.0, "tie": 0.0, "loss": -1.0, "lost": -1.0}
WORK_OUT = -1.0  # stands for an `in_reach` that was not logged
# A view's field that was not logged: as when a match begins, with the enemy never seen. The line's
# step tells the clock.
_NEUTRAL: Final[dict[str, float]] = {
    **dict.fromkeys(RECORDED_VIEW, 0.0),
    **{"facing_x": 1.0, "magazine": r.MAGAZINE, "reserve": r.RESERVE},
    **{"enemy_x": r.SPAWN_X, "enemy_age": r.MAX_STEPS, "in_reach": WORK_OUT},
    **dict.fromkeys(("health_ours", "health_theirs", "ammo_ours", "ammo_theirs"), 1.0),
}
_LARGEST = 1e30  # well within float32


class LineError(ValueError):
    """What is wrong with a line."""


def under_our_names(record: dict[str, Any]) -> dict[str, Any]:
    """Move what we have a name for out of `record`. Null is as good as absent."""
    line = {}
    for key, names in _SYNONYMS.items():
        for name in names:
            if (value := record.pop(name, None)) is not None:
                line[key] = value
                break
    return line


def extras_of(line: Mapping[str, Any], rest: Mapping[str, Any]) -> dict[str, Any]:
    """What a line says besides: its extras and all keys we have no name for."""
    extras = line.get("extras", {})
    return {**(extras if isinstance(extras, dict) else {"extras": extras}), **rest}


def outcome_of(given: Any) -> float | None:
    """A final score, in words or as a number; None if not said."""
    if given is None:
        return None
    if isinstance(given, str) and given.lower() in _OUTCOMES:
        return _OUTCOMES[given.lower()]
    if type(given) not in (int, float) or not -1 <= given <= 1:
        raise LineError(f"outcome is {short(given)}, not win, draw, loss or -1 to 1")
    return float(given)


def view_of(observation: Any) -> list[Any]:
    """The entries of a view, not yet known to be numbers."""
    if isinstance(observation, dict):
        return _view_of_fields(observation)
    if isinstance(observation, list) and len(FEATURES) - len(observation) in (0, 1):
        return _view_of_features(finite(observation, tuple(FEATURES)[: len(observation)]))
    raise LineError(f"observation is {short(observation)}, no object or {len(FEATURES)} features")


def _view_of_fields(fields: Mapping[str, Any]) -> list[Any]:
    known: dict[str, Any] = _enemy(fields["enemy"]) if "enemy" in fields else {}
    for name, parts in _VECTORS.items():
        if name in fields:
            known.update(zip(parts, _pair(fields[name], name), strict=True))
    known |= {_FIELD_SYNONYMS.get(k, k): value for k, value in fields.items() if value is not None}
    for name in ("x", "y", "health"):
        if name not in known:
            raise LineError(f"observation has no {name} ({v.VIEW[name]})")
    if "enemy_x" in known:
        known.setdefault("enemy_age", 0.0)
    return [known.get(name, neutral) for name, neutral in _NEUTRAL.items()]


def _enemy(enemy: Any) -> dict[str, Any]:
    """An enemy's fields of a view; none where it was never seen."""
    if enemy is not None and not isinstance(enemy, dict):
        raise LineError(f"enemy is {short(enemy)}, no object")
    if not enemy or enemy.get("position") is None:
        return {}
    x, y = _pair(enemy["position"], "enemy position")
    vx, vy = _pair(enemy.get("velocity"), "enemy velocity")
    age, visible = enemy.get("age"), enemy.get("visible")
    if age is None:
        age = 0.0 if visible is None or flag_of(visible, "visible") else _NEUTRAL["enemy_age"]
    return {"enemy_x": x, "enemy_y": y, "enemy_vx": vx, "enemy_vy": vy, "enemy_age": age}


def _view_of_features(features: Sequence[float]) -> list[float]:
    """A view of these features. What they do not tell follows from the rules, or is neutral.

    The last of them, the clock, may be missing: the line's step tells it.
    """
    x, y, vx, vy, health, magazine, reserve, dash, shield = features[:9]
    dx, dy, enemy_vx, enemy_vy, seen, cover_x, cover_y, threat, healing, supply = features[9:19]
    x, y, width, fast = x * r.HALF_FLOOR, y * r.HALF_FLOOR, 2.0 * r.HALF_FLOOR, r.DASH_SPEED
    up = _count(max(shield, 0.0) * r.SHIELD_STEPS)
    rest = r.SHIELD_COOLDOWN - r.SHIELD_STEPS + up if up else _count(-shield * r.SHIELD_COOLDOWN)
    stations = [min(max(round(3 * ready), 0), 3) for ready in (healing, supply)]
    view = list(_NEUTRAL.values())
    view[v.X : v.FACING_X] = x, y, vx * fast, vy * fast
    view[v.HEALTH] = _count(health * r.HEALTH)
    view[v.MAGAZINE] = _count(max(magazine, 0.0) * r.MAGAZINE)
    view[v.RESERVE] = _count(reserve * r.RESERVE)
    view[v.RELOAD] = _count(max(-magazine, 0.0) * r.RELOAD_STEPS)
    view[v.DASH_COOLDOWN] = _count((1.0 - dash) * r.DASH_COOLDOWN)
    view[v.SHIELD_COOLDOWN], view[v.SHIELD] = rest, up
    view[v.ENEMY_X : v.ENEMY_VX] = x + dx * width, y + dy * width
    view[v.ENEMY_VX : v.ENEMY_AGE] = enemy_vx * fast, enemy_vy * fast
    view[v.ENEMY_AGE] = _count((1.0 - seen) * MEMORY_STEPS)
    view[v.COVER_X : v.HEALTH_OURS] = cover_x * width, cover_y * width, threat
    view[v.HEALTH_OURS : v.IN_REACH] = (side for n in stations for side in (n % 2, n // 2))
    return view


def _count(number: float) -> float:
    """The whole number that this was before it went through float32, if it was one."""
    return whole if abs(number - (whole := round(number))) < 1e-4 else number


def action_of(action: Any) -> list[Any]:
    """The entries of rules.ACTION, not yet known to be numbers."""
    if not isinstance(action, dict):
        raise LineError(f"action is {short(action)}, no object")
    if action.keys().isdisjoint(("move", "aim", "fire", "interact", "ability")):
        raise LineError("action has neither move, aim, fire, interact nor ability")
    ability = action.get("ability")
    if ability is None or ability in ABILITIES:
        ability = ABILITIES.index(ability or "none")
    if isinstance(ability, bool) or ability not in range(len(ABILITIES)):
        raise LineError(f"ability is {short(ability)}, not {', '.join(ABILITIES)} or its number")
    move, aim = _pair(action.get("move"), "move"), _pair(action.get("aim"), "aim")
    flags = [flag_of(action.get(name), name) for name in ("fire", "interact")]
    return [*move, *aim, *flags, ability]


def _pair(given: Any, what: str) -> Sequence[Any]:
    if given is None:
        return (0.0, 0.0)
    if not isinstance(given, list) or len(given) != 2:
        raise LineError(f"{what} is {short(given)}, not [x, y]")
    return given


def flag_of(given: Any, what: str) -> bool:
    """True, false, 1, 0 or absent."""
    if given is not None and given not in (0, 1):
        raise LineError(f"{what} is {short(given)}, not true or false")
    return bool(given)


def text_of(given: Any, what: str) -> str:
    """A name."""
    if isinstance(given, bool) or not isinstance(given, str | int):
        raise LineError(f"{what} is {short(given)}, not a name or a number")
    return utf8(str(given))


def player_of(line: Mapping[str, Any]) -> str | None:
    """Who played, where a line says so."""
    text = text_of(line["player"], "player") if "player" in line else None
    return name_of(text, "player") if text else text


def name_of(text: str, what: str) -> str:
    """The same text; LineError where it may stand for no match or player."""
    if fault := fault_of_place(text):
        raise LineError(f"{what} {shown(text)} {fault}")
    return text


def utf8(text: str) -> str:
    """A text that can be written, even if half a character was in it."""
    return text.encode("utf-8", "backslashreplace").decode()


def finite(numbers: list[Any], names: Sequence[str]) -> list[Any]:
    """The same, if that is what they are; else an error that names the first that is not."""
    try:
        if sum(map(abs, numbers)) <= _LARGEST:  # quick, and false for NaN
            return numbers
    except (TypeError, OverflowError):
        pass
    for name, number in zip(names, numbers, strict=True):
        if not isinstance(number, int | float) or not abs(number) <= _LARGEST:
            raise LineError(f"{name} is {short(number)}, not a finite number")
    raise LineError("its numbers are too large")


def short(value: Any) -> str:
    """A value as it is shown in a complaint."""
    return f"{value!r:.40}"
