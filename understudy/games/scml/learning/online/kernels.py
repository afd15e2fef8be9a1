"""The decorator of the compiled functions of learning by play."""

from pathlib import Path

from understudy.games.scml.batch.kernels import once_for_all_numbers
from understudy.kernels.of_a_folder import kernels_of

SOURCES = "*.py ../../batch/*.py ../../domain.py ../../view/*.py"

_HERE = Path(__file__).parent

kernel = once_for_all_numbers(kernels_of(_HERE, SOURCES, inlined=False))
