# SPDX-License-Identifier: BSD-3-Clause
"""The contents of a matrix: blocks, sizes, values at the places of a Sparsity, and states."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, overload
from weakref import ref

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.arrays import (
    address_of,
    as_dtype,
    as_name,
    as_zeros,
    checked_compute,
    is_under_pyop2,
)
from pyop2cxx.base.blocks import row_of_each
from pyop2cxx.data.carrier import DataCarrier
from pyop2cxx.data.lent import may_wait
from pyop2cxx.exceptions import (
    AssemblyStateError,
    IndexValueError,
    SparsityFormatError,
    SparsityTypeError,
    UnsupportedError,
)
from pyop2cxx.interop import dlpack
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.memo import Memo
from pyop2cxx.runtime.tracebacks import ends_tracebacks
from pyop2cxx.sets.sparsities import Sparsity, block_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import DTypeLike

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.runtime.recorder import Recorder

_MOST_DENSE_ENTRIES = 1_000_000
_MOST_ROW_LOOPS = 32
_MAT_TYPES = (None, "aij", "baij", "nest", "dense")


@ends_tracebacks("__init__")
class MatValues(DataCarrier):
    """The values of a matrix; see `Mat`."""

    ASSEMBLED: ClassVar[str] = "ASSEMBLED"
    """Nothing is pending: the values may be read."""
    INSERT_VALUES: ClassVar[str] = "INSERT_VALUES"
    """Entries were set since the last `assemble`."""
    ADD_VALUES: ClassVar[str] = "ADD_VALUES"
    """Entries were added to since the last `assemble`."""

    def __init__(
        self,
        sparsity: Sparsity,
        dtype: DTypeLike | None = None,
        name: str | None = None,
        mat_type: str | None = None,
        sub_mat_type: str | None = None,
        *,
        compute: DTypeLike | None = None,
    ) -> None:
        if not isinstance(sparsity, Sparsity):
            raise SparsityTypeError(
                f"Mat: expected a Sparsity, got {sparsity!r} of type {type(sparsity).__name__}"
            )
        self.uid = runtime.next_uid()
        self._name = as_name(name, "Mat", f"mat_#x{self.uid:x}")
        self._sparsity = sparsity
        self._dtype = as_dtype("float64" if dtype is None else dtype, self.label)
        self._compute = checked_compute(compute, self._dtype, self.label)
        self._types = _as_types(mat_type, sub_mat_type, self.label)
        self.petsc_handle: Any = None
        self._state = MatValues.ASSEMBLED
        self.owner: Any = None
        self.whole: ref[Any] | None = None
        self.paths: dict[tuple[Any, ...], Any] = {}
        self.row_loops = Memo(_MOST_ROW_LOOPS)
        self.buffer = self._make_buffer(1 if self.is_mixed else self.cdim)
        self.host_values: Array | None = None
        self._scipy: Any = None
        runtime.processes.note(self)
        if sparsity.shape == (1, 1):
            self.parts: tuple[tuple[Any, ...], ...] = ()
            if not runtime.static:
                self._allocate()
            sparsity.mats.add(self)  # from here on the Sparsity keeps its places
            return
        self.parts = tuple(
            tuple(self._block(i, j) for j in range(sparsity.shape[1]))
            for i in range(sparsity.shape[0])
        )

    def _kind_of_block(self) -> type[Any]:
        return type(self)

    def _block(self, i: int, j: int) -> Any:
        name, kind = f"{self._name}_{i}_{j}", self._kind_of_block()
        places, apart = self._sparsity[i, j], self._compute
        made = kind(places, self._dtype, name, self.sub_mat_type, compute=apart)
        made.owner = None if self._sparsity.nested else self
        made.whole = ref(self)
        return made

    def on_sets(self) -> list[Any]:
        """Return the Sets of rows and columns."""
        return self._sparsity.on_sets()

    @property
    def is_distributed(self) -> bool:
        """Whether `op2.distribute` has shared the rows among processes."""
        return self._sparsity.is_distributed

    def become_shared(self, values: Array | None) -> None:
        """Have the values of this rank, at the places of the Sparsity; None means zeros."""
        self.lent_out.recall()
        self.paths.clear()
        self.row_loops.clear()
        self._scipy = None
        self._allocate()
        if values is not None:
            self.stored("op2.distribute", write=True)[...] = values

    def refuse_shared(self, member: str) -> None:
        """Raise if the rows are shared by processes.

        Raises:
            UnsupportedError: `op2.distribute` has shared the rows.
        """
        if self.is_distributed:
            raise UnsupportedError(
                f"{self.label}: '{member}' of a matrix shared by processes, which has rows of "
                "this one only; mat.gathered() is the whole matrix"
            )

    def refuse_bits(self, member: str) -> None:
        """Raise if sums along shared rows must have equal bits on any number of processes.

        Raises:
            UnsupportedError: Columns of a process are in an order of its own.
        """
        if self.is_distributed and runtime.same_on_ranks:
            raise UnsupportedError(
                f"{self.label}: '{member}' of a matrix shared by processes adds in the order of "
                "the columns of a process, and deterministic='ranks' was asked for; take "
                "deterministic=True, or mat.gathered()"
            )

    def _allocate(self) -> None:
        rows, cols = self.block_dims
        shape = (len(self._sparsity.colidx), rows, cols)
        values = self.host_values = as_zeros(shape, self._dtype, self.label)
        self.buffer.reset(address=address_of(values), n_bytes=values.nbytes, is_zero=True)

    # Blocks

    @property
    def _blocks(self) -> tuple[tuple[Any, ...], ...]:
        # not stored: large arrays should go when the last reference does
        return self.parts or ((self,),)

    @property
    def comm(self) -> Any:
        """The communicator of the rows."""
        return self._sparsity.comm

    @property
    def sparsity(self) -> Sparsity:
        """Where there may be values."""
        return self._sparsity

    @property
    def split(self) -> tuple[Any, ...]:
        """The blocks, by rows; tuple."""
        return tuple(self)

    @property
    def blocks(self) -> tuple[tuple[Any, ...], ...]:
        """The blocks, by rows; for a matrix without blocks the matrix alone; nested tuple."""
        return self._blocks

    @overload  # type: ignore[override]  # a row has several blocks
    def __getitem__(self, index: tuple[int, int]) -> Any: ...

    @overload
    def __getitem__(self, index: int) -> tuple[Any, ...]: ...

    def __getitem__(self, index: Any) -> Any:
        """Return a block, or, for a single index, a row of blocks."""
        return block_at(self._blocks, index, self.label)

    def __iter__(self) -> Iterator[Any]:
        for row in self._blocks:
            yield from row

    @property
    def is_mixed(self) -> bool:
        """Whether there are several blocks."""
        return self._sparsity.shape != (1, 1)

    # Sizes

    @property
    def dims(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """Scalars of a row entity and of a column entity, by block; nested tuple, [i][j] a pair."""
        return self._sparsity.dims

    @property
    def block_dims(self) -> tuple[int, int]:
        """Scalars of a row entity and of a column entity, if not mixed; tuple of int."""
        self._plain("block_dims")
        return self.dims[0][0]

    @property
    def cdim(self) -> int:
        """Scalars at each place."""
        return prod(self.block_dims)

    @property
    def nrows(self) -> int:
        """Owned scalar rows; under the name ``pyop2`` without those of constrained entities."""
        return self._n_owned(0)

    @property
    def ncols(self) -> int:
        """Owned scalar columns, as `nrows`."""
        return self._n_owned(1)

    def _n_owned(self, side: int) -> int:
        is_cut = is_under_pyop2()  # PyOP2 shows PETSc's matrix, our algebra the whole one
        return sum(
            int(part.set.size - (part.set.constrained_size if is_cut else 0)) * int(part.cdim)
            for part in self._sparsity.dsets[side]
        )

    @property
    def nblock_rows(self) -> int:
        """Owned rows of blocks."""
        self._plain("nblock_rows")
        return int(self._sparsity.dsets[0].set.size)

    @property
    def nblock_cols(self) -> int:
        """Owned columns of blocks."""
        self._plain("nblock_cols")
        return int(self._sparsity.dsets[1].set.size)

    @property
    def nblocks(self) -> int:
        """Blocks of a mixed matrix."""
        return prod(self._sparsity.shape)

    @property
    def nbytes(self) -> int:
        """The bytes of the values."""
        if self.is_mixed:
            return sum(block.nbytes for block in self)
        return int(self._sparsity.rowptr[-1]) * self.cdim * self._dtype.itemsize

    def _plain(self, member: str) -> None:
        if self.is_mixed:
            raise SparsityFormatError(
                f"{self.label}: '{member}' of a mixed matrix; ask one of its blocks: "
                f"mat[i, j].{member}"
            )

    # Assembly state

    @property
    def assembly_state(self) -> str:
        """ASSEMBLED, INSERT_VALUES or ADD_VALUES: the uses by loops since `assemble`."""
        return self._state if self.owner is None else self.owner.assembly_state

    def change_assembly_state(self, new_state: str) -> None:
        """Announce the next kind of use; changing between setting and adding flushes values."""
        if self.owner is not None:
            self.owner.change_assembly_state(new_state)
            return
        pending = MatValues.ASSEMBLED not in (new_state, self._state)
        if pending and new_state != self._state:
            self._flush_assembly()
        self._state = new_state

    def _flush_assembly(self) -> None:
        """Bring pending values of other processes to them: without MPI there are none."""

    def assemble(self) -> None:
        """Note the end of an assembly by loops and calls."""
        self.change_assembly_state(MatValues.ASSEMBLED)
        if self.is_mixed and self._sparsity.nested:
            for block in self:
                block.assemble()
        if self.petsc_handle is not None:
            self.petsc_handle.refresh(self)

    @property
    def mat_type(self) -> str | None:
        """Type of the PETSc matrix, if the program chose: see `Mat`."""
        return self._types[0]

    @property
    def sub_mat_type(self) -> str | None:
        """Type of the PETSc matrix of each block, if the program chose."""
        return self._types[1]

    @property
    def dat_version(self) -> int:
        """Version, increased by each use that may write.

        Raises:
            AssemblyStateError: The matrix is not assembled.
        """
        if self.assembly_state is not MatValues.ASSEMBLED:
            raise AssemblyStateError(
                f"{self.label}: the version of a matrix that is not assembled; call assemble()"
            )
        for block in self:
            block.settle(write=False)
        return sum(block.buffer.version for block in self)

    def increment_dat_version(self) -> None:
        """Note a change of the values by other means."""
        for block in self:
            block.buffer.increment_version()

    # Values

    @property
    def array(self) -> Array:
        """The values in the order of the Sparsity's places, writeable; shape (n * rows * cols,)."""
        self.refuse_shared("array")
        return self.lent_out.lend(self.stored("array", write=True).reshape(-1))

    @property
    def values(self) -> Array:
        """The matrix as a dense array, a copy; shape (nrows, ncols).

        Raises:
            SparsityFormatError: The array would have more than a million entries.
        """
        self.refuse_shared("values")
        shape = (self.n_stored(0), self.n_stored(1))
        if prod(shape) > _MOST_DENSE_ENTRIES:
            raise SparsityFormatError(
                f"{self.label}: a dense array of {shape[0]} x {shape[1]} values is more than a "
                "million; use to_scipy()"
            )
        if self.is_mixed:
            return np.block([[block.values for block in row] for row in self._blocks])
        values, sparsity = self.stored("values", write=False), self._sparsity
        rows, cols = self.block_dims
        dense = np.zeros((shape[0] // rows, rows, shape[1] // cols, cols), self._dtype)
        dense[row_of_each(sparsity.rowptr), :, sparsity.colidx, :] = values
        whole = dense.reshape(shape)
        return whole[: self.nrows, : self.ncols] if is_under_pyop2() else whole

    def n_stored(self, side: int) -> int:
        """Return the number of scalar rows (side 0) or columns (side 1), with ghosts."""
        return sum(int(p.set.total_size) * int(p.cdim) for p in self._sparsity.dsets[side])

    def allocated(self, member: str) -> Array:
        """Return the values as they lie on the host, up to date or not."""
        runtime.require_running(self.label, member)
        self._plain(member)
        if self.host_values is None:
            self._allocate()
        assert self.host_values is not None  # allocated above
        return self.host_values

    def stored(self, member: str, *, write: bool) -> Array:
        """Return the stored entries on the host, for reading or writing."""
        values = self.allocated(member)
        self.use_on_host(_core.Use.read_write if write else _core.Use.read, member)
        if write:
            self.buffer.increment_version()
        return values

    def find_entry(self, row: int, cols: Array) -> Array:
        """Return the places of columns among the stored entries of a row."""
        begin, end = self._sparsity.rowptr[row : row + 2]
        there = self._sparsity.colidx[begin:end]
        at = np.searchsorted(there, cols)
        known = np.append(there, -1)  # no column is -1: places behind the last are missing
        missing = np.flatnonzero(known[at] != cols)
        if missing.size:
            raise IndexValueError(
                f"{self.label}: row {row} has no place for column {cols[missing[0]]}"
            )
        found: Array = begin + at
        return found

    # Memory shared with other libraries: the values in the order of the Sparsity's places

    def host_array(self, member: str) -> Array:
        """Return the array on the host, up to date or not."""
        return self.allocated(member)

    def _shared_on_host(self) -> Array:
        self.refuse_shared("__dlpack__")
        return self.lent_out.lend(self.stored("__dlpack__", write=True)[...])

    def _shared_shape(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        shape = self.allocated("__dlpack__").shape
        return shape, dlpack.dense_strides(shape)

    @property
    def residence(self) -> str:
        """Where the values are valid, as of a Dat; 'mixed' if blocks are not alike."""
        for block in self:
            block.settle(write=False)
        found = {block.buffer.where.name for block in self}
        return found.pop() if len(found) == 1 else "mixed"

    def to_host(self) -> None:
        """Copy the values to the host if they are newer on a device.

        Raises:
            ExecutionError: A loop writing the values has failed.
        """
        for block in self:
            block.use_on_host(_core.Use.read, "to_host", is_explicit=True)

    def to_device(self) -> None:
        """Copy the values to the present device of loops; nothing happens on the host.

        Raises:
            ExecutionError: The device is full.
        """
        runtime.require_running(self.label, "to_device")
        device = runtime.device
        if device is not None:
            for block in self:
                block.put_on(device, _core.Use.read, "to_device")

    def zero(self) -> None:
        """Set all values to zero."""
        recorder = runtime.recorder
        if recorder is not None and recorder.takes_all:
            uses = [(block, True) for block in self]
            if recorder.takes_action(f"zero {self.name}", self.zero, *uses):
                return
        if recorder is None or self.is_mixed or not self._zero_is_taken(recorder):
            self._zero_blocks()
        self.forget_state()

    def _zero_is_taken(self, recorder: Recorder) -> bool:
        """Let a chain zero the values in order among the loops, if possible."""
        if not may_wait(recorder, (self.lent_out,)):
            return False
        uses = (self, True)
        return recorder.takes_action(f"zero {self._name}", self._zero_blocks, uses, zeroes=True)

    def _zero_blocks(self) -> None:
        for block in self:
            block.allocated("zero")
            block.settle(write=True)
            block.zero_values()
            block.buffer.increment_version()
        for one in {self, *self}:
            if one.petsc_handle is not None:
                one.petsc_handle.note_zero(one)

    def forget_state(self) -> None:
        """Treat the matrix as assembled: no values wait to be added or inserted."""
        self.change_assembly_state(MatValues.ASSEMBLED)
        if self.is_mixed and self._sparsity.nested:
            for block in self:
                block.forget_state()


def _as_types(mat_type: object, sub_mat_type: object, what: str) -> tuple[str | None, str | None]:
    for name, given in (("mat_type", mat_type), ("sub_mat_type", sub_mat_type)):
        if given not in _MAT_TYPES:
            known = ", ".join(repr(one) for one in _MAT_TYPES)
            raise UnsupportedError(f"{what}: {name} must be one of {known}, got {given!r}")
    return mat_type, sub_mat_type  # type: ignore[return-value]  # checked
