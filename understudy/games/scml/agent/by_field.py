"""HRL-XF with two sets of weights, of which the buyers decide.

Among built-ins the weights that HRL plays with are the best that there are at the first level of a
chain; among champions, who buy little and in small orders, those of `HorizonAwareClone` are. Who is
around, nobody says: as TunedSteward does, it goes by the most that each buyer ever asked for.
"""

from collections.abc import Mapping
from typing import Any, Final

from negmas import SAOResponse

from understudy.games.scml.agent.hrl import HRLAgent
from understudy.games.scml.agent.policy import CLONES, policy_of
from understudy.games.scml.domain import Offer

LARGE: Final = 5
"""Units of an order that champions hardly ever ask for: TunedSteward's number, as the next is."""
EAGER_SHARE: Final = 0.34
"""Of the buyers that must have asked for a large order."""


class HRLByField(HRLAgent):
    """At the first level the clone's weights until a third of the buyers have asked for much."""

    def init(self) -> None:
        """The world is there."""
        super().init()
        self._own_policy = self._policy
        self._asked: dict[str, int] = {}
        """The most units that each buyer ever asked for."""

    def before_step(self) -> None:
        """A new day: whose weights are to be played with."""
        if self.awi.is_first_level:
            eager = sum(asked >= LARGE for asked in self._asked.values())
            thrifty = eager < EAGER_SHARE * len(self.awi.my_consumers)
            thrifty_policy = policy_of(CLONES["HorizonAwareClone"])
            self._policy = thrifty_policy if thrifty else self._own_policy
        super().before_step()

    def counter_all(
        self, offers: Mapping[str, Offer | None], states: Mapping[str, Any]
    ) -> dict[str, SAOResponse]:
        """Answers; and what buyers ask for is kept."""
        for partner, offer in offers.items():
            if offer is not None and partner in self.awi.my_consumers:
                self._asked[partner] = max(self._asked.get(partner, 0), int(offer[0]))
        return super().counter_all(offers, states)
