# SPDX-License-Identifier: BSD-3-Clause
"""Sums and extremes of a Dat on a device, by a loop over the Set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx.base.access import INC, MAX, MIN, READ
from pyop2cxx.base.arrays import c_name
from pyop2cxx.base.moves import seen_flat
from pyop2cxx.data.globals import Global
from pyop2cxx.data.whole import start_of, sum_dtype
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.loop.run import par_loop
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.communicators import ALONE
from pyop2cxx.runtime.frames import render
from pyop2cxx.runtime.memo import until_exit

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.data.dats import Dat

_ACCESS = {"sum": INC, "min": MIN, "max": MAX}
_SIGN = {"sum": "", "min": "<", "max": ">"}


def reduced(dat: Dat, what: str) -> Array | None:
    """Return the sum, or the least or greatest values, over the owned entities.

    Args:
        dat: A Dat with values on the device.
        what: "sum", "min" or "max".

    Returns:
        Shape `dim`; None if impossible on the device.
    """
    dtype = sum_dtype(dat.dtype) if what == "sum" else seen_flat(dat.dtype)
    start = np.full(dat.dim, start_of(what, dtype), dtype)
    found = Global(dat.dim, start, dtype, "reduced", ALONE)
    found.to_device()  # requested by the call, like the way back
    # the minimum of a number and NaN is the number, on all devices: so NaNs are counted
    counts_nan = what != "sum" and dtype.kind == "f"
    n_nan = Global(dat.dim, 0, np.int64, "n_nan", ALONE)
    args = [found(_ACCESS[what])]
    if counts_nan:
        n_nan.to_device()
        args.append(n_nan(INC))
    kernel = _kernel(what, c_name(dat.compute), c_name(dtype), dat.cdim, counts_nan)
    try:
        with runtime.at_once():
            par_loop(kernel, dat.dataset.set, dat(READ), *args)
    except UnsupportedError:
        return None  # for example, no float64 on the device
    found.to_host()
    values = np.array(found.data_ro)
    if counts_nan:
        n_nan.to_host()
        values[n_nan.data_ro > 0] = np.nan
    return values


@until_exit(64)
def _kernel(what: str, c_type: str, c_wide: str, width: int, counts_nan: bool) -> Kernel:
    loop = {"is_loop": width > 1, "width": width}
    types = {"type": c_type, "wide": c_wide, "counts_nan": counts_nan}
    text = render("kernels/reduce.c.j2", {"what": what, "sign": _SIGN[what], **types, **loop})
    return Kernel(text, f"algebra_{what}", abi="2026").written_here()
