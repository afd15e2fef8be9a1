"""A person at a plain game of two: what its seat knows, and its options to choose from."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from understudy.data.arrays import Array
from understudy.data.players import PlayerRef
from understudy.errors import InputError
from understudy.games.two_player.hosted import HostedEnv, Picture, Pictured
from understudy.games.two_player.replay import begun
from understudy.pipeline.game import Live, Seats
from understudy.report.page import asset

if TYPE_CHECKING:
    from understudy.games.two_player.plain import Plain
    from understudy.learn.rl.env import Observation

HUMAN = "human"
"""How the name of a person begins in recordings, which have no other place to say so."""
_HERE = np.array([0])


def plain_live(plain: "Plain") -> Live:
    """How such a game is played and watched."""
    return Live(
        about="Turn by turn. What your seat knows is shown; choose one of the options it has. "
        "Where there is nothing to choose, the match goes on by itself.",
        head=_head,
        begin=lambda seats: PlainLive(plain, seats),
    )


def _head() -> str:
    package = "understudy.games.two_player"
    style, script = asset("live.css", package), asset("live.js", package)
    return f'<style>\n{style}</style>\n<script>\n"use strict";\n{{\n{script}}}\n</script>\n'


class PlainLive:
    """One match."""

    def __init__(self, plain: "Plain", seats: Seats) -> None:
        own = HUMAN if seats.person == HUMAN else f"{HUMAN} {seats.person}"
        self.plain, self.seed = plain, seats.seed % 2**53
        self.refs = [PlayerRef(own) if ref is None else ref for ref in seats.players]
        self.people = [slot for slot, ref in enumerate(seats.players) if ref is None]
        self.over = False
        self._env, self._shown = begun(plain, self.seed)
        seeds = np.array([self.seed], np.int64)
        self._choosers: dict[int, Callable[[Observation, Array, int], None]] = {
            slot: plain.chooser(ref, self._env, seeds, np.eye(2, dtype=bool)[[slot]])
            for slot, ref in enumerate(self.refs)
            if slot not in self.people
        }
        self._seen = self._env.observe()
        self._rows: list[tuple[Array, ...]] = []
        self._score, self._is_cut = 0.0, False

    @property
    def _seat(self) -> int:
        """Whose eyes it is seen with: the person's, or the first player's."""
        return self.people[0] if self.people else 0

    def scene(self) -> dict[str, Any]:
        """Who plays, and what is to be chosen."""
        decisions = self.plain.decisions
        return {
            "players": [ref.name for ref in self.refs],
            "seat": self.people[0] if self.people else None,
            "heads": decisions.heads,
            "features": list(decisions.features),
        }

    def now(self) -> dict[str, Any]:
        """What the seat knows and may do."""
        seat = self._seat
        legal = self._seen.legal[0, seat]
        picture = self._picture(seat)
        told = {
            "step": len(self._rows),
            "features": np.round(self._seen.observation[0, seat].astype(float), 3).tolist(),
            "legal": legal.tolist(),
            "chooses": bool(self.people) and not self.over and self._has_choice(seat),
            "last": [self._rows[-1][2][slot].tolist() if self._rows else None for slot in (0, 1)],
            **picture._asdict(),
        }
        return told | ({"outcome": self._outcome()} if self.over else {})

    def _picture(self, seat: int) -> Picture:
        return self._shown.picture(seat) if isinstance(self._shown, Pictured) else Picture()

    def _has_choice(self, slot: int) -> bool:
        return int(self._seen.legal[0, slot].sum()) > len(self.plain.decisions.heads)

    def _outcome(self) -> str:
        names = [ref.name for ref in self.refs]
        how = "a draw" if self._score == 0 else f"{names[self._score < 0]} wins"
        return f"{how}, cut short" if self._is_cut else how

    def step(self, done: Any) -> None:
        """Everybody chooses, whoever has nothing to choose does that."""
        for slot in self.people:
            options = self._options(done, slot)
            self._env.set_actions(_HERE, np.array([slot]), options[None])
        for slot, choose in self._choosers.items():
            choose(self._seen, _HERE, slot)
        before = [part[0].copy() for part in (*self._seen, self._env.chosen)]
        if self._shown is not None and not isinstance(self._env, HostedEnv):
            self._shown.step(self._env.chosen[0])
        result = self._env.step()
        self._rows.append((*before, result.reward[0].copy()))
        self._seen = self._env.observe()
        self._is_cut = bool(result.truncated[0])
        self.over = bool(result.terminated[0]) or self._is_cut
        self._score = float(result.score[0, 0]) if self.over else 0.0

    def _options(self, done: Any, slot: int) -> Array:
        """An option of each head; the only ones where none was sent."""
        legal, heads = self._seen.legal[0, slot], self.plain.decisions.heads
        parts = np.split(legal, np.cumsum(list(heads.values()))[:-1])
        if done is None:
            if self._has_choice(slot):
                raise InputError("it is your turn: choose an option")
            return np.array([part.argmax() for part in parts])
        if not isinstance(done, list) or len(done) != len(parts):
            raise InputError(f"a decision is {len(parts)} whole numbers")
        for option, part in zip(done, parts, strict=True):
            if type(option) is not int or not 0 <= option < len(part) or not part[option]:
                raise InputError("that option is not there now")
        return np.array(done, np.int64)

    def recorded(self) -> dict[str, pa.Table]:
        """As any other recording has it."""
        from understudy.learn.rl.acting.playout import Outcome

        plain, count = self.plain, len(self._rows)
        outcome = Outcome(
            np.array([[self._score, -self._score]], np.float32),
            np.array([count], np.int32),
            np.array([self._is_cut]),
        )
        one, other = self.refs
        outline = plain.outline([(one, other, self.seed)], outcome)
        parts = [np.stack(part) for part in zip(*self._rows, strict=True)]
        ids = np.array(outline["match"].to_pylist())
        which, step = np.zeros(count, np.int64), np.arange(count, dtype=np.int32)
        return {"matches": outline, "steps": plain.steps_table(ids, which, step, *parts)}
