# SPDX-License-Identifier: BSD-3-Clause
"""Algebra of Dats and Globals on a device: loops over scalars, with results on the device.

A loop is compiled once for each operation and combination of dtypes, not for an expression. If the
scalars of all operands have the same order, as nearly always, the loop runs over the scalars, so
the text does not depend on the number of components; otherwise the loop runs over the Set. Numbers
travel to the device with commands, which are no copies.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyop2cxx import _core
from pyop2cxx.algebra import device_blas
from pyop2cxx.algebra.flat import Flat
from pyop2cxx.algebra.ghost_rows import GhostRows
from pyop2cxx.algebra.reductions import reduced as reduced  # of the seam
from pyop2cxx.base.access import INC, READ, RW, WRITE
from pyop2cxx.base.arrays import c_name
from pyop2cxx.base.conversions import common_dtype, limits
from pyop2cxx.base.moves import seen_flat
from pyop2cxx.data.carrier import DataCarrier
from pyop2cxx.data.constants import GlobalArg
from pyop2cxx.data.dats import Dat, DatArg
from pyop2cxx.data.globals import Global
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.loop.run import par_loop
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.communicators import ALONE
from pyop2cxx.runtime.frames import render
from pyop2cxx.runtime.memo import until_exit
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyop2cxx.base.access import Access
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.base.conversions import Limits
    from pyop2cxx.data.mat_values import MatValues

_ON_DEVICE = (_core.Where.device, _core.Where.both)


class Operand(NamedTuple):
    """An argument of a kernel.

    Attributes:
        arg: The argument.
        dtype: Dtype of the values.
        is_number: Whether a single value stands for all.
    """

    arg: Any
    dtype: np.dtype[Any]
    is_number: bool = False


def ghost_rows(dats: Sequence[Dat], given: Sequence[Array], taken: Sequence[Array]) -> GhostRows:
    """Return the packed rows of an exchange; the arguments are as of `GhostRows`."""
    return GhostRows(dats, given, taken)


def is_at(*operands: object, write: bool = True) -> bool:
    """Say whether loops run on a device and the values of an operand are there.

    Args:
        operands: The operands; others than Dats, Globals and Mats have no place.
        write: Whether an operand will be written.
    """
    if runtime.static or not runtime.coherence.is_active:
        return False
    carriers = [o for o in operands if isinstance(o, DataCarrier)]
    for carrier in carriers:
        carrier.settle(write=write)
    return any(c.buffer.where in _ON_DEVICE for c in carriers) and runtime.device is not None


def combine(op: str, out: Any, left: Any, right: Any, *, whole: bool) -> bool:
    """Compute ``out = left op right`` on the device.

    Args:
        op: A member of ``+ - * /``; or ``=``, for ``out = left`` alone.
        out: The target Dat or Global; may be an operand.
        left: A similar object, a number as an array without dimensions, or a single-valued Global.
        right: The same.
        whole: Whether ghosts' values are computed, too.

    Returns:
        Whether possible; if not, nothing is changed.

    Raises:
        ZeroDivisionError: An integer would be divided by zero; nothing is changed.
    """
    carriers = [out, *(o for o in (left, right) if _is_array(o, out))]
    place = _place(carriers, whole=whole)
    if place is None:
        return False
    common = _common(left, right)
    is_integer = common.kind in "iu" or out.dtype.kind in "iu"
    if op == "/" and is_integer and _has_zero(right, out, whole=whole):
        raise ZeroDivisionError
    args, given, names = [], [], []
    for slot, (letter, o) in enumerate((("l", left), ("r", right))):
        names.append("" if o is None else "o" if o is out else letter)
        if names[-1] == letter:
            operand = _operand(o, out, common, place, READ, slot)
            args.append(operand.arg)
            given.append((letter, _name(operand.dtype), operand.is_number))
    target = _operand(out, out, common, place, RW if "o" in names else WRITE, 0)
    dtypes = (_name(target.dtype), _name(common))
    text = _combining(op, tuple(given), (names[0], names[1]), dtypes, place.width)
    return _run(text, place, [*args, target.arg]) and _wrote(out, whole=whole and place.n > 0)


def axpy(alpha: Any, x: Any, y: Any, *, whole: bool) -> bool:
    """Compute ``y += alpha * x`` on the device; arguments and result as for `combine`."""
    place = _place([x, y], whole=whole)
    if place is None:
        return False
    common = _common(alpha, x, y)
    factor = _operand(alpha, y, common, place, READ, 0)

    def by_loop() -> bool:
        source = _operand(x, y, common, place, READ, 1)
        target = _operand(y, y, common, place, RW, 0)
        dtypes = (_name(factor.dtype), _name(source.dtype), _name(target.dtype), _name(common))
        return _run(_adding(dtypes, place.width), place, [factor.arg, source.arg, target.arg])

    done = device_blas.axpy(factor.arg.data, x, y, place.n, by_loop)
    return done and _wrote(y, whole=whole and place.n > 0)


def add_matrix(alpha: Array, x: MatValues, y: MatValues) -> bool:
    """Compute ``y += alpha * x`` where the values are; result as for `combine`.

    Args:
        alpha: A number, without dimensions.
        x: A matrix, not mixed.
        y: A matrix of the same Sparsity; may be `x`.
    """
    source = _flat(x)
    return axpy(alpha, source, source if x is y else Flat(y, source.set), whole=True)


def scale_matrix(op: str, alpha: Array, x: MatValues) -> bool:
    """Compute ``x *= alpha`` or ``x /= alpha`` where the values are; result as for `combine`.

    Args:
        op: ``*`` or ``/``.
        alpha: A number, without dimensions; not zero, where integers are divided.
        x: A matrix, not mixed.
    """
    values = _flat(x)
    return combine(op, values, values, alpha, whole=True)


def _flat(mat: MatValues) -> Flat:
    """Return the values of a matrix as a Dat over the same memory."""
    return Flat(mat, Set(len(mat.sparsity.colidx) * mat.cdim, "values of a matrix"))


def dot(x: Any, y: Any, *, conjugate: bool) -> Any:
    """Return the sum of products, or None if impossible on the device."""
    total = _dotted(x, y, None, conjugate=conjugate)
    if total is None:
        return None
    total.use_on_host(_core.Use.read, "inner" if conjugate else "dot", is_explicit=True)
    return total.host_values[0].item()


def dot_into(x: Any, y: Any, target: Global, *, conjugate: bool) -> bool:
    """Put the sum of products into a single-valued Global; result as for `combine`."""
    total = _dotted(x, y, target, conjugate=conjugate)
    return total is not None and (total is target or combine("=", target, total, None, whole=True))


def _dotted(x: Any, y: Any, target: Global | None, *, conjugate: bool) -> Global | None:
    """Return the Global with the sum: the target, if the dtype of the sum matches."""
    place = _place([x, y], whole=False)
    if place is None:
        return None
    common = _common(x, y)
    wide = {"f": np.dtype(float), "c": np.dtype(complex)}.get(common.kind, common)
    total: Global
    if target is None or target.dtype != wide or target in (x, y):
        total = _number_on_device(wide, "dot", 0, wide.type(0))
    else:
        total = target
        total.set_by_command(np.zeros(1, wide))

    def by_loop() -> bool:
        args = [_operand(o, x, common, place, READ, 0) for o in (x, y)]
        dtypes = (_name(args[0].dtype), _name(args[1].dtype), _name(wide))
        text = _summing(dtypes, place.width, conjugate and wide.kind == "c")
        return _run(text, place, [args[0].arg, args[1].arg, total(INC)])

    done = device_blas.dot(x, y, total, place.n, conjugate, by_loop)
    return total if done else None


def copy(source: Dat, target: Dat, subset: Any) -> bool:
    """Copy values within the device, converting them; result as for `combine`."""
    if subset is None:
        return combine("=", target, source, None, whole=source.halo_valid)
    place = _place_of_part(subset, [source, target])
    return place is not None and _assign(place, target, source)


def n_unfit(source: Any, target: np.dtype[Any], subset: Any) -> int | None:
    """Count the values of a copy not representable in another dtype; None if impossible."""
    whole = subset is None and source.halo_valid
    place = _place([source], whole=whole) if subset is None else _place_of_part(subset, [source])
    known = limits(source.dtype, target)
    if place is None or known is None:
        return None
    seen = seen_flat(source.dtype) if place.n else source.compute
    return _counted(_unfit(_name(seen), known, place.width), source, place, "copy")


def zero(target: Dat, subset: Any) -> bool:
    """Set the values of a part to zero on the device; result as for `combine`.

    Args:
        target: The Dat, or a component of a Dat.
        subset: The part; None means all values, if there are no ghosts.
    """
    whole = target.set
    if subset is None and whole.size != whole.total_size:
        return False
    place = _place_of_part(whole if subset is None else subset, [target])
    return place is not None and _assign(place, target, np.asarray(0))


# Sets of loops


class _Place(NamedTuple):
    """The Set of a loop.

    Attributes:
        iterset: The Set.
        width: Values of an entity.
        n: Scalars, or 0 where the Set is the Dats' own.
    """

    iterset: Set
    width: int
    n: int


def _is_array(operand: Any, out: Any) -> bool:
    """Whether an operand has as many values as the result."""
    return (
        isinstance(operand, Dat)
        or (operand is out and isinstance(operand, DataCarrier))
        or (isinstance(operand, Global) and isinstance(out, Global) and operand.cdim == out.cdim)
    )


def _place(carriers: Sequence[Any], *, whole: bool) -> _Place | None:
    """Return the Set of a loop over Dats, or Globals; None if there is none."""
    first = carriers[0]
    if isinstance(first, Global):
        return _Place(_scalars(runtime.engine.scalars, first.cdim), 1, first.cdim)
    entities = first.set.total_size if whole else first.set.size
    layouts = {c.buffer.is_soa and c.cdim > 1 for c in carriers}
    is_dense = all(c.stride == 0 for c in carriers)
    is_all = entities == first.set.total_size
    if is_dense and len(layouts) == 1 and (layouts == {False} or is_all):
        n = entities * first.cdim
        return _Place(_scalars(first.set.flat_sets, n), 1, n)
    return _Place(first.set, first.cdim, 0)  # ghosts are left out


def _place_of_part(subset: Any, carriers: Sequence[Dat]) -> _Place | None:
    if not isinstance(subset, Set):
        return None
    return _Place(subset, carriers[0].cdim, 0)


def _scalars(known: dict[int, Set], n: int) -> Set:
    """Return a Set of n entities, the same object each time."""
    if n not in known:
        known[n] = Set(n, f"{n} scalars")
    return known[n]


def _operand(
    o: Any, out: Any, common: np.dtype[Any], place: _Place, access: Access, slot: int
) -> Operand:
    if not _is_array(o, out):
        return _number(o, common, slot)
    if isinstance(o, Dat):
        o.allocated("algebra")
    if place.n == 0:
        return Operand(DatArg(o, None, access), o.compute)
    known: Flat | None = o.__dict__.get("flat")
    if known is None or known.set is not place.iterset:
        known = o.flat = Flat(o, place.iterset)
    return Operand(DatArg(known, None, access), known.compute)


# Numbers


def _number(value: Any, common: np.dtype[Any], slot: int) -> Operand:
    """Return a number as an argument; the value of a Global stays in place."""
    if isinstance(value, Global):
        value.settle(write=False)
        if value.buffer.where == _core.Where.device:
            return Operand(GlobalArg(value, READ), value.dtype, is_number=True)
        value = value.data_ro.reshape(())
    kept = _number_on_device(common, "number", slot, value)
    return Operand(GlobalArg(kept, READ), common, is_number=True)


def _number_on_device(dtype: np.dtype[Any], use: str, slot: int, value: Any) -> Global:
    """Return the device's Global for numbers of a dtype, set to a value."""
    kept = runtime.engine.numbers
    key = (_name(dtype), use, slot)
    if key not in kept:
        kept[key] = Global(1, None, dtype, use, ALONE)
    found: Global = kept[key]
    device = runtime.device
    assert device is not None  # otherwise no values were there
    found.buffer.set_on_device(device, np.asarray(value).astype(dtype).tobytes())
    return found


