"""Where rollouts are played: in this process or its threads, in others, or on a Dask cluster.

A rollout is a pure function of its job, so it does not matter who plays it, and one that was lost
with its process is simply played again.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from understudy import workers
from understudy.errors import InputError
from understudy.learn.rl.acting.rollout import collect
from understudy.workers.handover import Arriving, Landing, deliver
from understudy.workers.processes import Process

if TYPE_CHECKING:  # distributed takes a second to import, and few runs need it
    from distributed import Client


class Actors:
    """Plays jobs while the caller goes on with something else."""

    def __init__(
        self,
        where: str | int | None = 0,
        *,
        threads: int = 0,
        play: Callable[[Any], Any] = collect,
    ) -> None:
        """`where` is as everywhere: 0 for this process, a number of others, or an address.

        `threads` of this process serve where policies think on a card that they share. `play` is
        how a job becomes a rollout, a function that other processes can import.
        """
        self._play = play
        self._where = workers.parse(where)
        self._threads = ThreadPoolExecutor(threads) if threads else None
        self._jobs: list[Any] = []
        self._futures: list[Any] = []  # Dask's are of a class of their own
        self._processes: list[Process] = []
        self._client: Client | None = None

    @property
    def share_a_card(self) -> bool:
        """Whether they are threads of the learner's process."""
        return self._threads is not None

    def __enter__(self) -> "Actors":
        return self

    def __exit__(self, *failure: object) -> None:
        if self._threads is not None:
            self._threads.shutdown()
        for process in self._processes:
            process.close()
        if self._client is not None:
            self._client.close()

    def start(self, jobs: Sequence[Any]) -> None:
        """Begin to play these; in this process they wait until they are asked for."""
        self._jobs = list(jobs)
        if self._threads is not None:
            self._futures = [self._threads.submit(self._play, job) for job in jobs]
        elif self._where != 0:
            self._futures = [self._submit(number) for number in range(len(jobs))]

    def finish(self) -> list[Any]:
        """What came of the jobs, in their order."""
        if self._threads is not None:
            return [future.result() for future in self._futures]
        if self._where == 0:
            return [self._play(job) for job in self._jobs]
        return [self._result(number) for number in range(len(self._jobs))]

    def _submit(self, number: int) -> Any:
        """A future of one rollout."""
        if isinstance(self._where, str):
            return self._dask().submit(self._play, self._jobs[number], pure=False)
        while len(self._processes) < min(self._where, number + 1):
            self._processes.append(Process())
        process, landing = self._processes[number % self._where], Landing()
        call = deliver, landing.address, self._play, self._jobs[number]
        return Arriving(process.submit(*call), landing)

    def _dask(self) -> "Client":
        from understudy.workers.cluster import connect

        if self._client is None:
            self._client = connect(str(self._where))
        return self._client

    def _result(self, number: int) -> Any:
        """One rollout; played once more if its process died."""
        try:
            return self._futures[number].result()
        except (InputError, ValueError):
            raise
        except Exception:
            try:
                return self._submit(number).result()
            except Exception as failure:
                raise InputError(
                    f"a rollout failed twice ({type(failure).__name__}: {failure}); its process "
                    "may be out of memory. Run the same command again with fewer --workers, or 0"
                ) from failure
