"""One match of an OpenSpiel game; chance is drawn from the match's seed."""

import random
from collections.abc import Sequence
from typing import Any

from understudy.data.arrays import Array
from understudy.games.two_player.hosted import Picture


class SpielMatch:
    """A state of the game that players and chance move on from.

    A player sees the information state where anything is hidden, so that it knows all it has seen
    so far; where nothing is, the position.
    """

    def __init__(self, game: Any, shows_past: bool) -> None:
        self.game, self.shows_past = game, shows_past
        self.scale = game.max_utility() - game.min_utility()
        self.state: Any = None
        self.chance = random.Random(0)

    def reset(self, seed: int) -> None:
        """Begin a match."""
        self.state, self.chance = self.game.new_initial_state(), random.Random(seed)
        self._let_chance_move()

    def _let_chance_move(self) -> None:
        while self.state.is_chance_node():
            options, weights = zip(*self.state.chance_outcomes(), strict=True)
            self.state.apply_action(self.chance.choices(options, weights)[0])

    def turn(self) -> Sequence[int]:
        """Whoever moves; both where they move at once."""
        if self.state.is_terminal():
            return ()
        if self.state.is_simultaneous_node():
            return [slot for slot in (0, 1) if self.state.legal_actions(slot)]
        return (self.state.current_player(),)

    def see(self, slot: int, features: Array, legal: Array | None) -> None:
        """What a player knows; nothing once the match is over."""
        if self.state.is_terminal():
            features[:] = 0.0
            return
        features[:] = shown(self.state, slot, self.shows_past)
        if legal is not None:
            legal[self.state.legal_actions(slot)] = True

    def picture(self, slot: int) -> Picture:
        """The game's own words for what a player knows and for its options."""
        if self.state.is_terminal():
            return Picture(str(self.state))
        tells = self.state.information_state_string if self.shows_past else None
        text = (tells or self.state.observation_string)(slot)
        legal = set(self.state.legal_actions(slot))
        options = range(self.game.num_distinct_actions())
        words = [self.state.action_to_string(slot, k) if k in legal else "" for k in options]
        return Picture(text, options=words)

    def step(self, options: Array) -> tuple[float, float]:
        """Do what was chosen, then what chance wants."""
        before = self.state.returns()
        if self.state.is_simultaneous_node():
            able = [bool(self.state.legal_actions(slot)) for slot in (0, 1)]
            chosen = [int(options[slot, 0]) if able[slot] else 0 for slot in (0, 1)]
            self.state.apply_actions(chosen)
        else:
            self.state.apply_action(int(options[self.state.current_player(), 0]))
        self._let_chance_move()
        one, other = (now - then for now, then in zip(self.state.returns(), before, strict=True))
        return one, other

    def score(self) -> float:
        """Half the difference of what both have won, as a share of the most that can be won."""
        one, other = self.state.returns()
        return float((one - other) / self.scale)


def shown(state: Any, slot: int, shows_past: bool) -> list[float]:
    """The numbers that tell a player's knowledge."""
    tensor = state.information_state_tensor if shows_past else state.observation_tensor
    return list(tensor(slot))
