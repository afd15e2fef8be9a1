"""Eight matches side by side in one value: what the world's kernel computes with.

A value of eight lanes reads like a number: `x * x + y * y <= reach` is a mask of eight, and
`where(mask, a, b)` chooses lane by lane. As plain Python it is a numpy array of eight; compiled it
is one vector of LLVM, so one instruction serves eight matches where the processor can (AVX-512),
and four or two elsewhere. Arithmetic is float64 without contraction: both give the same bits.

A block is an array [rows, 8]; `load` and `store` move one of its rows, as float64 whatever the
array holds. `to_lanes` and `from_lanes` turn eight rows of float32 into a block and back.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, lower_cast, register_model

from understudy.data.arrays import Array
from understudy.games.arena.kernels import kernel

LANES: Final = 8


def blocks(dtype: Any, *shape: int) -> Array:
    """Zeros [*shape, 8] that begin where a vector may: a vector across two cache lines is slow."""
    size, item = int(np.prod(shape)) * LANES, np.dtype(dtype).itemsize
    room = np.zeros(size + 64 // item, dtype)
    first = -(room.ctypes.data // item) % (64 // item)
    return room[first : first + size].reshape(*shape, LANES)


# --- as plain Python -----------------------------------------------------------------------------


def load(block: Array, row: int) -> Array:
    """The eight lanes of a row."""
    return block[row].astype(np.float64)


def store(block: Array, row: int, value: Array | float) -> None:
    """Write the eight lanes of a row."""
    block[row] = value


def same(number: float) -> Array:
    """The same number in all lanes."""
    return np.full(LANES, float(number))


def where(mask: Array, one: Array | float, other: Array | float) -> Array:
    """`one` in the lanes of the mask, `other` elsewhere."""
    return np.where(mask, one, other)


def smaller(one: Array | float, other: Array | float) -> Array:
    """The lesser of two, lane by lane."""
    return where(np.less(other, one), other, one)


def larger(one: Array | float, other: Array | float) -> Array:
    """The greater of two, lane by lane."""
    return where(np.greater(other, one), other, one)


def root(value: Array) -> Array:
    """Square roots."""
    return np.sqrt(value)


def some(mask: Array) -> bool:
    """Whether the mask holds in any lane."""
    return bool(mask.any())


def every(mask: Array) -> bool:
    """Whether the mask holds in all lanes."""
    return bool(mask.all())


def turn_in(rows: Array, number: int, first: int, block: Array) -> None:
    """Eight columns of the `number`-th eight of the rows, from `first` on, into the block."""
    square = rows[LANES * number : LANES * (number + 1), first : first + LANES]
    block[first : first + LANES] = square.T


def turn_out(block: Array, number: int, first: int, rows: Array) -> None:
    """The same eight columns back."""
    square = block[first : first + LANES].T
    rows[LANES * number : LANES * (number + 1), first : first + LANES] = square


# --- compiled ------------------------------------------------------------------------------------

_DOUBLE, _BIT, _INDEX = ir.DoubleType(), ir.IntType(1), ir.IntType(32)
_VECTOR, _BITS = ir.VectorType(_DOUBLE, LANES), ir.VectorType(_BIT, LANES)
_FLOATS = ir.VectorType(ir.FloatType(), LANES)


class _Lanes(types.Type):
    """Eight numbers, or eight bits of a mask."""


numbers, mask = _Lanes("numbers of eight lanes"), _Lanes("mask of eight lanes")


@register_model(_Lanes)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: _Lanes) -> None:
        super().__init__(manager, kind, _VECTOR if kind is numbers else _BITS)


def _spread(builder: Any, number: Any) -> Any:
    """The same number in all lanes."""
    first = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, _INDEX(0))
    return builder.shuffle_vector(
        first, ir.Constant(_VECTOR, ir.Undefined), ir.VectorType(_INDEX, LANES)([0] * LANES)
    )


@lower_cast(types.Float, numbers)
@lower_cast(types.Integer, numbers)
def _number_to_lanes(context: Any, builder: Any, kind: Any, _: Any, number: Any) -> Any:
    return _spread(builder, context.cast(builder, number, kind, types.float64))


def _is_number(kind: Any) -> bool:
    return kind is numbers or isinstance(kind, types.Float | types.Integer)


def _typed(function: Any, rule: Callable[..., Any]) -> None:
    """Let compiled code call `function`; `rule` gives a signature for kinds of arguments, or None.

    Arguments become what the signature says: a plain number among lanes stands in all of them.
    """

    class Template(AbstractTemplate):
        def generic(self, args: Sequence[Any], kws: Any) -> Any:
            return rule(*args)

    infer_global(function)(Template)


def _on_arrays(result: Any, *kinds: Any) -> Any:
    """The signature, if every array among these is [.., ..] without gaps; else None."""
    arrays = [kind for kind in kinds if isinstance(kind, types.Array)]
    return (
        signature(result, *kinds) if all(a.ndim == 2 and a.layout == "C" for a in arrays) else None
    )


def _operation(function: Any, result: _Lanes, operand: _Lanes, emit: Callable[..., Any]) -> None:
    """Let compiled code call `function` on numbers of eight lanes, or on masks."""

    def rule(*kinds: Any) -> Any:
        fits = all(_is_number(kind) if operand is numbers else kind is mask for kind in kinds)
        return signature(result, *[operand] * len(kinds)) if fits and operand in kinds else None

    _typed(function, rule)
    for count in (1, 2):
        lower_builtin(function, *[operand] * count)(
            lambda context, builder, _, args: emit(builder, *args)
        )


def _intrinsic(builder: Any, name: str, value: Any) -> Any:
    kind = ir.FunctionType(_VECTOR, [_VECTOR])
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{LANES}f64")
    return builder.call(function, [value])


def _instruction(name: str) -> Callable[..., Any]:
    return lambda builder, *values: getattr(builder, name)(*values)


def _comparison(sign: str) -> Callable[..., Any]:
    name = "fcmp_unordered" if sign == "!=" else "fcmp_ordered"  # NaN differs from everything
    return lambda builder, one, other: getattr(builder, name)(sign, one, other)


def _choice(sign: str) -> Callable[..., Any]:
    return lambda builder, one, other: builder.select(
        builder.fcmp_ordered(sign, other, one), other, one
    )


_ARITHMETIC: dict[Any, str] = {
    operator.add: "fadd",
    operator.sub: "fsub",
    operator.mul: "fmul",
    operator.truediv: "fdiv",
    operator.neg: "fneg",
}
_COMPARISONS: dict[Any, str] = {
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
}
_LOGIC: dict[Any, str] = {operator.and_: "and_", operator.or_: "or_", operator.invert: "not_"}
for _function, _name in _ARITHMETIC.items():
    _operation(_function, numbers, numbers, _instruction(_name))
for _function, _name in _COMPARISONS.items():
    _operation(_function, mask, numbers, _comparison(_name))
for _function, _name in _LOGIC.items():
    _operation(_function, mask, mask, _instruction(_name))
_operation(smaller, numbers, numbers, _choice("<"))
_operation(larger, numbers, numbers, _choice(">"))
_operation(root, numbers, numbers, lambda builder, value: _intrinsic(builder, "sqrt", value))
_operation(abs, numbers, numbers, lambda builder, value: _intrinsic(builder, "fabs", value))


_typed(same, lambda number: signature(numbers, numbers))
_typed(where, lambda given, one, other: signature(numbers, mask, numbers, numbers))
_typed(some, lambda given: signature(types.boolean, mask))
_typed(every, lambda given: signature(types.boolean, mask))
_typed(load, lambda block, row: _on_arrays(numbers, block, types.intp))
_typed(store, lambda block, row, value: _on_arrays(types.none, block, types.intp, numbers))
for _turning in (turn_in, turn_out):
    _typed(_turning, lambda a, _, __, b: _on_arrays(types.none, a, types.intp, types.intp, b))


@lower_builtin(same, numbers)
def _same(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return args[0]


@lower_builtin(where, mask, numbers, numbers)
def _where(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.select(*args)


@lower_builtin(some, mask)
def _some(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    bits = builder.bitcast(args[0], ir.IntType(LANES))
    return builder.icmp_unsigned("!=", bits, bits.type(0))


@lower_builtin(every, mask)
def _every(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    bits = builder.bitcast(args[0], ir.IntType(LANES))
    return builder.icmp_unsigned("==", bits, bits.type(2**LANES - 1))


def _move(builder: Any, place: Any, value: Any, vector: Any) -> Any:
    """Read a vector from memory, or write `value` there, wherever it begins."""
    place = builder.bitcast(place, vector.as_pointer())
    if value is None:
        return builder.load(place, align=4)
    return builder.store(value, place, align=4)


def _row(context: Any, builder: Any, sig: Any, args: Any) -> tuple[Any, Any, Any]:
    """What a block holds, where the row asked for begins, and the vector that lies there."""
    block = context.make_array(sig.args[0])(context, builder, args[0])
    place = builder.gep(block.data, [builder.mul(args[1], args[1].type(LANES))])
    item = sig.args[0].dtype
    return item, place, ir.VectorType(context.get_data_type(item), LANES)


@lower_builtin(load, types.Array, types.intp)
def _load(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    item, place, vector = _row(context, builder, sig, args)
    value = _move(builder, place, None, vector)
    if isinstance(item, types.Integer):
        return builder.sitofp(value, _VECTOR)
    return value if item is types.float64 else builder.fpext(value, _VECTOR)


@lower_builtin(store, types.Array, types.intp, numbers)
def _store(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    (item, place, vector), value = _row(context, builder, sig, args), args[2]
    if isinstance(item, types.Integer):
        value = builder.fptosi(value, vector)
    elif item is not types.float64:
        value = builder.fptrunc(value, vector)
    _move(builder, place, value, vector)
    return context.get_dummy_value()


def _turned(builder: Any, rows: list[Any]) -> list[Any]:
    """Eight vectors of eight floats with rows and columns exchanged, in three rounds of pairs."""
    for far in (4, 2, 1):
        low = [k - (k & far) + (LANES if k & far else 0) for k in range(LANES)]
        new = list(rows)
        for k in range(LANES):
            which = ir.VectorType(_INDEX, LANES)([place + (k & far) for place in low])
            new[k] = builder.shuffle_vector(rows[k & ~far], rows[k | far], which)
        rows = new
    return rows


def _lines(context: Any, builder: Any, kind: Any, array: Any, row: Any, first: Any) -> list[Any]:
    """Where eight lines of floats begin: from that row on, each from the column `first` on."""
    found = context.make_array(kind)(context, builder, array)
    _, width = cgutils.unpack_tuple(builder, found.shape)
    lines = [builder.add(row, row.type(k)) for k in range(LANES)]
    return [builder.gep(found.data, [builder.add(builder.mul(k, width), first)]) for k in lines]


def _turn(context: Any, builder: Any, sig: Any, args: Any, *, inwards: bool) -> Any:
    row, first = builder.mul(args[1], args[1].type(LANES)), args[2]
    begin = (row, first), (first, args[2].type(0))
    sources, targets = (
        _lines(context, builder, sig.args[k], args[k], *place)
        for k, place in zip((0, 3), begin if inwards else begin[::-1], strict=True)
    )
    found = _turned(builder, [_move(builder, place, None, _FLOATS) for place in sources])
    for place, value in zip(targets, found, strict=True):
        _move(builder, place, value, _FLOATS)
    return context.get_dummy_value()


@lower_builtin(turn_in, types.Array, types.intp, types.intp, types.Array)
def _turn_in(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _turn(context, builder, sig, args, inwards=True)


@lower_builtin(turn_out, types.Array, types.intp, types.intp, types.Array)
def _turn_out(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _turn(context, builder, sig, args, inwards=False)


@kernel
def to_lanes(rows, number, block):  # type: ignore[no-untyped-def]
    """The `number`-th eight of the rows [N, W] into the block [W, 8]; W is at least 8."""
    for first in range(0, rows.shape[1], LANES):  # the last square may overlap the one before
        turn_in(rows, number, min(first, rows.shape[1] - LANES), block)


@kernel
def from_lanes(block, number, rows):  # type: ignore[no-untyped-def]
    """The block [W, 8] into the `number`-th eight of the rows [N, W]; W is at least 8."""
    for first in range(0, rows.shape[1], LANES):
        turn_out(block, number, min(first, rows.shape[1] - LANES), rows)
