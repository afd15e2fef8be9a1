"""What ends a process of its own is told in words, and ends nothing else."""

import os
import signal

import pytest

from understudy.workers.alone import Limits, alone

LITTLE = Limits(seconds=20.0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_signal_that_a_call_sends_itself_is_its_death_whatever_the_command_does_of_it(number):
    def stop(*_):
        raise KeyboardInterrupt

    before = None if number == signal.SIGKILL else signal.signal(number, stop)
    try:
        ended = alone(lambda mark: os.kill(os.getpid(), number), LITTLE)
    finally:
        if before is not None:
            signal.signal(number, before)
    assert ended.death == f"killed its process ({number.name})"


def test_a_value_comes_back():
    assert alone(lambda mark: 7, LITTLE).value == 7
