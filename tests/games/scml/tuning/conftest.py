"""The toy instead of worlds."""

import pytest

from tests.games.scml.tuning import toy
from understudy.games.scml.tuning import search as tuning


@pytest.fixture
def found(monkeypatch, tmp_path):
    """Searches in the toy, by the name of a folder and what is set otherwise."""
    monkeypatch.setattr(tuning, "scores", toy.scores)
    monkeypatch.setattr(tuning, "choices", lambda place: toy.CHOICES)
    return lambda name="a", **changed: toy.search(tmp_path / name, **changed)
