# SPDX-License-Identifier: BSD-3-Clause
"""Where digits go: loops run a second time in double precision, on shadows of their data."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.access import READ, WRITE
from pyop2cxx.data.constants import Constant
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.globals import Global
from pyop2cxx.data.mats import Mat
from pyop2cxx.data.views import DatView
from pyop2cxx.exceptions import Op2Error, UsageError
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.loop.symbolic import aliases
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.recorder import Recorder
from pyop2cxx.runtime.showing import Tabled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyop2cxx.base.arrays import Array

    Difference = tuple[float, float]

_NARROW = {"float32": "float64", "complex64": "complex128"}
_FUNCTIONS = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 "
    "fabs fdim floor fma fmax fmin fmod hypot ldexp lgamma log log10 log1p log2 nearbyint pow "
    "remainder rint round sin sinh sqrt tan tanh tgamma trunc "
    "cabs carg cexp cimag clog conj cpow creal csqrt"
)
_WORDS = {"float": "double"} | {f"{name}f": name for name in _FUNCTIONS.split()}
_WORDS |= {f"FLT_{name}": f"DBL_{name}" for name in ("EPSILON", "MAX", "MIN", "DIG")}
_WORD = re.compile(r"[A-Za-z_]\w*")
_LITERAL = re.compile(r"(?<![\w.])((?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)[fF]\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class DigitLoss:
    """The difference between an object and its shadow in double precision, made by a loop.

    Differences are relative: the largest one to the largest value, the typical one as the root of
    the mean square to that of the values.

    Attributes:
        loop: The kernel's name.
        data: Name of a written Dat, Global or Mat.
        calls: Calls of the loop with a shadow.
        growth: The largest difference of the object beyond the largest of all values read by the
            loop, in the worst call; 0 without growth.
        typical_growth: The same of typical differences, in the median of the calls.
        difference: The largest difference after the last call.
    """

    loop: str
    data: str
    calls: int
    growth: float
    typical_growth: float
    difference: float


@dataclass(frozen=True)
class Precision(Tabled):
    """The table of `op2.profile(shadow="float64")`, for `print`.

    Attributes:
        rows: A `DigitLoss` for each loop and written object; the largest growth first.
        without: Loops that ran without a shadow, with the reason; dict of str.
        anew: Objects changed otherwise than by loops with a shadow, with how often: their shadows
            took the values of the run; dict of int.
    """

    rows: tuple[DigitLoss, ...]
    without: Mapping[str, str]
    anew: Mapping[str, int]

    def as_rows(self) -> tuple[str, list[tuple[str, ...]], str]:
        """Return a caption, the rows, headed by the titles, and the text below."""
        cells = [
            (
                *(row.loop, row.data, str(row.calls), _shown(row.growth)),
                *(_shown(row.typical_growth), _shown(row.difference)),
            )
            for row in self.rows
        ]
        return "", [_HEAD, *cells], "; ".join(self._below())

    _as_rows = as_rows

    def __str__(self) -> str:
        return "\n".join([super().__str__(), *self._below()])

    def _below(self) -> list[str]:
        lines = [f"{loop} ran without a shadow: {why}" for loop, why in self.without.items()]
        lines += [
            f"{name} was changed {n} times otherwise: its shadow took the new values"
            for name, n in self.anew.items()
        ]
        return [*lines, "differences from a run in double precision, relative"]


_HEAD = ("loop", "written", "calls", "largest growth", "typical growth", "difference")


def _shown(number: float) -> str:
    return f"{number:.1e}" if number else "0"


class _NoShadowError(Exception):
    """A loop has no shadow; the text says why."""


@dataclass
class _Shadow:
    """An object in double precision beside the run's.

    Attributes:
        data: The run's.
        double: With values in double precision.
        known: The run's values when both were compared last.
        difference: The largest and the typical one, then.
    """

    data: Any
    double: Any
    known: Array | None = None
    difference: Difference = (0.0, 0.0)

    def follow(self) -> bool:
        """Take the run's values if they were changed otherwise; say if new ones other than 0."""
        now = _values_of(self.data)
        if self.known is not None and np.array_equal(now, self.known, equal_nan=True):
            return False
        is_anew = self.known is not None and bool(now.any())
        _put(self.double, now)
        self.known, self.difference = now.copy(), (0.0, 0.0)
        return is_anew

    def compare(self) -> None:
        """Compare with the run."""
        self.known = _values_of(self.data).copy()
        self.difference = _difference(self.known, _values_of(self.double))


@dataclass
class _Losses:
    """Differences of an object over the calls of a loop."""

    growth: float = 0.0
    typical: list[float] = field(default_factory=list)
    difference: float = 0.0


