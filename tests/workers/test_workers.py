"""Many tasks: the same outcomes wherever they run, and no task can spoil another."""

import io
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import types

import psutil
import pytest
from rich.console import Console

from tests.workers.tasks import (
    draw,
    fail,
    fail_inside_a_library,
    hears_ctrl_c,
    lock,
    note_and_act,
    order_of_words,
    snooze,
    thread_settings,
)
from understudy import workers
from understudy.errors import InputError
from understudy.workers import processes

LIMIT = 1.0  # seconds a task may take in the tests of the time limit
SLACK = 8.0  # seconds for starting processes on a busy machine


# --- Helpers ---


def run(function, arguments, places=2, **options):
    tasks = {f"task-{i}": argument for i, argument in enumerate(arguments)}
    return workers.run(function, tasks, workers=places, title="testing", quiet=True, **options)


def our_processes():
    """Processes of ours that run tasks, here or beside a Dask worker."""
    children = psutil.Process().children(recursive=True)
    return [child for child in children if "popen_loky" in " ".join(child.cmdline())]


@pytest.fixture(autouse=True)
def _no_process_is_left():
    yield
    assert not our_processes()


@pytest.fixture(scope="module")
def cluster():
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=":0") as cluster:
        yield cluster.scheduler_address


@pytest.fixture(params=["local", "dask"])
def places(request):
    """Two workers, of either kind that can be killed."""
    return 2 if request.param == "local" else request.getfixturevalue("cluster")


# --- The same wherever it runs ---


def test_outcomes_are_the_same_and_in_order_wherever_tasks_run(cluster):
    here = run(draw, range(12), 0)
    assert [outcome.key for outcome in here] == [f"task-{i}" for i in range(12)]
    assert len({outcome.value for outcome in here}) == 12
    assert [outcome.key for outcome in here if outcome.error] == ["task-4"]
    assert run(draw, range(12), 3) == here
    assert run(draw, range(12), cluster) == here


def test_a_failing_task_is_told_with_its_line_and_the_rest_runs():
    line = fail.__code__.co_firstlineno + 1
    good, bad, after = run(fail, [1, 0, 4], 0)
    assert (good.value, after.value) == (1, 0.25)
    assert bad.value is None
    assert bad.error == f"ZeroDivisionError: division by zero (tasks.py:{line})"


def test_an_error_inside_a_library_is_told_with_our_line():
    line = fail_inside_a_library.__code__.co_firstlineno + 1
    (outcome,) = run(fail_inside_a_library, [None], 0)
    assert outcome.error.startswith("JSONDecodeError: Expecting property name")
    assert outcome.error.endswith(f"(tasks.py:{line})")


def test_a_value_that_cannot_travel_is_an_error_of_its_task():
    for outcome in run(lock, [0, 1], 1):
        assert "pickle" in outcome.error
        assert "\n" not in outcome.error


# --- Tasks that hang or crash ---


def test_a_hung_task_is_killed_and_no_other_is_hurt(places, tmp_path):
    actions = ["fine", "hang", "fine", "fine", "hang in C", "fine", "fine", "fine"]
    arguments = [(str(tmp_path), f"t{i}", action) for i, action in enumerate(actions)]
    started = time.monotonic()
    outcomes = run(note_and_act, arguments, places, seconds_per_task=LIMIT)
    assert time.monotonic() - started < 2 * LIMIT + SLACK
    for (_, name, action), outcome in zip(arguments, outcomes, strict=True):
        hung = action != "fine"
        assert outcome.error == (f"no answer within {LIMIT:g} s, killed" if hung else None)
        assert outcome.value == (None if hung else name)
        assert (tmp_path / name).read_text() == "ran\n"  # once: nobody's work was lost


def test_ctrl_c_is_for_the_process_that_leads():
    """A terminal tells all of them; those that are just starting would end with a traceback."""
    assert [one.value for one in run(hears_ctrl_c, [0], 1)] == [False]
    assert hears_ctrl_c(0)


