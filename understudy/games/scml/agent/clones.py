"""HRL-XF with other weights than HRL's: champions that it was cloned from, and variants of itself.

`python benchmarks/scml_clones.py` says how far a clone is from its original.
"""

from understudy.games.scml.agent.hrl import HRLAgent
from understudy.games.scml.agent.policy import CLONES, VARIANTS


class HRLGuided(HRLAgent):
    """HRL after it imitated HorizonAware's clone at the first level among champions."""

    checkpoint = VARIANTS["HRLGuided"]


class HorizonAwareClone(HRLAgent):
    """Cloned from HorizonAware (2026); what it promises is safe by L1, unlike its original's."""

    checkpoint = CLONES["HorizonAwareClone"]