class Shadows(Recorder):
    """Runs each loop when it is called, and then its shadow, and compares what they wrote."""

    def __init__(self) -> None:
        self._shadows: dict[int, _Shadow] = {}
        self._loops: dict[Any, tuple[ParLoop, ParLoop]] = {}
        self._kernels: dict[int, tuple[Kernel, Kernel]] = {}
        self._losses: dict[tuple[str, str], _Losses] = {}
        self._without: dict[str, str] = {}
        self._anew: Counter[str] = Counter()

    def result(self) -> Precision:
        """Return what was found so far."""
        rows = [
            DigitLoss(
                loop=loop,
                data=data,
                calls=len(of.typical),
                growth=of.growth,
                typical_growth=median(of.typical),
                difference=of.difference,
            )
            for (loop, data), of in self._losses.items()
        ]
        rows.sort(key=lambda row: -row.growth)
        return Precision(tuple(rows), dict(self._without), dict(self._anew))

    def begin_block(self) -> None:
        """Refuse chains: their loops are compiled together."""
        raise UsageError(
            "profile: op2.chain() within a profile with a shadow: loops of a chain are compiled "
            "together and have no shadow each; leave out the chain, or the shadow"
        )

    def takes(self, loop: Any) -> bool:
        """Run a loop and its shadow."""
        with runtime.at_once():
            name = loop.kernel.shown_name
            try:
                self._check(loop)
                double = self._double_of(loop)
            except (_NoShadowError, Op2Error) as error:
                self._without[name] = str(error)
                loop.compute()
                return True
            used = {part.owner.uid: part for part in loop.parts}
            read = {part.owner.uid for part in loop.parts if part.access is not WRITE}
            shadows = [self._shadows[uid] for uid in used if uid in self._shadows]
            for one in shadows:
                self._anew[one.data.name] += one.follow()
            before = [one.difference for one in shadows if one.data.uid in read]
            loop.compute()
            written = {part.owner.uid for part in loop.parts if part.access is not READ}
            changed = [one for one in shadows if one.data.uid in written]
            try:
                double.compute()
            except Op2Error as error:
                self._without[name] = str(error)
                for one in changed:
                    one.known = None
                return True
            for one in changed:
                one.compare()
                self._note(name, one, before)
        self._anew += Counter()  # without those that were never changed
        return True

    def takes_copy(self, source: Any, target: Any, casting: str) -> bool:
        """Copy a Dat, and its shadow."""
        with runtime.at_once():
            source.copy(target, casting=casting)
            if type(source) is Dat and type(target) is Dat:
                one, other = self._shadow_of(source), self._shadow_of(target)
                self._anew[source.name] += one.follow()
                _put(other.double, _values_of(one.double))
                other.compare()
        self._anew += Counter()
        return True

    def _note(self, name: str, one: _Shadow, before: Sequence[Difference]) -> None:
        losses = self._losses.setdefault((name, one.data.name), _Losses())
        grown = [
            max(0.0, now - max((given[i] for given in before), default=0.0))
            for i, now in enumerate(one.difference)
        ]
        losses.growth = max(losses.growth, grown[0])
        losses.typical.append(grown[1])
        losses.difference = one.difference[0]

    # The loop in double precision

    def _check(self, loop: Any) -> None:
        if type(loop) is not ParLoop:
            raise _NoShadowError("its kernel is a function of Python")
        if loop.written_kernel.abi != "2026":
            raise _NoShadowError("its kernel follows an older convention of PyOP2")
        if loop.iterset.is_distributed or loop.effects.ghosts:
            raise _NoShadowError("it runs on several processes, or exchanges ghosts")
        for part in loop.parts:
            if part.is_field or part.cell is not None:
                raise _NoShadowError(f"'{part.data.name}' is a part of a mixed Dat or Mat")
        _, memory = aliases(loop.parts)
        for part, place in zip(loop.parts, memory, strict=True):
            for other, there in zip(loop.parts, memory, strict=True):
                is_shared = place == there and part.owner is not other.owner
                if is_shared and part.access is not READ:
                    raise _NoShadowError(f"'{part.data.name}' and '{other.data.name}' share memory")

    def _double_of(self, loop: Any) -> ParLoop:
        """Return the loop in double precision, and make what shadows it needs."""
        key = (
            *(id(loop.written_kernel), loop.iterset.uid, loop.options),
            *((id(arg.map_), arg.access, arg.data.uid) for arg in loop.args),
            *(part.owner.uid in self._shadows for part in loop.parts),
        )
        known = self._loops.get(key)
        if known is None:
            written = {part.owner.uid for part in loop.parts if part.access is not READ}
            args = [self._arg(arg, written) for arg in loop.args]
            options = loop.options._replace(check=False)._asdict()
            kernel = self._widened(loop.written_kernel)
            made = ParLoop(kernel, loop.iterset, *args, **_given(options))
            known = self._loops[key] = (loop, made)  # the loop keeps what the key names
        return known[1]

    def _arg(self, arg: Any, written: set[int]) -> Any:
        data = arg.data
        owner = data.parent if isinstance(data, DatView) else data
        if type(owner) not in (Dat, Global, Constant, Mat) or (
            isinstance(owner, Mat) and owner.is_mixed
        ):
            if getattr(arg, "access", READ) is READ and isinstance(owner, Dat):
                return arg  # counts of a ragged Map
            raise _NoShadowError(f"'{owner.name}' is of {type(owner).__name__}")
        if owner.uid not in written | self._shadows.keys() and not _is_narrow(owner):
            return arg
        double = self._shadow_of(owner).double
        if isinstance(data, DatView):
            double = DatView(double, data.index)
        return arg.of(double)

    def _shadow_of(self, owner: Any) -> _Shadow:
        known = self._shadows.get(owner.uid)
        if known is None:
            known = self._shadows[owner.uid] = _Shadow(owner, _made_double(owner))
        return known

    def _widened(self, kernel: Kernel) -> Kernel:
        """Return a kernel with double in the place of float, in its text."""
        text = widened(kernel.code)
        if text == kernel.code:
            return kernel
        known = self._kernels.get(id(kernel))
        if known is None:
            about = kernel.description
            if about.cpp or kernel.core.body is None:
                raise _NoShadowError("its kernel computes in float, and is C++ or opaque")
            made = Kernel(
                text,
                kernel.name,
                about.options,
                about.include_dirs,
                about.headers,
                ldargs=about.ldargs,
                requires_zeroed_output_arguments=about.requires_zeroed_output_arguments,
                contract=about.contract,
            )
            known = self._kernels[id(kernel)] = (kernel, made)
        return known[1]


