# SPDX-License-Identifier: BSD-3-Clause
"""Operations on all values of a Dat: assignment, sum and extremes."""

from __future__ import annotations

from operator import setitem
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.arrays import as_array, as_copy
from pyop2cxx.base.conversions import check_casting, first_unfit, limits
from pyop2cxx.base.moves import first_unfit_row, kind_of
from pyop2cxx.data.algebra import Algebra, at_device, n_threads, unfit
from pyop2cxx.data.exact import exact_total
from pyop2cxx.exceptions import DataTypeError, DataValueError, UsageError
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.seams import device_algebra

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from pyop2cxx.base.arrays import Array

LAYOUTS = ("auto", "aos", "soa")
"""Values of `layout` in `Dat`."""


class WholeValues:
    """Members of `Dat` that treat all values alike."""

    @property
    def global_data(self: Any) -> Array:
        """A copy of the owned entities' values of all processes, in the order of their ranks.

        Shape (n, *dim), where n is `set.size` added over the processes.
        """
        mine = as_copy(self.data_ro, self.label)
        ranks = self.set.ranks
        found: Array = mine if ranks is None else np.concatenate(self._of_all(ranks, mine))
        return found

    def _of_all(self: Any, ranks: Any, mine: Any) -> list[Any]:
        found: list[Any] = runtime.processes.all_of(ranks, mine, f"the values of {self.label}")
        return found

    def gathered(self: Any) -> Array:
        """Return a copy of the values of the whole Set, in the numbers before `op2.distribute`.

        All processes must call this, and all get the values; shape (set.global_size, *dim).
        """
        home, mine = self.set, as_copy(self.data_ro, self.label)
        ranks = home.ranks
        if ranks is None or not home.is_distributed:
            return mine
        pieces = self._of_all(ranks, (home.global_numbers[: home.size], mine))
        found = np.empty((sum(len(one) for one, _ in pieces), *mine.shape[1:]), mine.dtype)
        for numbers, values in pieces:
            found[numbers] = values
        return found

    def assign(
        self: Any, value: ArrayLike | Algebra, subset: Any = None, *, casting: str = "fitting"
    ) -> None:
        """Set the values of the owned entities.

        Args:
            value: A number for all, or a Global with a single value, kept on the device; a Dat on
                the same Set; or an array of shape (set.size, *dim), for a Subset (subset.size,
                *dim).
            subset: If given, only the owned entities of the Subset are set.
            casting: As for `copy`; with ``"exact"`` or ``"unsafe"`` a Global is waited for.

        Raises:
            MapValueError: The Dat, or the subset, is on another Set.
            DataValueError: The array has another number of values, or a value does not fit the
                dtype.

        Example:
            >>> from pyop2cxx import op2
            >>> cells = op2.Set(3)
            >>> q = op2.Dat(cells)
            >>> q.assign(2)
            >>> q.assign([5], subset=op2.Subset(cells, [1]))
            >>> q.data_ro.tolist()
            [2.0, 5.0, 2.0]
        """
        runtime.require_running(self.label, "assign")
        check_casting(casting, f"{self.label}: assign")
        if subset is not None:
            self._check_subset(subset)
        if casting != "fitting" and isinstance(value, Algebra) and value.kind == "Global":
            value = value.data_ro.reshape(()) if value.cdim == 1 else value.data_ro  # type: ignore[attr-defined]
        if isinstance(value, Algebra):
            if value.kind == "Global":
                single = self._number(value, "assign")
                self._check_held(single, "assign")
                self._fill(single, subset)
            else:
                value.copy(self, subset, casting=casting)
        elif np.ndim(value) == 0:
            number = as_array(value, self._dtype, (), f"{self.label}: assign", casting)
            self._fill(number, subset)
        else:
            n = self.set.size if subset is None else len(subset.owned_indices)
            shape = (n, *self.shape_for("assign")[1:])
            found = as_array(value, self._dtype, shape, f"{self.label}: assign", casting)
            self._assign_values(found, subset, whole=False)

    def check_fits(
        self: Any,
        other: Any,
        subset: Any,
        operation: str = "copy",
        casting: str = "fitting",
    ) -> None:
        """Check for a copy without loss; only a device's count of losses is waited for."""
        if casting == "fitting" and limits(self._dtype, other.dtype) is None:
            return
        self.settle(write=False)
        is_there = casting == "fitting" and at_device(self, write=False)
        counted = device_algebra().n_unfit(self, other.dtype, subset) if is_there else None
        if counted == 0:
            return
        values = self._brought(_core.Use.read, "copy", is_explicit=counted is not None)
        if subset is None and not self.halo_valid:
            values = values[: self.set.size]
        rows = None if subset is None else subset.owned_indices
        row = first_unfit_row(values, other.dtype, casting, n_threads(), rows)
        if row is None:
            return
        entity = row if rows is None else int(rows[row])
        place = first_unfit(values[entity], other.dtype, casting) or ()
        index = (entity, *place)
        if operation != "copy":
            raise unfit(other, operation, values[index], index)
        at = f" at {list(place)}" if self._cdim > 1 else ""
        lost = "fit into" if casting == "fitting" else "keep all digits in"
        raise DataValueError(
            f"{self.label}: copy: the value {values[index]} of entity "
            f"{self.set.number_of(entity)}{at} does not {lost} {other.dtype.name} of "
            f"{other.label}; nothing was copied. Pass casting='unsafe' to convert it all the same"
        )

    def _fill(self: Any, number: Any, subset: Any) -> None:
        """Set values to a number, including ghosts if there is no subset."""
        is_there = at_device(self) and subset is None and self.stride == 0
        if is_there and device_algebra().combine("=", self, number, None, whole=True):
            self.numbering = self.set.numbering
            self.halo_valid = True
            return
        single = number.data_ro.reshape(()) if isinstance(number, Algebra) else number  # type: ignore[attr-defined]
        self._assign_values(single, subset, whole=True)
        if subset is None:
            self.halo_valid = True

    def _assign_values(self: Any, values: Any, subset: Any, *, whole: bool) -> None:
        if subset is None:
            target, at = self.data_wo_with_halos if whole else self.data_wo, ...
        else:
            target, at = self.view("data", whole=False, write=True), subset.owned_indices
        runtime.engine.operations.done("assign", self._dtype, setitem, target, at, values)

    def sum(self) -> Any:
        """Return the sum over the owned entities; float32 is added in float64.

        Returns:
            A number; or an array of shape `dim`, where entities have several values.

        Example:
            >>> from pyop2cxx import op2
            >>> op2.Dat(op2.Set(3) ** 2, [[1, 2], [3, 4], [5, 6]]).sum().tolist()
            [9, 12]
        """
        return self._reduced("sum")

    def min(self) -> Any:
        """Return the least value of the owned entities, of each component.

        A NaN makes the result NaN, as in `sum` and `norm`: `np.fmin.reduce(dat.data_ro)` and loops
        with a minimum ignore NaN.

        Returns:
            As `sum`.

        Raises:
            DataTypeError: Values are complex.
            DataValueError: There are none.
        """
        return self._reduced("min")

    def max(self) -> Any:
        """Return the greatest value of the owned entities, as `min`.

        Raises:
            DataTypeError: Values are complex.
            DataValueError: There are none.
        """
        return self._reduced("max")

    def _reduced(self: Any, what: str) -> Any:
        runtime.require_running(self.label, what)
        self.check_summed(what)
        if what != "sum":
            if self._dtype.kind == "c":
                raise DataTypeError(f"{self.label}: '{what}' of complex values is not defined")
            if self._cdim == 0 or (self.set.size == 0 and self.ranks is None):
                raise DataValueError(f"{self.label}: '{what}' of no values is not defined")
        if what == "sum" and kind_of(self._dtype) in "fc" and runtime.same_on_ranks:
            values = self.data_ro
            rows = values.reshape(len(values), self._cdim)
            exact = exact_total(rows, self.ranks, self.label).reshape(values.shape[1:])
            return exact.reshape(())[()] if self._cdim == 1 else exact
        found = device_algebra().reduced(self, what) if at_device(self, write=False) else None
        if found is None:
            found = _reduced_on_host(self.data_ro, what)
        if self.ranks is not None:
            found = self._over_ranks(found, what)
        return found.reshape(())[()] if self._cdim == 1 else found

    def _over_ranks(self: Any, found: Array, what: str) -> Array:
        """Combine the results of all processes, also of those without entities."""
        combined, ranks = runtime.processes.combined, self.ranks
        if what != "sum" and not combined(ranks, np.array(self.set.size), "sum", f"{self.label}"):
            raise DataValueError(f"{self.label}: '{what}' of no values is not defined")
        return combined(ranks, found, what, self.label)


