"""The arena: N matches side by side in arrays, eight to a block, stepped by one compiled kernel.

`World.step` takes both players' actions and brings every running match forward by a tenth of a
second. A match's course depends only on its seed and its actions, never on its slot or on N. The
two players are treated alike in every line: swap them and turn the floor, and the numbers are equal
to the last bit. Positions are kept in the floor's frame; actions and views are in the player's own.

The rules are in `turn.py`, what players see in `sight.py`, all written for eight matches at once
(`lanes.py`). The kernel is serial and releases the GIL; run processes to use more cores. With
NUMBA_DISABLE_JIT=1 the same source runs as plain Python.
"""

from typing import Any, Literal

import numpy as np

from understudy.data.arrays import Array, Floats, Ints
from understudy.games.arena.kernels import kernel
from understudy.games.arena.sim import entries as e
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim import sight, turn
from understudy.games.arena.sim import state as v
from understudy.games.arena.sim.hash_rng import uniform
from understudy.games.arena.sim.lanes import (
    LANES,
    blocks,
    every,
    from_lanes,
    larger,
    load,
    some,
    store,
    to_lanes,
    where,
)

Views = np.ndarray[Any, np.dtype[np.float32]]
Timeout = Literal["draw", "health"]


class World:
    """N matches. Read the arrays freely; only `reset`, `step` and `restore` change them."""

    def __init__(
        self, num_matches: int, *, timeout: Timeout = "draw", shaping: float = 0.0
    ) -> None:
        """Room for that many matches, none of them begun.

        `timeout`: "draw" scores a match that runs out of time 0, "health" by the lead in health.
        `shaping`: reward per full health bar of damage dealt less damage taken; 0 is sparse.
        """
        n, count = num_matches, -(-num_matches // LANES)
        self.num_matches = n
        self.by_health = timeout == "health"
        self.shaping = float(shaping)
        # The last block may have lanes to spare: no match ever begins in them.
        self.blocks: Floats = blocks(np.float64, count, e.ROW)
        self._clock: Ints = blocks(np.int64, e.CLOCK, count)
        self._clock[e.STATUS] = r.TRUNCATED
        self._view: Views = np.zeros((count * LANES, 2 * len(v.VIEW)), np.float32)
        self._reward: Views = np.zeros((count * LANES, 2), np.float32)
        self._actions: Views = np.zeros((count * LANES, 2 * len(r.ACTION)), np.float32)
        # Room for one block at work.
        self._wish, self._known = (blocks(np.float32, 2 * len(x)) for x in (r.ACTION, v.VIEW))
        self._notes, self._before = (blocks(np.float64, size) for size in (e.NOTES, e.ROW))
        self.view, self.reward = self._view.reshape(-1, 2, len(v.VIEW))[:n], self._reward[:n]
        self._padded = self._actions.reshape(-1, 2, len(r.ACTION))
        self.clock: Ints = self._clock.reshape(e.CLOCK, -1)[:, :n].T
        self.seed, self.steps, self.layout, self.status = self.clock.T[: e.EVENTS]
        self.events: Ints = self.clock[:, e.EVENTS :]

    @property
    def row(self) -> Floats:
        """All numbers of each match, [N, ROW], in the order of `entries.py`: a copy."""
        return self.blocks.transpose(0, 2, 1).reshape(-1, e.ROW)[: self.num_matches].copy()

    @property
    def body(self) -> Floats:
        """The players, [N, 2, BODY]: a copy."""
        return self.row[:, : e.SHOTS].reshape(-1, 2, e.BODY)

    @property
    def shots(self) -> Floats:
        """The shots in the air, [N, 2, MAX_SHOTS, SHOT]: a copy."""
        return self.row[:, e.SHOTS : e.STATIONS].reshape(-1, 2, r.MAX_SHOTS, e.SHOT)

    @property
    def stations(self) -> Floats:
        """Steps until each station is ready, [N, 4]: a copy."""
        return self.row[:, e.STATIONS : e.COVER]

    @property
    def loadouts(self) -> Ints:
        """Each player's own loadout and what it knows of the enemy's, [N, 2, 2]; 0 is none."""
        both = self.blocks[:, e.LOADOUT :].transpose(0, 2, 1).reshape(-1, 2, 2)
        return both[: self.num_matches].transpose(0, 2, 1).astype(np.int64)

    def arm(self, which: Any, slot: Any, loadouts: Any) -> None:
        """Choose loadouts for these players: counts before their first step, and never after."""
        which, slot = np.asarray(which), np.broadcast_to(slot, np.shape(which))
        early = self.steps[which] == 0
        which, slot, chosen = which[early], slot[early], np.asarray(loadouts)[early]
        self.blocks[which // LANES, e.LOADOUT + slot, which % LANES] = chosen

    def reset(self, seeds: Any, slots: Any = None) -> None:
        """Begin a match of each seed, in these slots (all by default)."""
        chosen = np.arange(self.num_matches) if slots is None else np.asarray(slots)
        seeds = np.asarray(seeds, np.int64)
        world = self.blocks, self._clock, self._view, self._reward
        _reset(chosen, seeds, *world, self._notes, self._known)

    def step(self, actions: Views) -> None:
        """Bring every running match forward; `actions` is float32 [N, 2, 7] as in rules.ACTION.

        Illegal parts of an action are ignored. Matches that have ended stay as they are, with
        reward 0.
        """
        whole = actions.shape == self._padded.shape and actions.dtype == np.float32
        if whole and actions.flags.c_contiguous:
            actions = actions.reshape(self._actions.shape)
        else:
            self._padded[: self.num_matches] = actions
            actions = self._actions
        world = self.blocks, self._clock, self._view, self._reward
        work = self._wish, self._notes, self._known, self._before
        _step(actions, *world, *work, self.by_health, self.shaping)

    def state(self) -> dict[str, Array]:
        """All that is needed to go on from here, each with a row per match."""
        parts: dict[str, Array] = {"row": self.row, "clock": self.clock}
        parts |= {"view": self.view, "reward": self.reward}
        return {name: part.copy() for name, part in parts.items()}

    def restore(self, state: dict[str, Array]) -> None:
        """Go on from there."""
        rows = np.zeros((len(self._view), e.ROW))
        known = state["row"]  # without loadouts, where it was put away before there were any
        rows[: self.num_matches, : known.shape[1]] = known
        self.blocks[:] = rows.reshape(-1, LANES, e.ROW).transpose(0, 2, 1)
        self.clock[:], self.view[:] = state["clock"], state["view"]
        self.reward[:] = state["reward"]


@kernel
def _reset(slots, seeds, worlds, clock, view, reward, notes, known):  # type: ignore[no-untyped-def]
    for k in range(len(slots)):
        b, lane, seed = slots[k] // LANES, slots[k] % LANES, seeds[k]
        m = worlds[b]
        layout = min(int(uniform(seed, 0, 0, 0) * r.NUM_LAYOUTS), r.NUM_LAYOUTS - 1)
        spawn_y = (2.0 * uniform(seed, 0, 0, 1) - 1.0) * r.SPAWN_Y
        m[:, lane] = 0.0
        clock[:, b, lane] = 0
        reward[slots[k], :] = 0.0
        clock[e.SEED, b, lane], clock[e.LAYOUT, b, lane] = seed, layout
        _place_cover(m, lane, layout)
        for p in range(2):
            me, side = p * e.BODY, 1.0 - 2.0 * p
            m[me + e.X, lane], m[me + e.Y, lane] = -r.SPAWN_X * side, spawn_y * side
            m[me + e.SEEN_X, lane], m[me + e.SEEN_Y, lane] = r.SPAWN_X * side, -spawn_y * side
            m[me + e.AIM_X, lane], m[me + e.HEALTH, lane] = side, r.HEALTH
            m[me + e.MAGAZINE, lane], m[me + e.RESERVE, lane] = r.MAGAZINE, r.RESERVE
        notes[0, :] = 0.0
        notes[0, lane] = 1.0
        sight.look(m, load(notes, 0) > 0.0)
        _show(m, b, clock, known, view)


@kernel
def _place_cover(m, lane, layout):  # type: ignore[no-untyped-def]
    for part in range(4):
        for box in range(r.NUM_COVER):
            m[e.COVER + part * r.NUM_COVER + box, lane] = r.COVER[layout, part, box]


@kernel
def _show(m, b, clock, known, view):  # type: ignore[no-untyped-def]
    """Write both players' views of a block; where a match has ended they are what they were."""
    time_left = r.MAX_STEPS - load(clock[e.STEP], b)
    for p in range(2):
        sight.write_view(m, p, time_left, known)
    from_lanes(known, b, view)


@kernel
def _step(  # type: ignore[no-untyped-def]
    actions, worlds, clock, view, reward, wish, notes, known, before, by_health, shaping
):
    for b in range(len(worlds)):
        on = load(clock[e.STATUS], b) == r.RUNNING
        if not some(on):
            _pay(b, on, notes, reward)
            continue
        m = worlds[b]
        _keep(m, on, before)
        to_lanes(actions, b, wish)
        store(clock[e.STEP], b, load(clock[e.STEP], b) + where(on, 1.0, 0.0))
        _play(m, wish, notes)
        _score(m, b, on, clock, notes, by_health, shaping)
        _pay(b, on, notes, reward)
        _give_back(m, on, before)
        sight.look(m, on)
        _show(m, b, clock, known, view)


@kernel
def _play(m, wish, notes):  # type: ignore[no-untyped-def]
    """All rules of a step, but for who is dead."""
    for p in range(2):
        turn.begin(m, p, wish, notes)
        turn.use_ability(m, p, wish, notes)
        turn.move(m, p, wish)
    for p in range(2):
        turn.fly(m, p, notes)
    for p in range(2):
        turn.interact(m, p, wish, notes)
    for s in range(e.STATIONS, e.COVER):
        left = load(m, s)
        store(m, s, where(left < 0.0, r.STATION_COOLDOWN, larger(left - 1.0, 0.0)))
    for p in range(2):
        turn.fire(m, p, wish, notes)


@kernel
def _score(m, b, on, clock, notes, by_health, shaping):  # type: ignore[no-untyped-def]
    """Note what player 0 gains in this step, who is dead and whether time is up."""
    hits = load(notes, e.HITS) - load(notes, e.HITS + 1)
    dead0, dead1 = turn.hurt(m, 0, notes), turn.hurt(m, 1, notes)
    dead = dead0 | dead1
    late = ~dead & (load(clock[e.STEP], b) >= r.MAX_STEPS)
    score = where(dead1, 1.0, 0.0) - where(dead0, 1.0, 0.0)
    if by_health:
        lead = (load(m, e.HEALTH) - load(m, e.BODY + e.HEALTH)) / r.HEALTH
        score = where(late, lead, score)
    store(notes, e.HITS, score + shaping * hits * r.DAMAGE / r.HEALTH)
    status = where(dead, r.TERMINATED, where(late, r.TRUNCATED, r.RUNNING))
    store(clock[e.STATUS], b, where(on, status, load(clock[e.STATUS], b)))
    for p in range(2):
        events = clock[e.EVENTS + p]
        store(events, b, where(on, load(notes, e.HAPPENED + p), load(events, b)))


@kernel
def _pay(b, on, notes, reward):  # type: ignore[no-untyped-def]
    """Write the rewards: what was noted, nothing where a match had ended."""
    store(notes, e.HITS + 1, where(on, -load(notes, e.HITS), 0.0))
    store(notes, e.HITS, where(on, load(notes, e.HITS), 0.0))
    for lane in range(LANES):
        for p in range(2):
            reward[b * LANES + lane, p] = notes[e.HITS + p, lane]


@kernel
def _keep(m, on, before):  # type: ignore[no-untyped-def]
    """Remember a block some of whose matches have ended."""
    if not every(on):
        for k in range(e.COVER):
            store(before, k, load(m, k))


@kernel
def _give_back(m, on, before):  # type: ignore[no-untyped-def]
    """Leave the matches that had ended as they were."""
    if not every(on):
        for k in range(e.COVER):
            store(m, k, where(on, load(m, k), load(before, k)))
