"""The arena as others expect an environment: Gymnasium, Gymnasium vector, PettingZoo parallel.

Registered as `understudy/Arena-v0` (`gymnasium.make`, and `make_vec` with
`vectorization_mode="vector_entry_point"`). One player is the caller's, the other is built in; in
the PettingZoo environment both are the caller's. All three step the same `World`.

Actions come in two kinds: "factored" (one option per head, `MultiDiscrete`) or "raw" (a `Dict` of
floats, as the rules take them). `info["action_mask"]` has one bit per option of all heads.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from pettingzoo import ParallelEnv

from understudy.data.arrays import Array
from understudy.data.own_code import is_reference
from understudy.data.players import PlayerRef
from understudy.errors import InputError, did_you_mean
from understudy.games.arena.codec import actions as codec
from understudy.games.arena.codec import features
from understudy.games.arena.play import bots
from understudy.games.arena.play.play import Player, player
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim.draw import draw
from understudy.games.arena.sim.world import Timeout, World
from understudy.pipeline.players import brought

ENV_ID = "understudy/Arena-v0"
FRAMES_PER_SECOND = round(1 / r.STEP_SECONDS)
_METADATA: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": FRAMES_PER_SECOND}
ActionKind = Literal["factored", "raw"]


def observation_space() -> spaces.Box:
    """20 features, each between -1 and 1 (`features.FEATURES` says what they are)."""
    return spaces.Box(-1.0, 1.0, (features.NUM_FEATURES,), np.float32)


def action_space(kind: ActionKind) -> spaces.Space[Any]:
    """One option per head, or the floats the rules take."""
    if kind == "factored":
        return spaces.MultiDiscrete(list(codec.HEADS.values()))
    return spaces.Dict(
        {
            "move": spaces.Box(-1.0, 1.0, (2,), np.float32),
            "aim": spaces.Box(-1.0, 1.0, (2,), np.float32),
            "fire": spaces.Discrete(2),
            "interact": spaces.Discrete(2),
            "ability": spaces.Discrete(len(codec.ABILITIES)),
        }
    )


def to_floats(action: Any, kind: ActionKind) -> Array:
    """An action, or a batch of them, as the rules take it."""
    if kind == "factored":
        return codec.decode(np.asarray(action, np.int64))
    move, aim = (np.asarray(action[name], np.float32) for name in ("move", "aim"))
    floats = np.empty((*move.shape[:-1], len(r.ACTION)), np.float32)
    floats[..., [r.MOVE_X, r.MOVE_Y]] = move
    floats[..., [r.AIM_X, r.AIM_Y]] = aim
    for name, place in (("fire", r.FIRE), ("interact", r.INTERACT), ("ability", r.ABILITY)):
        floats[..., place] = action[name]
    return floats


def opponent_player(opponent: str | Path | Player) -> Player:
    """A scripted player, the folder of a trained one, FILE.py:POLICY, or whatever can `act`."""
    if not isinstance(opponent, str | Path):
        return opponent
    name = str(opponent)
    if name in bots.BOTS:
        return player(PlayerRef(name))
    if is_reference(name):
        return player(brought(name, ()))
    if Path(name).is_dir():
        return player(PlayerRef(Path(name).name, Path(name)))
    raise InputError(
        f"the arena has no player '{name}'{did_you_mean(name, bots.BOTS)}; it has "
        f"{', '.join(bots.BOTS)}, the folder of any trained model, and your own as FILE.py:NAME"
    )


class ArenaEnv(gymnasium.Env[Array, Any]):
    """One match after another against a built-in opponent."""

    metadata = _METADATA

    def __init__(
        self,
        opponent: str | Path | Player = "rusher",
        actions: ActionKind = "factored",
        timeout: Timeout = "draw",
        shaping: float = 0.0,
        render_mode: str | None = None,
    ) -> None:
        """`opponent`: see `opponent_player`; for the rest see World."""
        self.observation_space = observation_space()
        self.action_space = action_space(actions)
        self.render_mode = render_mode
        self._kind: ActionKind = actions
        self._opponent = opponent_player(opponent)
        self._world = World(1, timeout=timeout, shaping=shaping)
        self._only = np.zeros(1, np.int64)
        self._actions = np.zeros((1, 2, len(r.ACTION)), np.float32)

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin a match; the same seed begins the same one."""
        super().reset(seed=seed)
        self._world.reset([int(self.np_random.integers(2**62))])
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """A tenth of a second."""
        world = self._world
        self._actions[0, 0] = to_floats(action, self._kind)
        self._actions[0, 1] = self._opponent.act(world.view[:, 1], world, self._only, 1)[0]
        world.step(self._actions)
        status = int(world.status[0])
        terminated, truncated = status == r.TERMINATED, status == r.TRUNCATED
        return self._observation(), float(world.reward[0, 0]), terminated, truncated, self._info()

    def render(self) -> Array:
        """The floor from above, as an RGB picture."""
        return draw(self._world, 0)

    def _observation(self) -> Array:
        return features.features(self._world.view[:, 0])[0]

    def _info(self) -> dict[str, Any]:
        return {"action_mask": features.legal(self._world.view[:, 0])[0].astype(np.int8)}


