"""The decorator of every compiled function of SCML."""

from pathlib import Path

from understudy.kernels.of_a_folder import kernels_of

SOURCES = "domain.py view/*.py agent/numpy_transformer.py agent/l4_*.py recording/safety_audit.py"
"""Where compiled functions are, and the constants they use. Compiling takes ten seconds, so that it
should not depend on every file of the game."""

kernel = kernels_of(Path(__file__).parent, SOURCES, inlined=False)
