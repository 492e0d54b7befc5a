# SPDX-License-Identifier: BSD-3-Clause
"""The Set and DataSet of a Global, for Globals among Dats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyop2cxx.exceptions import DatTypeError
from pyop2cxx.interop.petsc_spaces import PetscSpace
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from collections.abc import Iterator


class GlobalSet(Set):
    """A Set with a single entity, for a Global's values.

    Args:
        comm: The communicator; None means the process alone.

    Example:
        >>> GlobalSet().size
        1
    """

    def __init__(self, comm: Any = None) -> None:
        super().__init__(1, "Global", comm=comm)

    def __reduce__(self) -> tuple[Any, ...]:
        return (GlobalSet, (self.given_comm,))

    def __repr__(self) -> str:
        return "GlobalSet()"


class GlobalDataSet(PetscSpace):
    """A Global's replacement of a DataSet. Equal if the Globals are the same.

    Args:
        global_: The Global.

    Raises:
        DatTypeError: The argument is no Global.

    Example:
        >>> from pyop2cxx import op2
        >>> op2.GlobalDataSet(op2.Global(3)).cdim
        3
    """

    def __init__(self, global_: Any) -> None:
        if getattr(global_, "kind", None) != "Global":
            raise DatTypeError(
                f"GlobalDataSet: expected a Global, got {global_!r} of type "
                f"{type(global_).__name__}"
            )
        self._global = global_
        self._set = GlobalSet(global_.given_comm)

    @property
    def set(self) -> GlobalSet:
        """A Set with a single entity."""
        return self._set

    @property
    def dim(self) -> tuple[int, ...]:
        """The shape of the values."""
        return tuple(self._global.dim)

    @property
    def cdim(self) -> int:
        """The number of values."""
        return int(self._global.cdim)

    @property
    def name(self) -> str:
        """Name in messages."""
        return str(self._global.name)

    @property
    def comm(self) -> Any:
        """The communicator: of a single process, so far."""
        return self._global.comm

    @property
    def size(self) -> int:
        """Number of entities owned by the process: 1, or 0."""
        return self._set.size

    def __iter__(self) -> Iterator[GlobalDataSet]:
        yield self

    def __len__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GlobalDataSet):
            return NotImplemented
        return self._global is other._global

    def __hash__(self) -> int:
        return hash((GlobalDataSet, id(self._global)))

    def __str__(self) -> str:
        return f"OP2 GlobalDataSet: {self.name} on Global {self._global.name}"

    def __repr__(self) -> str:
        return f"GlobalDataSet({self._global!r})"
