import pytest
import torch

from tests.learn.rl.toy_play import toy_play
from understudy.learn.rl.replay_buffer import Replay
from understudy.learn.rl.trajectories import joined


def part(version, size=4):
    """Trajectories that can be told apart by their rewards."""
    play = toy_play(version).take(torch.arange(size))
    return play._replace(version=torch.full((size,), version))


def draw(replay, count, seed):
    return next(replay.deal([count], (seed,)))


def who(play):
    return sorted(play.reward.sum(0).tolist())


def test_every_sequence_is_used_before_any_is_used_again():
    replay = Replay(8, 99)
    replay.add(part(0))
    replay.add(part(1))
    everything = who(joined([part(0), part(1)]))
    for turn in range(3):
        drawn = list(replay.deal([2] * 4, (5, turn)))
        assert [part.size for part in drawn] == [2] * 4
        assert who(joined(drawn)) == everything
    twice = list(replay.deal([4] * 4, (6,)))
    assert who(joined(twice[:2])) == who(joined(twice[2:])) == everything


def test_leftovers_come_before_what_was_used():
    replay = Replay(4, 99)
    replay.add(part(0))
    first = draw(replay, 3, 0)
    rest = draw(replay, 1, 1)
    assert who(joined([first, rest])) == who(part(0))


def test_newcomers_go_first():
    replay = Replay(8, 99)
    replay.add(part(0))
    replay.deal([4], (0,))
    replay.add(part(1))
    assert who(draw(replay, 4, 1)) == who(part(1))


def test_the_draw_hangs_on_its_seed():
    def drawn(seed):
        replay = Replay(8, 99)
        replay.add(part(0))
        return who(next(replay.deal([2], seed)))

    assert drawn((1,)) == drawn((1,))
    assert len({tuple(drawn((seed,))) for seed in range(9)}) > 1


def test_a_full_replay_forgets_the_oldest_but_never_the_newest():
    replay = Replay(8, 99)
    for version in range(4):
        replay.add(part(version))
    assert replay.size == 8
    assert {int(one.version[0]) for one in replay.parts} == {2, 3}
    small = Replay(1, 99)
    small.add(part(0))
    assert small.size == 4


def test_what_is_too_stale_is_dropped():
    replay = Replay(99, staleness_max=3)
    replay.add(part(0))
    replay.add(part(2))
    assert replay.forget(3) == 0
    assert replay.forget(4) == 4
    assert replay.size == 4
    assert draw(replay, 4, 0).version.tolist() == [2, 2, 2, 2]


def test_one_cannot_draw_more_than_there_is():
    replay = Replay(9, 9)
    replay.add(part(0))
    with pytest.raises(ValueError, match="cannot draw 5 of 4 sequences"):
        draw(replay, 5, 0)


def test_a_replay_taken_up_again_is_the_same():
    first, second = Replay(8, 9), Replay(8, 9)
    first.add(part(0))
    draw(first, 3, 0)
    second.restore(first.state())
    first.add(part(1))
    second.add(part(1))
    assert who(draw(first, 3, 1)) == who(draw(second, 3, 1))


@pytest.mark.parametrize("wrong", [(0, 1), (1, -1)])
def test_a_senseless_replay_is_refused(wrong):
    with pytest.raises(ValueError, match="no replay of"):
        Replay(*wrong)
