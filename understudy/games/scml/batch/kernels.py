"""The decorator of the compiled world's functions. The same source runs as plain Python, too."""

from pathlib import Path

from understudy.kernels.of_a_folder import kernels_of

SOURCES = (
    "*.py players/*.py learnt/*.py ../domain.py ../view/*.py ../agent/l3_*.py ../agent/l4_*.py "
    "../agent/numpy_transformer.py"
)

kernel = kernels_of(Path(__file__).parent, SOURCES, inlined=False)

network_kernel = kernels_of(Path(__file__).parent, SOURCES, inlined=False, in_any_order=True)
"""Of learners' networks: sums are taken in any order, but the same for every row."""