class ArenaVectorEnv(VectorEnv[Array, Any, Array]):
    """Many matches side by side, each against the built-in opponent."""

    metadata = _METADATA

    def __init__(
        self,
        num_envs: int = 1,
        opponent: str | Path | Player = "rusher",
        actions: ActionKind = "factored",
        timeout: Timeout = "draw",
        shaping: float = 0.0,
        autoreset_mode: AutoresetMode = AutoresetMode.SAME_STEP,
        render_mode: str | None = None,
    ) -> None:
        """Autoreset in the same step (default), in the next step, or not at all."""
        self.num_envs = num_envs
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**_METADATA, "autoreset_mode": self.autoreset_mode}
        self.render_mode = render_mode
        self.single_observation_space = observation_space()
        self.single_action_space = action_space(actions)
        batch = gymnasium.vector.utils.batch_space
        self.observation_space = batch(self.single_observation_space, num_envs)
        self.action_space = batch(self.single_action_space, num_envs)
        self._kind: ActionKind = actions
        self._opponent = opponent_player(opponent)
        self._world = World(num_envs, timeout=timeout, shaping=shaping)
        self._all = np.arange(num_envs)
        self._actions = np.zeros((num_envs, 2, len(r.ACTION)), np.float32)
        self._to_reset = np.zeros(num_envs, bool)
        self._dice = [np.random.default_rng() for _ in range(num_envs)]

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin all matches, or those of `options["reset_mask"]`.

        A number seeds environment i with seed + i, as Gymnasium's own vector environments do.
        """
        mask = (options or {}).get("reset_mask")
        chosen = self._all if mask is None else np.flatnonzero(mask)
        if isinstance(seed, int):
            seed = [seed + number for number in range(self.num_envs)]
        seeds = seed or [None] * self.num_envs
        for i in chosen:
            if seeds[i] is not None:
                self._dice[i] = np.random.default_rng(seeds[i])
        self._begin(chosen)
        self._to_reset[chosen] = False
        return self._observation(), self._info()

    def step(self, actions: Any) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """A tenth of a second in every match; what ended is begun anew as the mode says."""
        world = self._world
        waiting = np.flatnonzero(self._to_reset)
        self._actions[:, 0] = to_floats(actions, self._kind)
        self._actions[:, 1] = self._opponent.act(world.view[:, 1], world, self._all, 1)
        world.step(self._actions)  # leaves matches that have ended alone
        reward = world.reward[:, 0].astype(np.float64)
        terminated, truncated = world.status == r.TERMINATED, world.status == r.TRUNCATED
        if self.autoreset_mode == AutoresetMode.NEXT_STEP:
            self._begin(waiting)
            terminated[waiting] = truncated[waiting] = False
            self._to_reset = terminated | truncated
        final: dict[str, Any] = {}
        if self.autoreset_mode == AutoresetMode.SAME_STEP:
            final = self._renew(np.flatnonzero(terminated | truncated))
        return self._observation(), reward, terminated, truncated, self._info() | final

    def render(self) -> tuple[Array, ...]:
        """A picture of each match."""
        return tuple(draw(self._world, i) for i in range(self.num_envs))

    def _renew(self, done: Array) -> dict[str, Any]:
        """Begin the matches that have ended; what was last seen of them, as Gymnasium wants it."""
        if not len(done):
            return {}
        last = np.full(self.num_envs, None, object)
        masks = np.zeros((self.num_envs, features.NUM_OPTIONS), np.int8)
        observation, masked = self._observation(), self._info()["action_mask"]
        for i in done:
            last[i] = observation[i]
        masks[done] = masked[done]
        which = np.isin(self._all, done)
        self._begin(done)
        info = {"action_mask": masks, "_action_mask": which}
        return {"final_obs": last, "_final_obs": which, "final_info": info, "_final_info": which}

    def _begin(self, slots: Array) -> None:
        if len(slots):
            seeds = [int(self._dice[i].integers(2**62)) for i in slots]
            self._world.reset(seeds, slots)

    def _observation(self) -> Array:
        return features.features(self._world.view[:, 0])

    def _info(self) -> dict[str, Any]:
        mask = features.legal(self._world.view[:, 0]).astype(np.int8)
        return {"action_mask": mask, "_action_mask": np.ones(self.num_envs, bool)}


class ArenaParallelEnv(ParallelEnv[str, Array, Any]):
    """Both players are the caller's, and both see themselves begin in the west."""

    metadata = {**_METADATA, "name": "understudy_arena_v0", "is_parallelizable": True}  # noqa: RUF012

    def __init__(
        self,
        actions: ActionKind = "factored",
        timeout: Timeout = "draw",
        shaping: float = 0.0,
        render_mode: str | None = None,
    ) -> None:
        """See World for `timeout` and `shaping`."""
        self.possible_agents = ["player_0", "player_1"]
        self.agents: list[str] = []
        self.render_mode = render_mode
        self._kind: ActionKind = actions
        self._world = World(1, timeout=timeout, shaping=shaping)
        self._dice = np.random.default_rng()
        self.observation_spaces = {agent: observation_space() for agent in self.possible_agents}
        self.action_spaces = {agent: action_space(actions) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The same for both."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The same for both."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Array], dict[str, Any]]:
        """Begin a match; the same seed begins the same one."""
        if seed is not None:
            self._dice = np.random.default_rng(seed)
        self.agents = list(self.possible_agents)
        self._world.reset([int(self._dice.integers(2**62))])
        return self._observations(), self._infos()

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[
        dict[str, Array], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Any]
    ]:
        """A tenth of a second. An agent left out does nothing."""
        world = self._world
        floats = np.zeros((1, 2, len(r.ACTION)), np.float32)
        for place, agent in enumerate(self.possible_agents):
            if agent in actions:
                floats[0, place] = to_floats(actions[agent], self._kind)
        world.step(floats)
        status = int(world.status[0])
        agents = list(self.agents)
        rewards = {agent: float(world.reward[0, k]) for k, agent in enumerate(agents)}
        terminated = dict.fromkeys(agents, status == r.TERMINATED)
        truncated = dict.fromkeys(agents, status == r.TRUNCATED)
        answer = self._observations(), rewards, terminated, truncated, self._infos()
        if status != r.RUNNING:
            self.agents = []
        return answer

    def render(self) -> Array:
        """The floor from above, as an RGB picture."""
        return draw(self._world, 0)

    def close(self) -> None:
        """Nothing is held open."""

    def _observations(self) -> dict[str, Array]:
        seen = features.features(self._world.view[0])
        return {agent: seen[k] for k, agent in enumerate(self.agents)}

    def _infos(self) -> dict[str, Any]:
        masks = features.legal(self._world.view[0]).astype(np.int8)
        return {agent: {"action_mask": masks[k]} for k, agent in enumerate(self.agents)}


def register() -> None:
    """Make `gymnasium.make("understudy/Arena-v0")` work."""
    if ENV_ID not in gymnasium.registry:
        gymnasium.register(
            ENV_ID,
            entry_point="understudy.games.arena.env:ArenaEnv",
            vector_entry_point="understudy.games.arena.env:ArenaVectorEnv",
        )


register()
