"""The decorator of every compiled function of the arena."""

from pathlib import Path

from understudy.kernels.of_a_folder import kernels_of

kernel = kernels_of(Path(__file__).parent, "sim/*.py codec/*.py play/*.py")
