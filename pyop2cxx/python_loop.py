# SPDX-License-Identifier: BSD-3-Clause
"""Loops whose kernel is a Python function, for debugging: slow, but with all of Python inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.exceptions import MapValueError, SetTypeError, UnsupportedError, UsageError
from pyop2cxx.iteration import items_of
from pyop2cxx.runtime import runtime
from pyop2cxx.types.access import INC, MAX, MIN, READ, WRITE
from pyop2cxx.types.args import ConstantArg, DatArg, GlobalArg
from pyop2cxx.types.sets import Set
from pyop2cxx.types.subsets import Subset

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyop2cxx.symbolic import Arg
    from pyop2cxx.types.checks import Array


def run(function: Callable[..., object], iterset: Set, args: tuple[Arg, ...]) -> None:
    """Call a Python function for each owned entity of a Set, in order.

    The function gets an array for each argument, packed by the same rules as a C kernel's: shape
    (*dim) for a direct Dat, (arity, *dim) for one behind a Map, (*dim) for a Global. INC and,
    behind a Map, WRITE arrays start at zero; those of READ arguments cannot be written.

    Args:
        function: The function.
        iterset: The Set, or a Subset, that is not extruded.
        args: The arguments, as for `par_loop`.

    Raises:
        SetTypeError: The Set is not a Set.
        UnsupportedError: It is extruded, or an argument is of a kind that has no arrays.
        MapValueError: A Dat or Map belongs to another Set, or a Map has no values.
    """
    what = f"par_loop '{getattr(function, '__name__', 'function')}'"
    if not isinstance(iterset, Set):
        raise SetTypeError(f"{what}: the second argument must be a Set, got {iterset!r}")
    runtime.require_running(what, "par_loop")
    items = items_of(iterset, None, False, what)
    if items.extruded:
        raise UnsupportedError(f"{what}: Python functions run over Sets that are not extruded")
    for i, arg in enumerate(args):
        _check(arg, iterset, items.whole, f"{what}: arg {i}")
    elements = iterset.owned_indices if isinstance(iterset, Subset) else range(iterset.size)
    places = [_place(arg) for arg in args]
    for n in elements:
        packs = [
            _packed(arg, values, rows, n) for arg, (values, rows) in zip(args, places, strict=True)
        ]
        function(*packs)
        for arg, (values, rows), pack in zip(args, places, packs, strict=True):
            if arg.access != READ:
                _unpack(arg, values, rows, n, pack)


def _check(arg: Arg, iterset: Set, whole: Set, what: str) -> None:
    if not isinstance(arg, DatArg | GlobalArg | ConstantArg):
        if hasattr(arg, "access"):
            raise UnsupportedError(f"{what}: Python functions take Dats, Globals and Constants")
        raise UsageError(f"{what} must be made by calling a Dat or Global, got {arg!r}")
    if not isinstance(arg, DatArg):
        return
    start = arg.data.dataset.set if arg.map_ is None else arg.map_.iterset
    if start is not whole:
        raise MapValueError(
            f"{what} belongs to Set '{start.name}', but the loop runs over '{iterset.name}'"
        )
    if arg.map_ is not None:
        _ = arg.map_.values  # raises if there are none


def _place(arg: Arg) -> tuple[Array, Array | None]:
    """Return an argument's values, and the rows of its Map."""
    data: Any = arg.data
    if arg.access == READ:
        values = data.data_ro_with_halos if isinstance(arg, DatArg) else data.data_ro
    else:
        values = data.data_with_halos
    return values, None if arg.map_ is None else arg.map_.values_with_halo  # type: ignore[return-value, union-attr]


def _packed(arg: Arg, values: Array, rows: Array | None, n: int) -> Array:
    """Return what the function gets: a live view, or an array of its own."""
    access = arg.access
    if rows is not None:
        if access in (INC, WRITE):
            return np.zeros((rows.shape[1], *values.shape[1:]), values.dtype)
        pack: Array = values[rows[n]]
        pack.flags.writeable = access != READ
        return pack
    if isinstance(arg, DatArg):
        return values[n, ...]  # of a value without dims too, a view
    return np.zeros_like(values) if access == INC else values


def _unpack(arg: Arg, values: Array, rows: Array | None, n: int, pack: Array) -> None:
    """Bring what the function left in an array of its own back."""
    if rows is None:
        if isinstance(arg, GlobalArg) and arg.access == INC:
            values += pack
    elif arg.access == INC:
        np.add.at(values, rows[n], pack)
    elif arg.access == MIN:
        np.minimum.at(values, rows[n], pack)
    elif arg.access == MAX:
        np.maximum.at(values, rows[n], pack)
    else:
        values[rows[n]] = pack