def _common(*operands: Any) -> np.dtype[Any]:
    """Return the dtype for combining values."""
    return common_dtype(*(o.dtype for o in operands if o is not None))


@lru_cache(maxsize=64)
def _name(dtype: np.dtype[Any]) -> str:
    return str(dtype.name)  # computed anew by NumPy each time


def _has_zero(divisor: Any, out: Any, *, whole: bool) -> bool:
    if not _is_array(divisor, out):
        if isinstance(divisor, Global):
            divisor.use_on_host(_core.Use.read, "/", is_explicit=True)
            return not divisor.host_values.all()
        return not np.all(divisor)
    place = _place([divisor], whole=whole)
    if place is None:
        return not divisor.data_ro.all()
    seen = seen_flat(divisor.dtype) if place.n else divisor.compute
    found = _counted(_zeros(_name(seen), place.width), divisor, place, "/")
    return not divisor.data_ro.all() if found is None else found > 0


def _counted(text: tuple[str, str], operand: Any, place: _Place, member: str) -> int | None:
    """Return a kernel's count over an operand's values; None if impossible on the device."""
    count = _number_on_device(np.dtype(np.int64), "count", 0, np.int64(0))
    arg = _operand(operand, operand, operand.dtype, place, READ, 0)
    if not _run(text, place, [arg.arg, count(INC)]):
        return None
    count.use_on_host(_core.Use.read, member, is_explicit=True)
    return int(count.host_values[0])