def _reduced_on_host(values: Array, what: str) -> Array:
    if what == "sum":
        kept: Array = np.asarray(values.sum(axis=0, dtype=sum_dtype(values.dtype)))
        return kept
    take = np.minimum if what == "min" else np.maximum
    if len(values) == 0:  # of a process without entities
        return np.full(values.shape[1:], start_of(what, values.dtype), values.dtype)
    return np.asarray(take.reduce(values, axis=0))


def start_of(what: str, dtype: np.dtype[Any]) -> Any:
    """Return the neutral value of a sum, minimum or maximum."""
    if what == "sum":
        return 0
    if kind_of(dtype) == "f":
        return np.inf if what == "min" else -np.inf
    limits = np.iinfo(np.uint8 if dtype.kind == "b" else dtype)
    return limits.max if what == "min" else limits.min


def sum_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of sums: the widest of the kind."""
    wide = {"f": np.float64, "c": np.complex128, "i": np.int64, "u": np.uint64, "b": np.int64}
    return np.dtype(wide[kind_of(dtype)])


def checked_layout(layout: object, what: str) -> str:
    """Return a layout of values in memory, checked."""
    if isinstance(layout, str) and layout in LAYOUTS:
        return layout
    raise UsageError(f"{what}: there is no layout {layout!r}; there are: {', '.join(LAYOUTS)}")


def of_copy(
    source: Any,
    data: ArrayLike | None,
    dtype: DTypeLike | None,
    name: str | None,
    copy: bool | None,
) -> tuple[str, ArrayLike | None, DTypeLike]:
    """Return name, data and dtype of a Dat made of another; zeros never requested stay so.

    Args:
        source: The Dat.
        data: As given beside the Dat; only None will do.
        dtype: The wanted dtype; None means the Dat's.
        name: The wanted name.
        copy: As given; False is refused.

    Raises:
        UsageError: Data are given, or no copy is wanted.
    """
    if data is not None:
        raise UsageError(
            f"Dat('{source.name}', data): a copy takes the values of the Dat; pass its dataset to "
            "give other ones"
        )
    if copy is False:
        raise UsageError(f"Dat('{source.name}', copy=False): a Dat made of another one is a copy")
    source.bring_if_any("copy")
    values = None if source.host_values is None else as_copy(source.host_values, source.label)
    kind = source.dtype if dtype is None else dtype
    return f"copy_of_{source.name}" if name is None else name, values, kind
