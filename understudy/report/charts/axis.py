"""Which numbers can be drawn, how they are written, and the axis that spans them."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import Literal

Unit = Literal["number", "percent"]

LARGEST = 1e300  # beyond it differences overflow
SMALLEST = 1e-290  # below it they vanish


@dataclass(frozen=True)
class Axis:
    """Which values a chart spans, and where it names them."""

    low: float
    high: float
    ticks: tuple[float, ...]
    log: bool = False

    def share(self, value: float) -> float:
        """Where `value` lies: 0 at the low end, 1 at the high end."""
        if self.log:
            low, high = math.log10(self.low), math.log10(self.high)
            return (math.log10(value) - low) / (high - low)
        return (value - self.low) / (self.high - self.low)

    def inside(self, value: float) -> float:
        """As `share`, held to the span."""
        return min(max(self.share(value), 0.0), 1.0)

    def texts(self, unit: Unit) -> list[str]:
        """The ticks in words, with no more decimals than their distance calls for."""
        scale = 100 if unit == "percent" else 1
        gap = min((b - a for a, b in pairwise(self.ticks)), default=0.0) * scale
        top = max((abs(tick) for tick in self.ticks), default=0.0) * scale
        plain = 1e-2 <= top < 1e4 or gap * 1000 < top < 1e15
        if self.log or not plain or gap <= 1e-12:
            return [written(tick, unit) for tick in self.ticks]
        decimals = max(0, -math.floor(math.log10(gap) + 1e-9))
        decimals += abs(gap * 10**decimals - round(gap * 10**decimals)) > 1e-6  # steps of 2.5
        ending = "\u00a0%" if unit == "percent" else ""
        return [f"{tick * scale:z.{decimals}f}{ending}" for tick in self.ticks]


def finite(value: object) -> float | None:
    """The value as a float that can be drawn, or None."""
    if not isinstance(value, Real):
        return None
    try:
        number = float(value)
    except OverflowError:  # an int of more than 308 digits
        return None
    if not abs(number) <= LARGEST:  # NaN is not, either
        return None
    return number if abs(number) > SMALLEST else 0.0


def written(value: float | None, unit: Unit = "number") -> str:
    """A number for reading: about four digits, thousands as k, M, G, and - for none."""
    number = finite(value)
    if number is None:
        return "-"
    if unit == "percent":
        return f"{number * 100:z.1f}\u00a0%"  # z: no -0.0
    if 0 < abs(number) < 1e-3:
        return _scientific(number)
    for least, size, letter in ((1e12, 0.0, ""), (1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if abs(number) >= least:
            return f"{number / size:.4g}{letter}" if size else _scientific(number)
    return f"{number:.4g}"


def _scientific(number: float) -> str:
    digits, power = f"{number:.2e}".split("e")
    return f"{float(digits):g}e{int(power)}"


def axis(
    values: Iterable[float | None], *, log: bool = False, snug: bool = False, whole: bool = False
) -> Axis:
    """An axis that spans the values; it ends on ticks unless `snug`; `whole`: none at halves."""
    known = [number for number in map(finite, values) if number is not None]
    if log:
        return _log_axis([number for number in known if number > 0])
    low, high = min(known, default=0.0), max(known, default=1.0)
    if high - low <= 1e-9 * max(abs(low), abs(high)):  # constant: put the line in the middle
        pad = abs(low) / 10 or 1.0
        low, high = low - pad, high + pad
    step = _step(high - low)
    step = max(1.0, step) if whole else step
    if not snug:
        low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return Axis(low, high, tuple(step * count for count in range(first, last + 1)))


def _step(span: float) -> float:
    """A round distance that cuts the span into four to eight."""
    magnitude = 10.0 ** math.floor(math.log10(span / 5))
    return magnitude * next(size for size in (1, 2, 2.5, 5, 10) if size * magnitude >= span / 6.5)


def ticks_across(span: Axis, unit: Unit = "number") -> str:
    """The names below an axis; one at an end must not stand out of the page."""
    found = []
    for tick, text in zip(span.ticks, span.texts(unit), strict=True):
        share = span.share(tick)
        end = ' class="first"' if share < 0.02 else ' class="last"' if share > 0.98 else ""
        found.append(f'<span{end} style="left:{share:.2%}">{text}</span>')
    return f'<div class="x-axis">{"".join(found)}</div>'


def _log_axis(known: Sequence[float]) -> Axis:
    """Ticks at powers of ten; where these are few, also at doubles and fives, or at any round."""
    low, high = min(known, default=1.0), max(known, default=10.0)
    if high <= low * 1.001:
        low, high = low / 2, high * 2
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    powers = range(first, last + 1, max(1, (last - first) // 6))
    for sizes in ((1.0,), (1.0, 2.0, 5.0)):
        ticks = [size * 10.0**power for power in powers for size in sizes]
        inside = tuple(tick for tick in ticks if low <= tick <= high)
        if len(inside) > 2:
            return Axis(low, high, inside, log=True)
    return Axis(low, high, axis((low, high), snug=True).ticks, log=True)


def span_of(values: Sequence[float | None], limits: tuple[float, float] | None) -> Axis:
    """An axis over fixed limits, or over the values."""
    return axis(values if limits is None else limits, snug=limits is not None)


def drawable_at(values: Sequence[float | None], place: int) -> float | None:
    """The value at a place; None where it is missing or cannot be drawn."""
    return finite(values[place]) if place < len(values) else None