FORKED = """
import os, signal
from understudy.workers.forking import fork

signal.signal(signal.SIGTERM, signal.default_int_handler)
os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), signal.SIGTERM))
child = fork()
if child == 0:
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_signal_at_the_moment_of_a_fork_ends_the_child():
    """A handler that raises there is ignored with a traceback, and the signal with it."""
    command = [sys.executable, "-c", FORKED]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (int(done.stdout), done.stderr) == (-signal.SIGTERM, "")


@pytest.mark.parametrize("action", ["stop", "be deaf"])
def test_a_task_that_the_kernel_cannot_end_is_ended_from_here(action, tmp_path, monkeypatch):
    """A stopped process gets no alarm; one that ignores the alarm goes on."""
    monkeypatch.setattr(processes, "GRACE", 2.0)
    monkeypatch.setattr(processes, "_LOOK", 0.2)
    arguments = [(str(tmp_path), f"t{i}", what) for i, what in enumerate(["fine", action, "fine"])]
    started = time.monotonic()
    outcomes = run(note_and_act, arguments, 1, seconds_per_task=LIMIT)
    assert time.monotonic() - started < LIMIT + 2.0 + SLACK
    assert [one.error for one in outcomes] == [None, f"no answer within {LIMIT:g} s, killed", None]
    assert (tmp_path / "t1").read_text() == "ran\n"


def test_a_crash_is_tried_twice_and_no_other_task_is_hurt(places, tmp_path):
    actions = ["fine", "die", "fine", "die once", "exit", "fine"]
    arguments = [(str(tmp_path), f"t{i}", action) for i, action in enumerate(actions)]
    outcomes = run(note_and_act, arguments, places)
    runs = [len((tmp_path / name).read_text().split()) for _, name, _ in arguments]
    assert runs == [1, 2, 1, 2, 1, 1]
    assert [outcome.value for outcome in outcomes] == ["t0", None, "t2", "t3", None, "t5"]
    assert outcomes[1].error == "its process died (out of memory or a crash: SIGKILL(-9))"
    assert outcomes[3].error is None
    assert outcomes[4].error.startswith("SystemExit: enough")


def test_the_limit_is_per_task_not_per_process():
    assert all(outcome.error is None for outcome in run(snooze, [0.3] * 4, 1, seconds_per_task=1.0))


@pytest.fixture
def alarms():
    """When SIGALRM rang in this process, from a clean start; the test's own limit waits."""
    rang = []
    handler = signal.signal(signal.SIGALRM, lambda *_: rang.append(time.monotonic()))
    left, interval = signal.setitimer(signal.ITIMER_REAL, 0)
    yield rang
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, left, interval)


def test_the_limit_in_this_process_is_an_exception_in_the_task(alarms):
    hung, fine = run(snooze, [5, 0.01], 0, seconds_per_task=0.3)
    assert hung.error.startswith("OverLimit: over its time limit (tasks.py:")
    assert fine.value == 0.01
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert not alarms


def test_the_limit_in_this_process_leaves_an_earlier_alarm_in_place(alarms):
    started = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, 0.6)
    run(snooze, [0.4], 0, seconds_per_task=5.0)
    time.sleep(0.7)
    assert len(alarms) == 1
    assert 0.5 < alarms[0] - started < 0.9


def test_leaving_python_ends_only_the_task(tmp_path):
    (outcome,) = run(note_and_act, [(str(tmp_path), "t", "exit")], 0)
    assert outcome.error.startswith("SystemExit: enough")


# --- Resuming, settings, seeds ---


def test_tasks_already_done_are_not_run_again(tmp_path):
    tasks = {name: (str(tmp_path), name, "fine") for name in "abcd"}
    shown = io.StringIO()
    outcomes = workers.run(
        note_and_act,
        tasks,
        workers=2,
        title="resuming",
        is_done=lambda key: key in "ac",
        console=Console(file=shown),
    )
    assert [outcome.key for outcome in outcomes] == ["b", "d"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "d"]
    assert shown.getvalue().startswith("resuming: 4/4, ")


def test_nothing_to_do_starts_nothing():
    assert run(snooze, [], "tcp://127.0.0.1:1") == []
    assert run(snooze, [1, 2], 2, is_done=lambda _: True) == []


def test_workers_compute_on_one_thread():
    (outcome,) = run(thread_settings, [None], 1)
    assert outcome.value == (1, ["1", "1", "1", "1"])