# Running


def _run(text: tuple[str, str], place: _Place, args: Sequence[Any]) -> bool:
    try:
        with runtime.at_once():
            par_loop(_kernel(*text), place.iterset, *args)
    except UnsupportedError:
        return False  # for example, no float64 on the device
    return True


def _assign(place: _Place, target: Dat, source: Any) -> bool:
    common = _common(source)
    operand = _operand(source, target, common, place, READ, 0)
    out = _operand(target, target, common, place, WRITE, 0)
    given = (("l", _name(operand.dtype), operand.is_number),)
    text = _combining("=", given, ("l", ""), (_name(out.dtype), _name(common)), place.width)
    done = _run(text, place, [operand.arg, out.arg])
    return done and _wrote(target, whole=False)


def _wrote(out: Any, *, whole: bool) -> bool:
    if isinstance(out, Dat):
        out.halo_valid = whole or not out.set.may_have_ghosts
    return True


@until_exit(512)
def _kernel(text: str, name: str) -> Kernel:
    return Kernel(text, name, abi="2026").written_here()


# Texts: templates of kernels

_OPERATIONS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "=": "assign"}


def _text(template: str, name: str, width: int, **context: object) -> tuple[str, str]:
    """Return the text and the name of a kernel over the scalars of an entity."""
    loop = {"is_loop": width > 1, "index": "i" if width > 1 else "0", "width": width}
    return render(f"kernels/{template}.c.j2", {"name": name, **loop, **context}), f"algebra_{name}"


