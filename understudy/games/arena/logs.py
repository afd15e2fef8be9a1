"""Logs of other origin -> the recordings of `record.py`, file by file. See `docs/arena-logs.md`.

A name says what a file holds: `feedback_stream.jsonl` a live match, `manifest.jsonl` how live
matches ended, any other `*.jsonl` or `*.jsonl.gz` a recorder's trajectories. A line that cannot be
used is left out and told as FILE:LINE; the rest is kept.
"""

import gzip
import json
import os
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from understudy.errors import InputError
from understudy.games import Imported
from understudy.games.arena import rules as r
from understudy.games.arena import state as v
from understudy.games.arena.actions import ABILITIES
from understudy.games.arena.observe import FEATURES, MEMORY_STEPS
from understudy.games.arena.record import MATCHES, STEPS

SKIPPED: Final = "skipped"
"""Note in the metadata of a file's matches: how many of its lines were events of other kinds."""
_FEEDBACK, _MANIFEST = "feedback_stream.jsonl", "manifest.jsonl"
_DECISIONS = ("step", "action", "feedback")  # the events of a feedback stream that are read

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
_FLAGS = ("terminated", "truncated", "done")
_FIELD_SYNONYMS: Final = {"hp": "health", "ammo": "magazine", "ammo_reserve": "reserve"}
_VECTORS: Final = {
    "position": ("x", "y"),
    "velocity": ("vx", "vy"),
    "aim": ("facing_x", "facing_y"),
    "facing": ("facing_x", "facing_y"),
    "cover": ("cover_x", "cover_y"),
}
_OUTCOMES: Final = {"win": 1.0, "won": 1.0, "draw": 0.0, "tie": 0.0, "loss": -1.0, "lost": -1.0}
_WORK_OUT = -1.0  # stands for an `in_reach` that was not logged
# A view's field that was not logged: as when a match begins, with the enemy never seen.
_NEUTRAL: Final[dict[str, float]] = {
    **dict.fromkeys(v.VIEW, 0.0),
    **{"facing_x": 1.0, "magazine": r.MAGAZINE, "reserve": r.RESERVE},
    **{"enemy_x": r.SPAWN_X, "enemy_age": r.MAX_STEPS, "in_reach": _WORK_OUT},
    **dict.fromkeys(("health_ours", "health_theirs", "ammo_ours", "ammo_theirs"), 1.0),
}
_NUMBERS: Final = (*v.VIEW, *r.ACTION, "reward")  # columns of STEPS
_LARGEST = 1e30  # well within float32
_LAST_STEP = 2**31 - 2


class _LineError(ValueError):
    """What is wrong with a line."""


class _Outcome(NamedTuple):
    """What a manifest says of a feedback stream, and where."""

    place: str
    score: float | None
    player: str | None
    extras: dict[str, Any]


def read_logs(folder: Path) -> Iterator[Imported]:
    """The recordings in every log in and below `folder`, by the logs' paths in order."""
    paths = sorted(p for p in folder.rglob("*") if p.name.endswith((".jsonl", ".jsonl.gz")))
    logs = {_utf8(p.relative_to(folder).as_posix()): p for p in paths if p.is_file()}
    if not logs:
        raise InputError(
            f"{folder}: no logs in or below it. Give a folder with trajectories (*.jsonl.gz or "
            f"*.jsonl), live matches ({_FEEDBACK}) or their outcomes ({_MANIFEST})"
        )
    return _read_all(folder, logs)


def _read_all(folder: Path, logs: Mapping[str, Path]) -> Iterator[Imported]:
    streams = {os.path.normpath(p.absolute()): s for s, p in logs.items() if p.name == _FEEDBACK}
    outcomes: dict[str, _Outcome] = {}
    manifests = {
        source: _read_manifest(source, path, folder, streams, outcomes)
        for source, path in logs.items()
        if path.name == _MANIFEST
    }
    for source, path in logs.items():
        if source in manifests:
            yield Imported(source, _Film(source, live=True).tables(), manifests[source])
        else:
            yield _read_matches(source, path, outcomes.get(source))


