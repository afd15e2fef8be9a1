"""Tasks for the tests of the stages, with all that would take time done on import."""

import time

from understudy import games
from understudy.data.players import PlayerRef
from understudy.pipeline import record as record_stage
from understudy.pipeline.pairings import Fixture

HUNG = "00002"
play = record_stage._play_fixture

# A task's time limit counts from its call; compiling must not count.
for opponent in ("rusher", "kiter"):
    pair = (PlayerRef("expert"), PlayerRef(opponent))
    games.load("arena").play(Fixture(pair, (0,)))


def play_or_hang(task):
    if task.key == HUNG:
        time.sleep(600)
    play(task)