def widened(text: str) -> str:
    """Return C text with double in the place of float: types, functions and literals."""
    found = _WORD.sub(lambda word: _WORDS.get(word[0], word[0]), text)
    return _LITERAL.sub(r"\1", found)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a loop as its constructor takes them."""
    options["tuning"] = dict(options["tuning"])
    return {name: value for name, value in options.items() if value or name in ("lanes", "check")}


def _is_narrow(data: Any) -> bool:
    return data.dtype.name in _NARROW


def _made_double(data: Any) -> Any:
    """Return an object like another, in double precision."""
    dtype, name = _NARROW.get(data.dtype.name, data.dtype.name), f"shadow_of_{data.name}"
    if isinstance(data, Dat):
        return Dat(data.dataset, None, dtype, name, data.layout)
    if isinstance(data, Mat):
        return Mat(data.sparsity, dtype, name)
    if isinstance(data, Constant):
        return Constant(data.dim, None, dtype, name)
    return Global(data.dim, None, dtype, name, data.given_comm)


def _values_of(data: Any) -> Array:
    """Return all values on the host, without counting as a write."""
    values: Array
    values = data.allocated("profile") if isinstance(data, Dat | Mat) else data.host_values
    data.use_on_host(_core.Use.read, "profile")
    return values


def _put(data: Any, values: Array) -> None:
    if isinstance(data, Mat):
        data.stored("profile", write=True)[...] = values
    elif isinstance(data, Dat):
        data.data_with_halos[...] = values
    else:
        data.data[...] = values


def _difference(found: Array, wanted: Array) -> Difference:
    """Return the largest and the typical difference, relative; values that are no numbers differ.

    Args:
        found: The run's values.
        wanted: In double precision.
    """
    if not found.size:
        return 0.0, 0.0
    with np.errstate(all="ignore"):
        wide = np.complex128 if found.dtype.kind == "c" else np.float64
        one, other = found.astype(wide), wanted.astype(wide)
        is_same = (one == other) | (np.isnan(one) & np.isnan(other))
        apart = np.where(is_same, 0.0, np.abs(one - other))
        apart[np.isnan(apart)] = np.inf
        sizes = np.abs(other[np.isfinite(other)])
        return (
            _relative(float(apart.max()), float(sizes.max(initial=0.0))),
            _relative(_mean(apart), _mean(sizes)),
        )


def _mean(values: Array) -> float:
    return float(np.sqrt(np.square(values).mean())) if values.size else 0.0


def _relative(difference: float, size: float) -> float:
    if difference == 0:
        return 0.0
    return difference / size if size > 0 else float("inf")
