"""The decorator of every compiled function of SCML."""

from pathlib import Path

from understudy.games.compiled import kernels_of

SOURCES = (
    "features.py packed.py observe.py turns.py history.py recalled.py engine/rules.py "
    "layers/l1_*.py layers/l4_*.py"
)
"""Where compiled functions are, and the constants they use. Compiling takes ten seconds, so that it
should not hang on every file of the game."""

kernel = kernels_of(Path(__file__).parent, SOURCES, inlined=False)
