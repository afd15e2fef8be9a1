"""The decorator of the compiled world's functions. The same source runs as plain Python, too."""

from pathlib import Path

from understudy.kernels.of_a_folder import kernels_of

kernel = kernels_of(
    Path(__file__).parent, "*.py players/*.py learnt/*.py ../domain.py ../view/*.py", inlined=False
)
