"""HRL-XF with weights that were cloned from champions.

`python benchmarks/scml_clones.py` says how far a clone is from its original.
"""

from understudy.games.scml.agent.hrl import HRLAgent
from understudy.games.scml.agent.policy import CLONES


class HorizonAwareClone(HRLAgent):
    """Cloned from HorizonAware (2026); what it promises is safe by L1, unlike its original's."""

    checkpoint = CLONES["HorizonAwareClone"]