def _wraps(dtype: str) -> bool:
    """Whether C leaves overflow undefined: for signed integers."""
    return np.dtype(dtype).kind == "i"


@lru_cache(maxsize=512)
def _combining(
    op: str,
    given: tuple[tuple[str, str, bool], ...],
    names: tuple[str, str],
    dtypes: tuple[str, str],
    width: int,
) -> tuple[str, str]:
    out, common = dtypes
    at = "i" if width > 1 else "0"
    index = {name: "0" if is_number else at for name, _, is_number in given}
    a, b = (f"{name}[{index.get(name, at)}]" for name in names)
    return _text(
        "combine",
        _OPERATIONS[op],
        width,
        given=[{"name": name, "type": c_name(dtype)} for name, dtype, _ in given],
        out=c_name(out),
        common=c_name(common),
        a=a,
        b=b,
        operation=op,
        is_copy=op == "=",
        is_signed_quotient=op == "/" and _wraps(common),  # the lowest has no counterpart
        wraps=op != "/" and _wraps(common),
    )


@lru_cache(maxsize=512)
def _adding(dtypes: tuple[str, str, str, str], width: int) -> tuple[str, str]:
    types = dict(zip(("alpha", "x", "y", "common"), map(c_name, dtypes), strict=True))
    return _text("axpy", "axpy", width, wraps=_wraps(dtypes[3]), **types)


@lru_cache(maxsize=512)
def _summing(dtypes: tuple[str, str, str], width: int, conjugate: bool) -> tuple[str, str]:
    types = dict(zip(("x", "y", "common"), map(c_name, dtypes), strict=True))
    return _text("dot", "dot", width, wraps=_wraps(dtypes[2]), conjugate=conjugate, **types)


@lru_cache(maxsize=64)
def _zeros(dtype: str, width: int) -> tuple[str, str]:
    return _counting("zeros", dtype, width, "zero")


@lru_cache(maxsize=64)
def _unfit(dtype: str, known: Limits, width: int) -> tuple[str, str]:
    kind = np.dtype(dtype).kind
    if kind == "c" or known.is_open:
        return _counting("unfit", dtype, width, "complex" if kind == "c" else "finite", known)
    if kind == "f":
        suffix = "f" if np.dtype(dtype).itemsize == 4 else ""
        return _counting("unfit", dtype, width, "within", known, suffix)
    return _counting("unfit", dtype, width, "integer", known, "L" if kind == "i" else "UL")


def _counting(
    what: str, dtype: str, width: int, test: str, known: Limits | None = None, suffix: str = ""
) -> tuple[str, str]:
    low, end = (0, 0) if known is None else (known.low, known.end)
    last = int(end) - 1 if test == "integer" else end
    limits_ = {"low": low, "end": end, "last": last, "suffix": suffix}
    return _text("count", what, width, type=c_name(dtype), test=test, **limits_)
