"""Results that other processes leave in memory that both see."""

import os
from concurrent.futures import Future
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from understudy.workers import handover
from understudy.workers.handover import Arriving, Delivered, Landing, deliver
from understudy.workers.processes import Process


class Made(NamedTuple):
    name: str
    arrays: dict[str, np.ndarray]


def made(size: int) -> Made:
    return Made(
        "made",
        {
            "floats": np.arange(size, dtype=np.float32),
            "flags": np.arange(size) % 3 == 0,
            "none": np.empty((0, 4)),
            "table": np.arange(2 * size).reshape(size, 2),
        },
    )


def failing(size: int) -> Made:
    raise ValueError(f"no {size}")


def arriving(process: Process, function: Any, task: Any) -> Arriving:
    landing = Landing()
    return Arriving(process.submit(deliver, landing.address, function, task), landing)


def files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="Linux alone has files without a name")
def test_arrays_of_another_process_arrive_as_they_were_and_no_file_stays_open() -> None:
    process = Process()
    try:
        arriving(process, made, 3).result()
        before = files()
        for size in (0, 1, 1_000_003):
            found, wanted = arriving(process, made, size).result(), made(size)
            assert found.name == "made"
            for name, array in wanted.arrays.items():
                np.testing.assert_array_equal(found.arrays[name], array)
                assert found.arrays[name].dtype == array.dtype
            found.arrays["floats"] += 1  # torch wants arrays that can be written
        del found  # as long as its arrays live, their memory does
        assert files() == before
    finally:
        process.close()


def test_large_parts_are_not_in_what_goes_through_the_pipe() -> None:
    landing = Landing()
    delivered = deliver(landing.address, made, 100_000)
    if landing.address is not None:
        assert isinstance(delivered, Delivered)
        assert len(delivered.pickled) < 1_000
        assert sum(delivered.sizes) == 100_000 * (4 + 1 + 16)
    found = landing.take(delivered)
    landing.close()
    np.testing.assert_array_equal(found.arrays["table"], made(100_000).arrays["table"])


def test_where_there_is_no_such_memory_the_result_comes_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted = made(5)
    hidden = deliver("/proc/0/fd/0", made, 5)
    monkeypatch.delattr(handover.os, "memfd_create", raising=False)
    landing = Landing()
    assert landing.address is None
    for found in (landing.take(hidden), landing.take(deliver(None, made, 5))):
        np.testing.assert_array_equal(found.arrays["table"], wanted.arrays["table"])


def test_a_failure_is_told_and_closes_the_memory() -> None:
    landing, future = Landing(), Future[Any]()
    future.set_exception(ValueError("no 7"))
    with pytest.raises(ValueError, match="no 7"):
        Arriving(future, landing).result()
    with pytest.raises(ValueError, match="no 7"):
        deliver(landing.address, failing, 7)
    assert landing.address is None