def test_sets_of_words_have_the_same_order_in_every_worker():
    outcomes = [run(order_of_words, [None], 1)[0].value for _ in range(2)]
    assert len({pid for pid, _ in outcomes}) == 2
    assert outcomes[0][1] == outcomes[1][1]


def test_this_process_computes_on_one_thread_meanwhile(monkeypatch):
    torch = ThreadCount(8)
    monkeypatch.setitem(sys.modules, "torch", torch)
    (outcome,) = run(thread_settings, [None], 0)
    assert outcome.value[0] == 1
    assert torch.threads == 8


class ThreadCount(types.ModuleType):
    """As much of torch as it takes; the whole takes seconds to import."""

    def __init__(self, threads):
        super().__init__("torch")
        self.threads = threads

    def get_num_threads(self):
        return self.threads

    def set_num_threads(self, threads):
        self.threads = threads


def test_seeds_are_stable_and_distinct():
    assert workers.task_seed(0) == 4_761_921_975_702_974_394
    assert workers.task_seed(3, 1, 4) == 9_049_538_323_503_625_462
    seeds = {workers.task_seed(*path) for path in [(1, 23), (12, 3), (1, 2, 3), (123,), (-1, 23)]}
    assert len(seeds) == 5
    many = [workers.task_seed(0, i) for i in range(1000)]
    assert all(0 <= seed < 2**63 for seed in many)
    assert max(many) >= 2**62  # the top bit is used


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("0", 0),
        (0, 0),
        (" 3 ", 3),
        (16, 16),
        ("tcp://host:8786", "tcp://host:8786"),
        ("tls://10.0.0.1:8786", "tls://10.0.0.1:8786"),
        ("ucx://[::1]:8786", "ucx://[::1]:8786"),
    ],
)
def test_workers_are_a_number_or_an_address(given, meant):
    assert workers.parse(given) == meant


def test_by_default_all_usable_cores_work():
    assert 1 <= workers.parse(None) <= (os.cpu_count() or 1)


@pytest.mark.parametrize(
    "given", ["-1", -2, "two", "", "2.5", "host:8786", "tcp://host", "http://host:8787", True]
)
def test_other_workers_are_refused_in_one_line(given):
    with pytest.raises(InputError, match=r"a number of local processes .* tcp://host:8786") as told:
        workers.parse(given)
    assert "\n" not in str(told.value)


def test_a_limit_must_leave_some_time():
    with pytest.raises(ValueError, match="above 0"):
        run(snooze, [0], 0, seconds_per_task=0.0)


# --- Interrupted ---

