# SPDX-License-Identifier: BSD-3-Clause
"""The layouts of DataSets as PETSc's objects: vectors, numberings and index sets."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base import extras
from pyop2cxx.exceptions import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    Indices = npt.NDArray[np.integer[Any]]


def petsc_comm(petsc: Any, found: Any) -> Any:
    """Return a communicator for PETSc; a process without mpi4py is alone."""
    known = type(found).__module__.partition(".")[0] in ("mpi4py", "petsc4py")
    return found if known else petsc.COMM_SELF


class _Kept(cached_property[Any]):
    """A property made on first use; assigning to the property is an error."""

    def __set__(self, instance: object, value: object) -> None:
        raise UsageError(
            f"{type(instance).__name__}.{self.attrname} cannot be set: PETSc's layout of a DataSet "
            "follows from the Set and dim"
        )


class PetscSpace:
    """PETSc's objects of the layout of a DataSet, each made on first use.

    All members raise MissingExtraError without petsc4py.
    """

    if TYPE_CHECKING:

        @property
        def comm(self) -> Any:
            """The communicator."""

        @property
        def cdim(self) -> int:
            """Scalars of an entity."""

        def __iter__(self) -> Iterator[Any]: ...

        def __len__(self) -> int: ...

    @property
    def _petsc(self) -> Any:
        return extras.load("petsc4py.PETSc", "the layout of a DataSet for PETSc")

    @property
    def _petsc_comm(self) -> Any:
        return petsc_comm(self._petsc, self.comm)

    @property
    def n_local(self) -> int:
        """Scalars owned by the process, without constrained entities."""
        return sum((p.set.size - p.set.constrained_size) * p.cdim for p in self)

    @_Kept
    def layout_vec(self) -> Any:
        """A PETSc vector with the sizes of a vector on the DataSet."""
        vec = self._petsc.Vec().create(comm=self._petsc_comm)
        vec.setSizes((self.n_local, None), bsize=max(self.cdim, 1) if len(self) == 1 else 1)
        vec.setUp()
        return vec

    @_Kept
    def dm(self) -> Any:
        """A shell DM that makes such vectors."""
        dm = self._petsc.DMShell().create(comm=self._petsc_comm)
        dm.setGlobalVector(self.layout_vec)
        return dm

    @_Kept
    def lgmap(self) -> Any:
        """Numbering of local entities by all processes, in blocks; of scalars for several fields.

        A Halo with `local_to_global_numbering` gives the numbers; otherwise the numbers are those
        of the process.
        """
        if len(self) > 1:
            return self._numbering(self._joined_numbers(), 1)
        (field,) = self
        halo = getattr(field.set, "halo", None)
        given = getattr(halo, "local_to_global_numbering", None)
        numbers = np.arange(field.set.total_size) if given is None else np.asarray(given)
        return self._numbering(numbers, max(self.cdim, 1))

    @_Kept
    def scalar_lgmap(self) -> Any:
        """The numbering of entities, without blocks."""
        if len(self) > 1 or self.cdim == 1:
            return self.lgmap
        return self._numbering(self.lgmap.block_indices, 1)

    @_Kept
    def unblocked_lgmap(self) -> Any:
        """The numbering of scalars."""
        if len(self) > 1 or self.cdim == 1:
            return self.lgmap
        return self._numbering(self.lgmap.indices, 1)

    @_Kept
    def scalars_lgmap(self) -> Any:
        """The numbering of scalars with the size of blocks, as of a block of a PETSc matrix."""
        return self._numbering(self.unblocked_lgmap.indices, max(self.cdim, 1))

    @_Kept
    def field_ises(self) -> tuple[Any, ...]:
        """Index sets of the fields, by global numbers of scalars; tuple."""
        start = self.layout_vec.getOwnershipRange()[0]
        return self._strides([p.n_local for p in self], start, self._petsc_comm)

    @_Kept
    def local_ises(self) -> tuple[Any, ...]:
        """Index sets of the fields, by local numbers of scalars, ghosts too; tuple."""
        sizes = [p.set.total_size * p.cdim for p in self]
        return self._strides(sizes, 0, self._petsc.COMM_SELF)

    def _strides(self, sizes: list[int], start: int, comm: Any) -> tuple[Any, ...]:
        found = []
        for size, field in zip(sizes, self, strict=True):
            made = self._petsc.IS().createStride(size, first=start, step=1, comm=comm)
            made.setBlockSize(max(field.cdim, 1))
            found.append(made)
            start += size
        return tuple(found)

    def _numbering(self, numbers: Any, block: int) -> Any:
        integers = np.asarray(numbers).astype(self._petsc.IntType)
        return self._petsc.LGMap().create(integers, bsize=block, comm=self._petsc_comm)

    def _joined_numbers(self) -> Indices:
        """Return numbers of scalars in a vector of all fields, process by process."""
        owned = [p.n_local for p in self]
        is_alone = getattr(self.comm, "size", 1) == 1
        sizes = np.asarray([owned] if is_alone else self.comm.allgather(owned), np.int64)
        n_ranks, n_fields = sizes.shape
        in_field = np.zeros((n_ranks + 1, n_fields), np.int64)
        in_field[1:] = sizes.cumsum(axis=0)  # where each process starts among a field's scalars
        in_all = np.concatenate([[0], sizes.reshape(-1).cumsum()])[:-1].reshape(sizes.shape)
        found = []
        for f, field in enumerate(self):
            numbers = np.asarray(field.unblocked_lgmap.indices)
            rank = np.searchsorted(in_field[1:, f], numbers, side="right").clip(0, n_ranks - 1)
            moved = numbers - in_field[rank, f] + in_all[rank, f]
            found.append(np.where(numbers < 0, -1, moved))
        return np.concatenate(found)
