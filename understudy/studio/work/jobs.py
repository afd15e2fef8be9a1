"""Jobs: commands that were asked for, each a small file, so that nothing is forgotten.

A job runs in a session of its own and outlives the studio; when the studio is back, it finds the
process again. How it ended is known to the studio that started it, and else by its log.
"""

import os
import re
import shlex
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

from understudy.data.integrity.json_files import read_json, write_json
from understudy.data.integrity.locks import is_alive
from understudy.errors import InputError

JobState = Literal["waiting", "running", "stopping", "done", "failed", "stopped", "ended"]
OVER: tuple[JobState, ...] = ("done", "failed", "stopped", "ended")
LONGEST_LOG = 48 << 10
"""Bytes of a log that are shown: its end."""
MOST_JOBS = 500
"""That are remembered; older ones are deleted once they are over."""
_STOPPED = (130, 143, -2, -15, -9)
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|[\x00-\x08\x0b-\x1f\x7f]")


class _Shape(TypedDict):
    number: int
    words: list[str]
    run: str
    cores: int
    asked: float
    state: str
    pid: NotRequired[int | None]
    begun: NotRequired[float | None]
    ended: NotRequired[float | None]
    code: NotRequired[int | None]


@dataclass(frozen=True)
class Job:
    """One command that was asked for."""

    number: int
    words: tuple[str, ...]
    """After `understudy`."""
    run: str
    """The folder of the run it works in."""
    cores: int
    asked: float
    state: JobState = "waiting"
    pid: int | None = None
    begun: float | None = None
    ended: float | None = None
    code: int | None = None

    @property
    def line(self) -> str:
        """As it is typed into a shell."""
        return shlex.join(["understudy", *self.words])

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.state in OVER

    @property
    def topic(self) -> str:
        """What those who look on listen to."""
        return f"job-{self.number}"

    def over(self, code: int | None) -> "Job":
        """The same once its process has ended."""
        state: JobState = "ended" if code is None else "done" if code == 0 else "failed"
        if code in _STOPPED or self.state == "stopping":
            state = "stopped"
        return replace(self, state=state, code=code, ended=time.time())


class Jobs:
    """All jobs of a studio, in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.known = dict[int, Job]()

    def load(self) -> None:
        """Those that an earlier studio left, each as it stands now."""
        for path in sorted(self._folder.glob("*.json")):
            try:
                found = read_json(path, _Shape, "Delete it")
                job = None if found is None else _job(found)
            except (InputError, OSError, ValueError, TypeError):
                continue  # not a job of ours, or damaged: it is not started again
            if job is not None and path == self._path(job.number):
                self.known[job.number] = job
        for job in list(self.known.values()):
            if job.state in ("running", "stopping") and not is_ours(job):
                self.keep(job.over(None))

    def add(self, words: Sequence[str], run: Path, cores: int) -> Job:
        """One more, which waits for its turn."""
        number = max(self.known, default=0) + 1
        job = Job(number, tuple(words), str(run), cores, time.time())
        self.keep(job)
        over = [one.number for one in self.known.values() if one.is_over]
        for old in over[: max(0, len(self.known) - MOST_JOBS)]:
            del self.known[old]
            self._path(old).unlink(missing_ok=True)
            self.log(old).unlink(missing_ok=True)
        return job

    def __getitem__(self, number: int) -> Job:
        if number not in self.known:
            raise InputError(f"there is no job {number}")
        return self.known[number]

    def keep(self, job: Job) -> None:
        """Write down how a job stands."""
        self.known[job.number] = job
        write_json(self._path(job.number), asdict(job))

    def waiting(self) -> list[Job]:
        """In the order they were asked for."""
        return [job for job in self.known.values() if job.state == "waiting"]

    def at_work(self) -> list[Job]:
        """Those that have a process."""
        return [job for job in self.known.values() if job.state in ("running", "stopping")]

    def of(self, run: Path) -> list[Job]:
        """Those of one run, the newest first."""
        found = [job for job in self.known.values() if job.run == str(run)]
        return sorted(found, key=lambda job: -job.number)

    def log(self, number: int) -> Path:
        """What a job says."""
        return self._folder / f"{number:06d}.log"

    def said(self, number: int) -> str:
        """The end of what a job has said, as plain text."""
        try:
            with self.log(number).open("rb") as file:
                size = file.seek(0, 2)
                file.seek(max(0, size - LONGEST_LOG))
                text = file.read().decode(errors="replace")
        except OSError:
            return ""
        return _ESCAPES.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:06d}.json"


def _job(found: Any) -> Job:
    return Job(**{**found, "words": tuple(found["words"])})


def is_ours(job: Job) -> bool:
    """Whether a job's process is still there, and is that job's and no other with its number."""
    if job.pid is None or not is_alive(job.pid):
        return False
    try:
        words = Path(f"/proc/{job.pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return os.name != "posix" or not Path("/proc").is_dir()
    return [os.fsencode(word) for word in job.words] == words[-len(job.words) - 1 : -1]
