"""Runs that have been through some stages."""

import shutil

import pytest

from tests.small_runs import (
    finished_run,
)
from understudy import games


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return finished_run(tmp_path_factory)


@pytest.fixture(scope="module")
def recorded(finished, tmp_path_factory):
    """A run that has been recorded and encoded; not to be changed."""
    folder = tmp_path_factory.mktemp("recorded")
    for name in ("recordings", "samples"):
        shutil.copytree(finished / name, folder / name)
    return folder


@pytest.fixture
def run(recorded, tmp_path):
    """A copy to work on."""
    shutil.copytree(recorded, tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """The folder of a model that has learnt nothing; it is named like the recipe."""
    from understudy.learn.policy import FactoredPolicy, save_policy

    folder = tmp_path_factory.mktemp("models") / "imitate-quick"
    folder.mkdir()
    save_policy(folder, FactoredPolicy(games.load("arena").recipe("imitate-quick").shape, seed=1))
    return folder