def _read_matches(source: str, path: Path, outcome: _Outcome | None) -> Imported:
    """A file of trajectories, or a feedback stream with the outcome that a manifest tells."""
    film, rejected, skipped = _Film(source, live=path.name == _FEEDBACK), list[str](), 0
    live = {"player": (outcome and outcome.player) or "live"}
    for number, record in _records(source, path, rejected):
        if film.live and not _is_decision(record):
            skipped += 1
            continue
        line = _under_our_names(record)
        try:
            film.add({**live, **line, "slot": 0} if film.live else line, record)
        except (_LineError, RecursionError) as failure:
            rejected.append(f"{source}:{number}: {failure}")
    if outcome and len(film.matches) > 1:
        many = f"{source} holds {len(film.matches)} matches; it is not said which of them"
        rejected.append(f"{outcome.place}: {many}")
    elif outcome and film.matches:
        film.end(outcome)
    return Imported(source, film.tables(skipped), rejected)


def _is_decision(record: dict[str, Any]) -> bool:
    """Take the kind of event out of a line: is it one to read? One of no kind is."""
    event = record.pop("event", None) or record.pop("type", None)
    return event is None or event in _DECISIONS


def _read_manifest(
    source: str,
    path: Path,
    folder: Path,
    streams: Mapping[str, str],
    outcomes: dict[str, _Outcome],
) -> list[str]:
    """Add to `outcomes`, by stream; the lines that could not be used."""
    rejected = list[str]()
    for number, record in _records(source, path, rejected):
        place, named = f"{source}:{number}", record.pop("runtime_feedback", None)
        if named is None:  # a match of which no feedback was kept
            continue
        try:
            stream = _stream(_text(named, "runtime_feedback"), (folder, path.parent), streams)
            if stream in outcomes:
                raise _LineError(f"{outcomes[stream].place} has told of {stream} already")
            line = _under_our_names(record)
            player = _text(line["player"], "player") if "player" in line else None
            score = _outcome(line.get("outcome"))
            outcomes[stream] = _Outcome(place, score, player, _extras(line, record))
        except (_LineError, RecursionError) as failure:
            rejected.append(f"{place}: {failure}")
    return rejected


def _stream(named: str, bases: Sequence[Path], streams: Mapping[str, str]) -> str:
    """Which feedback stream is meant: the one at this path, or the only one whose path ends so."""
    wanted = PurePosixPath(named.replace("\\", "/"))
    for base in bases:  # an absolute path swallows the base
        if source := streams.get(os.path.normpath(base.absolute() / wanted)):
            return source
    alike = [s for s in streams.values() if _end_alike(PurePosixPath(s).parts, wanted.parts)]
    if len(alike) != 1:
        problem = f"could be {' or '.join(alike[:3])}" if alike else "is not among these logs"
        raise _LineError(f"runtime_feedback {named!r:.200} {problem}")
    return alike[0]


