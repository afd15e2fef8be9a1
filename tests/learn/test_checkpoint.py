"""Checkpoints hold whatever training hands over, and give it back."""

import numpy as np
import torch

from understudy.learn.checkpoint import as_arrays, as_tensors, reading_checkpoint, write_checkpoint


def test_an_empty_array_at_the_address_of_another_is_kept_as_well(tmp_path):
    shared = np.arange(6, dtype=np.int64)  # as arrays lie that came from another process
    state = {"history": shared.view(np.int16)[:0].reshape(3, 0), "seeds": shared}
    write_checkpoint(tmp_path / "checkpoint.pt", {"state": as_tensors(state)})
    with reading_checkpoint(tmp_path / "checkpoint.pt", torch.device("cpu"), "") as content:
        found = as_arrays(content["state"])
    assert found["history"].shape == (3, 0) and found["history"].dtype == np.int16
    assert np.array_equal(found["seeds"], shared)
