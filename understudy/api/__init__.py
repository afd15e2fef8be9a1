"""The pipeline from Python: each command as a function, and what came of it as an object.

stages     record, encode, train, compete, league: what the commands call
results    what they return: tables, frames, pages, as a notebook shows them
policies   trained policies that act, without torch
pages      recorded matches as pages
"""

from understudy.api.pages import Page, replay
from understudy.api.policies import Policy, load_policy
from understudy.api.results import Competition, Figures
from understudy.api.stages import compete, encode, league, record, train

__all__ = [
    "Competition",
    "Figures",
    "Page",
    "Policy",
    "compete",
    "encode",
    "league",
    "load_policy",
    "record",
    "replay",
    "train",
]
