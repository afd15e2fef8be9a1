"""The decorator of the compiled world's functions. The same source runs as plain Python, too."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from numba import types

from understudy.kernels.of_a_folder import Kernel, kernels_of

SOURCES = (
    "*.py players/*.py players/*/*.py ../domain.py ../view/*.py ../agent/l4_*.py"  # L1's order
)


def once_for_all_numbers(compile_: Kernel) -> Kernel:
    """A decorator that compiles a function once for all kinds of whole numbers.

    numba would compile it anew for every constant it is given, and for numbers of 8, 16 and 32
    bits: that takes twice as long and gains nothing.
    """

    def kernel(function: Callable[..., Any]) -> Any:
        found = compile_(function)
        if found is function:  # plain Python
            return function
        template = found.get_call_template

        def get_call_template(args: Iterable[Any], kws: dict[str, Any]) -> Any:
            return template(tuple(map(_widest, args)), kws)

        found.get_call_template = get_call_template
        return found

    return kernel


def _widest(kind: Any) -> Any:
    kind = types.unliteral(kind)
    return types.int64 if isinstance(kind, types.Integer) else kind


kernel = once_for_all_numbers(kernels_of(Path(__file__).parent, SOURCES, inlined=False))
