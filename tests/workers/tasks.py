"""Tasks for the tests of `understudy.workers`. Apart from them: a worker imports this quickly."""

import ctypes
import json
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

from understudy.workers import task_seed
from understudy.workers.processes import THREAD_SETTINGS


def draw(index):
    time.sleep(0.02 * (5 - index % 6))  # so that tasks end in another order than they begin
    return random.Random(task_seed(7, index)).random() / (index != 4)


def fail(index):
    return 1 / index


def fail_inside_a_library(_):
    return json.loads("{")


def note_and_act(argument):
    """Leave a trace of having run, then do what the argument says."""
    folder, name, action = argument
    with (Path(folder) / name).open("a") as file:
        file.write("ran\n")
    times = len((Path(folder) / name).read_text().split())
    if action == "hang":
        while True:
            pass
    elif action == "hang in C":
        ctypes.PyDLL(None).sleep(60)  # PyDLL keeps the GIL meanwhile
    elif action == "die" or (action == "die once" and times == 1):
        os.kill(os.getpid(), signal.SIGKILL)  # what the kernel does when memory runs out
    elif action == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif action == "be deaf":
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        time.sleep(60)
    elif action == "exit":
        sys.exit("enough")
    time.sleep(0.1)
    return name


def hears_ctrl_c(_):
    return signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def snooze(seconds):
    time.sleep(seconds)
    return seconds


def lock(_):
    return threading.Lock()


def thread_settings(_):
    import torch

    return torch.get_num_threads(), [os.environ.get(name) for name in THREAD_SETTINGS]


def order_of_words(_):
    return os.getpid(), list({"delivery", "offer", "price", "quantity", "round", "talk"})
