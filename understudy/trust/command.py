"""A command of ours in a forked process, and what became of it."""

import contextlib
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from understudy.workers.forking import fork
from understudy.workers.waiting import ended_within

Main = Callable[[], None]
"""The command line: reads `sys.argv`."""
Whom = Literal["first", "group", "worker"]
ORDERLY = {0, 1, 2, 128 + signal.SIGINT, 128 + signal.SIGTERM}
"""How a command of ours may end."""


class Done(NamedTuple):
    """How a command ended."""

    code: int
    """Below 0: by that signal."""
    out: str
    err: str
    hung: bool = False
    bereft: bool = False
    """Whether one of its workers was killed."""

    @property
    def traceback(self) -> bool:
        """Whether it ended otherwise than with one line."""
        return "Traceback (most recent call last)" in self.err + self.out or (
            self.code not in ORDERLY and not self.hung
        )


class Kill(NamedTuple):
    """A signal to send, and when."""

    signal: int
    after: float
    """Seconds."""
    whom: Whom
    """To its first process alone, to all of them, or to one of those that this one began."""


def run(
    main: Main,
    arguments: Sequence[str],
    *,
    seconds: float = 120.0,
    kill: Kill | None = None,
    prepare: Callable[[], None] = lambda: None,
    begun: Callable[[int], None] = lambda child: None,
) -> Done:
    """Run a command to its end, or until it is killed.

    `prepare` is called in its process first, `begun` here, with its number.
    """
    bereft = False
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = fork()
        if child == 0:
            _be_the_command(main, arguments, (out.fileno(), err.fileno()), prepare)
        begun(child)
        if kill is not None:
            ended_within(child, kill.after)
            bereft = _strike(child, kill)
        hung = not ended_within(child, seconds)
        if hung:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        with contextlib.suppress(OSError):
            os.killpg(child, signal.SIGKILL)
        out.seek(0)
        err.seek(0)
        told = out.read().decode(errors="replace"), err.read().decode(errors="replace")
    return Done(os.waitstatus_to_exitcode(status), *told, hung=hung, bereft=bereft)


def _strike(child: int, kill: Kill) -> bool:
    """Send the signal; whether it went to a worker."""
    with contextlib.suppress(OSError):  # ended meanwhile, or a machine without /proc
        if kill.whom == "worker":
            os.kill(_last_begun(child), kill.signal)
            return True
        (os.killpg if kill.whom == "group" else os.kill)(child, kill.signal)
    return False


def _last_begun(child: int) -> int:
    """The process that it began last: of a pool, a worker."""
    begun = Path(f"/proc/{child}/task/{child}/children").read_text().split()
    if not begun:
        raise ProcessLookupError(child)
    return int(begun[-1])


def _be_the_command(
    main: Main, arguments: Sequence[str], files: tuple[int, int], prepare: Callable[[], None]
) -> None:
    """Never returns."""
    code = 70
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # it may be ignored, in the background
        for number, file in enumerate((os.open(os.devnull, os.O_RDONLY), *files)):
            os.dup2(file, number)
        sys.stdout, sys.stderr = (os.fdopen(n, "w", closefd=False) for n in (1, 2))
        sys.argv = ["understudy", *arguments]
        prepare()
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def shown(arguments: Sequence[str], folder: Path) -> str:
    """The command as a person types it."""
    return " ".join(["understudy", *arguments]).replace(str(folder), "$CASE")
