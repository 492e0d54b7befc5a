# SPDX-License-Identifier: BSD-3-Clause
"""A scan's operation written by the user: a kernel that joins two values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.access import READ, RW
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.globals import Global
from pyop2cxx.exceptions import DataValueError, UsageError
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.runtime.communicators import ALONE
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from pyop2cxx.kernel.kernel import Kernel


class Join:
    """A kernel that joins a value with the value behind, and the neutral value.

    Args:
        kernel: Takes the joined values so far, RW, and a row, READ.
        identity: The neutral value: a number for all components, or an array of shape `source.dim`.
        source: Rows of the scan.
        target: Target of the scan.

    Attributes:
        kernel: The kernel on flat pointers, by a wrapper if necessary.
        name: Name of the user's kernel.
        identity: The neutral value as a Global, in the dtype of kernels.
        constants: Consts named in the kernel.

    Raises:
        UsageError: The kernel does not take two values of that dim and dtype, or writes to the row.
        DataValueError: The dtypes of source and target differ, or the neutral value does not fit.
    """

    def __init__(self, kernel: Kernel, identity: Any, source: Dat, target: Dat) -> None:
        self.name = kernel.shown_name
        where = f"graph: then_scan by '{self.name}'"
        if (source.dtype, source.compute) != (target.dtype, target.compute):
            shown = [
                f"'{dat.name}' is {dat.dtype}, computed in {dat.compute}"
                for dat in (source, target)
            ]
            raise DataValueError(
                f"{where}: {shown[0]}, but {shown[1]}; give the target the same dtypes, and "
                "convert by then_copy"
            )
        self.identity = _neutral(identity, source, where)
        one = Set(1, "one")
        pair = [Dat(one**source.dim, None, source.compute, name) for name in ("joined", "row")]
        facts = kernel.facts
        if facts is not None and len(facts.parameters) == 2 and facts.parameters[1].is_written:
            raise UsageError(
                f"{where}: kernel line {facts.parameters[1].first_write_line} writes to "
                f"'{kernel.parameters[1].name}', the row; join into '{kernel.parameters[0].name}', "
                "the first parameter"
            )
        try:
            loop = ParLoop(kernel, one, pair[0](RW), pair[1](READ))
        except UsageError as error:
            raise UsageError(
                f"{where}: the kernel takes the values joined so far, and a row to join: {error}"
            ) from None
        self.kernel = loop.kernel
        self.constants = tuple(loop.symbolic().constants)


def _neutral(identity: Any, source: Dat, where: str) -> Global:
    """Return the neutral value in the dtype of kernels."""
    if identity is None:
        raise UsageError(
            f"{where}: identity is missing: the neutral value, so that joining it with any row "
            "gives the row, for example identity=0 for sums"
        )
    try:
        made = Global(source.dim, identity, source.compute, "identity", ALONE)
    except UsageError as error:
        raise DataValueError(
            f"{where}: identity has to be a number, or an array of shape {source.dim}, of dtype "
            f"{source.compute}, got {identity!r}: {error}"
        ) from None
    if made.dtype.kind in "iub" and not np.all(made.data_ro == np.asarray(identity)):
        raise DataValueError(
            f"{where}: identity={identity!r} does not fit {source.compute}, the dtype of "
            f"'{source.name}'"
        )
    return made
