"""The queue: jobs begin in order, as many at once as there are cores for."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from understudy.errors import InputError
from understudy.studio.access import TOKEN_VARIABLE
from understudy.studio.live.watch import Watch
from understudy.studio.work.commands import cores_of
from understudy.studio.work.jobs import Job, Jobs, is_ours

LOOK_EVERY = 1.0
"""Seconds between looks at what is at work."""
JOBS = "jobs"
"""What those listen to who look at all jobs."""


class Queue:
    """Starts, stops and follows jobs."""

    program: Sequence[str] = (sys.executable, "-m", "understudy")

    def __init__(self, jobs: Jobs, watch: Watch, cores: int) -> None:
        self.jobs, self.cores = jobs, cores
        self._watch = watch
        self._processes = dict[int, subprocess.Popen[bytes]]()
        self._sizes = dict[int, int]()

    def ask(self, words: Sequence[str], run: Path) -> Job:
        """One more job; it begins when there are cores for it."""
        for job in self.jobs.known.values():
            if not job.is_over and job.words == tuple(words):
                raise InputError(f"job {job.number} does the same already: {job.line}")
        job = self.jobs.add(words, run, cores_of(words, self.cores))
        self._begin_what_fits()
        self._tell(job)
        return self.jobs[job.number]

    def stop(self, number: int) -> Job:
        """Ask a job to stop, as Ctrl-C does; asked twice, it is killed. What it did is kept."""
        job = self.jobs[number]
        if job.state == "waiting":
            self.jobs.keep(replace(job, state="stopped", ended=time.time()))
        elif not job.is_over and job.pid is not None and is_ours(job):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if job.state == "stopping":
                    os.killpg(job.pid, signal.SIGKILL)
                else:
                    os.kill(job.pid, signal.SIGTERM)
            self.jobs.keep(replace(job, state="stopping"))
        self._tell(job)
        return self.jobs[number]

    async def run(self) -> None:
        """Follow the jobs for as long as the studio lives."""
        self._begin_what_fits()
        while True:
            await asyncio.sleep(LOOK_EVERY)
            for job in self.jobs.at_work():
                self._follow(job)
            self._begin_what_fits()

    def _follow(self, job: Job) -> None:
        process = self._processes.get(job.number)
        code = None if process is None else process.poll()
        gone = code is not None if process is not None else not is_ours(job)
        with contextlib.suppress(OSError):
            size = self.jobs.log(job.number).stat().st_size
            if size != self._sizes.get(job.number):
                self._sizes[job.number] = size
                self._watch.tell(job.topic, "log")
        if gone:
            self._processes.pop(job.number, None)
            self.jobs.keep(job.over(code))
            self._tell(job)

    def _begin_what_fits(self) -> None:
        """In order: a large job is not overtaken for ever by small ones."""
        for job in self.jobs.waiting():
            taken = sum(one.cores for one in self.jobs.at_work())
            if taken and taken + job.cores > self.cores:
                return
            self._begin(job)

    def _begin(self, job: Job) -> None:
        environment = {name: told for name, told in os.environ.items() if name != TOKEN_VARIABLE}
        log = self.jobs.log(job.number)
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as file:
            process = subprocess.Popen(
                [*self.program, *job.words],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that it outlives this studio
                env={**environment, "COLUMNS": "100", "PYTHONHASHSEED": "0"},
            )
        self._processes[job.number] = process
        self.jobs.keep(replace(job, state="running", pid=process.pid, begun=time.time()))
        self._tell(job)

    def _tell(self, job: Job) -> None:
        self._watch.tell(job.topic, "job")
        self._watch.tell(JOBS, JOBS)
