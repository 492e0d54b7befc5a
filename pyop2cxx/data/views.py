# SPDX-License-Identifier: BSD-3-Clause
"""Views of a single component of a Dat, as an argument of loops and as arrays."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.arrays import is_integer
from pyop2cxx.data.algebra import at_device
from pyop2cxx.data.dats import Dat
from pyop2cxx.exceptions import ContractError, DatTypeError, IndexTypeError, IndexValueError
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.seams import device_algebra
from pyop2cxx.runtime.tracebacks import ends_tracebacks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.data.dats import SubsetLike


@ends_tracebacks("__init__")
class DatView(Dat):
    """A component of a Dat: the same memory, and a single value on each entity.

    Args:
        dat: The Dat.
        index: Of the component: an integer for each entry of the Dat's dim.

    Raises:
        DatTypeError: The first argument is not a Dat.
        IndexTypeError: The index is not an integer or several.
        ContractError: The index does not have an integer for each entry of the dim.
        IndexValueError: The component does not exist.

    Example:
        >>> from pyop2cxx import op2
        >>> q = op2.Dat(op2.Set(2) ** 3)
        >>> DatView(q, 1).data[:] = 7
        >>> q.data_ro.tolist()
        [[0.0, 7.0, 0.0], [0.0, 7.0, 0.0]]
    """

    kind = "DatView"

    def __init__(self, dat: Dat, index: int | Iterable[int]) -> None:
        if not isinstance(dat, Dat):
            raise DatTypeError(f"DatView: expected a Dat, got {dat!r} of type {type(dat).__name__}")
        if isinstance(dat, DatView):
            raise DatTypeError(f"{dat.label} is a view of one value already; view its parent")
        place = _as_index(dat, index)
        if not runtime.static:
            dat.allocated("DatView")
        self.uid = runtime.next_uid()
        self._name = f"view_{list(place)}_of_{dat.name}"
        self._parent = dat
        self._index = place
        self.component = int(np.ravel_multi_index(place, dat.dim))
        self.stride = dat.cdim
        self._dataset = dat.dataset
        self.set = dat.dataset.set
        self._cdim = 1
        self._dtype = dat.dtype
        self._compute = dat.stored_apart
        self.buffer = dat.buffer
        self.lent_out = dat.lent_out
        self._layout = dat.layout
        self._checked = {}

    def lent(self, *, write: bool) -> tuple[Array, bool]:
        """Show the values to another library; returns the array, and whether writes are counted."""
        return (self.data if write else self.data_ro), False

    def __del__(self) -> None:
        """Leave the parent's memory alone."""

    @property
    def parent(self) -> Dat:
        """The Dat."""
        return self._parent

    @property
    def index(self) -> tuple[int, ...]:
        """Index of the component, an integer for each entry of the parent's dim; tuple of int."""
        return self._index

    @property
    def dim(self) -> tuple[int, ...]:
        """The shape of the values on each entity: ``(1,)``."""
        return (1,)

    @property
    def numbering(self) -> int:
        """Numbering of the parent's values."""
        return self._parent.numbering

    @numbering.setter
    def numbering(self, numbering: int) -> None:
        """Do nothing: the other components keep their numbering."""

    @property
    def halo_valid(self) -> bool:
        """Whether the ghosts of the parent are up to date."""
        return self._parent.halo_valid

    @halo_valid.setter
    def halo_valid(self, valid: bool) -> None:
        self._parent.halo_valid = valid

    @property
    def exchanged(self) -> Dat:
        """The whole Dat."""
        return self._parent

    @property
    def frozen(self) -> Any:
        """Access of the parent while its halo is frozen."""
        return self._parent.frozen

    @frozen.setter
    def frozen(self, access: Any) -> None:
        self._parent.frozen = access

    @property
    def host_values(self) -> Array | None:  # type: ignore[override]
        """Component of the parent's array, None if not yet allocated."""
        values = self._parent.host_values
        return None if values is None else self._component_of(values)

    def _component_of(self, values: Array) -> Array:
        return values.reshape(len(values), prod(values.shape[1:]))[:, self.component]

    def allocated(self, member: str) -> Array:
        """Return the whole array on the host, zeros if not yet allocated."""
        return self._component_of(self._parent.allocated(member))

    def view(self, member: str, *, whole: bool, write: bool) -> Array:
        """Return the values on the host, for a member of the public interface."""
        # the other components must survive
        kept = member.replace("_wo", "")
        view = self._component_of(self._parent.view(kept, whole=whole, write=write))
        return self.lent_out.lend(view) if write else view

    def zero(self, subset: SubsetLike | None = None) -> None:
        """Set the values to zero; other components stay. See `Dat.zero`."""
        if subset is not None:
            super().zero(subset)
            return
        runtime.require_running(self.label, "zero")
        if not (at_device(self) and device_algebra().zero(self, None)):
            self.data_with_halos[...] = 0
        self.halo_valid = True

    def shape_for(self, member: str) -> tuple[int, ...]:
        """Return the shape with ghosts, for a member; error if the Set has no size."""
        return self._parent.shape_for(member)[:1]

    @property
    def nbytes(self) -> int:
        """The bytes of the values, without other components between them."""
        return self._dtype.itemsize * self.shape_for("nbytes")[0]

    def __reduce__(self) -> tuple[Any, ...]:
        return (DatView, (self._parent, self._index))

    def __str__(self) -> str:
        return f"OP2 DatView: component {list(self._index)} of ({self._parent})"

    def __repr__(self) -> str:
        return f"DatView({self._parent!r}, {self._index!r})"


def _as_index(dat: Dat, index: int | Iterable[int]) -> tuple[int, ...]:
    what = f"DatView of {dat.label}"
    try:
        place = (index,) if is_integer(index) else tuple(index)  # type: ignore[arg-type]
    except TypeError:
        place = (None,)  # type: ignore[assignment]
    if not all(is_integer(i) for i in place):
        raise IndexTypeError(
            f"{what}: the index must be an integer or a tuple of integers, got {index!r}"
        )
    if len(place) != len(dat.dim):
        raise ContractError(
            f"{what} of dim {dat.dim}: the index needs {len(dat.dim)} integers, got {index!r}"
        )
    if not all(0 <= i < n for i, n in zip(place, dat.dim, strict=True)):
        raise IndexValueError(f"{what} of dim {dat.dim}: there is no component {index!r}")
    return tuple(int(i) for i in place)
