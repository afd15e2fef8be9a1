"""The agent plays, an expert looks over its shoulder: what would it have done? (DAgger)

Ross et al. 2011, arXiv:1011.0686. The expert is the hosted agent itself, in the same factory: it
sees all that the player sees, is asked before every decision, and never gets its way.
"""

from collections.abc import Mapping
from typing import Any

from negmas import SAOResponse
from scml.oneshot.agent import OneShotAgent

from understudy.errors import InputError
from understudy.games.scml.agent.hrl import HRLAgent
from understudy.games.scml.domain import Offer
from understudy.games.scml.engine.hosting.negotiators import decides_jointly


class DaggerLabeller(HRLAgent):
    """To be mixed with an expert: see `labelled_by`."""

    advice: Mapping[str, Any] | None = None
    """The expert's answer to the latest question, by partner; the recorder keeps it."""

    def first_proposals(self) -> dict[str, Offer | None]:
        """The player's; the expert's are advice."""
        self.advice = super(HRLAgent, self).first_proposals() or {}
        return super().first_proposals()

    def counter_all(
        self, offers: Mapping[str, Offer | None], states: Mapping[str, Any]
    ) -> dict[str, SAOResponse]:
        """The player's; the expert's are advice."""
        self.advice = super(HRLAgent, self).counter_all(dict(offers), states) or {}
        return super().counter_all(offers, states)


def labelled_by(expert: type[OneShotAgent]) -> type[HRLAgent]:
    """HRL-XF with this expert looking on."""
    if not decides_jointly(expert):
        raise InputError(
            f"{expert.__name__} decides one negotiation at a time and cannot look on; "
            "choose one that decides about all negotiations at once, such as Steward or Penguin"
        )
    return type(f"LabelledBy{expert.__name__}", (DaggerLabeller, expert), {})
