"""What all tests share: programs that they start find `tests` and `understudy` as they do."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests.browser import chromium

ROOT = Path(__file__).parents[1]
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.getenv("PYTHONPATH")]))
os.environ.setdefault("OMP_NUM_THREADS", "1")  # as the program does: sums depend on the threads


@pytest.fixture(scope="module")
def browser():
    """Chromium, for tests of pages."""
    with chromium() as found:
        yield found


# The same examples in every run, and no deadline: a slow first import is no failure.
settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")
