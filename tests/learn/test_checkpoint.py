"""Checkpoints hold whatever training hands over, and give it back."""

import numpy as np
import pytest
import torch

from tests.small_runs import a_disk_that_takes_files_up_to
from understudy.errors import InputError
from understudy.learn.checkpoint import as_arrays, as_tensors, reading_checkpoint, write_checkpoint


def test_an_empty_array_at_the_address_of_another_is_kept_as_well(tmp_path):
    shared = np.arange(6, dtype=np.int64)  # as arrays lie that came from another process
    state = {"history": shared.view(np.int16)[:0].reshape(3, 0), "seeds": shared}
    write_checkpoint(tmp_path / "checkpoint.pt", {"state": as_tensors(state)})
    with reading_checkpoint(tmp_path / "checkpoint.pt", torch.device("cpu"), "") as content:
        found = as_arrays(content["state"])
    assert found["history"].shape == (3, 0) and found["history"].dtype == np.int16
    assert np.array_equal(found["seeds"], shared)


def test_so_is_an_empty_tensor_of_a_replay(tmp_path):
    """Whoever made it: one way of making tensors had been forgotten."""
    shared = np.arange(6, dtype=np.int64)
    parts = [(torch.from_numpy(shared), torch.from_numpy(shared.view(np.float32)[:0]))]
    write_checkpoint(tmp_path / "checkpoint.pt", {"replay": {"parts": parts}})
    with reading_checkpoint(tmp_path / "checkpoint.pt", torch.device("cpu"), "") as content:
        ((seeds, extras),) = content["replay"]["parts"]
    assert torch.equal(seeds, torch.arange(6)) and extras.dtype == torch.float32


def test_a_full_disk_is_told_and_what_torch_refuses_is_not_called_one(tmp_path):
    with a_disk_that_takes_files_up_to(1000), pytest.raises(InputError, match="may be full"):
        write_checkpoint(tmp_path / "checkpoint.pt", {"a": torch.zeros(100_000)})
    shared = np.arange(6, dtype=np.int64)
    clash = {"a": torch.from_numpy(shared), "b": torch.from_numpy(shared.view(np.int32))}
    with pytest.raises(RuntimeError, match="as different types"):
        write_checkpoint(tmp_path / "checkpoint.pt", clash)
    assert list(tmp_path.iterdir()) == []
