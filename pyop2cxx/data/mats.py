# SPDX-License-Identifier: BSD-3-Clause
"""Matrices: values at the places of a Sparsity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base import extras
from pyop2cxx.base.access import INC, WRITE, Access, checked_access
from pyop2cxx.base.arrays import as_array, is_under_pyop2, plain_array
from pyop2cxx.base.conversions import first_unfit
from pyop2cxx.data import mat_paths, mat_rows
from pyop2cxx.data.algebra import at_device
from pyop2cxx.data.carrier import older_form
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.globals import Global
from pyop2cxx.data.mat_algebra import MatAlgebra
from pyop2cxx.data.mat_products import multiply_on_host
from pyop2cxx.data.mat_ranks import gathered, numbers_by_rank
from pyop2cxx.data.mat_rows import Places
from pyop2cxx.data.mat_values import MatValues
from pyop2cxx.data.mixed_dats import MixedDat
from pyop2cxx.exceptions import (
    AssemblyStateError,
    DataTypeError,
    DataValueError,
    DatTypeError,
    IndexValueError,
    MapValueError,
    UsageError,
)
from pyop2cxx.interop import cupy, petsc_mats
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.seams import matrix_products
from pyop2cxx.runtime.tracebacks import ends_tracebacks
from pyop2cxx.sets.global_sets import GlobalDataSet
from pyop2cxx.sets.maps import unindexed
from pyop2cxx.sets.mixed_sets import MixedDataSet

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.data.mat_args import MatArg, MixedMatArg

    Vector = Dat | MixedDat | Global

MAT_ACCESSES = frozenset({WRITE, INC})


@ends_tracebacks("__call__")
class Mat(MatAlgebra, MatValues):
    """A matrix: a dense block of values at each place of a Sparsity. Equal only to the same object.

    Loops add element tensors (``INC``) or set entries (``WRITE``). The first loop over a pair of
    Maps finds the places of all entries of each element; later loops reuse them.

    Args:
        sparsity: Where there may be values.
        dtype: The dtype; None means float64.
        name: Used in messages; does not affect the generated code.
        mat_type: Type of the PETSc matrix: ``"aij"``, ``"baij"``, ``"nest"`` or ``"dense"``. None
            means AIJ, for square blocks BAIJ. The Sparsity decides about nests.
        sub_mat_type: The same for the blocks of a nest.
        compute: The dtype that kernels see, at least as wide as `dtype`; as of `Dat`.

    Raises:
        SparsityTypeError: The first argument is not a Sparsity.
        DataTypeError: The dtype is not supported by kernels, or `compute` is narrower or of
            another kind.
        NameTypeError: The name is not a string.
        UnsupportedError: The type of the PETSc matrix is another.

    Example:
        >>> from pyop2cxx import op2
        >>> cells, nodes = op2.Set(2), op2.Set(3)
        >>> c2n = op2.Map(cells, nodes, 2, [0, 1, 1, 2])
        >>> mat = op2.Mat(op2.Sparsity((nodes ** 1, nodes ** 1), [(c2n, c2n, None)]))
        >>> text = "void k(double *A) { A[0] += 1; A[1] -= 1; A[2] -= 1; A[3] += 1; }"
        >>> op2.par_loop(op2.Kernel(text, "k"), cells, mat(op2.INC, (c2n, c2n)))
        >>> mat.values.tolist()
        [[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]]
    """

    kind = "Mat"

    def _kind_of_block(self) -> type[Mat]:
        return Mat if self._sparsity.nested else MatBlock

    # As an argument of a loop

    def __call__(
        self,
        access: Access,
        path: tuple[Any, Any],
        lgmaps: Any = None,
        unroll_map: bool = False,
        flatten: bool = False,
    ) -> MatArg | MixedMatArg:
        """Return the Mat as an argument of a loop.

        Args:
            access: INC or WRITE.
            path: The Maps from the iteration Set to the rows and to the columns; in PyOP2's older
                conventions, each indexed by ``op2.i``. For a mixed matrix MixedMaps, or Maps in a
                tuple; None for a Global. The kernel then gets a single tensor for all blocks, rows
                of all fields times columns of all fields.
            lgmaps: Masks: a pair of arrays (rows, columns), either None, shape (Set.total_size,),
                integers: negative to leave out a row or column, otherwise its own number. Also a
                list with a single pair, and objects with `indices`; for a mixed matrix a list with
                a pair for each block, by rows.
            unroll_map: Whether the arrays mask each scalar of blocks, shape (Set.total_size *
                dim,).
            flatten: Of PyOP2's older conventions: order rows and columns by component first.

        Raises:
            ModeValueError: The access does not exist, or not for a Mat.
            MapTypeError: The path is not a pair of Maps.
            MapValueError: The Sparsity was made from other Maps.
            DataValueError: The arrays of `lgmaps` do not fit.
            UnsupportedError: MPI runs several processes, which would add to each other's rows.
        """
        made = self.by_any_maps(access, path, lgmaps, unroll_map, check=mat_paths.check_listed)
        made.form = older_form(None, flatten)
        return made

    def by_any_maps(
        self,
        access: Access,
        path: tuple[Any, Any],
        lgmaps: Any,
        unroll_map: bool,
        check: mat_paths.Check = mat_paths.accept,
    ) -> MatArg | MixedMatArg:
        """Return the Mat as an argument, by Maps that the Sparsity need not be made from.

        Args:
            access: As for `__call__`.
            path: As for `__call__`.
            lgmaps: As for `__call__`.
            unroll_map: As for `__call__`.
            check: Called with each block and the pair of Maps. Without it the loop raises
                UsageError if an entry has no place.

        Raises:
            ModeValueError, MapTypeError, DataValueError, UnsupportedError: As `__call__`.
        """
        mode = checked_access(access, MAT_ACCESSES, False, self.label)
        for part in self._sparsity.dsets[0]:
            runtime.processes.check_alone(part.set.given_comm, self.label, mode.name)
        is_pair = isinstance(path, tuple | list)
        maps: Any = tuple(unindexed(one)[0] for one in path) if is_pair else path
        if self.is_mixed or self._sparsity.is_dense:
            return mat_paths.mixed_argument(self, mode, maps, lgmaps, unroll_map, check)
        return mat_paths.argument(self, mode, maps, lgmaps, unroll_map, check)

    # Rows and entries

    def zero_rows(self, rows: Any, diag_val: float = 1.0, idx: int | None = None) -> None:
        """Set whole rows to zero, and their diagonal entries to a value: boundary conditions.

        Args:
            rows: A Subset of the rows' Set, or the numbers of entities.
            diag_val: The value on the diagonal.
            idx: The component of each entity to change; None means all of them.

        Raises:
            IndexValueError: The row or component does not exist, or there is no place for the
                diagonal.
            DataValueError: The dtype does not hold the value.
            MapValueError: The Subset is a part of another Set.
        """
        value = self.as_scalar(diag_val, "zero_rows")
        found, components = self._rows(rows, idx)
        places = self._diagonal(found)
        cols = self.block_dims[1]
        whole = [component * cols + c for component in components for c in range(cols)]
        cleared = Places.of(self, mat_rows.places_of_rows(self, found), whole)
        diagonal = Places.of(self, places, self._on_diagonal(components))
        mat_rows.put(self, [(cleared, 0), (diagonal, value)], "zero_rows")
        self.change_assembly_state(Mat.ASSEMBLED)

    def set_local_diagonal_entries(
        self, rows: Any, diag_val: float = 1.0, idx: int | None = None
    ) -> None:
        """Set the diagonal entries of rows; arguments as for `zero_rows`.

        Raises:
            IndexValueError: As for `zero_rows`.
        """
        value = self.as_scalar(diag_val, "set_local_diagonal_entries")
        places = Places.of(self, *self.diagonal_places(rows, idx))
        mat_rows.put(self, [(places, value)], "set_local_diagonal_entries")
        self.change_assembly_state(Mat.INSERT_VALUES)

    def inc_local_diagonal_entries(
        self, rows: Any, diag_val: float = 1.0, idx: int | None = None
    ) -> None:
        """Add to the diagonal entries of rows; arguments as for `zero_rows`.

        Raises:
            IndexValueError: As for `zero_rows`.
        """
        value = self.as_scalar(diag_val, "inc_local_diagonal_entries")
        places = self.diagonal_places(rows, idx)
        mat_rows.add(self, *places, value, "inc_local_diagonal_entries")
        self.change_assembly_state(Mat.ADD_VALUES)

    def addto_values(self, rows: ArrayLike, cols: ArrayLike, values: ArrayLike) -> None:
        """Add a dense array to the entries where rows and columns meet.

        Args:
            rows: Numbers of entities; negative numbers are left out.
            cols: The same for columns.
            values: Shape (len(rows) * rows' dim, len(cols) * columns' dim), or as many values.

        Raises:
            IndexValueError: A row or column does not exist, or there is no place for an entry.
            DataValueError: The values are of another number, or do not convert.
        """
        places, found = self._places(rows, cols, values)
        np.add.at(self.stored("addto_values", write=True), places, found)
        self.change_assembly_state(Mat.ADD_VALUES)

    def set_values(self, rows: ArrayLike, cols: ArrayLike, values: ArrayLike) -> None:
        """Set the entries where rows and columns meet; arguments as for `addto_values`.

        Raises:
            IndexValueError: As for `addto_values`.
            DataValueError: As for `addto_values`.
        """
        places, found = self._places(rows, cols, values)
        self.stored("set_values", write=True)[places] = found
        self.change_assembly_state(Mat.INSERT_VALUES)

    def _rows(self, rows: Any, idx: int | None) -> tuple[Array, range]:
        self._plain("rows")
        superset = getattr(rows, "superset", None)
        mine = self._sparsity.dsets[0].set
        if superset is not None and superset is not mine:
            raise MapValueError(
                f"{self.label}: the Subset is a part of Set '{superset.name}', but the rows are "
                f"on '{mine.name}'"
            )
        found = np.unique(self._numbers(rows if superset is None else rows.indices, "row", 0))
        if found.size and found[0] < 0:
            raise IndexValueError(f"{self.label}: there is no row {found[0]}")
        dim = self.block_dims[0]
        if idx is not None and not 0 <= idx < dim:
            raise IndexValueError(
                f"{self.label}: there is no component {idx}; rows have {dim} of them"
            )
        return found, range(dim) if idx is None else range(idx, idx + 1)

    def as_scalar(self, value: Any, member: str) -> Any:
        """Return a number in the dtype of the values.

        Args:
            value: A number.
            member: Name of the caller, for messages.

        Raises:
            DataValueError: The dtype does not hold the value.
        """
        return as_array(value, self._dtype, (), f"{self.label}: {member}")[()]

    def _numbers(self, given: Any, what: str, side: int) -> Array:
        numbers = np.atleast_1d(plain_array(given, f"{self.label}: {what} numbers"))
        if numbers.size == 0:
            return np.zeros(0, np.int64)
        if numbers.dtype.kind not in "iu":
            raise DataTypeError(
                f"{self.label}: {what} numbers must be integers, got dtype {numbers.dtype}"
            )
        n = self._sparsity.dsets[side].set.total_size
        if numbers.max() >= n:
            raise IndexValueError(
                f"{self.label}: there is no {what} {numbers.max()}; there are 0 to {n - 1}"
            )
        return numbers.astype(np.int64).reshape(-1)

    def diagonal_places(self, rows: Any, idx: int | None) -> tuple[Array, list[int]]:
        """Return where diagonal entries of rows are stored.

        Args:
            rows: Numbers of entities, or a Subset.
            idx: The component of each row; None means all.

        Returns:
            Numbers of blocks, int64, one for each row in ascending order; and the indices of the
            diagonal values within a block.

        Raises:
            IndexValueError: A row or the component does not exist, or a row has no place for the
                diagonal entry.
        """
        found, components = self._rows(rows, idx)
        return self._diagonal(found), self._on_diagonal(components)

    def _on_diagonal(self, components: range) -> list[int]:
        return [component * self.block_dims[1] + component for component in components]

    def _diagonal(self, rows: Array) -> Array:
        if self.block_dims[0] != self.block_dims[1]:
            raise IndexValueError(f"{self.label}: its blocks are not square: no diagonal entries")
        places: Array = self._sparsity.diagonal()[rows]
        missing = np.flatnonzero(places < 0)
        if missing.size:
            raise IndexValueError(
                f"{self.label}: row {rows[missing[0]]} has no place for its diagonal entry"
            )
        return places

    def _places(self, rows: ArrayLike, cols: ArrayLike, values: ArrayLike) -> tuple[Array, Array]:
        """Return places and blocks of values: shapes (n,) and (n, rows' dim, columns' dim)."""
        self._plain("values")
        if self.is_distributed and np.max(rows, initial=-1) >= self._sparsity.dsets[0].set.size:
            raise IndexValueError(
                f"{self.label}: row {np.max(rows)} belongs to another process; a process sets its "
                f"own rows, 0 to {self._sparsity.dsets[0].set.size - 1}"
            )
        i, j = self._numbers(rows, "row", 0), self._numbers(cols, "column", 1)
        r, c = self.block_dims
        given = plain_array(values, f"{self.label}: values")
        if given.dtype.kind == "O":
            given = as_array(given, self._dtype, given.shape, f"{self.label}: values")
        if given.size != i.size * r * j.size * c or not np.can_cast(
            given.dtype, self._dtype, "same_kind"
        ):
            raise DataValueError(
                f"{self.label}: expected {i.size * r} x {j.size * c} values of dtype "
                f"{self._dtype}, got shape {given.shape} of dtype {given.dtype}"
            )
        place = first_unfit(given, self._dtype)
        if place is not None:
            raise DataValueError(
                f"{self.label}: the value {given[place]} at {list(place)} does not fit into "
                f"{self._dtype.name}; nothing was changed"
            )
        blocks = given.astype(self._dtype).reshape(i.size, r, j.size, c).transpose(0, 2, 1, 3)
        keep_rows, keep_cols = np.flatnonzero(i >= 0), np.flatnonzero(j >= 0)
        places = np.empty((keep_rows.size, keep_cols.size), np.int64)
        for n, row in enumerate(i[keep_rows]):
            places[n] = self.find_entry(int(row), j[keep_cols])
        kept = blocks[np.ix_(keep_rows, keep_cols)]
        return places.reshape(-1), kept.reshape(-1, r, c)

    # Copies and products

    def duplicate(self, copy: bool = True) -> Mat:
        """Return a matrix of the same Sparsity and dtype: with the same values, or zeros.

        Args:
            copy: Whether the values are copied.
        """
        name = f"copy_of_{self._name}"
        made = Mat(self._sparsity, self._dtype, name, compute=self._compute)
        if copy:
            for theirs, mine in zip(made, self, strict=True):
                theirs.allocated("duplicate")
                mine.allocated("duplicate")
                mine.settle(write=False)
                if theirs.buffer.copy_on_device(mine.buffer):
                    theirs.buffer.increment_version()
                else:
                    values = mine.stored("duplicate", write=False)
                    theirs.stored("duplicate", write=True)[...] = values
        return made

    def to_scipy(self) -> Any:
        """Return the matrix for SciPy, sharing memory: CSR, or BSR of blocks.

        A mixed matrix is copied into a single CSR matrix.

        Returns:
            A ``scipy.sparse.csr_array`` or ``bsr_array`` of shape (nrows, ncols), ghosts too.

        Raises:
            MissingExtraError: SciPy is not installed.
        """
        self.refuse_shared("to_scipy")
        sparse = extras.load("scipy.sparse", "Mat.to_scipy()")
        if self.is_mixed:
            blocks = [[block.to_scipy() for block in row] for row in self._blocks]
            return sparse.block_array(blocks, format="csr")
        values = self.stored("to_scipy", write=False)
        if self._scipy is None:
            sparsity, shape = self._sparsity, (self.n_stored(0), self.n_stored(1))
            index = (sparsity.colidx, sparsity.rowptr)
            if self.cdim == 1:
                made = sparse.csr_array((values.reshape(-1), *index), shape=shape, copy=False)
            else:
                made = sparse.bsr_array((values, *index), shape=shape, copy=False)
            made.has_sorted_indices = True
            made.has_canonical_format = True
            self._scipy = made
        return self._scipy

    def gathered(self) -> Any:
        """Return a copy of the whole matrix for SciPy, in the numbers before `op2.distribute`.

        All processes must call this, and all get the matrix: a ``scipy.sparse.csr_array``.

        Raises:
            MissingExtraError: SciPy is not installed.
        """
        return gathered(self)

    @property
    def handle(self) -> Any:
        """The matrix for PETSc, by petsc4py: the same object each time, with the values of now.

        A matrix of scalars shares memory. Other values are copied by `handle` and by `assemble`, to
        PETSc if loops changed them, and from there if PETSc did. If processes share the rows, each
        call by all of them makes an MPIAIJ with a copy of the values, and with rows numbered by
        rank.

        Raises:
            MissingExtraError: petsc4py is not installed.
            ContractError: The dtype is not PETSc's scalar type.
            UnsupportedError: Processes share the rows, and the matrix is mixed.
        """
        if not self.is_distributed:
            return petsc_mats.matrix(self)
        if self.is_mixed:
            self.refuse_shared("handle")
        on = [dset.set for dset in self._sparsity.dsets]
        return petsc_mats.of_ranks(self, *map(numbers_by_rank, on))

    @property
    def is_vector(self) -> bool:
        """Whether there is a single row or column, of a Global with one value."""
        globals_ = [side for side in self._sparsity.dsets if isinstance(side, GlobalDataSet)]
        return self._sparsity.is_dense and all(side.cdim == 1 for side in globals_)

    def as_vector(self) -> tuple[Dat | Global, bool | None]:
        """Return the values of a matrix with a single row or column as an object of that memory.

        Returns:
            A Dat on the other DataSet, and whether the Dat is a row; a Global, and None. Without
            places in the Sparsity zeros in other memory.
        """
        rows, cols = self._sparsity.dsets
        stored = self.stored("handle", write=True).reshape(-1)
        values = stored if stored.size else None
        if isinstance(rows, GlobalDataSet) and isinstance(cols, GlobalDataSet):
            return Global(1, values, comm=self.comm), None
        is_row = isinstance(rows, GlobalDataSet)
        return Dat(cols if is_row else rows, values), is_row

    @property
    def local_to_global_maps(self) -> tuple[Any, Any]:
        """None, None: as in PyOP2, only a block of a matrix that is not nested has numberings."""
        return None, None

    def to_cupy(self) -> Any:
        """Return the matrix on a CUDA device, for CuPy's solvers.

        On the device of loops, scalar blocks share memory, and larger blocks are copied; sharing
        counts as a write. Otherwise the values are copied from the host.

        Returns:
            A ``cupyx.scipy.sparse.csr_matrix`` of shape (nrows, ncols), ghosts too.

        Raises:
            MissingExtraError: CuPy is not installed.
        """
        self.refuse_shared("to_cupy")
        return cupy.matrix(self, write=True)

    def mult(self, x: Vector, y: Vector) -> None:
        """Compute ``y = A x`` where the values are, on the host or on a device.

        Graphs record a product of Dats as a loop over the places of the Sparsity. Else rows are
        summed in the order of their places on the host, so the sums do not depend on the number of
        threads, unless the option `blas` leaves them to a library.

        Args:
            x: On the DataSet of the columns; a MixedDat for a mixed matrix, a Global for columns of
                a Global.
            y: On the DataSet of the rows; overwritten.

        Raises:
            DatTypeError: An operand is not a Dat, MixedDat or Global as required.
            DataValueError: An operand lives on another DataSet.
        """
        for dat, side, what in ((x, 1, "columns"), (y, 0, "rows")):
            self.check_vector(dat, side, what)
        self.refuse_bits("mult")
        may_record = runtime.writes_graph and not self.is_distributed
        if may_record and matrix_products().record(self, x, y):
            return
        on_device = not self.is_distributed and at_device(*self, *x.split)
        if on_device and self._is_multiplied_on_device(x, y):
            return
        multiply_on_host(self, x, y)

    def _is_multiplied_on_device(self, x: Vector, y: Vector) -> bool:
        """Multiply on the device of the values, if possible; impossible with ghosts."""
        if (self.n_stored(0), self.n_stored(1)) != (self.nrows, self.ncols):
            return False
        if matrix_products().multiply(self, x, y):
            return True
        if not cupy.is_possible():
            return False
        cupy.put(y, cupy.matrix(self, write=False) @ cupy.vector(x))
        return True

    def __mul__(self, x: Any) -> Any:
        """Return ``A x``, a Dat, MixedDat or Global on the DataSet of the rows; or a multiple."""
        if not isinstance(x, Dat | MixedDat | Global):
            return super().__mul__(x)
        rows = self._sparsity.dsets[0]
        made = _vector_kind(rows)
        where = rows.dim if made is Global else rows
        y: Any = made(where, dtype=np.result_type(self._dtype, x.dtype))
        self.mult(x, y)
        return y

    def __matmul__(self, x: Vector) -> Any:
        """Return ``A x``, as ``A * x`` does."""
        return self * x if isinstance(x, Dat | MixedDat | Global) else NotImplemented

    def check_vector(self, dat: Any, side: int, what: str) -> None:
        """Raise an error if a Dat does not fit the rows (side 0) or columns (side 1)."""
        wanted = self._sparsity.dsets[side]
        kind = _vector_kind(wanted)
        if not isinstance(dat, kind):
            raise DatTypeError(
                f"{self.label}: expected a {kind.__name__} for the {what}, got {dat!r} of type "
                f"{type(dat).__name__}"
            )
        if not is_same_space(dat.dataset, wanted):
            raise DataValueError(
                f"{self.label}: {kind.kind} '{dat.name}' is on Set '{dat.dataset.set.name}' with "
                f"dim {dat.dim}, but the {what} are on Set '{wanted.set.name}' with dim "
                f"{wanted.dim}"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        raise UsageError(
            f"{self.label}: a matrix cannot be pickled, nor copied by Python's copy; duplicate() "
            "is a copy, and to_scipy() can be pickled"
        )

    def __str__(self) -> str:
        if is_under_pyop2():
            return (
                f"OP2 Mat: {self._name}, sparsity ({self._sparsity}), datatype {self._dtype.name}"
            )
        return f"OP2 Mat: {self._name}, {self._sparsity.places}, {self._dtype.name}"

    def __repr__(self) -> str:
        return f"Mat({self._sparsity!r}, {self._dtype!r}, {self._name!r})"


def _vector_kind(dset: Any) -> type[Any]:
    """Return the class of vectors on the DataSet of a matrix's rows or columns."""
    if isinstance(dset, MixedDataSet):
        return MixedDat
    return Global if isinstance(dset, GlobalDataSet) else Dat


def is_same_space(found: Any, wanted: Any) -> bool:
    """Whether values on two DataSets correspond; for Globals, whether their sizes are equal."""
    both_global = isinstance(found, GlobalDataSet) and isinstance(wanted, GlobalDataSet)
    if both_global:
        return bool(found.cdim == wanted.cdim)
    if isinstance(found, MixedDataSet) and isinstance(wanted, MixedDataSet):
        return len(found) == len(wanted) and all(map(is_same_space, found, wanted))
    return bool(found == wanted)


class MatBlock(Mat):
    """A block of a mixed matrix, not nested: assembled only with the whole matrix."""

    @property
    def local_to_global_maps(self) -> tuple[Any, Any]:
        """PETSc's numberings of the scalars of rows and of columns, with the blocks' size; tuple.

        Raises:
            MissingExtraError: petsc4py is not installed.
        """
        rows, cols = self._sparsity.dsets
        return rows.scalars_lgmap, cols.scalars_lgmap

    def assemble(self) -> None:
        """Refuse: only the whole matrix can be assembled.

        Raises:
            AssemblyStateError: Always.
        """
        raise AssemblyStateError(
            f"{self.label} is a block of a matrix that is not nested; assemble the whole matrix"
        )
