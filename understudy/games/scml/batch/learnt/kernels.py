"""The decorators of learners' compiled functions: to change one leaves the world compiled."""

from pathlib import Path

from understudy.games.scml.batch.kernels import once_for_all_numbers
from understudy.kernels.of_a_folder import kernels_of

SOURCES = "*.py ../*.py ../../domain.py ../../view/*.py ../../agent/l3_*.py ../../agent/numpy_*.py"
_FOLDER = Path(__file__).parent

kernel = once_for_all_numbers(kernels_of(_FOLDER, SOURCES, inlined=False))
network_kernel = kernels_of(_FOLDER, SOURCES, inlined=False, in_any_order=True)
"""Of networks: sums are taken in any order, but the same for every row."""