def _end_alike(source: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    """One is the end of the other. That all streams have the same file name means nothing."""
    shared = min(len(source), len(wanted))
    return source[-shared:] == wanted[-shared:] and (shared > 1 or len(wanted) == 1)


def _records(source: str, path: Path, rejected: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects in a file of JSON lines, with their line numbers. Empty lines do not matter."""
    number = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                if raw.isspace():
                    continue
                try:
                    yield number, _object(raw)
                except _LineError as failure:
                    rejected.append(f"{source}:{number}: {failure}")
    except (OSError, EOFError, zlib.error) as failure:
        rejected.append(f"{source}:{number + 1}: cannot be read from here on ({failure})")


def _object(raw: bytes) -> dict[str, Any]:
    try:
        found = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as failure:
        raise _LineError(f"not UTF-8 ({failure.reason})") from failure
    except (ValueError, RecursionError) as failure:
        raise _LineError(f"not JSON ({getattr(failure, 'msg', failure)})") from failure
    if not isinstance(found, dict):
        raise _LineError(f"{_short(found)} is no JSON object")
    return found


# --- rows ----------------------------------------------------------------------------------------


@dataclass
class _Match:
    """What a file has told of one match so far. What is kept by slot is as that player sees it."""

    number: int
    players: list[str | None] = field(default_factory=lambda: [None, None])
    seats: dict[str, int] = field(default_factory=dict)  # slots of those known by name alone
    seen: set[int] = field(default_factory=set)  # 2 * step + slot
    said: dict[int, tuple[int, float]] = field(default_factory=dict)  # latest (step, outcome)
    gained: dict[int, tuple[int, float]] = field(default_factory=dict)  # (step, reward) at the end
    flags: set[str] = field(default_factory=set)

    def score(self) -> float | None:
        """Player 0's, by what was said, else by what was gained. None: unknown, or disputed."""
        for told in (self.said, self.gained):
            if scores := [told[slot][1] * (1.0 - 2.0 * slot) for slot in sorted(told)]:
                return scores[0] if max(scores) - min(scores) < 1e-6 else None
        return None

    def ending(self, score: float | None) -> str:
        """Of the endings that MATCHES knows."""
        if "terminated" not in self.flags and "truncated" in self.flags:
            return "timeout"
        if self.flags and score in (1.0, -1.0):
            return "kill"
        return "double kill" if "terminated" in self.flags and score == 0 else "unknown"


class _Film:
    """The rows of one file."""

    def __init__(self, source: str, *, live: bool):
        self.source, self.live = source, live
        self.matches: dict[str, _Match] = {}
        self.which, self.step, self.slot = array("q"), array("i"), array("b")
        self.numbers = array("f")  # those of _NUMBERS, row after row
        self.extras: list[str | None] = []

    def add(self, line: Mapping[str, Any], rest: Mapping[str, Any]) -> None:
        """Take in one decision, whole or not at all; `rest` is what its line says besides."""
        name = self._match_name(line.get("match"))
        match = self.matches.get(name) or _Match(len(self.matches))
        slot, player, label = _seat(match, line)
        step = self._step_number(line.get("step"), match)
        if 2 * step + slot in match.seen:
            raise _LineError(f"match {name!r} has step {step} of slot {slot} already")
        view, action = _view(line.get("observation")), _action(line.get("action"))
        numbers = _finite([*view, *action, line.get("reward", 0.0)], _NUMBERS)
        flags = {flag for flag in _FLAGS if _flag(line.get(flag), flag)}
        outcome, extras = _outcome(line.get("outcome")), _extras(line, rest)
        self.extras.append(json.dumps(extras) if extras else None)
        # Nothing can fail from here on.
        self.matches[name] = match
        match.seen.add(2 * step + slot)
        match.players[slot] = player or match.players[slot]
        match.flags |= flags
        if label is not None:
            match.seats[label] = slot
        if outcome is not None:
            match.said[slot] = max((step, outcome), match.said.get(slot, (-1, 0.0)))
        if flags and "reward" in line:
            gain = min(max(float(line["reward"]), -1.0), 1.0)
            match.gained[slot] = max((step, gain), match.gained.get(slot, (-1, 0.0)))
        self.which.append(match.number)
        self.step.append(step)
        self.slot.append(slot)
        self.numbers.extend(numbers)

    def _match_name(self, given: Any) -> str:
        """Unlike any of another file, because no file lies below another."""
        if given is not None:
            return f"{self.source}/{_text(given, 'match')}"
        parent = self.source.rpartition("/")[0]
        return parent if self.live and parent else self.source

    def _step_number(self, given: Any, match: _Match) -> int:
        if given is None and self.live:
            given = self.step[-1] + 1 if match.seen else 0
        if type(given) is float and given.is_integer():
            given = int(given)
        if type(given) is not int or not 0 <= given <= _LAST_STEP:
            raise _LineError(f"step is {_short(given)}, not a whole number from 0 to {_LAST_STEP}")
        return given

    def end(self, outcome: _Outcome) -> None:
        """The only match ended so; what else is said of it goes with its last step."""
        if outcome.score is not None:
            (match,) = self.matches.values()
            match.said = {0: (_LAST_STEP, outcome.score)}
        if outcome.extras:
            last = int(np.argmax(self.step))
            known = json.loads(self.extras[last] or "{}")
            self.extras[last] = json.dumps({**known, "manifest": outcome.extras})

    def tables(self, skipped: int = 0) -> dict[str, pa.Table]:
        """Recordings; steps by match in the order of appearance, then by step and slot."""
        which, step, slot = np.array(self.which), np.array(self.step), np.array(self.slot)
        order = np.lexsort((slot, step, which))
        numbers = np.array(self.numbers).reshape(-1, len(_NUMBERS))[order]
        _work_out_reach(numbers)
        steps = {
            "match": pa.array(self.matches, pa.string()).take(pa.array(which[order])),
            "step": step[order],
            "slot": slot[order],
            **{name: numbers[:, k] for k, name in enumerate(_NUMBERS)},
            "events": np.zeros(len(order), np.int32),
            "extras": pa.array(self.extras, pa.string()).take(pa.array(order)),
        }
        return {"matches": self._outline(skipped), "steps": STEPS.build(steps)}

    def _outline(self, skipped: int) -> pa.Table:
        matches = list(self.matches.values())
        scores = [match.score() for match in matches]
        columns = {
            "match": list(self.matches),
            "seed": [None] * len(matches),
            "player_0": [match.players[0] or "unknown" for match in matches],
            "player_1": [match.players[1] or "unknown" for match in matches],
            "score": scores,
            "steps": [max(m.seen) // 2 - min(m.seen) // 2 + 1 for m in matches],
            "ending": [m.ending(score) for m, score in zip(matches, scores, strict=True)],
            "layout": ["unknown"] * len(matches),
            "origin": ["feedback" if self.live else "recorder"] * len(matches),
        }
        return MATCHES.build(columns, {SKIPPED: str(skipped)})


def _work_out_reach(numbers: "np.ndarray[Any, np.dtype[np.float32]]") -> None:
    """Fill in `in_reach` where it was not logged: is a ready station near, and of use?"""
    rows = np.flatnonzero(numbers[:, v.IN_REACH] == _WORK_OUT)
    views = numbers[rows].astype(np.float64)
    offset = views[:, None, [v.X, v.Y]] - r.STATIONS
    near = (offset**2).sum(axis=2) <= r.REACH**2
    ready = views[:, v.HEALTH_OURS : v.AMMO_THEIRS + 1] > 0
    of_use = views[:, [v.HEALTH, v.RESERVE]] < (r.HEALTH, r.RESERVE)
    numbers[rows, v.IN_REACH] = (near & ready & of_use.repeat(2, axis=1)).any(axis=1)


# --- parts of a line -----------------------------------------------------------------------------


def _under_our_names(record: dict[str, Any]) -> dict[str, Any]:
    """Move what we have a name for out of `record`. Null is as good as absent."""
    line = {}
    for key, names in _SYNONYMS.items():
        for name in names:
            if (value := record.pop(name, None)) is not None:
                line[key] = value
                break
    return line


def _extras(line: Mapping[str, Any], rest: Mapping[str, Any]) -> dict[str, Any]:
    extras = line.get("extras", {})
    return {**(extras if isinstance(extras, dict) else {"extras": extras}), **rest}


def _seat(match: _Match, line: Mapping[str, Any]) -> tuple[int, str | None, str | None]:
    """Slot, player, and the name that the slot hangs on where the line does not say its number."""
    slot, label = line.get("slot"), None
    player = _text(line["player"], "player") if "player" in line else None
    if slot is None or isinstance(slot, str):
        label = player if slot is None else _text(slot, "slot")
        if label is None:
            raise _LineError("neither slot nor player")
        player, numbered = player or label, label[-2:] in ("0", "1", "_0", "_1")
        slot = int(label[-1]) if numbered else match.seats.get(label, len(match.seats))
        label = None if numbered else label
    if isinstance(slot, bool) or slot not in (0, 1):
        raise _LineError(f"slot is {_short(slot)}; a match has slots 0 and 1")
    if player and player != (match.players[int(slot)] or player):
        raise _LineError(f"slot {slot} is {player}, but was {match.players[int(slot)]}")
    return int(slot), player, label


def _outcome(given: Any) -> float | None:
    if given is None:
        return None
    if isinstance(given, str) and given.lower() in _OUTCOMES:
        return _OUTCOMES[given.lower()]
    if type(given) not in (int, float) or not -1 <= given <= 1:
        raise _LineError(f"outcome is {_short(given)}, not win, draw, loss or -1 to 1")
    return float(given)


def _view(observation: Any) -> list[Any]:
    """The entries of a view, not yet known to be numbers."""
    if isinstance(observation, dict):
        return _view_of_fields(observation)
    if isinstance(observation, list) and len(observation) == len(FEATURES):
        return _view_of_features(_finite(observation, tuple(FEATURES)))
    raise _LineError(f"observation is {_short(observation)}, no object or {len(FEATURES)} features")


def _view_of_fields(fields: Mapping[str, Any]) -> list[Any]:
    known: dict[str, Any] = _enemy(fields["enemy"]) if "enemy" in fields else {}
    for name, parts in _VECTORS.items():
        if name in fields:
            known.update(zip(parts, _pair(fields[name], name), strict=True))
    known |= {_FIELD_SYNONYMS.get(k, k): value for k, value in fields.items() if value is not None}
    for name in ("x", "y", "health"):
        if name not in known:
            raise _LineError(f"observation has no {name} ({v.VIEW[name]})")
    if "enemy_x" in known:
        known.setdefault("enemy_age", 0.0)
    return [known.get(name, neutral) for name, neutral in _NEUTRAL.items()]


def _enemy(enemy: Any) -> dict[str, Any]:
    """An enemy's fields of a view; none where it was never seen."""
    if enemy is not None and not isinstance(enemy, dict):
        raise _LineError(f"enemy is {_short(enemy)}, no object")
    if not enemy or enemy.get("position") is None:
        return {}
    x, y = _pair(enemy["position"], "enemy position")
    vx, vy = _pair(enemy.get("velocity"), "enemy velocity")
    age, visible = enemy.get("age"), enemy.get("visible")
    if age is None:
        age = 0.0 if visible is None or _flag(visible, "visible") else _NEUTRAL["enemy_age"]
    return {"enemy_x": x, "enemy_y": y, "enemy_vx": vx, "enemy_vy": vy, "enemy_age": age}


def _view_of_features(features: Sequence[float]) -> list[float]:
    """A view of these features. What they do not tell follows from the rules, or is neutral."""
    x, y, vx, vy, health, magazine, reserve, dash, shield = features[:9]
    dx, dy, enemy_vx, enemy_vy, seen, cover_x, cover_y, threat, healing, supply = features[9:]
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


def _action(action: Any) -> list[Any]:
    """The entries of rules.ACTION, not yet known to be numbers."""
    if not isinstance(action, dict):
        raise _LineError(f"action is {_short(action)}, no object")
    if action.keys().isdisjoint(("move", "aim", "fire", "interact", "ability")):
        raise _LineError("action has neither move, aim, fire, interact nor ability")
    ability = action.get("ability")
    if ability is None or ability in ABILITIES:
        ability = ABILITIES.index(ability or "none")
    if isinstance(ability, bool) or ability not in range(len(ABILITIES)):
        raise _LineError(f"ability is {_short(ability)}, not {', '.join(ABILITIES)} or its number")
    move, aim = _pair(action.get("move"), "move"), _pair(action.get("aim"), "aim")
    flags = [_flag(action.get(name), name) for name in ("fire", "interact")]
    return [*move, *aim, *flags, ability]


def _pair(given: Any, what: str) -> Sequence[Any]:
    if given is None:
        return (0.0, 0.0)
    if not isinstance(given, list) or len(given) != 2:
        raise _LineError(f"{what} is {_short(given)}, not [x, y]")
    return given


def _flag(given: Any, what: str) -> bool:
    if given is not None and given not in (0, 1):
        raise _LineError(f"{what} is {_short(given)}, not true or false")
    return bool(given)


def _text(given: Any, what: str) -> str:
    if isinstance(given, bool) or not isinstance(given, str | int):
        raise _LineError(f"{what} is {_short(given)}, not a name or a number")
    return _utf8(str(given))


def _utf8(text: str) -> str:
    """A text that can be written, even if half a character was in it."""
    return text.encode("utf-8", "backslashreplace").decode()


def _finite(numbers: list[Any], names: Sequence[str]) -> list[Any]:
    """The same, if that is what they are; else an error that names the first that is not."""
    try:
        if sum(map(abs, numbers)) <= _LARGEST:  # quick, and false for NaN
            return numbers
    except (TypeError, OverflowError):
        pass
    for name, number in zip(names, numbers, strict=True):
        if not isinstance(number, int | float) or not abs(number) <= _LARGEST:
            raise _LineError(f"{name} is {_short(number)}, not a finite number")
    raise _LineError("its numbers are too large")


def _short(value: Any) -> str:
    return f"{value!r:.40}"
