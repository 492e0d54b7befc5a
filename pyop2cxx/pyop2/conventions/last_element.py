# SPDX-License-Identifier: BSD-3-Clause
"""Loops that overwrite a Global, as PyOP2 runs them without its checks of types.

Each element overwrites the Global, so the last one decides. If all other arguments are read, only
the last element has to be computed: the Global is zeroed, and the element adds its values.
Firedrake interpolates into Real spaces by such loops.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from pyop2cxx.base.access import INC, READ, WRITE
from pyop2cxx.base.regions import ON_TOP
from pyop2cxx.data.constants import GlobalArg
from pyop2cxx.exceptions import KernelWarning, UnsupportedError
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.sets.extruded import ExtrudedSet
from pyop2cxx.sets.sets import Subset

if TYPE_CHECKING:
    from pyop2cxx.kernel.kernel import Kernel
    from pyop2cxx.sets.entities import SetPartition
    from pyop2cxx.sets.sets import Set


class LastElement(ParLoop):
    """A loop over the last element of a Set, with Globals that are overwritten.

    Args:
        kernel: As of `ParLoop`.
        iterset: The Set; an empty one leaves the Globals as they are.
        *args: Globals with WRITE, and other arguments with READ.
        **options: As of `ParLoop`.

    Raises:
        UnsupportedError: Another argument is written, several processes share the Set, the last
            cell of an extruded Set is unknown, or a part of the loop is run.
    """

    def __init__(self, kernel: Kernel, iterset: Set, *args: Any, **options: Any) -> None:
        what = f"par_loop '{kernel.name}': a Global is overwritten (WRITE), so"
        self._written = tuple(i for i, arg in enumerate(args) if _is_written(arg))
        for i, arg in enumerate(args):
            if i not in self._written and getattr(arg, "access", READ) is not READ:
                raise UnsupportedError(f"{what} argument {i} must be READ; make two loops")
        if iterset.ranks is not None:
            raise UnsupportedError(f"{what} the loop runs on a single process")
        whole = iterset.superset if isinstance(iterset, Subset) else iterset
        if isinstance(whole, ExtrudedSet):
            if not whole.constant_layers or options.get("iteration_region") is not None:
                raise UnsupportedError(f"{what} columns must be equal, and computed whole")
            options = {**options, "iteration_region": ON_TOP}
        last = iterset.indices[: iterset.size][-1:]
        self._is_empty = len(last) == 0
        args = tuple(GlobalArg(a.data, INC) if _is_written(a) else a for a in args)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KernelWarning)  # the kernel may assign: zeros are added
            super().__init__(kernel, Subset(whole, last), *args, **options)

    def compute(self, part: SetPartition | None = None) -> None:
        """Overwrite the Globals: see `ParLoop.compute`."""
        if part is not None:
            raise UnsupportedError(f"{self.label}: a Global is overwritten; compute all elements")
        if not self._is_empty:
            for i in self._written:
                written: Any = self.args[i].data
                written.zero()
            super().compute()


def _is_written(arg: Any) -> bool:
    return isinstance(arg, GlobalArg) and arg.access is WRITE