PROGRAM = """
from tests.workers.tasks import note_and_act
from understudy import workers
tasks = {name: (FOLDER, name, "hang") for name in "ab"}
workers.run(note_and_act, tasks, workers=2, title="interrupted", quiet=True)
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_processes_end_with_the_program(how, tmp_path):
    """By Ctrl-C, which reaches the whole process group, and even where it has no say itself."""
    program = subprocess.Popen(
        [sys.executable, "-c", f"FOLDER = {str(tmp_path)!r}\n{PROGRAM}"],
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
    )
    with program:
        wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
        os.killpg(program.pid, how) if how == signal.SIGINT else program.kill()
        try:
            wait_until(lambda: not group_of(program.pid))
        finally:
            for survivor in group_of(program.pid):
                survivor.kill()
        told = program.stderr.read()
    assert told.count("Traceback") == (how == signal.SIGINT)
    if how == signal.SIGINT:
        assert told.splitlines()[-1] == "KeyboardInterrupt"


def group_of(leader):
    """Running processes of that group; the leader itself may still wait to be reaped."""
    return [
        process
        for process in psutil.process_iter(["status"])
        if process.info["status"] != psutil.STATUS_ZOMBIE and is_in_group(process.pid, leader)
    ]


def is_in_group(pid, leader):
    try:
        return os.getpgid(pid) == leader
    except ProcessLookupError:
        return False


def wait_until(condition, seconds=15.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)


def test_ctrl_c_also_ends_tasks_on_a_cluster(cluster, tmp_path):
    arguments = [(str(tmp_path), f"t{i}", "hang") for i in range(6)]
    threading.Thread(target=interrupt_when_two_run, args=(tmp_path,)).start()
    with pytest.raises(KeyboardInterrupt):
        run(note_and_act, arguments, cluster)
    wait_until(lambda: not our_processes(), 5)
    assert len(list(tmp_path.iterdir())) == 2
    assert run(snooze, [0], cluster)[0].error is None  # the cluster itself is well


def interrupt_when_two_run(folder):
    wait_until(lambda: len(list(folder.iterdir())) == 2, 60)  # a worker may start slowly
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


# --- Dask clusters that fail ---


@pytest.mark.parametrize("protocol", ["tcp", "tls"])
def test_whatever_is_no_scheduler_is_told_in_one_line(protocol, monkeypatch):
    """The server here takes calls and says nothing, like one of another kind."""
    monkeypatch.setattr(workers.cluster, "DASK_CONNECT", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"{protocol}://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(InputError, match=f"no Dask scheduler answers at {address}") as told:
            run(snooze, [0], address)
    assert "\n" not in str(told.value)
    assert ("TLS" in str(told.value)) == (protocol == "tls")  # certificates are not set up here


def test_a_cluster_without_workers_or_lost_is_told_in_one_line(monkeypatch):
    from distributed import LocalCluster

    with LocalCluster(n_workers=0, dashboard_address=":0") as cluster:
        monkeypatch.setattr(workers.cluster, "DASK_PATIENCE", 0.3)
        with pytest.raises(InputError, match="has no workers"):
            run(snooze, [0, 0], cluster.scheduler_address)
        monkeypatch.setattr(workers.cluster, "DASK_PATIENCE", 30)
        closing = threading.Timer(0.5, cluster.close)
        closing.start()
        with pytest.raises(InputError, match="was lost or restarted"):
            run(snooze, [0, 0], cluster.scheduler_address)
        closing.join()


# --- Progress ---


def show(console, **options):
    workers.run(
        fail, dict(zip("abc", (1, 0, 2), strict=True)), workers=0, title="a [b]", console=console,
        **options,
    )  # fmt: skip
    return console.file.getvalue()


def test_progress_without_a_terminal_is_one_line_at_the_end():
    shown = show(Console(file=io.StringIO()))
    assert shown.count("\n") == 1
    assert shown.startswith("a [b]: 3/3, 0:00:00 elapsed, ")
    assert shown.endswith(" tasks/s, 0:00:00 left, 1 failed\n")


def test_progress_lines_come_now_and_then(monkeypatch):
    monkeypatch.setattr(workers.progress, "LINE_EVERY", 0.0)
    lines = show(Console(file=io.StringIO())).splitlines()
    assert [line.split(",")[0] for line in lines] == [
        "a [b]: 1/3", "a [b]: 2/3", "a [b]: 3/3", "a [b]: 3/3",
    ]  # fmt: skip


def test_progress_on_a_terminal_is_a_bar():
    shown = show(Console(file=io.StringIO(), force_terminal=True, width=120, color_system=None))
    assert "\u2501" in shown
    last = shown[shown.rindex("a [b]") :]
    for part in ("a [b]", "3/3", "0:00:00", "tasks/s", "left", "1 failed"):
        assert part in last


def test_quiet_progress_says_nothing(capfd):
    assert show(Console(file=io.StringIO()), quiet=True) == ""
    assert show(Console(file=io.StringIO(), force_terminal=True), quiet=True) == ""
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("ran", "elapsed", "told"), [(4, 2, "2.0 tasks/s"), (2, 9, "4.5 s/task")])
def test_slow_tasks_are_told_by_seconds_each(ran, elapsed, told, monkeypatch):
    tally = workers.progress.Tally("slow", 20, 10, Console(file=io.StringIO()), quiet=True)
    monkeypatch.setattr(tally, "_started", 0.0)
    monkeypatch.setattr(tally, "_ran", ran)
    monkeypatch.setattr(workers.progress.time, "monotonic", lambda: float(elapsed))
    left = {4: "0:00:03", 2: "0:00:36"}[ran]  # 6 tasks at 0.5 s, 8 at 4.5 s; 10 were done before
    assert tally._pace() == f"{told}, {left} left"
