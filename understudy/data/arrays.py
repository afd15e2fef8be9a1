"""The kinds of arrays that are spoken of, for annotations."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
"""Of whatever numbers."""
Floats = np.ndarray[Any, np.dtype[np.float64]]
Float32s = np.ndarray[Any, np.dtype[np.float32]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
Int32s = np.ndarray[Any, np.dtype[np.int32]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]
