"""Arrays that are used again and again: fresh memory costs more than the sums done in it."""

import math

import numpy as np

from understudy.data.arrays import Float32s


class Room:
    """Space by name, which grows when more is asked for. What was in it is gone."""

    def __init__(self) -> None:
        self._space: dict[str, Float32s] = {}

    def __call__(self, name: str, *shape: int) -> Float32s:
        """An array of this shape, the same memory for the same name."""
        size = math.prod(shape)
        space = self._space.get(name)
        if space is None or len(space) < size:
            space = self._space[name] = np.empty(size + size // 2, np.float32)
        return space[:size].reshape(shape)


def product(x: Float32s, weight: Float32s, out: Float32s) -> Float32s:
    """x @ weight into `out`. A row's last bits depend on the rows beside it, as BLAS likes it."""
    return np.matmul(x, weight, out=out)
